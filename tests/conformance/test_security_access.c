/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * Access control for memory (RFC 5042 6, RFC 5041 8): an RNIC has two streams in one Protection
 * Domain and one in another. A peer tries forbidden accesses.
 */
#include "fixture/iw_script.h"
#include "iwarp/mr.h"
#include "iwarp/rc.h"
#include "iwarp/rnic.h"
#include "wire/session.h"

#define READ IW_ACCESS_REMOTE_READ
#define WRITE (IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE)

/* Returns a memory region at an offset of x.mem. Its TO is the address. */
static struct iw_mr *mr_of(struct fx *x, struct iw_pd *pd, size_t at, size_t len, uint32_t access)
{
	struct iw_mr *mr;

	assert_int_equal(iw_mr_new(pd, x->base + at, len, x->base + at, access, NULL, &mr), 0);
	return mr;
}

/* The three accesses of a peer, with the next DDP-SSN. */
static void try_write(struct fx *x, uint32_t stag, uint64_t to, uint32_t len)
{
	static const uint8_t data[2000] = { 0x66, 0x66 };

	in(x, "c1 40 %w %q %b", stag, to, data, (size_t)len);
}

static void try_read(struct fx *x, uint32_t stag, uint64_t to, uint32_t len)
{
	in(x, "41 41 00000000  00000001 %w 00000000  00000009 0000000000000000 %w %w %q",
	   iw_rc_of(x->qp)->irq.tail, len, stag, to);
}

static void try_invalidate(struct fx *x, uint32_t stag)
{
	in(x, "41 44 %w  00000000 00000001 00000000", stag);
}

/*
 * Checks that the next message is a Terminate with this error and no Read Response, and that the
 * session ends.
 */
static void terminated(struct fx *x, uint16_t error)
{
	uint8_t number[2] = { (uint8_t)(error >> 8), (uint8_t)error };

	out(x, "41 47 00000000  00000002 00000001 00000000  %b ..", number, (size_t)2);
	fx_event(x, error == 0x0206 ? IW_EVENT_QP_REQUEST : IW_EVENT_QP_ACCESS);
	fx_event(x, IW_EVENT_CLOSED);
	assert_int_equal(atomic_load(&x->qp->state), IW_QPS_ERR);
	fx_ack(x, 1);
	out_end(x);
}

static void untouched(struct fx *x)
{
	for (unsigned int i = 0; i < FX_MEM; i++)
		assert_int_equal(x->mem[i], 0);
}

/* ---- Protection Domains ---- */

/* Every message with an STag of another domain. */
static void foreign_domain(void **state)
{
	enum { BY_WRITE, BY_READ, BY_RESPONSE, BY_INVALIDATE, WAYS };
	static const uint16_t errors[] = { 0x1102, 0x0103, 0x1100, 0x0109 };

	ROWS("5041-8.2-01 5041-8.2-05 5041-8.3-06 5041-8.3.1-02 5042-2.2.4-01 5042-2.2.5-01 "
	     "5042-6.1.1-01 5042-6.1.1-02 5042-6.1.1-03 5042-3-03");
	for (unsigned int way = 0; way < WAYS; way++) {
		struct iw_mr *foreign;
		struct iw_pd *other;
		struct iw_qp *theirs;
		struct fx x;
		uint32_t stag;

		open_session(&x, 4, 4);
		other = iw_pd_new(x.rnic, NULL);
		theirs = fx_qp_sized(&x, other, x.cq, 4); /* the owner of the STag */
		foreign = mr_of(&x, other, 0, 100, WRITE | READ);
		stag = iw_mr_stag(foreign);
		switch (way) {
		case BY_WRITE:
			try_write(&x, stag, x.base, 4);
			break;
		case BY_READ:
			try_read(&x, stag, x.base, 4);
			break;
		case BY_RESPONSE: /* while a read with a local STag is outstanding */
			fx_post(&x, 1, IW_WR_RDMA_READ, x.base, 4, 9, 0, 0);
			assert_true(fx_pull(&x));
			script_out_ssn++;
			in(&x, "c1 42 %w %q 'evil'", stag, x.base);
			break;
		case BY_INVALIDATE:
			fx_post_recv(&x, 1, x.base, 16, x.stag);
			try_invalidate(&x, stag);
			break;
		}
		terminated(&x, errors[way]);
		untouched(&x);
		/* the owner still has access */
		uint8_t *p;

		assert_int_equal(iw_mr_remote(theirs, stag, x.base, 100, READ, &p), IW_REMOTE_OK);
		iw_qp_free(theirs);
		iw_mr_free(foreign);
		assert_int_equal(iw_pd_free(other), 0);
		fx_stop(&x);
	}
}

/* Two streams in two domains: each STag works on one of them only. The other stream continues. */
static void each_domain_its_own(void **state)
{
	struct iw_qp *first, *second;
	struct iw_pd *other;
	struct iw_mr *mine, *theirs;
	struct fx x;

	ROWS("5042-2.2.5-01 5042-5.1.1-01 5042-6.1.1-01 5042-6.1.1-02 5041-8.2-05");
	open_session(&x, 4, 4);
	first = x.qp;
	other = iw_pd_new(x.rnic, NULL);
	second = fx_qp_sized(&x, other, x.cq, 4);
	mine = mr_of(&x, x.pd, 100, 10, WRITE);
	theirs = mr_of(&x, other, 200, 10, WRITE);
	x.sid = 2;
	x.ssn = 0;
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	assert_int_equal(iw_session_accept(fx_event(&x, IW_EVENT_INITIATE).session, second,
					   &(struct iw_session_param){ .ird = 1 }),
			 0);
	assert_true(fx_pull(&x));
	try_write(&x, iw_mr_stag(theirs), x.base + 200, 1); /* stream 2: its own STag */
	assert_int_equal(x.mem[200], 0x66);
	x.sid = FX_SID;
	in_at(&x, 1, "c1 40 %w %q '1'", iw_mr_stag(mine), x.base + 100);
	assert_int_equal(x.mem[100], '1');
	in_at(&x, 2, "c1 40 %w %q '2'", iw_mr_stag(theirs), x.base + 200);
	assert_int_equal(x.mem[200], 0x66);
	terminated(&x, 0x1102);
	x.sid = 2;
	in_at(&x, 2, "c1 40 %w %q '3'", iw_mr_stag(theirs), x.base + 200);
	assert_int_equal(x.mem[200], '3');
	x.qp = second;
	script_out_ssn = 1;
	in_at(&x, 3, "c1 40 %w %q '4'", iw_mr_stag(mine), x.base + 100);
	assert_int_equal(x.mem[100], '1');
	terminated(&x, 0x1102);
	iw_mr_free(mine);
	iw_mr_free(theirs);
	iw_qp_free(second);
	assert_int_equal(iw_pd_free(other), 0);
	x.qp = first;
	fx_stop(&x);
}

/* The domain limits local requests, too: send, receive, sink of a read, invalidation. */
static void local_keys_of_another_domain(void **state)
{
	ROWS("5042-2.2.4-01");
	for (unsigned int way = 0; way < 4; way++) {
		struct iw_mr *foreign;
		struct iw_pd *other;
		struct iw_cqe cqe;
		struct fx x;

		open_session(&x, 4, 4);
		other = iw_pd_new(x.rnic, NULL);
		foreign = mr_of(&x, other, 0, 100, WRITE | READ);
		if (way == 0) {
			fx_post_recv(&x, 1, x.base, 16, iw_mr_stag(foreign));
			in(&x, "41 43 00000000  00000000 00000001 00000000 'evil'");
		} else {
			uint32_t own = x.stag;

			x.stag = iw_mr_stag(foreign);
			fx_post(&x, 1,
				way == 1 ? IW_WR_SEND :
				way == 2 ? IW_WR_RDMA_READ :
					   IW_WR_LOCAL_INV,
				x.base, 16, x.stag, 0, 0);
			x.stag = own;
		}
		assert_true(fx_pull(&x)); /* a Terminate only */
		assert_int_equal(x.out[3], 0x47);
		cqe = fx_cqe(&x);
		assert_int_equal(cqe.status, way == 3 ? IW_WC_LOC_QP_OP_ERR : IW_WC_LOC_PROT_ERR);
		untouched(&x);
		assert_non_null(iw_mr_find(x.rnic, iw_mr_stag(foreign)));
		iw_mr_free(foreign);
		assert_int_equal(iw_pd_free(other), 0);
		fx_stop(&x);
	}
}

/* ---- rights and bounds ---- */

/*
 * Read, write, both, none: an access needs the rights of its own STag, not those of another STag of
 * the same memory.
 */
static void rights(void **state)
{
	static const uint32_t rights[] = { IW_ACCESS_LOCAL_WRITE, READ, WRITE, READ | WRITE };

	ROWS("5041-8.3.1-06 5042-2.2.2-01 5042-6.3.5-01 5042-6.3.5-02");
	for (unsigned int i = 0; i < 4; i++) {
		for (unsigned int read = 0; read < 2; read++) {
			bool may = rights[i] &
				   (read ? IW_ACCESS_REMOTE_READ : IW_ACCESS_REMOTE_WRITE);
			struct iw_mr *mr;
			struct fx x;

			open_session(&x, 4, 4); /* x.stag has all rights */
			mr = mr_of(&x, x.pd, 100, 10, rights[i]);
			/* a read of 0 octets is permitted, and returns no data */
			try_read(&x, iw_mr_stag(mr), x.base + 100, 0);
			out(&x, "c1 42 00000009 0000000000000000");
			if (read)
				try_read(&x, iw_mr_stag(mr), x.base + 100, 1);
			else
				try_write(&x, iw_mr_stag(mr), x.base + 100, 1);
			if (!may)
				terminated(&x, read ? 0x0102 : 0x1100);
			else if (read)
				out(&x, "c1 42 00000009 0000000000000000 00");
			assert_int_equal(x.mem[100], may && !read ? 0x66 : 0);
			iw_mr_free(mr);
			fx_stop(&x);
		}
	}
}

/* 101 octets at an odd address: access to each of them, but to no octet next to them. */
static void exact_bounds(void **state)
{
	static const struct {
		int64_t at;
		uint32_t len;
		bool inside;
	} cases[] = {
		{ 0, 101, true },  { 0, 1, true },     { 100, 1, true },     { 50, 51, true },
		{ -1, 1, false },  { -1, 102, false }, { 101, 1, false },    { 100, 2, false },
		{ 0, 102, false }, { 51, 51, false },  { -101, 101, false }, { 4096, 1, false },
	};

	ROWS("5041-8.3-02 5041-8.3.1-04 5042-6.2.1-01 5042-6.3.1-01 5042-6.3.4-01");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (unsigned int read = 0; read < 2; read++) {
			struct iw_mr *mr;
			struct fx x;
			uint64_t to;

			open_session(&x, 4, 4);
			mr = mr_of(&x, x.pd, 1001, 101, READ | WRITE);
			to = x.base + 1001 + (uint64_t)cases[i].at;
			if (read)
				try_read(&x, iw_mr_stag(mr), to, cases[i].len);
			else
				try_write(&x, iw_mr_stag(mr), to, cases[i].len);
			if (!cases[i].inside) {
				terminated(&x, read ? 0x0101 : 0x1101);
				untouched(&x);
			} else if (read) {
				out(&x, "c1 42 00000009 0000000000000000 %b", x.mem,
				    (size_t)cases[i].len);
			} else {
				assert_int_equal(x.mem[1001 + cases[i].at], 0x66);
				silent(&x);
			}
			iw_mr_free(mr);
			fx_stop(&x);
		}
	}
}

/* A Size that would wrap around the end of the address space. */
static void wrapping_reads(void **state)
{
	static const struct {
		uint64_t to;
		uint32_t size;
		uint16_t error;
	} cases[] = {
		{ 0xfffffffffffff000ull, 0xf01, 0x0101 },
		{ 0xffffffffffffff00ull, 0x101, 0x0104 },
		{ UINT64_MAX, 0xffffffff, 0x0104 },
		{ 0xfffffffffffff000ull, 0xffffffff, 0x0104 },
		{ 0, 1, 0x0101 },
	};

	ROWS("5042-6.2.1-01 5042-6.3.1-01");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct iw_mr *mr;
		struct fx x;

		open_session(&x, 4, 4);
		assert_int_equal(
			iw_mr_new(x.pd, x.base, 0xf00, 0xfffffffffffff000ull, READ, NULL, &mr), 0);
		try_read(&x, iw_mr_stag(mr), cases[i].to, cases[i].size);
		terminated(&x, cases[i].error);
		iw_mr_free(mr);
		fx_stop(&x);
	}
}

/*
 * A local read permits its response to write the sink, octet by octet. Nothing else may write there
 * afterwards.
 */
static void sink_of_a_read(void **state)
{
	static const struct {
		int64_t at;
		uint32_t len;
		uint16_t error;
	} cases[] = {
		{ -1, 2, 0x1101 }, { 9, 2, 0x1101 },	{ 10, 1, 0x1101 },
		{ 0, 11, 0x1101 }, { 5000, 1, 0x1101 },
	};

	ROWS("5042-6.2.1-01 5041-8.3.1-04 5041-8.1-01");
	for (size_t i = 0; i <= sizeof(cases) / sizeof(cases[0]); i++) {
		struct fx x;

		open_session(&x, 4, 4);
		fx_post(&x, 1, IW_WR_RDMA_READ, x.base + 1000, 10, 9, 0, 0);
		assert_true(fx_pull(&x));
		script_out_ssn++;
		if (i < sizeof(cases) / sizeof(cases[0])) {
			in(&x, "c1 42 %w %q %b", x.stag, x.base + 1000 + (uint64_t)cases[i].at,
			   "hello, there", (size_t)cases[i].len);
			terminated(&x, cases[i].error);
			untouched(&x);
		} else {
			in(&x, "c1 42 %w %q 'ten octets'", x.stag, x.base + 1000);
			completions(&x, { 1, IW_WC_SUCCESS });
			in(&x, "c1 42 %w %q 'once again'", x.stag, x.base + 1000);
			assert_memory_equal(x.mem + 1000, "ten octets", 10);
			terminated(&x, 0x0206);
		}
		fx_stop(&x);
	}
}

/* ---- revocation ---- */

/*
 * Deregistration, LOCAL_INV and the peer's own Send with Invalidate revoke access immediately and
 * permanently.
 */
static void revoked(void **state)
{
	enum { DEREGISTER, LOCAL_INV, REMOTE_INV, WAYS };

	ROWS("5041-7.1-14 5041-8.3-02 5041-8.3-03 5041-8.3.1-05 5041-8.3.1-07 5042-6.2.2-01 "
	     "5042-6.2.2-02 5042-6.3.3-01");
	for (unsigned int way = 0; way < WAYS; way++) {
		for (unsigned int read = 0; read < 2; read++) {
			struct iw_mr *mr;
			struct iw_cqe cqe;
			struct fx x;
			uint32_t stag;

			open_session(&x, 4, 4);
			mr = mr_of(&x, x.pd, 100, 10, READ | WRITE);
			stag = iw_mr_stag(mr);
			try_write(&x, stag, x.base + 100, 1);
			assert_int_equal(x.mem[100], 0x66);
			switch (way) {
			case DEREGISTER:
				iw_mr_free(mr);
				mr = NULL;
				break;
			case LOCAL_INV:
				fx_post(&x, 1, IW_WR_LOCAL_INV, 0, 0, stag, 0, 0);
				silent(&x);
				completions(&x, { 1, IW_WC_SUCCESS });
				break;
			case REMOTE_INV:
				fx_post_recv(&x, 1, x.base, 16, x.stag);
				try_invalidate(&x, stag);
				cqe = fx_cqe(&x);
				assert_int_equal(cqe.flags, IW_WC_WITH_INV);
				assert_int_equal(cqe.inv_stag, stag);
				break;
			}
			x.mem[100] = 0; /* the buffer belongs to the application again */
			if (read)
				try_read(&x, stag, x.base + 100, 1);
			else
				try_write(&x, stag, x.base + 100, 1);
			terminated(&x, read ? 0x0100 : 0x1100);
			untouched(&x);
			if (mr)
				iw_mr_free(mr);
			fx_stop(&x);
		}
	}
}

/*
 * After a revocation, no further segment of a response is sent, and no further segment of a Write
 * is placed.
 */
static void revoked_in_mid_message(void **state)
{
	struct fx x;

	ROWS("5042-6.2.2-01 5042-6.3.3-01 5041-8.3.1-07");
	open_session(&x, 4, 4);
	try_read(&x, x.stag, x.base, 8000);
	out(&x, "81 42 00000009 0000000000000000 ..");
	iw_mr_free(x.mr);
	x.mr = NULL;
	terminated(&x, 0x0100);
	fx_stop(&x);

	open_session(&x, 4, 4);
	in(&x, "81 40 %w %q 'a'", x.stag, x.base);
	iw_mr_free(x.mr);
	x.mr = NULL;
	x.mem[0] = 0;
	in(&x, "c1 40 %w %q 'b'", x.stag, x.base + 1);
	terminated(&x, 0x1100);
	untouched(&x);
	fx_stop(&x);
}

/*
 * A peer cannot invalidate a region without remote invalidation, which other streams of the domain
 * may use.
 */
static void shared_regions_stay(void **state)
{
	struct iw_qp *second;
	uint8_t *p;
	struct fx x;

	ROWS("5042-6.4.5-01 5042-3-03");
	open_session(&x, 4, 4);
	second = fx_qp_sized(&x, x.pd, x.cq, 4);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	try_invalidate(&x, x.stag);
	terminated(&x, 0x0109);
	completions(&x, { 1, IW_WC_WR_FLUSH_ERR });
	assert_int_equal(iw_mr_remote(second, x.stag, x.base, 1, READ, &p), IW_REMOTE_OK);
	iw_qp_free(second);
	fx_stop(&x);
}

/* ---- STags ---- */

/* STags similar to a known STag do not exist. A wrong guess ends the peer's stream. */
static void guesses(void **state)
{
	struct fx x;

	ROWS("5042-5.1.1-01 5042-6.1.1-05 5041-4.2-09");
	open_session(&x, 4, 4);
	for (uint32_t i = 1; i <= 2000; i++) {
		uint8_t *p;

		assert_int_equal(iw_mr_remote(x.qp, x.stag + i, x.base, 1, READ, &p),
				 IW_REMOTE_STAG);
		assert_int_equal(iw_mr_remote(x.qp, x.stag - i, x.base, 1, READ, &p),
				 IW_REMOTE_STAG);
		assert_int_equal(iw_mr_remote(x.qp, x.stag ^ (i << 8), x.base, 1, READ, &p),
				 IW_REMOTE_STAG);
	}
	try_write(&x, x.stag + 1, x.base, 1);
	terminated(&x, 0x1100);
	untouched(&x);
	fx_stop(&x);
}

/*
 * RNICs start with different STags, and do not count upwards. A freed STag is not used again. The
 * third and fourth RNIC have a known counter: without the keys, it does not reveal the STags.
 */
static void unpredictable_tags(void **state)
{
	enum { N = 500 };
	static uint32_t tags[4][N];

	ROWS("5042-6.1.1-05");
	for (unsigned int r = 0; r < 4; r++) {
		static const struct iw_rnic_ops ops = { .copy = fx_copy,
							.place = fx_copy,
							.atomic = fx_atomic };
		struct iw_config config = { .unexpected_bytes_per_qp = 65536 };
		struct fx_random random;
		struct iw_rnic *rnic;
		struct iw_pd *pd;

		fx_random_init(&random, 1000 + r);
		rnic = iw_rnic_new(&config, &ops, &random.source);
		if (r >= 2)
			rnic->stag_counter = 1;
		pd = iw_pd_new(rnic, NULL);
		for (unsigned int i = 0; i < N; i++) {
			struct iw_mr *mr;

			assert_int_equal(iw_mr_new(pd, 4096, 10, 4096, 0, NULL, &mr), 0);
			tags[r][i] = iw_mr_stag(mr);
			iw_mr_free(mr);
			if (i) /* neither index nor key count upwards */
				assert_true(tags[r][i] - tags[r][i - 1] != 1 &&
					    (tags[r][i] >> 8) - (tags[r][i - 1] >> 8) != 1);
		}
		assert_int_equal(iw_pd_free(pd), 0);
		iw_rnic_free(rnic);
	}
	for (unsigned int i = 0; i < 4 * N; i++)
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(tags[i / N][i % N], tags[k / N][k % N]);
}

/* ---- fuzz ---- */

/* Random Writes and reads: memory outside the region is neither changed nor sent. */
static void fuzz_bounds(void **state)
{
	uint64_t seed = 5;

	ROWS("5041-8.1-01 5041-8.3.1-04 5042-6.2.1-01 5042-6.3.1-01");
	for (unsigned int i = 0; i < 3000; i++) {
		uint64_t r = fx_next(&seed);
		uint32_t len = (uint32_t)(r >> 8) % 1200;
		struct iw_mr *mr;
		struct fx x;
		uint64_t to;

		open_session(&x, 4, 4);
		memset(x.mem, 0x11, FX_MEM);
		memset(x.mem + 3000, 0, 1000);
		mr = mr_of(&x, x.pd, 3000, 1000, READ | WRITE);
		to = x.base + 3000 + (r >> 32) % 1300 - 150;
		if (r % 16 == 0)
			to = fx_next(&seed);
		if (r & 16) {
			try_write(&x, iw_mr_stag(mr), to, len);
		} else {
			try_read(&x, iw_mr_stag(mr), to, len);
			while (fx_pull(&x) && x.out[3] == 0x42)
				for (size_t k = 16; k < x.out_len; k++)
					assert_int_equal(x.out[k], 0);
		}
		for (unsigned int k = 0; k < FX_MEM; k++)
			if (k < 3000 || k >= 4000)
				assert_int_equal(x.mem[k], 0x11);
		iw_mr_free(mr);
		fx_stop(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(foreign_domain),
		cmocka_unit_test(each_domain_its_own),
		cmocka_unit_test(local_keys_of_another_domain),
		cmocka_unit_test(rights),
		cmocka_unit_test(exact_bounds),
		cmocka_unit_test(wrapping_reads),
		cmocka_unit_test(sink_of_a_read),
		cmocka_unit_test(revoked),
		cmocka_unit_test(revoked_in_mid_message),
		cmocka_unit_test(shared_regions_stay),
		cmocka_unit_test(guesses),
		cmocka_unit_test(unpredictable_tags),
		cmocka_unit_test(fuzz_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
