/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sharing a signal with the application. The RNIC claims SIGSEGV and SIGBUS to turn faults in its own
 * copies into errors; the application goes on as if the signal were its own alone: what it sets is
 * recorded, what it asks for is what it set, and what is not the RNIC's is delivered to it as the
 * kernel would. The other signals pass straight through.
 *
 * The handler takes no lock; everything is async-signal-safe. A claim counts in the process that made
 * it. In a child, where no RNIC runs, the application's next sigaction() is the kernel's again.
 */
#ifndef KERNEL_ABI_SIGCHAIN_H
#define KERNEL_ABI_SIGCHAIN_H

#include <signal.h>
#include <stdbool.h>

/*
 * Exported; the RNIC finds it with dlsym(). handler is asked first, on the stack of the
 * interrupted code or the alternate one as the application arranged it: true means that
 * execution goes on from the (perhaps changed) ucontext. It may be called again for the same signal.
 * 0 or -errno.
 */
int sctpiw_sigchain_claim(int sig, bool (*handler)(int sig, siginfo_t *info, void *ucontext));

/* sigaction() as the application means it: 0 or -errno. */
int sigchain_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

/*
 * The older calls, for a claimed signal: true if they were served here (*old as they return it).
 * extra_flags as sigaction() would need them for the same meaning.
 */
bool sigchain_signal(int sig, sighandler_t handler, int extra_flags, bool block_itself,
		     sighandler_t *old);

#endif
