/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shares a signal between the RNIC and the application. The RNIC claims SIGSEGV and SIGBUS, to turn
 * faults in its own copies into errors. The application does not notice: the handler that it sets
 * is recorded, it is told of the one that it set, and a signal that is not the RNIC's is delivered
 * to that one as the kernel would. Signals that are not claimed pass straight through.
 *
 * Locks: none; every function is async-signal-safe. A claim counts in the process that made it. In
 * a child, where no RNIC runs, the application's next sigaction() goes to the kernel again.
 */
#ifndef KERNEL_ABI_SIGCHAIN_H
#define KERNEL_ABI_SIGCHAIN_H

#include <signal.h>
#include <stdbool.h>

/*
 * Claims a signal: handler is asked before the application's. It runs on the stack of the
 * interrupted code, or on the alternate one if the application wants that. If it returns true
 * execution goes on from ucontext, which it may have changed; if false the application's handler is
 * called. A signal may be claimed again, by a new handler. Returns 0, -EINVAL if there is no such
 * signal, or -ENOMEM. The function is exported: the RNIC finds it with dlsym().
 */
int sctpiw_sigchain_claim(int sig, bool (*handler)(int sig, siginfo_t *info, void *ucontext));

/* Whether there is such a signal, and it has been claimed: then it stays so. */
bool sigchain_claimed(int sig);

/* sigaction() for a claimed signal, as the application sees it: 0 or -errno. */
int sigchain_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

/*
 * signal() and its relatives for a claimed signal. True if the signal is claimed: *old is what the
 * call returns then, and errno is set if that is SIG_ERR. The calls differ in extra_flags, the SA_*
 * that sigaction() needs for the same meaning, and in whether the signal is blocked while its
 * handler runs.
 */
bool sigchain_signal(int sig, sighandler_t handler, int extra_flags, bool block_itself,
		     sighandler_t *old);

#endif
