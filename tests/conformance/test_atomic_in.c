/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* Atomics from the peer (RFC 7306 5, 8.2, 9): execution, responses, refusals. */
#include "fixture/iw_script.h"

#include "iwarp/atomic.h"
#include "iwarp/mr.h"
#include "iwarp/sq.h"
#include "wire/rdmap.h"
#include "wire/session.h"
#include "wire/terminate.h"

/*
 * The figure of RFC 7306 A.1: MSN, reserved bits and AOpCode, identifier, STag, TO. Data and masks
 * follow.
 */
#define ATOMIC_SEGMENT "41 4A 00000000  00000001 %w 00000000  %w %w %w %q "
#define ADD "%q %q 0000000000000000 FFFFFFFFFFFFFFFF"
#define SWAP "%q %q %q %q"
#define ID 0xcafebabe
#define RESPONSE "41 4B 00000000  00000003 %w 00000000  %w %q"

static uint64_t *word(const struct fx *x, unsigned int i)
{
	return (uint64_t *)(void *)x->mem + i;
}

/* A word in this host's byte order, for %b of a script. */
#define IN_MEMORY(value) (const void *)&(uint64_t){ value }, sizeof(uint64_t)

static void open_words(struct fx *x, uint32_t ird)
{
	open_session(x, ird, 0);
	x->mr->access |= IW_ACCESS_REMOTE_ATOMIC;
}

static void fetch_add(struct fx *x, uint32_t msn, uint64_t to, uint64_t data, uint64_t mask)
{
	in(x, ATOMIC_SEGMENT ADD, msn, 0u, ID + msn, x->stag, to, data, mask);
}

static void cmp_swap(struct fx *x, uint32_t msn, uint64_t to, uint64_t swap, uint64_t swap_mask,
		     uint64_t compare, uint64_t compare_mask)
{
	in(x, ATOMIC_SEGMENT SWAP, msn, 2u, ID + msn, x->stag, to, swap, swap_mask, compare,
	   compare_mask);
}

static void adds(void **state)
{
	ROWS("7306-1.1-02 7306-5.1.1-04 7306-5.1.1-05 7306-5.1.1-06 7306-5-05 7306-5.2.1-01"
	     " 7306-5.2.2-01 7306-5.2.2-02 7306-4-02 7306-4-03 7306-4-04 7306-4.1-07 7306-4.2-01"
	     " 7306-5.2.1-14 7306-5.2.1-04 7306-4.1-01 7306-4.1-02");
	static const struct {
		uint64_t before, data, mask, after;
	} cases[] = {
		{ 5, 1, 0, 6 },
		{ 5, 0, 0, 5 }, /* a probe of the value */
		{ UINT64_MAX, 1, 0, 0 },
		{ 0xffffffff, 1, 0, 0x100000000 },
		{ 0xffffffff, 1, 0x8000000080000000, 0 },
		{ 0x00ff00ff00ff00ff, 0x0001000100010001, 0x8000800080008000, 0x0100010001000100 },
		{ 0xffffffffffffffff, 0x0001000100010001, 0x8000800080008000, 0 },
		{ 0xffffffffffffffff, 0x0101010101010101, 0x8080808080808080, 0 },
		{ 0xf0f0f0f0f0f0f0f0, 0xffffffffffffffff, UINT64_MAX, 0x0f0f0f0f0f0f0f0f },
		{ 7, 1, 4, 0 }, /* fields of 3 and 61 bits */
	};
	struct fx x;

	open_words(&x, 4);
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		*word(&x, 3) = cases[i].before;
		fetch_add(&x, i + 1, x.base + 24, cases[i].data, cases[i].mask);
		out(&x, RESPONSE, i + 1, ID + i + 1, cases[i].before);
		assert_int_equal(x.out_len, 2 + 30);
		assert_true(*word(&x, 3) == cases[i].after);
		assert_true(*word(&x, 2) == 0 && *word(&x, 4) == 0);
		silent(&x);
	}
	fx_no_event(&x);
	fx_stop(&x);
}

/* FetchAdd bit by bit, as the RFC defines it. */
static uint64_t add_by_the_book(uint64_t old, uint64_t data, uint64_t mask)
{
	uint64_t sum = 0, carry = 0;

	for (unsigned int bit = 0; bit < 64; bit++) {
		uint64_t here = 1ull << bit;
		uint64_t n = carry + (old >> bit & 1) + (data >> bit & 1);

		if (n & 1)
			sum |= here;
		carry = n >> 1 && !(mask & here);
	}
	return sum;
}

static uint64_t swap_by_the_book(uint64_t old, const struct rdmap_atomic_request *r)
{
	if (!((r->compare ^ old) & r->compare_mask))
		return (old & ~r->mask) | (r->data & r->mask);
	return old;
}

static void any_masks(void **state)
{
	ROWS("7306-5.1.1-05 7306-5.1.2-01 7306-5.1.2-02");
	uint64_t seed = 4711;

	for (unsigned int i = 0; i < 100000; i++) {
		uint64_t old = fx_next(&seed);
		struct rdmap_atomic_request r = { .data = fx_next(&seed),
						  .mask = fx_next(&seed),
						  .compare = fx_next(&seed) };

		if (i % 3 == 0) /* few fields only */
			r.mask &= fx_next(&seed) & fx_next(&seed) & fx_next(&seed);
		if (i % 7 == 0)
			r.compare = old;
		r.compare_mask = i % 2 ? fx_next(&seed) & fx_next(&seed) & fx_next(&seed) :
					 UINT64_MAX;
		assert_true(iw_atomic_next(old, &r) == add_by_the_book(old, r.data, r.mask));
		r.opcode = RDMAP_CMP_SWAP;
		assert_true(iw_atomic_next(old, &r) == swap_by_the_book(old, &r));
	}
}

static void swaps(void **state)
{
	ROWS("7306-5.1.2-01 7306-5.1.2-02 7306-5.1.2-03 7306-5-01 7306-5.2.1-03");
	static const struct {
		uint64_t before, swap, swap_mask, compare, compare_mask, after;
	} cases[] = {
		{ 1, 2, UINT64_MAX, 1, UINT64_MAX, 2 },
		{ 1, 2, UINT64_MAX, 3, UINT64_MAX, 1 },
		{ 0x1122334455667788, 0xaa00, 0xff00, 0x88, 0xff, 0x112233445566aa88 },
		{ 0x1122334455667788, 0xaa00, 0xff00, 0x89, 0xff, 0x1122334455667788 },
		{ 0x1122334455667788, 9, UINT64_MAX, 4711, 0, 9 }, /* compares nothing */
		{ 0x1122334455667788, 9, 0, 0, 0, 0x1122334455667788 },
	};
	struct fx x;

	open_words(&x, 1);
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		*word(&x, 0) = cases[i].before;
		cmp_swap(&x, i + 1, x.base, cases[i].swap, cases[i].swap_mask, cases[i].compare,
			 cases[i].compare_mask);
		out(&x, RESPONSE, i + 1, ID + i + 1, cases[i].before);
		assert_true(*word(&x, 0) == cases[i].after);
	}
	fx_stop(&x);
}

static void what_does_not_count(void **state)
{
	ROWS("7306-5.2.1-02 7306-5.2.1-06 7306-4.1-03");
	struct iw_cqe cqe;
	struct fx x;

	open_words(&x, 4);
	*word(&x, 0) = 40;
	/*
	 * Reserved bits, an Invalidate STag, and Compare Data and Mask of a FetchAdd are ignored.
	 */
	in(&x,
	   "7D 7A %w  00000001 00000001 00000000  FFFFFFF0 00000007 %w %q "
	   "0000000000000002 0000000000000000 1111111111111111 2222222222222222",
	   x.stag, x.stag, x.base);
	out(&x, RESPONSE, 1u, 7u, (uint64_t)40);
	assert_true(*word(&x, 0) == 42);
	fx_post_recv(&x, 1, 0, 0, 0);
	in(&x, "7D 78 %w  00000000 00000001 00000000  00000001 00000002", x.stag);
	cqe = fx_cqe(&x);
	assert_int_equal(cqe.status, IW_WC_SUCCESS);
	assert_int_equal(cqe.flags, IW_WC_WITH_IMM);
	in(&x, "C1 40 %w %q 'alive'", x.stag, x.base);
	assert_memory_equal(x.mem, "alive", 5);
	fx_stop(&x);
}

/*
 * Atomics are executed in order, whatever the order of their packets, and only after earlier
 * messages have arrived.
 */
static void order(void **state)
{
	ROWS("7306-5.2.1-13 7306-5.2.2-07 7306-5.4-02 7306-7-04 7306-5.2.1-07");
	struct fx x;

	open_words(&x, 4);
	in_at(&x, 3, ATOMIC_SEGMENT SWAP, 2u, 2u, 22u, x.stag, x.base, (uint64_t)8, UINT64_MAX,
	      (uint64_t)7, UINT64_MAX);
	in_at(&x, 2, ATOMIC_SEGMENT SWAP, 1u, 2u, 11u, x.stag, x.base, (uint64_t)7, UINT64_MAX,
	      (uint64_t)6, UINT64_MAX);
	silent(&x);
	assert_true(*word(&x, 0) == 0);
	in_at(&x, 1, "C1 40 %w %q %b", x.stag, x.base, IN_MEMORY(6));
	out(&x, RESPONSE, 1u, 11u, (uint64_t)6);
	out(&x, RESPONSE, 2u, 22u, (uint64_t)7);
	assert_true(*word(&x, 0) == 8);
	silent(&x);
	fx_stop(&x);
}

/* The 52 octets of a request arrive in several segments, in any order. */
static void in_pieces(void **state)
{
	ROWS("7306-5.2.1-08");
	uint8_t body[52];
	struct fx x;

	open_words(&x, 2);
	*word(&x, 1) = 100;
	script_bytes(body, "00000000 00000009 %w %q " ADD, x.stag, x.base + 8, (uint64_t)5,
		     (uint64_t)0);
	in_at(&x, 2, "01 4A 00000000  00000001 00000001 00000014 %b", body + 20, (size_t)20);
	in_at(&x, 3, "41 4A 00000000  00000001 00000001 00000028 %b", body + 40, (size_t)12);
	silent(&x);
	in_at(&x, 1, "01 4A 00000000  00000001 00000001 00000000 %b", body, (size_t)20);
	out(&x, RESPONSE, 1u, 9u, (uint64_t)100);
	assert_true(*word(&x, 1) == 105);
	/* The next request, a read, gets none of these octets. */
	x.ssn = 4;
	in(&x, READ_SEGMENT("00000002", "00000008 %w %q"), x.stag, x.base + 8);
	out(&x, "C1 42 DEADBEEF 0123456789ABCDEF %b", IN_MEMORY(105));
	fx_stop(&x);
}

/* Atomics and reads share one queue of IRD entries. Responses are sent in order. */
static void with_reads(void **state)
{
	ROWS("7306-5.2-01 7306-5.2.2-03 7306-7-03 7306-5.2.1-08");
	struct fx x;

	open_words(&x, 4);
	for (uint32_t round = 0; round < 3; round++) {
		uint32_t msn = 1 + 4 * round;

		in(&x, READ_SEGMENT("%w", "00000008 %w %q"), msn, x.stag, x.base);
		fetch_add(&x, msn + 1, x.base, 1, 0);
		in(&x, READ_SEGMENT("%w", "00000008 %w %q"), msn + 2, x.stag, x.base);
		fetch_add(&x, msn + 3, x.base, 1, 0);
		out(&x, "C1 42 DEADBEEF 0123456789ABCDEF %b", IN_MEMORY(2 * round));
		out(&x, RESPONSE, 1 + 2 * round, ID + msn + 1, 2 * (uint64_t)round);
		out(&x, "C1 42 DEADBEEF 0123456789ABCDEF %b", IN_MEMORY(2 * round + 1));
		out(&x, RESPONSE, 2 + 2 * round, ID + msn + 3, 2 * (uint64_t)round + 1);
		silent(&x);
	}
	for (uint32_t i = 0; i < 4; i++)
		fetch_add(&x, 13 + i, x.base, 1, 0);
	fetch_add(&x, 17, x.base, 1, 0);
	out(&x, TERM_SEGMENT "1202C000 0046 41 4A 00000000  00000001 00000011 00000000");
	out_end(&x);
	assert_true(*word(&x, 0) == 6); /* none of the last atomics was executed or answered */
	fx_stop(&x);
}

/* An atomic waits until an earlier Send has got a receive and completed. */
static void behind_a_held_send(void **state)
{
	ROWS("7306-7-02 7306-5.4-03");
	struct fx x;

	open_words(&x, 4);
	in(&x, "41 43 00000000  00000000 00000001 00000000 'Send'");
	in(&x, "41 48 00000000  00000000 00000002 00000000  00000001 00000000");
	fetch_add(&x, 1, x.base, 1, 0);
	silent(&x);
	assert_true(*word(&x, 0) == 0);
	fx_post_recv(&x, 1, x.base + 16, 8, x.stag);
	silent(&x);
	fx_post_recv(&x, 2, 0, 0, 0);
	/* A later Send completes before the atomic is answered. */
	fx_post_recv(&x, 3, x.base + 16, 8, x.stag);
	in(&x, "41 43 00000000  00000000 00000003 00000000 'late'");
	completions(&x, { 1, IW_WC_SUCCESS }, { 2, IW_WC_SUCCESS }, { 3, IW_WC_SUCCESS });
	assert_true(*word(&x, 0) == 0);
	out(&x, RESPONSE, 1u, ID + 1, (uint64_t)0);
	assert_true(*word(&x, 0) == 1);
	fx_stop(&x);
}

/* An atomic is executed only together with its response. */
static void no_room(void **state)
{
	ROWS("7306-5.2.1-09");
	struct fx x;

	open_words(&x, 1);
	fetch_add(&x, 1, x.base, 1, 0);
	assert_false(fx_pull_room(&x, 31));
	assert_true(*word(&x, 0) == 0);
	assert_true(fx_pull_room(&x, 32));
	assert_int_equal(x.out_len, 32);
	assert_true(*word(&x, 0) == 1);
	silent(&x);
	fx_stop(&x);
}

static void nobody_is_told(void **state)
{
	ROWS("7306-5.2.1-09 7306-5.2.1-10");
	struct fx x;

	open_words(&x, 1);
	fx_post_recv(&x, 1, x.base + 16, 8, x.stag);
	fetch_add(&x, 1, x.base, 1, 0);
	out(&x, RESPONSE, 1u, ID + 1, (uint64_t)0);
	no_completion(&x);
	fx_no_event(&x);
	assert_int_equal(x.qp->rq.head, 0);
	fx_stop(&x);
}

#define HIGH_START 0xfffffffffffff000 /* start of the region HIGH */

/* A wrong Atomic Request, and the error in the Terminate. */
struct refusal {
	enum region { WORDS, PLAIN, FOREIGN, HIGH, REGIONS } region; /* the region of its STag */
	uint32_t stag_xor;					     /* changes the STag */
	int offset;	  /* TO, relative to the start of the region */
	bool no_qp_right; /* the QP does not permit atomics */
	bool gone;	  /* the memory is not mapped any more */
	uint16_t error;	  /* layer, error type and code */
};

/*
 * PLAIN is a region without the right to atomics. FOREIGN is in another PD. HIGH is at the end of
 * the address space.
 */
static void make_regions(struct fx *x, struct iw_pd *other, struct iw_mr **regions)
{
	regions[WORDS] = x->mr;
	iw_mr_new(x->pd, x->base, 100, x->base,
		  IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE | IW_ACCESS_REMOTE_READ, NULL,
		  &regions[PLAIN]);
	iw_mr_new(other, x->base, 100, x->base, IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_ATOMIC,
		  NULL, &regions[FOREIGN]);
	iw_mr_new(x->pd, x->base, 0xf00, HIGH_START,
		  IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_ATOMIC, NULL, &regions[HIGH]);
}

/*
 * Checks that a request with this AOpCode is refused. The Terminate has only the DDP header; no
 * memory changes, and no response is sent.
 */
static void expect_refusal(const struct refusal *r, uint32_t code)
{
	uint8_t before[FX_MEM], header[18];
	struct iw_mr *regions[REGIONS];
	struct iw_pd *other;
	uint32_t stag;
	uint64_t to;
	struct fx x;

	open_words(&x, 4);
	other = iw_pd_new(x.rnic, NULL);
	make_regions(&x, other, regions);
	memset(x.mem, 0x77, FX_MEM);
	memcpy(before, x.mem, FX_MEM);
	stag = iw_mr_stag(regions[r->region]) ^ r->stag_xor;
	to = (r->region == HIGH ? HIGH_START : x.base) + (uint64_t)(int64_t)r->offset;
	if (r->no_qp_right)
		x.qp->access = IW_ACCESS_REMOTE_READ | IW_ACCESS_REMOTE_WRITE;
	if (r->gone) {
		fx_hole = x.mem + r->offset;
		fx_hole_len = 1;
	}
	script_bytes(header, "41 4A 00000000  00000001 00000001 00000000");
	in(&x,
	   "%b %w 00000001 %w %q 0000000000000001 0000000000000000 "
	   "7777777777777777 0000000000000000",
	   header, (size_t)18, code, stag, to);
	out(&x, TERM_SEGMENT "%w 0046 %b", (uint32_t)r->error << 16 | 0xc000, header, (size_t)18);
	out_end(&x);
	fx_event(&x, r->error >> 8 == 1 ? IW_EVENT_QP_ACCESS : IW_EVENT_QP_REQUEST);
	assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -EPROTO);
	fx_hole = NULL;
	assert_memory_equal(x.mem, before, FX_MEM);
	iw_mr_free(regions[PLAIN]);
	iw_mr_free(regions[FOREIGN]);
	iw_mr_free(regions[HIGH]);
	iw_pd_free(other);
	fx_stop(&x);
}

/* Checks both FetchAdd and CmpSwap. */
static void expect_refusals(const struct refusal *refusals, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		expect_refusal(&refusals[i], 0);
		expect_refusal(&refusals[i], 2);
	}
}

static void protected(void **state)
{
	ROWS("7306-8.1-02 7306-9-01 5042-6.1.1-03 5042-6.2.1-01");
	static const struct refusal cases[] = {
		/* no such region, and a wrong key */
		{ WORDS, .stag_xor = 0x700, .offset = 64, .error = 0x0100 },
		{ WORDS, .stag_xor = 1, .offset = 64, .error = 0x0100 },
		{ FOREIGN, .offset = 64, .error = 0x0103 },
		{ PLAIN, .offset = 64, .error = 0x0102 },
		{ WORDS, .offset = 64, .no_qp_right = true, .error = 0x0102 },
		/* below the region, across its end, across the end of the address space */
		{ WORDS, .offset = -8, .error = 0x0101 },
		{ WORDS, .offset = FX_MEM - 4, .error = 0x0101 },
		{ HIGH, .offset = 0xffc, .error = 0x0104 },
		{ WORDS, .offset = 64, .gone = true, .error = 0x0101 },
	};

	expect_refusals(cases, sizeof(cases) / sizeof(cases[0]));
}

static void misaligned(void **state)
{
	ROWS("7306-5.1.1-01 7306-5.1.1-02 7306-5.1.1-03 7306-5.1.2-04 7306-5.1.2-05 7306-5.2.1-05"
	     " 7306-8.1-02 7306-8.2-02");
	static const struct refusal cases[] = {
		{ WORDS, .offset = 65, .error = 0x0207 },
		{ WORDS, .offset = 68, .error = 0x0207 },
	};

	expect_refusals(cases, sizeof(cases) / sizeof(cases[0]));
}

static void unknown_opcodes(void **state)
{
	ROWS("7306-5.2.1-11 7306-8.1-02");
	static const struct refusal refusal = { WORDS, .offset = 64, .error = 0x0206 };

	expect_refusal(&refusal, 1);
	expect_refusal(&refusal, 3);
	expect_refusal(&refusal, 15);
}

/* The address must be aligned, not the offset. */
static void zero_based(void **state)
{
	ROWS("7306-5.2.1-05");
	for (unsigned int at = 0; at < 8; at += 4) {
		struct iw_mr *mr;
		struct fx x;

		open_words(&x, 4);
		assert_int_equal(iw_mr_new(x.pd, x.base + 4, 100, 0,
					   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_ATOMIC, NULL,
					   &mr),
				 0);
		in(&x, ATOMIC_SEGMENT ADD, 1u, 0u, 1u, iw_mr_stag(mr), (uint64_t)at, (uint64_t)9,
		   (uint64_t)0);
		if (at)
			out(&x, RESPONSE, 1u, 1u, (uint64_t)0);
		else
			out(&x, TERM_SEGMENT "0207C000 ..");
		assert_true(*word(&x, 1) == (at ? 9 : 0));
		iw_mr_free(mr);
		fx_stop(&x);
	}
}

/* The application takes the buffer away after the request arrived, before its turn. */
static void taken_away_meanwhile(void **state)
{
	ROWS("7306-8.1-02 7306-9-01");
	struct iw_mr *mr;
	struct fx x;

	open_words(&x, 4);
	assert_int_equal(iw_mr_new(x.pd, x.base + 64, 8, 0,
				   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_ATOMIC, NULL, &mr),
			 0);
	in(&x, ATOMIC_SEGMENT ADD, 1u, 0u, 1u, iw_mr_stag(mr), (uint64_t)0, (uint64_t)9,
	   (uint64_t)0);
	iw_mr_free(mr);
	out(&x, TERM_SEGMENT "0100C000 0046 41 4A 00000000  00000001 00000001 00000000");
	out_end(&x);
	assert_true(*word(&x, 8) == 0);
	fx_stop(&x);
}

/* Requests before a refused request are still answered. Requests after it are not executed. */
static void a_bad_one_among_good(void **state)
{
	ROWS("7306-5.2.2-07 7306-5.4-02");
	struct fx x;

	open_words(&x, 4);
	in(&x, READ_SEGMENT("00000001", "00000004 %w %q"), x.stag, x.base);
	fetch_add(&x, 2, x.base, 1, 0);
	fetch_add(&x, 3, x.base + 1, 1, 0);
	fetch_add(&x, 4, x.base, 1, 0);
	out(&x, "C1 42 DEADBEEF 0123456789ABCDEF 00000000");
	out(&x, RESPONSE, 1u, ID + 2, (uint64_t)0);
	out(&x, TERM_SEGMENT "0207C000 0046 41 4A 00000000  00000001 00000003 00000000");
	out_end(&x);
	assert_true(*word(&x, 0) == 1);
	fx_stop(&x);
}

/* Two sessions add to one word. Each value is returned once. */
static void two_streams(void **state)
{
	ROWS("7306-5-02");
	struct iw_session_param p = { .ird = 4 };
	struct iw_qp *second;
	struct iw_event ev;
	struct fx x;

	open_words(&x, 4);
	second = fx_qp_sized(&x, x.pd, x.cq, 4);
	x.sid = 2;
	x.ssn = 0;
	fx_control(&x, SESSION_INITIATE, "", 0);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	assert_int_equal(iw_session_accept(ev.session, second, &p), 0);
	assert_true(fx_pull(&x));
	for (uint32_t i = 1; i <= 3; i++)
		fetch_add(&x, i, x.base, 1, 0);
	x.sid = FX_SID;
	x.ssn = 1;
	for (uint32_t i = 1; i <= 3; i++)
		fetch_add(&x, i, x.base, 1, 0);
	for (uint64_t i = 0; i < 6; i++) {
		assert_true(fx_pull(&x));
		assert_int_equal(x.out[3], 0x4b);
		assert_true(get_be64(x.out + 24) == i);
	}
	assert_true(*word(&x, 0) == 6);
	iw_qp_free(second);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds),
		cmocka_unit_test(any_masks),
		cmocka_unit_test(swaps),
		cmocka_unit_test(what_does_not_count),
		cmocka_unit_test(order),
		cmocka_unit_test(in_pieces),
		cmocka_unit_test(with_reads),
		cmocka_unit_test(behind_a_held_send),
		cmocka_unit_test(no_room),
		cmocka_unit_test(nobody_is_told),
		cmocka_unit_test(protected),
		cmocka_unit_test(misaligned),
		cmocka_unit_test(unknown_opcodes),
		cmocka_unit_test(zero_based),
		cmocka_unit_test(taken_away_meanwhile),
		cmocka_unit_test(a_bad_one_among_good),
		cmocka_unit_test(two_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
