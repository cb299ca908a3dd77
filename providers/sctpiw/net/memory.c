/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The application may unmap, protect or truncate a registered range at any time. So copies,
 * checksums and atomics run under a guard: a fault at a guarded address makes the function return
 * -EFAULT. Any other fault is passed to the previous signal handler.
 */
#define _GNU_SOURCE
#include "net/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log/log.h"
#include "util/crc32c.h"
#include "util/unordered.h"

struct copy_guard {
	/*
	 * For __builtin_setjmp(), which saves only three registers. The compiler saves others if
	 * needed. libc's setjmp() would take twice as long as a small copy.
	 */
	void *env[5];
	uintptr_t dst, src;
	size_t len;
};

/* Initial-exec TLS, since a signal handler must not allocate thread-local storage. */
#define GUARD_TLS __thread __attribute__((tls_model("initial-exec")))
static GUARD_TLS struct copy_guard *volatile active;
static GUARD_TLS bool unblocked;

static struct sigaction previous[2]; /* SIGSEGV, SIGBUS */

/*
 * Unblocks both signals: a fault kills the process if its signal is blocked, and many threads block
 * all signals. Unblocking does no harm, since no thread blocks these signals in order to be killed
 * by a fault. After a fault this runs again, because the jump out of the handler leaves the signal
 * mask of the handler.
 */
static void unblock_faults(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigaddset(&set, SIGBUS);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	unblocked = true;
}

/* Granularity of the reported address of a fault, in bytes. s390x reports only the page. */
#ifdef __s390x__
#define FAULT_UNIT 4096u
#else
#define FAULT_UNIT 1u
#endif

/*
 * The bits of an address without the tag. The processor ignores the tag, and arm64 leaves it out of
 * the address of a fault.
 */
#ifdef __aarch64__
#define ADDRESS_MASK (UINTPTR_MAX >> 8)
#else
#define ADDRESS_MASK UINTPTR_MAX
#endif

/*
 * True if the kernel reports the address of a fault in this range. For a fault outside user space,
 * x86 reports no address, and User-Mode Linux reports a wrong address.
 */
static bool is_told(uintptr_t start, size_t len)
{
#ifdef __x86_64__
	return !(start >> 47) && !((start + len) >> 47);
#else
	return true;
#endif
}

/* True if a fault may be in [start, start + len). */
static bool in_range(const siginfo_t *info, uintptr_t start, size_t len)
{
	uintptr_t addr = (uintptr_t)info->si_addr & ADDRESS_MASK;

	if (!is_told(start, len))
		return true;
	start &= ADDRESS_MASK;
	return addr >= start ? addr - start < len : start - addr < FAULT_UNIT;
}

/* Returns false if no guarded access caused the fault. Otherwise jumps out, and does not return. */
static bool on_fault(int sig, siginfo_t *info, void *context)
{
	struct copy_guard *guard = active;

	/* si_code <= 0: a process has sent the signal, so no access has faulted. */
	if (!guard || info->si_code <= 0 ||
	    (!in_range(info, guard->dst, guard->len) && !in_range(info, guard->src, guard->len)))
		return false;
	active = NULL;
	__builtin_longjmp(guard->env, 1);
}

static void handler(int sig, siginfo_t *info, void *context)
{
	struct sigaction *prev = &previous[sig == SIGBUS];
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	int saved = errno;

	if (on_fault(sig, info, context))
		return;
	if (prev->sa_flags & SA_SIGINFO) {
		prev->sa_sigaction(sig, info, context);
	} else if (prev->sa_handler != SIG_DFL && prev->sa_handler != SIG_IGN) {
		prev->sa_handler(sig);
	} else if (prev->sa_handler == SIG_DFL || info->si_code > 0) {
		/*
		 * A real fault recurs after the return. A signal that was sent must be sent again.
		 */
		sigaction(sig, &dfl, NULL);
		if (info->si_code <= 0)
			syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), sig);
	}
	errno = saved;
}

static int install(int sig, struct sigaction *prev)
{
	struct sigaction sa = {
		.sa_sigaction = handler,
		.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK,
	};

	sigemptyset(&sa.sa_mask);
	return sigaction(sig, &sa, prev) ? -errno : 0;
}

static int install_error;

static void install_once(void)
{
	install_error = install(SIGSEGV, &previous[0]);
	if (!install_error)
		install_error = install(SIGBUS, &previous[1]);
}

static bool ascending;

void memory_copy_ascending(void)
{
	ascending = true;
}

/*
 * ThreadSanitizer replaces memcpy() by a function that records state of the thread during a copy. After
 * a jump out of the copy, this state would stay, and cause false reports.
 */
static void avoid_memcpy_of_tsan(void)
{
	if (dlsym(RTLD_DEFAULT, "__tsan_init"))
		ascending = true;
}

/* The child of fork() inherits the signal handler, but must claim the signals again. */
static int guard_process(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int (*claim)(int, bool (*)(int, siginfo_t *, void *));
	int ret;

	avoid_memcpy_of_tsan();
	*(void **)&claim = dlsym(RTLD_DEFAULT, "sctpiw_sigchain_claim");
	if (claim) {
		ret = claim(SIGSEGV, on_fault);
		return ret ? ret : claim(SIGBUS, on_fault);
	}
	pthread_once(&once, install_once);
	return install_error;
}

int memory_guard(void)
{
	static _Atomic pid_t guarded;
	pid_t pid = getpid();
	int ret;

	if (atomic_load_explicit(&guarded, memory_order_acquire) == pid)
		return 0;
	ret = guard_process();
	if (ret)
		log_error("cannot handle memory faults: %s", strerror(-ret));
	else
		atomic_store_explicit(&guarded, pid, memory_order_release);
	return ret;
}

#ifndef MADV_POPULATE_READ /* since Linux 5.14 */
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

int memory_populate(uint64_t addr, uint64_t len, bool write)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t start = addr / page * page;

	if (!len || !madvise((void *)(uintptr_t)start, addr + len - start,
			     write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ))
		return 0;
	/* EINVAL: the access right is missing, or the kernel lacks MADV_POPULATE_*. */
	if (errno == EINVAL)
		return memory_check(addr, len, write);
	return -EFAULT;
}

/*
 * Copies in ascending order with release stores. A thread of the application that reads a value
 * with acquire then also sees all earlier stores, including those of earlier copies. On x86 every
 * store is a release store. ARM has a special instruction, and reorders other stores.
 */
static UNORDERED __attribute__((noinline)) void copy_up(void *dst, const void *src, size_t len)
{
	const uint8_t *from = src;
	uint8_t *to = dst;
	uint64_t word;

	for (; len && (uintptr_t)to % sizeof(word); len--)
		atomic_store_explicit((_Atomic uint8_t *)to++, *from++, memory_order_release);
	for (; len >= sizeof(word); len -= sizeof(word)) {
		memcpy(&word, from, sizeof(word));
		atomic_store_explicit((_Atomic uint64_t *)(void *)to, word, memory_order_release);
		to += sizeof(word);
		from += sizeof(word);
	}
	for (; len; len--)
		atomic_store_explicit((_Atomic uint8_t *)to++, *from++, memory_order_release);
}

static void prepare(struct copy_guard *guard, const void *dst, const void *src, size_t len)
{
	if (__builtin_expect(!unblocked, 0))
		unblock_faults();
	guard->dst = (uintptr_t)dst;
	guard->src = (uintptr_t)src;
	guard->len = len;
}

/*
 * Copies small messages too, so it does not use guarded(), which costs another call. dst or src may
 * be NULL: the access faults as at any other unmapped address.
 */
__attribute__((no_sanitize("undefined"))) int memory_copy(void *dst, const void *src, size_t len)
{
	struct copy_guard guard;

	prepare(&guard, dst, src, len);
	if (__builtin_expect(__builtin_setjmp(guard.env), 0)) {
		unblock_faults();
		return -EFAULT;
	}
	active = &guard;
	/* These fences keep the compiler from moving the copy out of the guarded section. */
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(ascending, 0))
		copy_up(dst, src, len);
	else
		memcpy(dst, src, len);
	atomic_signal_fence(memory_order_seq_cst);
	active = NULL;
	return 0;
}

/* Runs fn(arg), which accesses len bytes at memory. Returns 0, or -EFAULT if fn() faulted there. */
static int guarded(const void *memory, size_t len, void (*fn)(void *arg), void *arg)
{
	struct copy_guard guard;

	prepare(&guard, memory, memory, len);
	if (__builtin_expect(__builtin_setjmp(guard.env), 0)) {
		unblock_faults();
		return -EFAULT;
	}
	active = &guard;
	atomic_signal_fence(memory_order_seq_cst);
	fn(arg);
	atomic_signal_fence(memory_order_seq_cst);
	active = NULL;
	return 0;
}

struct range {
	const uint8_t *start;
	size_t len;
	uint32_t crc;
};

static UNORDERED void touch_pages(void *arg)
{
	const struct range *r = arg;
	const uint8_t *last = r->start + r->len - 1;

	for (const volatile uint8_t *p = r->start; p <= last; p += 4096)
		(void)*p;
	(void)*(const volatile uint8_t *)last;
}

int memory_probe(const void *src, size_t len)
{
	struct range r = { .start = src, .len = len };

	return guarded(src, len, touch_pages, &r);
}

static void add_crc(void *arg)
{
	struct range *r = arg;

	r->crc = crc32c_add(r->crc, r->start, r->len);
}

int memory_crc32c(uint32_t *crc, const void *src, size_t len)
{
	struct range r = { .start = src, .len = len, .crc = *crc };
	int ret = guarded(src, len, add_crc, &r);

	if (!ret)
		*crc = r.crc;
	return ret;
}

struct change {
	_Atomic uint64_t *word;
	uint64_t (*next)(uint64_t old, const void *arg);
	const void *arg;
	uint64_t old;
};

static UNORDERED void change_word(void *arg)
{
	struct change *c = arg;

	c->old = atomic_load_explicit(c->word, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(c->word, &c->old, c->next(c->old, c->arg)))
		;
}

int memory_atomic(uint64_t *word, uint64_t (*next)(uint64_t old, const void *arg), const void *arg,
		  uint64_t *old)
{
	struct change c = { .word = (_Atomic uint64_t *)word, .next = next, .arg = arg };
	int ret = guarded(word, sizeof(*word), change_word, &c);

	if (!ret)
		*old = c.old;
	return ret;
}
