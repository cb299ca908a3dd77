/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* Copies into unmapped memory, their order, and the accesses permitted to the process. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "conformance/rows.h"
#include "fixture/take_away.h"
#include "net/memory.h"
#include "util/crc32c.h"

/* A sanitizer handles real faults itself. */
#if defined(__SANITIZE_ADDRESS__)
#define WITH_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_SANITIZER
#endif
#endif

static size_t page;
static struct sigaction guard[2]; /* SIGSEGV, SIGBUS */

/* cmocka installs its own handlers before each test. */
static void use_guard(void)
{
	sigaction(SIGSEGV, &guard[0], NULL);
	sigaction(SIGBUS, &guard[1], NULL);
}

static uint8_t *map(size_t pages)
{
	uint8_t *p = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static void test_copy(void **state)
{
	uint8_t *a = map(2), *b = map(2);

	use_guard();
	memset(a, 0x5a, 2 * page);
	for (size_t len = 0; len <= page; len = len * 2 + 1) {
		assert_int_equal(memory_copy(b + 1, a, len), 0);
		assert_memory_equal(b + 1, a, len);
	}
	munmap(a, 2 * page);
	munmap(b, 2 * page);
}

static void test_unmapped(void **state)
{
	static const size_t lens[] = { 1, 8, 63, 64, 100, 2000 };
	uint8_t *hole = map(3), buf[4096] = { 0 };

	use_guard();
	take_away(hole + page, page);
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		size_t len = lens[i];

		assert_int_equal(memory_copy(hole + page, buf, len), -EFAULT);
		assert_int_equal(memory_copy(buf, hole + page, len), -EFAULT);
		/* Only the last byte. */
		assert_int_equal(memory_copy(hole + page - len + 1, buf, len), -EFAULT);
		/* Only the first byte. */
		assert_int_equal(memory_copy(buf, hole + 2 * page - 1, len), -EFAULT);
		assert_int_equal(memory_copy(hole + page - len, buf, len), 0);
		assert_int_equal(memory_copy(hole + 2 * page, buf, len), 0);
	}
	munmap(hole, 3 * page);
}

/* Addresses of no page, which a command may contain. */
static void test_no_page(void **state)
{
	static const uint64_t addrs[] = {
		0,
		1,
#ifndef SCTPIW_SANITIZED /* AddressSanitizer's memcpy() reads its shadow, which has none here */
		UINT64_C(0x00007fffffffeff0),
		UINT64_C(0x00007ffffffffff8),
		UINT64_C(0x0000800000000000),
		UINT64_C(0x8000000000000000),
		UINT64_C(0xffff7ffffffffff8),
		UINT64_C(0xffffffffffffff00),
		UINT64_C(0xfffffffffffffff0),
#endif
	};
	static const size_t lens[] = { 1, 8, 64, 300 };
	char buf[300] = { 0 };

	use_guard();
	for (size_t i = 0; i < sizeof(addrs) / sizeof(addrs[0]); i++) {
		void *p = (void *)(uintptr_t)addrs[i];

		for (size_t j = 0; j < sizeof(lens) / sizeof(lens[0]); j++) {
			if (addrs[i] + lens[j] - 1 ==
			    UINT64_C(0x00007fffffffeff0)) /* the stack may begin below */
				continue;
			assert_int_equal(memory_copy(p, buf, lens[j]), -EFAULT);
			assert_int_equal(memory_copy(buf, p, lens[j]), -EFAULT);
		}
	}
}

/* Returns 0 if len bytes at p are readable. A checksum of the bytes must agree. */
static int readable(const uint8_t *p, size_t len)
{
	uint32_t crc = 0x12345678, want = crc;
	int ret = memory_probe(p, len);

	assert_int_equal(memory_crc32c(&crc, p, len), ret);
	if (!ret)
		want = crc32c_add(want, p, len);
	assert_int_equal(crc, want);
	return ret;
}

static void test_read(void **state)
{
	uint8_t *p = map(4);
	uint32_t crc = 0;

	use_guard();
	for (size_t i = 0; i < 4 * page; i++)
		p[i] = (uint8_t)(i * 7 + i / page);
	for (size_t start = 0; start < 9; start++)
		for (size_t len = 1; len <= 3 * page; len = len * 2 + start % 3)
			assert_int_equal(readable(p + start, len), 0);
	assert_int_equal(readable(p, 4 * page), 0);
	/* The checksum of the pieces equals the checksum of the whole. */
	assert_int_equal(memory_crc32c(&crc, p, 5), 0);
	assert_int_equal(memory_crc32c(&crc, p + 5, 0), 0);
	assert_int_equal(memory_crc32c(&crc, p + 5, 2 * page), 0);
	assert_int_equal(crc, crc32c(p, 5 + 2 * page));
	mprotect(p, 4 * page, PROT_READ);
	assert_int_equal(readable(p + 1, 4 * page - 1), 0);
	munmap(p, 4 * page);
}

/* Any page of a range may be unmapped, even if only one byte is on this page. */
static void test_read_hole(void **state)
{
	static const size_t edges[] = { 1, 2, 63, 64, 65, 1000 };

	use_guard();
	for (size_t hole = 1; hole <= 4; hole++) {
		uint8_t *p = map(6), *gone = p + hole * page;

		memset(p, 0x5a, 6 * page);
		if (hole % 2)
			take_away(gone, page);
		else
			mprotect(gone, page, PROT_NONE);
		for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
			size_t edge = edges[i];

			assert_int_equal(readable(p + page - edge, 4 * page + 2 * edge), -EFAULT);
			assert_int_equal(readable(gone - edge, edge), 0);
			assert_int_equal(readable(gone - edge, edge + 1), -EFAULT);
			assert_int_equal(readable(gone, edge), -EFAULT);
			assert_int_equal(readable(gone + page - edge, edge), -EFAULT);
			assert_int_equal(readable(gone + page - 1, edge), -EFAULT);
			assert_int_equal(readable(gone + page, edge), 0);
			assert_int_equal(readable(p + edge, gone - p - edge + 1), -EFAULT);
			assert_int_equal(readable(p + edge, gone - p - edge), 0);
		}
		assert_int_equal(readable(gone, page), -EFAULT);
		munmap(p, 6 * page);
	}
}

static void test_protected(void **state)
{
	uint8_t *p = map(1), buf[64] = { 1 };

	use_guard();
	mprotect(p, page, PROT_READ);
	assert_int_equal(memory_copy(p, buf, sizeof(buf)), -EFAULT);
	assert_int_equal(memory_copy(buf, p, sizeof(buf)), 0);
	mprotect(p, page, PROT_NONE);
	assert_int_equal(memory_copy(buf, p, sizeof(buf)), -EFAULT);
	munmap(p, page);
}

static void test_truncated(void **state)
{
	char name[] = "/tmp/test_memory.XXXXXX";
	int fd = mkstemp(name);
	uint8_t *p, buf[64] = { 1 };

	use_guard();
	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(ftruncate(fd, (off_t)page), 0);
	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(memory_copy(p, buf, sizeof(buf)), 0);
	assert_int_equal(readable(p, page), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(readable(p + 100, 1000), -EFAULT);
	assert_int_equal(memory_copy(p, buf, sizeof(buf)), -EFAULT);
	assert_int_equal(memory_copy(buf, p, sizeof(buf)), -EFAULT);
	munmap(p, page);
	close(fd);
}

static uint64_t add(uint64_t old, const void *arg)
{
	return old + *(const uint64_t *)arg;
}

static void test_atomic(void **state)
{
	uint64_t *p = (void *)map(1), one = 1, none = 0, old = 99;

	use_guard();
	p[1] = UINT64_MAX;
	assert_int_equal(memory_atomic(&p[1], add, &one, &old), 0);
	assert_true(old == UINT64_MAX && p[1] == 0 && p[0] == 0 && p[2] == 0);
	assert_int_equal(memory_atomic(&p[1], add, &one, &old), 0);
	assert_true(old == 0 && p[1] == 1);
	mprotect(p, page, PROT_READ);
	assert_int_equal(memory_atomic(&p[1], add, &one, &old), -EFAULT);
	assert_int_equal(memory_atomic(&p[1], add, &none, &old), -EFAULT);
	assert_true(p[1] == 1);
	take_away(p, page);
	assert_int_equal(memory_atomic(&p[1], add, &one, &old), -EFAULT);
}

/* Another thread adds to the word after each read, before the write. */
struct rival {
	uint64_t word;
	_Atomic bool turn, over;
	bool met; /* in this operation */
};

static void *rival_adds(void *arg)
{
	struct rival *r = arg;

	while (!r->over) {
		if (!r->turn) {
			sched_yield();
			continue;
		}
		__atomic_fetch_add(&r->word, 1000, __ATOMIC_SEQ_CST);
		r->turn = false;
	}
	return NULL;
}

static uint64_t add_in_between(uint64_t old, const void *arg)
{
	struct rival *r = *(struct rival *const *)arg;

	if (!r->met) {
		r->met = true;
		r->turn = true;
		while (r->turn)
			sched_yield();
	}
	return old + 1;
}

static void test_atomic_among_threads(void **state)
{
	struct rival rival = { .word = 0 }, *r = &rival;
	pthread_t thread;
	uint64_t old;

	use_guard();
	pthread_create(&thread, NULL, rival_adds, r);
	for (uint64_t i = 0; i < 100; i++) {
		r->met = false;
		assert_int_equal(memory_atomic(&r->word, add_in_between, &r, &old), 0);
		assert_true(old == i * 1001 + 1000);
	}
	r->over = true;
	pthread_join(thread, NULL);
	assert_true(r->word == 100 * 1001);
}

static int write_there(uint8_t *p)
{
	uint8_t buf[64] = { 0 };

	return memory_copy(p, buf, sizeof(buf));
}

static int read_there(uint8_t *p)
{
	uint8_t buf[64];

	return memory_copy(buf, p, sizeof(buf));
}

static int probe_there(uint8_t *p)
{
	return memory_probe(p, 64);
}

static int crc_there(uint8_t *p)
{
	uint32_t crc = 0;

	return memory_crc32c(&crc, p, 64);
}

static int (*const accesses[])(uint8_t *p) = { write_there, read_there, probe_there, crc_there };

#define ACCESSES (sizeof(accesses) / sizeof(accesses[0]))

/* Threads that block every signal are common. */
static void *blocked_thread(void *arg)
{
	size_t first = *(const size_t *)arg;
	uint8_t *p = map(1);
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	take_away(p, page);
	for (size_t i = 0; i < 2 * ACCESSES; i++)
		if (accesses[(first + i / 2) % ACCESSES](p) != -EFAULT)
			return p;
	return NULL;
}

static void test_blocked_signals(void **state)
{
	pthread_t thread;
	void *ret;

	use_guard();
	for (size_t first = 0; first < ACCESSES; first++) {
		pthread_create(&thread, NULL, blocked_thread, &first);
		pthread_join(thread, &ret);
		assert_null(ret);
	}
}

static void forward(int sig, siginfo_t *info, void *context)
{
	guard[sig == SIGBUS].sa_sigaction(sig, info, context);
}

/* A handler that forwards the signal to the guard may block it meanwhile. */
static void test_blocked_in_handler(void **state)
{
	struct sigaction sa = { .sa_sigaction = forward, .sa_flags = SA_SIGINFO };
	uint8_t *p = map(1);

	sigfillset(&sa.sa_mask);
	sigaction(SIGSEGV, &sa, NULL);
	take_away(p, page);
	for (size_t i = 0; i < 2 * ACCESSES; i++)
		assert_int_equal(accesses[i / 2](p), -EFAULT);
	use_guard();
}

static int run_child(void (*fn)(void))
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void true_fault(void)
{
	uint8_t *p = map(1);

	take_away(p, page);
	*(volatile uint8_t *)p = 1;
}

#ifndef WITH_SANITIZER
static void sent_fault(void)
{
	raise(SIGSEGV);
}
#endif

static jmp_buf env;

static void own_handler(int sig)
{
	longjmp(env, 1);
}

static void fault_after_own_handler(void)
{
	struct sigaction sa = { .sa_handler = own_handler, .sa_flags = SA_NODEFER };
	uint8_t buf[8];
	uint8_t *p = map(1);

	take_away(p, page);
	if (memory_copy(p, buf, sizeof(buf)) != -EFAULT)
		_exit(1);
	sigaction(SIGSEGV, &sa, NULL);
	if (!setjmp(env)) {
		true_fault();
		_exit(2);
	}
}

static int (*last)(uint8_t *p);
static volatile int returned;

/* A successful access is over: a later fault there is not the guard's. */
static void fault_afterwards(void)
{
	uint8_t *p = map(1);

	if (last(p))
		_exit(3);
	take_away(p, page);
	if (returned++) /* a jump into that access, which returns here */
		_exit(3);
	*(volatile uint8_t *)p = 1;
}

/* A failed access is over as well. */
static void fault_again(void)
{
	uint8_t *p = map(1);

	take_away(p, page);
	if (last(p) != -EFAULT || returned++)
		_exit(3);
	*(volatile uint8_t *)p = 1;
}

/* An access of one thread does not guard another thread. */
static void *fault_beside(void *arg)
{
	*(volatile uint8_t *)arg = 1;
	return NULL;
}

static void fault_in_thread(void)
{
	uint8_t *p = map(64);
	pthread_t thread;

	mprotect(p + 63 * page, page, PROT_NONE);
	pthread_create(&thread, NULL, fault_beside, p + 63 * page);
	for (;;)
		if (last(p + 63 * page) != -EFAULT)
			_exit(3);
}

/* An unrelated fault kills the process as usual. */
static void test_others(void **state)
{
	static void (*const faults[])(void) = { fault_afterwards, fault_again, fault_in_thread };
	int status;

	use_guard();
	for (size_t i = 0; i < ACCESSES * 3; i++) {
		last = accesses[i / 3];
		status = run_child(faults[i % 3]);
#ifndef WITH_SANITIZER
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
#endif
		assert_true(status && !(WIFEXITED(status) && WEXITSTATUS(status) == 3));
	}
	status = run_child(true_fault);
#ifndef WITH_SANITIZER
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	status = run_child(sent_fault);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
#endif
	assert_int_not_equal(status, 0);
	assert_int_equal(run_child(fault_after_own_handler), 0);
}

static int check(const void *p, size_t len, bool write)
{
	return memory_check((uint64_t)(uintptr_t)p, len, write);
}

static void test_check(void **state)
{
	ROWS("5041-8.3-05 5041-8.3.2-05 5042-2.2.2-01 5042-7.3-01");
	uint8_t *p = map(4), stack[100] = { 0 };

	assert_int_equal(check(p, 4 * page, true), 0);
	assert_int_equal(check(stack, sizeof(stack), true), 0);
	assert_int_equal(check("constant", 8, false), 0);
	assert_int_equal(check("constant", 8, true), -EFAULT);
	/* Adjacent mappings are one range. */
	mprotect(p + page, page, PROT_READ);
	assert_int_equal(check(p, 4 * page, false), 0);
	assert_int_equal(check(p, 4 * page, true), -EFAULT);
	assert_int_equal(check(p, page, true), 0);
	assert_int_equal(check(p + 2 * page, 2 * page, true), 0);
	mprotect(p + page, page, PROT_NONE);
	assert_int_equal(check(p, 4 * page, false), -EFAULT);
	take_away(p + page, page);
	assert_int_equal(check(p, 4 * page, false), -EFAULT);
	assert_int_equal(check(p, page, false), 0);
	assert_int_equal(check(p, page + 1, false), -EFAULT);
	assert_int_equal(check(NULL, 1, false), -EFAULT);
	assert_int_equal(check(NULL, 0, false), 0);
	assert_int_equal(memory_check(UINT64_MAX - 5, 10, false), -EFAULT);
	assert_int_equal(memory_check(UINT64_MAX / 2 + 1, 10, false), -EFAULT);
	munmap(p, 4 * page);
}

/*
 * A copy that meets the end of the memory shows its order: all earlier bytes were written. This
 * test must be the last.
 */
static void test_ascending(void **state)
{
	uint8_t from[300], *p = map(2), *end = p + page;

	use_guard();
	memory_copy_ascending();
	memset(from, 0xa5, sizeof(from));
	take_away(end, page);
	for (size_t len = 1; len <= sizeof(from); len += len < 20 ? 1 : 40) {
		for (size_t before = 1; before <= len; before += 3) {
			memset(end - before - 1, 0, before + 1);
			assert_int_equal(memory_copy(end - before, from, len),
					 before < len ? -EFAULT : 0);
			assert_memory_equal(end - before, from, before);
			assert_int_equal(end[-(ptrdiff_t)before - 1], 0);
		}
	}
	munmap(p, page);
}

struct gaps {
	uint64_t bytes[4]; /* start and end of each */
	unsigned int n;
};

static void note_gap(uint64_t start, uint64_t end, void *arg)
{
	struct gaps *g = arg;

	assert_in_range(g->n, 0, 2);
	g->bytes[g->n++] = start;
	g->bytes[g->n++] = end;
}

/* Unmapped parts of a range are reported by page, within the range. */
static void test_gaps(void **state)
{
	uint8_t *p = map(5);
	uint64_t at = (uintptr_t)p;
	struct gaps g = { .n = 0 };

	memory_gaps(at, at + 5 * page, note_gap, &g);
	assert_int_equal(g.n, 0);
#ifndef WITH_SANITIZER /* the sanitizer maps its own memory in the gaps */
	assert_int_equal(munmap(p + page, page), 0);
	assert_int_equal(munmap(p + 4 * page, page), 0);
	memory_gaps(at + 1, at + 5 * page, note_gap, &g);
	assert_int_equal(g.n, 4);
	assert_int_equal(g.bytes[0], at + page);
	assert_int_equal(g.bytes[1], at + 2 * page);
	assert_int_equal(g.bytes[2], at + 4 * page);
	assert_int_equal(g.bytes[3], at + 5 * page);
	g.n = 0;
	memory_gaps(at + 1, at + 4 * page - 1, note_gap, &g);
	assert_int_equal(g.n, 2);
	assert_int_equal(g.bytes[1], at + 2 * page);
#endif
	munmap(p, 5 * page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_unmapped),
		cmocka_unit_test(test_no_page),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_read_hole),
		cmocka_unit_test(test_protected),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_blocked_signals),
		cmocka_unit_test(test_blocked_in_handler),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_ascending),
		cmocka_unit_test(test_atomic),
		cmocka_unit_test(test_atomic_among_threads),
	};

	page = (size_t)sysconf(_SC_PAGESIZE);
	if (memory_guard())
		return 1;
	sigaction(SIGSEGV, NULL, &guard[0]);
	sigaction(SIGBUS, NULL, &guard[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
