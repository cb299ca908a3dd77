/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A signal that the RNIC has claimed: the application must not notice. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "check.h"
#include "fake_rnic.h"

static struct fake_control *ctl;
static char *guarded,
	*bad; /* faults in the first page are the RNIC's, those in the other the application's */
static volatile sig_atomic_t ours, theirs;
static siginfo_t last_info;
static sigset_t last_mask;
static sigjmp_buf back;

static bool rnic_handler(int sig, siginfo_t *info, void *ucontext)
{
	if ((char *)info->si_addr != guarded || info->si_code <= 0)
		return false;
	ours++;
	mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
	errno = EXDEV; /* must not reach the interrupted code */
	return true;
}

static void note(int sig, siginfo_t *info, void *ucontext)
{
	theirs++;
	last_info = *info;
	sigprocmask(SIG_BLOCK, NULL, &last_mask);
	siglongjmp(back, 1);
}

static void note_simple(int sig)
{
	theirs++;
	siglongjmp(back, sig);
}

static void note_and_return(int sig, siginfo_t *info, void *ucontext)
{
	theirs++;
	last_info = *info;
	sigprocmask(SIG_BLOCK, NULL, &last_mask);
}

static void touch(volatile char *p)
{
	*p = 1;
}

static void fault_of_rnic(void)
{
	int before = ours;

	mprotect(guarded, 4096, PROT_NONE);
	errno = 0;
	touch(guarded);
	check(ours == before + 1 && errno == 0);
}

static void test_ours(void)
{
	fault_of_rnic();
	check(!theirs);
}

static void test_roundtrip(void)
{
	struct sigaction act = { .sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_ONSTACK }, old;

	check(!sigaction(SIGSEGV, NULL, &old));
	check(old.sa_handler == SIG_DFL); /* set before the claim */
	sigaddset(&act.sa_mask, SIGUSR1);
	check(!sigaction(SIGSEGV, &act, &old) && old.sa_handler == SIG_DFL);
	check(!sigaction(SIGSEGV, NULL, &old));
	check(old.sa_sigaction == note && old.sa_flags == (SA_SIGINFO | SA_ONSTACK));
	check(sigismember(&old.sa_mask, SIGUSR1) && !sigismember(&old.sa_mask, SIGUSR2));
	check(signal(SIGSEGV, SIG_IGN) == (sighandler_t)(void *)note);
	check(signal(SIGSEGV, SIG_DFL) == SIG_IGN);
	check(signal(SIGSEGV, SIG_ERR) == SIG_ERR && errno == EINVAL);
	check(!sigaction(SIGSEGV, &act, NULL));
	/* Unclaimed signals go to the kernel. */
	check(signal(SIGUSR1, note_simple) == SIG_DFL);
	check(signal(SIGUSR1, SIG_DFL) == note_simple);
	check_fails(sigaction(SIGKILL, &act, NULL), EINVAL);
	check_fails(sigaction(999, &act, NULL), EINVAL);
}

static void test_theirs(void)
{
	int before = theirs;

	if (!sigsetjmp(back, 1))
		touch(bad);
	check(theirs == before + 1);
	check(last_info.si_signo == SIGSEGV && (char *)last_info.si_addr == bad);
	check(sigismember(&last_mask, SIGSEGV) && sigismember(&last_mask, SIGUSR1) &&
	      !sigismember(&last_mask, SIGUSR2));
	fault_of_rnic(); /* the RNIC still gets its faults */
	if (!sigsetjmp(back, 1))
		touch(bad);
	check(theirs == before + 2);
}

static void test_flags(void)
{
	struct sigaction act = { .sa_handler = note_simple, .sa_flags = SA_NODEFER }, old;
	sigset_t mask;
	union sigval value = { .sival_int = 42 };

	/* A handler with one argument. */
	check(!sigaction(SIGSEGV, &act, NULL));
	if (!sigsetjmp(back, 1))
		touch(bad);
	check(theirs);

	/* The handler runs only once, and the mask is restored when it returns. */
	act.sa_sigaction = note_and_return;
	act.sa_flags = SA_SIGINFO | (int)SA_RESETHAND;
	check(!sigaction(SIGSEGV, &act, NULL));
	theirs = 0;
	check(!sigqueue(getpid(), SIGSEGV, value));
	check(theirs == 1 && last_info.si_value.sival_int == 42 && last_info.si_code == SI_QUEUE);
	check(sigismember(&last_mask, SIGSEGV));
	check(!sigprocmask(SIG_BLOCK, NULL, &mask) && !sigismember(&mask, SIGSEGV));
	check(!sigaction(SIGSEGV, NULL, &old) && old.sa_handler == SIG_DFL);

	check(signal(SIGSEGV, SIG_IGN) == SIG_DFL);
	check(!raise(SIGSEGV)); /* ignored */
	check(sysv_signal(SIGSEGV, note_simple) == SIG_IGN);
	if (!sigsetjmp(back, 1))
		raise(SIGSEGV);
	check(signal(SIGSEGV, SIG_DFL) == SIG_DFL); /* reset by SA_RESETHAND */
}

static char stack[65536] __attribute__((aligned(16)));
static volatile uintptr_t sp_seen;

static void note_stack(int sig, siginfo_t *info, void *ucontext)
{
	char here;

	sp_seen = (uintptr_t)&here;
}

static bool on_alternate_stack(int flags)
{
	struct sigaction act = { .sa_sigaction = note_stack, .sa_flags = SA_SIGINFO | flags };

	check(!sigaction(SIGSEGV, &act, NULL));
	raise(SIGSEGV);
	return sp_seen - (uintptr_t)stack < sizeof(stack);
}

static void test_stack(void)
{
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };

	check(!sigaltstack(&ss, NULL));
	check(on_alternate_stack(SA_ONSTACK));
	check(!on_alternate_stack(0));
	check(signal(SIGSEGV, SIG_DFL) == (sighandler_t)(void *)note_stack);
}

enum death { BY_FAULT, BY_IGNORED_FAULT, BY_KILL, BY_OTHER_FAULT };

static int death_of_child(enum death how)
{
	struct rlimit no_core = { 0 };
	int status;
	pid_t pid = fork();

	if (!pid) {
		setrlimit(RLIMIT_CORE, &no_core);
		/* The child has inherited the claim, but its own changes go to the kernel. */
		if (how == BY_IGNORED_FAULT)
			signal(SIGSEGV, SIG_IGN);
		if (how == BY_KILL)
			kill(getpid(), SIGSEGV);
		else if (how == BY_OTHER_FAULT)
			raise(SIGBUS);
		else
			touch(bad);
		_exit(0);
	}
	check(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* A process that made the claim itself dies in the same ways. */
static int death_of_claimer(enum death how)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		ctl->claim(SIGSEGV, rnic_handler);
		ctl->claim(SIGBUS, rnic_handler);
		fault_of_rnic();
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
		if (how == BY_IGNORED_FAULT)
			check(signal(SIGSEGV, SIG_IGN) == SIG_DFL);
		if (how == BY_KILL)
			kill(getpid(), SIGSEGV);
		else if (how == BY_OTHER_FAULT)
			raise(SIGBUS);
		else
			touch(bad);
		_exit(0);
	}
	check(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void test_deaths(void)
{
	check(death_of_child(BY_FAULT) == SIGSEGV);
	check(death_of_child(BY_IGNORED_FAULT) == SIGSEGV);
	check(death_of_child(BY_KILL) == SIGSEGV);
	check(death_of_claimer(BY_FAULT) == SIGSEGV);
	check(death_of_claimer(BY_IGNORED_FAULT) == SIGSEGV);
	check(death_of_claimer(BY_KILL) == SIGSEGV);
	check(death_of_claimer(BY_OTHER_FAULT) == SIGBUS);
}

/* The child of a vfork() has its own handlers, but shares the memory that records its parent's. */
static void test_vfork(void)
{
	struct sigaction old;
	int status;
	pid_t pid;

	check(signal(SIGSEGV, note_simple) == SIG_DFL);
	pid = vfork();
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		_exit(0);
	}
	check(waitpid(pid, &status, 0) == pid && !status);
	check(!sigaction(SIGSEGV, NULL, &old) && old.sa_handler == note_simple);
	fault_of_rnic();
	check(signal(SIGSEGV, SIG_DFL) == note_simple);
}

/* Many handlers are set repeatedly, and each is read back. */
static void test_many(void)
{
	struct sigaction act = { .sa_sigaction = note, .sa_flags = SA_SIGINFO }, old;

	for (int i = 0; i < 300; i++) {
		sigemptyset(&act.sa_mask);
		for (int bit = 0; bit < 8; bit++)
			if (i >> bit & 1)
				sigaddset(&act.sa_mask, SIGRTMIN + bit);
		check(!sigaction(SIGSEGV, &act, NULL));
		check(!sigaction(SIGSEGV, NULL, &old));
		for (int bit = 0; bit < 8; bit++)
			check(sigismember(&old.sa_mask, SIGRTMIN + bit) == (i >> bit & 1));
	}
	check(signal(SIGSEGV, SIG_DFL) == (sighandler_t)(void *)note);
}

int main(void)
{
	alarm(60);
	guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	check(open("/dev/infiniband/uverbs0", O_RDWR) >= 0);
	ctl = fake();
	check(ctl);
	ctl->claim(SIGSEGV, rnic_handler);
	ctl->claim(SIGBUS, rnic_handler);
	test_ours();
	test_roundtrip();
	test_theirs();
	test_flags();
	test_stack();
	test_deaths();
	test_vfork();
	test_many();
	return 0;
}
