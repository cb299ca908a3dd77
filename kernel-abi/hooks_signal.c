/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Hooks on functions that set the handler of a signal. sigchain.c shares claimed signals. */
#define _GNU_SOURCE
#include "hooks.h"

#include <errno.h>
#include <pthread.h>

#include "sigchain.h"

#define SIGACTION_HOOK(name)                                                                       \
	HOOK int name(int sig, const struct sigaction *act, struct sigaction *old)                 \
	{                                                                                          \
		int saved = errno;                                                                 \
                                                                                                   \
		if (likely(!sigchain_claimed(sig)))                                                \
			return REAL(name)(sig, act, old);                                          \
		return (int)hooks_result(sigchain_sigaction(sig, act, old), saved);                \
	}

#define SIGNAL_HOOK(name, flags, block_itself)                                                     \
	HOOK sighandler_t name(int sig, sighandler_t handler)                                      \
	{                                                                                          \
		sighandler_t old;                                                                  \
                                                                                                   \
		return sigchain_signal(sig, handler, flags, block_itself, &old) ?                  \
			       old :                                                               \
			       REAL(name)(sig, handler);                                           \
	}

SIGACTION_HOOK(sigaction)
SIGACTION_HOOK(__sigaction)
SIGNAL_HOOK(signal, SA_RESTART, true)
SIGNAL_HOOK(bsd_signal, SA_RESTART, true)
SIGNAL_HOOK(ssignal, SA_RESTART, true)
SIGNAL_HOOK(sysv_signal, (int)SA_RESETHAND | SA_NODEFER, false)
SIGNAL_HOOK(__sysv_signal, (int)SA_RESETHAND | SA_NODEFER, false)

/*
 * sigset() does more than set a handler. With SIG_HOLD, it blocks the signal and leaves the handler
 * as it is. Otherwise it also unblocks the signal, and returns SIG_HOLD if the signal was blocked.
 * This code avoids REAL(sigset), since the compiler warns of the deprecated sigset().
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
