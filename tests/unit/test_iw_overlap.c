/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* VALGRIND: yes */
/*
 * Messages to the same memory in any order of arrival (iwarp/overlap.c). At any time, each byte
 * comes from the last one of the arrived messages, in sending order.
 */
#include "fixture/iw_script.h"
#include "iwarp/mr.h"
#include "iwarp/terminate.h"

#define MESSAGES 40
#define AREA 400u /* bytes of x.mem that are written */
#define WINDOW 90 /* bytes before the area in a second region */

static uint64_t seed;

static uint32_t rnd(uint32_t n)
{
	return (uint32_t)(fx_next(&seed) >> 20) % n;
}

struct write {
	uint32_t at, len;
	uint8_t data[AREA];
	bool alias; /* through the second region */
	bool arrived;
};

static void make_writes(struct write *w)
{
	for (unsigned int i = 0; i < MESSAGES; i++) {
		w[i].len = rnd(3) ? rnd(20) : rnd(AREA);
		w[i].at = rnd(AREA - w[i].len);
		w[i].alias = !rnd(3);
		w[i].arrived = false;
		for (uint32_t k = 0; k < w[i].len; k++)
			w[i].data[k] = (uint8_t)(1 + rnd(255));
	}
}

static void check_memory(const struct fx *x, const struct write *w)
{
	uint8_t want[AREA] = { 0 };

	for (unsigned int i = 0; i < MESSAGES; i++)
		if (w[i].arrived)
			memcpy(want + w[i].at, w[i].data, w[i].len);
	assert_memory_equal(x->mem + 100, want, AREA);
	assert_int_equal(x->mem[99] | x->mem[100 + AREA], 0);
}

static void any_order(void **state)
{
	static struct write w[MESSAGES];

	ROWS("5041-5.1.1-01 5041-5.3-05");
	for (uint64_t n = 1; n <= 300; n++) {
		uint32_t ahead = n % 4 ? 1 + (uint32_t)n % MESSAGES : MESSAGES;
		unsigned int first = 0;
		struct iw_mr *alias;
		struct fx x;

		seed = n * 0x9e3779b97f4a7c15ull;
		open_session(&x, 4, 4);
		if (n % 3 == 0) /* the DDP-SSNs wrap */
			while (x.ssn != (uint16_t)-10)
				in(&x, "c1 40 00000000 0000000000000000");
		assert_int_equal(iw_mr_new(x.pd, x.base + 100 - WINDOW, AREA + WINDOW, 0,
					   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE, NULL,
					   &alias),
				 0);
		make_writes(w);
		while (first < MESSAGES) {
			unsigned int i = first + rnd(ahead);

			if (i >= MESSAGES || w[i].arrived)
				continue;
			in_at(&x, (uint16_t)(x.ssn + i), "c1 40 %w %q %b",
			      w[i].alias ? iw_mr_stag(alias) : x.stag,
			      w[i].alias ? (uint64_t)WINDOW + w[i].at : x.base + 100 + w[i].at,
			      w[i].data, (size_t)w[i].len);
			w[i].arrived = true;
			check_memory(&x, w);
			while (first < MESSAGES && w[first].arrived)
				first++;
		}
		fx_no_event(&x);
		iw_mr_free(alias);
		fx_stop(&x);
	}
}

/* Two RDMA Reads into the same bytes: the data of the second one remains. */
static void responses(void **state)
{
	struct fx x;

	open_session(&x, 4, 4);
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base + 8, 4, 0x99, 1000, 0);
	fx_post(&x, 2, IW_WR_RDMA_READ, x.base + 8, 4, 0x99, 1000, 0);
	while (fx_pull(&x))
		;
	in_at(&x, (uint16_t)(x.ssn + 1), "c1 42 %w %q 'next'", x.stag, x.base + 8);
	assert_memory_equal(x.mem + 8, "next", 4);
	in_at(&x, x.ssn, "c1 42 %w %q 'prev'", x.stag, x.base + 8);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	fx_expect_cqe(&x, 2, IW_WC_SUCCESS);
	assert_memory_equal(x.mem + 8, "next", 4);
	fx_stop(&x);
}

/* Access rights are checked for all bytes, even if none of them is still placed. */
static void refused_all_the_same(void **state)
{
	struct iw_mr *other;
	struct fx x;

	open_session(&x, 4, 4);
	assert_int_equal(iw_mr_new(x.pd, x.base, 100, 0, IW_ACCESS_REMOTE_READ, NULL, &other), 0);
	in_at(&x, (uint16_t)(x.ssn + 1), "c1 40 %w %q 'next'", x.stag, x.base + 8);
	in_at(&x, x.ssn, "c1 40 %w %q 'prev'", iw_mr_stag(other), (uint64_t)8);
	assert_memory_equal(x.mem + 8, "next", 4);
	assert_true(fx_event(&x, IW_EVENT_QP_ACCESS).qp == x.qp);
	iw_mr_free(other);
	fx_stop(&x);
}

/*
 * The region of the later message was deregistered: its bytes no longer take precedence, and it is
 * not accessed.
 */
static void deregistered(void **state)
{
	struct iw_mr *other;
	struct fx x;

	open_session(&x, 4, 4);
	assert_int_equal(iw_mr_new(x.pd, x.base, 100, 0,
				   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE, NULL, &other),
			 0);
	in_at(&x, (uint16_t)(x.ssn + 1), "c1 40 %w %q 'next'", iw_mr_stag(other), (uint64_t)8);
	iw_mr_free(other);
	in_at(&x, x.ssn, "c1 40 %w %q 'first'", x.stag, x.base + 8);
	assert_memory_equal(x.mem + 8, "first", 5);
	fx_no_event(&x);
	fx_stop(&x);
}

/* The application unmapped memory, and a part of the message is for that memory. */
static void unmapped(void **state)
{
	struct fx x;

	open_session(&x, 4, 4);
	in_at(&x, (uint16_t)(x.ssn + 1), "c1 40 %w %q 'middle'", x.stag, x.base + 108);
	fx_hole = x.mem + 116;
	fx_hole_len = 4;
	in_at(&x, x.ssn, "c1 40 %w %q '01234567--------ABCD'", x.stag, x.base + 100);
	assert_memory_equal(x.mem + 108, "middle", 6);
	assert_true(fx_event(&x, IW_EVENT_QP_ACCESS).qp == x.qp);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order),
		cmocka_unit_test(responses),
		cmocka_unit_test(refused_all_the_same),
		cmocka_unit_test(deregistered),
		cmocka_unit_test(unmapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
