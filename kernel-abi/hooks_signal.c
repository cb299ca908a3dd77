/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Hooks on functions that set the handler of a signal; sigchain.c shares claimed signals. */
#define _GNU_SOURCE
#include "hooks.h"

#include <errno.h>
#include <pthread.h>

#include "sigchain.h"

HOOK int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	int saved = errno;

	return (int)hooks_result(sigchain_sigaction(sig, act, old), saved);
}

HOOK int __sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	return sigaction(sig, act, old);
}

HOOK sighandler_t signal(int sig, sighandler_t handler)
{
	sighandler_t old;

	return sigchain_signal(sig, handler, SA_RESTART, true, &old) ? old :
								       REAL(signal)(sig, handler);
}

HOOK sighandler_t bsd_signal(int sig, sighandler_t handler)
{
	return signal(sig, handler);
}

HOOK sighandler_t ssignal(int sig, sighandler_t handler)
{
	return signal(sig, handler);
}

HOOK sighandler_t sysv_signal(int sig, sighandler_t handler)
{
	sighandler_t old;

	return sigchain_signal(sig, handler, (int)SA_RESETHAND | SA_NODEFER, false, &old) ?
		       old :
		       REAL(sysv_signal)(sig, handler);
}

HOOK sighandler_t __sysv_signal(int sig, sighandler_t handler)
{
	return sysv_signal(sig, handler);
}

/*
 * sigset() blocks the signal and changes no handler if it is told SIG_HOLD; otherwise it also
 * unblocks the signal, and returns SIG_HOLD if that was blocked. REAL() would name sigset() once
 * more, which the compiler warns of as deprecated.
 */
HOOK sighandler_t sigset(int sig, sighandler_t handler)
{
	sigset_t set, before;
	sighandler_t old;

	if (handler == SIG_HOLD || !sigchain_signal(sig, handler, 0, false, &old)) {
		sighandler_t (*real)(int, sighandler_t) = hooks_resolved(HOOKS_sigset);

		return real(sig, handler);
	}
	if (old == SIG_ERR)
		return old;
	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(SIG_UNBLOCK, &set, &before);
	return sigismember(&before, sig) ? SIG_HOLD : old;
}
