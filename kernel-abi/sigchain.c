/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "sigchain.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc.h"

/*
 * A handler that the application has set. When the application reads the handler of the signal, it
 * gets this one. A record is never changed or freed, so that on_signal() can read it without a
 * lock. Equal handlers share one record. So a program that alternates between two handlers needs
 * only two records.
 */
struct disposition {
	struct disposition *next;
	struct sigaction act;
};

struct claim {
	/* handler of the RNIC; NULL: the signal is not claimed */
	_Atomic(bool (*)(int, siginfo_t *, void *)) handler;
	_Atomic(const struct disposition *) app;
	_Atomic pid_t pid; /* the process that claimed the signal */
};

#define RECORDS 64

static struct claim claims[NSIG];
static struct disposition records[RECORDS];
/* number of records in use; mmap() provides further ones */
static _Atomic unsigned int records_used;
static _Atomic(struct disposition *) all_dispositions; /* list of all records */
/* SIG_DFL without flags and without a mask */
static const struct disposition default_disposition;

static bool valid(int sig)
{
	return sig > 0 && sig < NSIG;
}

bool sigchain_claimed(int sig)
{
	return valid(sig) && atomic_load(&claims[sig].handler);
}

static bool same_mask(const sigset_t *a, const sigset_t *b)
{
	for (int sig = 1; sig < NSIG; sig++)
		if (sigismember(a, sig) != sigismember(b, sig))
			return false;
	return true;
}

static bool same_action(const struct sigaction *a, const struct sigaction *b)
{
	return a->sa_sigaction == b->sa_sigaction && a->sa_flags == b->sa_flags &&
	       same_mask(&a->sa_mask, &b->sa_mask);
}

/*
 * Returns memory for a record. A signal handler may call this, so it calls mmap() and not malloc().
 * A record of mmap() takes a whole page, but hardly any program sets more than RECORDS different
 * handlers.
 */
static struct disposition *record_alloc(void)
{
	unsigned int i = atomic_load(&records_used);
	void *page;

	while (i < RECORDS)
		if (atomic_compare_exchange_weak(&records_used, &i, i + 1))
			return &records[i];
	page = mmap(NULL, sizeof(struct disposition), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED ? NULL : page;
}

/* Returns the record of an action, which it makes if necessary. Returns NULL if out of memory. */
static const struct disposition *intern(const struct sigaction *act)
{
	struct disposition *d, *head = atomic_load(&all_dispositions);

	for (d = head; d; d = d->next)
		if (same_action(&d->act, act))
			return d;
	d = record_alloc();
	if (!d)
		return NULL;
	d->act = *act;
	d->next = head;
	while (!atomic_compare_exchange_weak(&all_dispositions, &d->next, d))
		;
	return d;
}

static void on_signal(int sig, siginfo_t *info, void *ucontext);

/*
 * Installs on_signal() for the application's handler app. With SA_NODEFER, the process survives a
 * fault inside the RNIC's handler. The signals of the application's mask are blocked by deliver()
 * instead. The alternate stack is used only if the application's handler uses it, so that a stack
 * overflow still ends the application.
 */
static int install(int sig, const struct disposition *app)
{
	struct sigaction act = { .sa_sigaction = on_signal };

	act.sa_flags = SA_SIGINFO | SA_NODEFER |
		       (app->act.sa_flags & (SA_ONSTACK | SA_RESTART | SA_NOCLDSTOP));
	sigemptyset(&act.sa_mask);
	return libc_sigaction(sig, &act, NULL);
}

/*
 * A fault has a positive si_code. A signal of kill(), sigqueue() and similar functions has an
 * si_code of 0 or less.
 */
static bool is_fault(const siginfo_t *info)
{
	return info->si_code > 0;
}

/* Performs the kernel's default action. */
static void deliver_default(int sig, const siginfo_t *info)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };

	libc_sigaction(sig, &dfl, NULL);
	if (is_fault(info))
		return; /* the instruction faults again, and then the process ends */
	syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), sig);
	/* The process continues if the default action was to stop or to ignore the signal. */
	install(sig, &default_disposition);
}

/* Calls the application's handler as the kernel would. */
static void deliver(int sig, siginfo_t *info, void *ucontext, const struct disposition *app)
{
	const struct sigaction *act = &app->act;
	sigset_t block = act->sa_mask;

	if (act->sa_flags & (int)SA_RESETHAND)
		atomic_compare_exchange_strong(&claims[sig].app, &app, &default_disposition);
	if (!(act->sa_flags & SA_NODEFER))
		sigaddset(&block, sig);
	/* on_signal() need not restore the mask: the kernel does so when on_signal() returns. */
	pthread_sigmask(SIG_BLOCK, &block, NULL);
	if (act->sa_flags & SA_SIGINFO)
		act->sa_sigaction(sig, info, ucontext);
	else
		act->sa_handler(sig);
}

static void on_signal(int sig, siginfo_t *info, void *ucontext)
{
	bool (*handler)(int, siginfo_t *, void *) = atomic_load(&claims[sig].handler);
	const struct disposition *app;
	int saved = errno;

	if (handler(sig, info, ucontext)) {
		errno = saved;
		return;
	}
	errno = saved;
	app = atomic_load(&claims[sig].app);
	if (app->act.sa_handler == SIG_IGN && !is_fault(info))
		return;
	/* The kernel ends a process that ignores a fault, so both cases are the same. */
	if (app->act.sa_handler == SIG_DFL || app->act.sa_handler == SIG_IGN)
		deliver_default(sig, info);
	else
		deliver(sig, info, ucontext, app);
	errno = saved;
}

HOOK int sctpiw_sigchain_claim(int sig, bool (*handler)(int, siginfo_t *, void *))
{
	const struct disposition *app;
	struct sigaction old;
	int ret;

	if (!valid(sig))
		return -EINVAL;
	ret = libc_sigaction(sig, NULL, &old);
	if (ret)
		return ret;
	if (old.sa_sigaction == on_signal) {
		/*
		 * An earlier call, perhaps of a parent process, has claimed the signal. The record
		 * of the application's handler is still valid.
		 */
		atomic_store(&claims[sig].pid, getpid());
		atomic_store(&claims[sig].handler, handler);
		return 0;
	}
	app = intern(&old);
	if (!app)
		return -ENOMEM;
	atomic_store(&claims[sig].app, app);
	atomic_store(&claims[sig].pid, getpid());
	atomic_store(&claims[sig].handler, handler);
	return install(sig, app);
}

/*
 * Performs sigaction() in a child of the process that claimed the signal. The kernel sets the new
 * handler. If the old handler is on_signal(), *old is the application's handler instead.
 */
static int sigaction_in_child(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction kernel_old;
	int ret = libc_sigaction(sig, act, &kernel_old);

	if (!ret && old)
		*old = kernel_old.sa_sigaction == on_signal ? atomic_load(&claims[sig].app)->act :
							      kernel_old;
	return ret;
}

int sigchain_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	const struct disposition *app, *before;

	if (atomic_load(&claims[sig].pid) != getpid())
		return sigaction_in_child(sig, act, old);
	if (!act) {
		if (old)
			*old = atomic_load(&claims[sig].app)->act;
		return 0;
	}
	app = intern(act);
	if (!app)
		return -ENOMEM;
	before = atomic_exchange(&claims[sig].app, app);
	install(sig, app);
	if (old)
		*old = before->act;
	return 0;
}

bool sigchain_signal(int sig, sighandler_t handler, int extra_flags, bool block_itself,
		     sighandler_t *old)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = extra_flags }, before;

	if (likely(!sigchain_claimed(sig)))
		return false;
	if (handler == SIG_ERR) {
		errno = EINVAL;
		*old = SIG_ERR;
		return true;
	}
	sigemptyset(&act.sa_mask);
	if (block_itself)
		sigaddset(&act.sa_mask, sig);
	*old = sigchain_sigaction(sig, &act, &before) ? SIG_ERR : before.sa_handler;
	return true;
}
