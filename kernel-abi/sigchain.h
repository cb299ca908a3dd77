/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shares a signal between the RNIC and the application. The RNIC claims SIGSEGV and SIGBUS, to turn
 * faults in its own copies into errors. The application does not notice this. The library records
 * the handler that the application sets, and returns it when the application reads the handler. If
 * a signal is not for the RNIC, the library calls the application's handler as the kernel would.
 * Signals that are not claimed are not affected.
 *
 * Locks: none; every function is async-signal-safe. A claim is valid in the process that made it.
 * No RNIC runs in a child of this process, so the next sigaction() in the child sets the handler in
 * the kernel again.
 */
#ifndef KERNEL_ABI_SIGCHAIN_H
#define KERNEL_ABI_SIGCHAIN_H

#include <signal.h>
#include <stdbool.h>

/*
 * Claims a signal, so that `handler` is called before the application's handler. It runs on the
 * stack of the interrupted code, or on the alternate stack if the application's handler uses it. If
 * `handler` returns true, execution continues from ucontext, which it may have changed. If it
 * returns false, the application's handler is called. A later claim of the same signal replaces
 * `handler`. Returns 0; -EINVAL if the signal does not exist; or -ENOMEM. The function is exported,
 * since the RNIC finds it by dlsym().
 */
int sctpiw_sigchain_claim(int sig, bool (*handler)(int sig, siginfo_t *info, void *ucontext));

/* True if the signal exists and has been claimed. A claim never ends. */
bool sigchain_claimed(int sig);

/* Performs sigaction() for a claimed signal, as the application sees it. Returns 0 or -errno. */
int sigchain_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

/*
 * Performs signal() or a related function, if the signal is claimed. Then returns true, and sets
 * *old to the return value of the call, and errno if this is SIG_ERR. extra_flags: the SA_* flags
 * that give sigaction() the same meaning. block_itself: the signal is blocked while its handler
 * runs.
 */
bool sigchain_signal(int sig, sighandler_t handler, int extra_flags, bool block_itself,
		     sighandler_t *old);

#endif
