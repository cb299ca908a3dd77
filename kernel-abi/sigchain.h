/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shares a signal between the RNIC and the application. The RNIC claims SIGSEGV and SIGBUS, to turn
 * faults in its own copies into errors. The application does not notice. The library records the
 * handler that the application sets, and returns this handler when the application reads it. A
 * signal that is not for the RNIC is delivered to that handler as by the kernel. Unclaimed signals
 * are not changed.
 *
 * Locks: none; every function is async-signal-safe. A claim is valid in the process that made it.
 * In a child, where no RNIC runs, the application's next sigaction() goes to the kernel again.
 */
#ifndef KERNEL_ABI_SIGCHAIN_H
#define KERNEL_ABI_SIGCHAIN_H

#include <signal.h>
#include <stdbool.h>

/*
 * Claims a signal: handler runs before the application's. It runs on the stack of the interrupted
 * code, or on the alternate stack if the application uses that. If handler returns true, execution
 * continues from ucontext, which handler may change; if false, the application's handler is called.
 * A further claim sets a new handler. Returns 0; -EINVAL if the signal does not exist; or -ENOMEM.
 * The function is exported: the RNIC finds it by dlsym().
 */
int sctpiw_sigchain_claim(int sig, bool (*handler)(int sig, siginfo_t *info, void *ucontext));

/* True if the signal exists and has been claimed. A claim never ends. */
bool sigchain_claimed(int sig);

/* sigaction() for a claimed signal, in the application's view. Returns 0 or -errno. */
int sigchain_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

/*
 * signal() and its relatives. Returns true if the signal is claimed: *old is then the call's return
 * value, and errno is set if that is SIG_ERR. extra_flags: the SA_* flags that give sigaction() the
 * same meaning. block_itself: the signal is blocked while its handler runs.
 */
bool sigchain_signal(int sig, sighandler_t handler, int extra_flags, bool block_itself,
		     sighandler_t *old);

#endif
