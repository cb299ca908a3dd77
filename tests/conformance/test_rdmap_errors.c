/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * The Terminates of RFC 5040 4.8 and 7, for segments that a peer should not send. Each line is a
 * new session: the Terminate's control word, and the segment.
 */
#include "fixture/iw_script.h"

#include "iwarp/mr.h"
#include "iwarp/rnic.h"
#include "wire/terminate.h"

static struct fx x;
static struct iw_pd *other_pd;
static struct iw_mr *foreign, *read_only, *write_only, *high;
/* Wrong STags: an unknown index, and the right index with a wrong key. */
static uint32_t unknown, wrong_key;

#define END (x.base + FX_MEM)

/* Posts two receives of 16 bytes, with an IRD of 2, and makes the wrong STags. */
static void begin(void)
{
	const uint32_t rw = IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE;

	open_session(&x, 2, 3);
	other_pd = iw_pd_new(x.rnic, NULL);
	assert_int_equal(iw_mr_new(other_pd, x.base, 100, x.base, rw | IW_ACCESS_REMOTE_READ, NULL,
				   &foreign),
			 0);
	assert_int_equal(
		iw_mr_new(x.pd, x.base, 100, x.base, IW_ACCESS_REMOTE_READ, NULL, &read_only), 0);
	assert_int_equal(iw_mr_new(x.pd, x.base, 100, x.base, rw, NULL, &write_only), 0);
	/* ends 256 bytes before the end of the TO space */
	assert_int_equal(iw_mr_new(x.pd, x.base, 0xf00, UINT64_C(0xfffffffffffff000),
				   rw | IW_ACCESS_REMOTE_READ, NULL, &high),
			 0);
	unknown = x.stag ^ 0x4200;
	wrong_key = x.stag ^ 1;
	for (unsigned int i = 0; i < FX_MEM; i++)
		x.mem[i] = (uint8_t)(i * 5);
	fx_post_recv(&x, 77, x.base + 1000, 16, x.stag);
	fx_post_recv(&x, 78, x.base + 1016, 16, x.stag);
}

static void end(void)
{
	iw_mr_free(foreign);
	iw_mr_free(read_only);
	iw_mr_free(write_only);
	iw_mr_free(high);
	iw_pd_free(other_pd);
	fx_stop(&x);
}

/*
 * Expects a Terminate with this word for the segment m, and a session Terminate. The word's M, D
 * and R bits select the parts of m in the Terminate. The QP is in error, and the application got an
 * event.
 */
static void terminated(uint32_t word, const uint8_t *m, size_t len)
{
	size_t header = m[0] & 0x80 ? 14 : 18;
	enum iw_event_type type = word >> 24 == 0x01 || word >> 24 == 0x11 ? IW_EVENT_QP_ACCESS :
									     IW_EVENT_QP_REQUEST;
	struct iw_event ev;

	if (word >> 16 == 0x1104)
		type = IW_EVENT_QP_REQUEST;
	switch (word & 0xffff) {
	case 0xc000:
		out(&x, TERM_SEGMENT "%w %b %b", word,
		    (const void *)(uint8_t[]){ (uint8_t)(len >> 8), (uint8_t)len }, (size_t)2, m,
		    header);
		break;
	case 0xe000:
		out(&x, TERM_SEGMENT "%w 002E %b", word, m, (size_t)46);
		break;
	default:
		fail_msg("M, D and R in %08x", word);
	}
	out_end(&x);
	assert_ptr_equal(fx_event(&x, type).qp, x.qp);
	ev = fx_event(&x, IW_EVENT_CLOSED);
	assert_int_equal(ev.error, -EPROTO);
	fx_no_event(&x);
	assert_int_equal(atomic_load(&x.qp->state), IW_QPS_ERR);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_RTS), -EINVAL);
}

/* Checks that segments after the wrong segment are ignored. */
static void dead(const uint8_t *memory)
{
	in(&x, "C1 40 %w %q 'zzzz'", x.stag, x.base);
	in(&x, "41 43 00000000  00000000 00000001 00000000 'zzzz'");
	in(&x, "C1 40 %w %q 'zzzz'", unknown, x.base);
	assert_memory_equal(memory, x.mem, FX_MEM);
	silent(&x);
	no_completion(&x);
}

static void refused(uint32_t word, const char *format, ...)
{
	enum iw_wc_status first = IW_WC_WR_FLUSH_ERR;
	struct script_text text;
	const uint8_t *m = text.bytes;
	uint8_t before[FX_MEM];

	script_read(&text, format);
	print_message("%08x <- %s\n", word, format);
	memcpy(before, x.mem, FX_MEM);
	in(&x, "%b", m, text.len);
	assert_memory_equal(before, x.mem, FX_MEM);
	terminated(word, m, text.len);
	if (!(m[0] & 0x80) && get_be32(m + 6) == 0 &&
	    (word >> 16 == 0x1204 || word >> 16 == 0x1205))
		first = IW_WC_LOC_LEN_ERR; /* the error belongs to this receive */
	completions(&x, { 77, first }, { 78, IW_WC_WR_FLUSH_ERR });
	dead(before);
}

#define REFUSED(word, ...)                                                                         \
	do {                                                                                       \
		begin();                                                                           \
		refused(word, __VA_ARGS__);                                                        \
		end();                                                                             \
	} while (0)

/*
 * Remote Protection Errors of the RDMA layer: the Terminate has the DDP header and the RDMA header.
 */
static void read_requests_of_what_is_not_theirs(void **state)
{
	ROWS("5040-4.4-05 5040-4.8-01 5040-4.8-02 5040-4.8-06 5040-4.8-08 5040-4.8-09 5040-4.8-10"
	     " 5040-4.8-11 5040-4.8-12 5040-4.8-23 5040-4.8-24 5040-4.8-25 5040-4.8-26 5040-4.8-27"
	     " 5040-4.8-28 5040-4.8-30 5040-4.8-32 5040-5.2.1-05 5040-5.2.1-13 5040-7.1-04"
	     " 5040-7.2-08 5040-7.2-09 5040-7.2-10 5040-7.2-11 5040-4.2-03");
	REFUSED(0x0100e000, READ_SEGMENT("00000001", "00000001 %w %q"), unknown, x.base);
	REFUSED(0x0100e000, READ_SEGMENT("00000001", "00000001 %w %q"), wrong_key, x.base);
	REFUSED(0x0100e000, READ_SEGMENT("00000001", "00000001 00000000 %q"), x.base);
	REFUSED(0x0101e000, READ_SEGMENT("00000001", "00000001 %w %q"), x.stag, x.base - 1);
	REFUSED(0x0101e000, READ_SEGMENT("00000001", "00000001 %w %q"), x.stag, END);
	REFUSED(0x0101e000, READ_SEGMENT("00000001", "00000002 %w %q"), x.stag, END - 1);
	REFUSED(0x0101e000, READ_SEGMENT("00000001", "00002001 %w %q"), x.stag, x.base);
	REFUSED(0x0101e000, READ_SEGMENT("00000001", "FFFFFFFF %w %q"), x.stag, x.base);
	REFUSED(0x0101e000, READ_SEGMENT("00000001", "00000101 %w FFFFFFFFFFFFFE00"),
		iw_mr_stag(high));
	REFUSED(0x0102e000, READ_SEGMENT("00000001", "00000001 %w %q"), iw_mr_stag(write_only),
		x.base);
	REFUSED(0x0103e000, READ_SEGMENT("00000001", "00000001 %w %q"), iw_mr_stag(foreign),
		x.base);
	REFUSED(0x0104e000, READ_SEGMENT("00000001", "00000020 %w FFFFFFFFFFFFFFF0"), x.stag);
	REFUSED(0x0104e000, READ_SEGMENT("00000001", "00000010 %w FFFFFFFFFFFFFFF8"), x.stag);
	REFUSED(0x0104e000, READ_SEGMENT("00000001", "00000400 %w FFFFFFFFFFFFFE00"),
		iw_mr_stag(high));
	/* in two segments: the Terminate has the header and length of the last */
	begin();
	in(&x, "01 41 00000000  00000001 00000001 00000000  DEADBEEF 0123456789ABCDEF");
	silent(&x);
	in(&x, "41 41 00000000  00000001 00000001 0000000C  00000001 %w %q", unknown, x.base);
	out(&x,
	    TERM_SEGMENT "0100E000 0022"
			 "  41 41 00000000  00000001 00000001 0000000C"
			 "  DEADBEEF 0123456789ABCDEF 00000001 %w %q",
	    unknown, x.base);
	out_end(&x);
	end();
}

/* Read Requests whose source is just inside the region are answered. */
static void read_requests_at_the_edges(void **state)
{
	ROWS("5040-4.4-04 5040-5.2.1-10 5040-5.2.1-11 5040-7.2-10 5040-7.2-11");
	static const struct {
		uint32_t at, len;
	} parts[] = {
		{ 0, 1 }, { 4095, 1 }, { FX_MEM - 1, 1 }, { 3, 1001 }, { FX_MEM - 1300, 1300 },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		begin();
		in(&x,
		   "41 41 00000000  00000001 00000001 00000000  DEADBEEF 0000000000000007 %w %w %q",
		   parts[i].len, x.stag, x.base + parts[i].at);
		out(&x, "C1 42 DEADBEEF 0000000000000007 %b", x.mem + parts[i].at,
		    (size_t)parts[i].len);
		silent(&x);
		end();
	}
	/* the last byte of the TO space, of a sink and of a source */
	begin();
	iw_mr_free(high);
	assert_int_equal(iw_mr_new(x.pd, x.base, 0x100, UINT64_C(0xffffffffffffff00),
				   IW_ACCESS_REMOTE_READ, NULL, &high),
			 0);
	in(&x, READ_SEGMENT("00000001", "00000010 %w FFFFFFFFFFFFFFF0"), iw_mr_stag(high));
	out(&x, "C1 42 DEADBEEF 0123456789ABCDEF %b", x.mem + 0xf0, (size_t)16);
	silent(&x);
	end();
}

/* Errors of the DDP layer: the Terminate has the DDP header, never the RDMA header. */
static void writes_of_what_is_not_theirs(void **state)
{
	ROWS("5040-3.1-06 5040-4.8-06 5040-4.8-19 5040-4.8-23 5040-4.8-24 5040-4.8-25 5040-4.8-26"
	     " 5040-4.8-27 5040-4.8-28 5040-4.8-35 5040-4.8-37 5040-4.8-39 5040-5.1-03 5040-7-03"
	     " 5040-7.1-01 5040-7.1-03 5040-7.2-01 5040-6.2.1-01 5040-7-01");
	REFUSED(0x1100c000, "C1 40 %w %q 'data'", unknown, x.base);
	REFUSED(0x1100c000, "C1 40 %w %q 'data'", wrong_key, x.base);
	REFUSED(0x1100c000, "C1 40 %w %q 'data'", iw_mr_stag(read_only), x.base);
	REFUSED(0x1101c000, "C1 40 %w %q 'd'", x.stag, x.base - 1);
	REFUSED(0x1101c000, "C1 40 %w %q 'd'", x.stag, END);
	REFUSED(0x1101c000, "C1 40 %w %q 'da'", x.stag, END - 1);
	REFUSED(0x1101c000, "81 40 %w %q 'data'", x.stag, x.base - 4);
	REFUSED(0x1102c000, "C1 40 %w %q 'data'", iw_mr_stag(foreign), x.base);
	REFUSED(0x1103c000, "C1 40 %w FFFFFFFFFFFFFFFE 'data'", iw_mr_stag(high));
	REFUSED(0x1103c000, "C1 40 %w FFFFFFFFFFFFFFFE 'data'", x.stag);
	REFUSED(0x1104c000, "C0 40 %w %q 'data'", x.stag, x.base);
	REFUSED(0x1104c000, "C2 40 %w %q 'data'", x.stag, x.base);
	REFUSED(0x1104c000, "C3 40 %w %q", x.stag, x.base);
}

static void sends_as_they_should_not_be(void **state)
{
	ROWS("5040-3.1-02 5040-4.8-20 5040-4.8-23 5040-4.8-24 5040-4.8-25 5040-4.8-26 5040-4.8-28"
	     " 5040-4.8-37 5040-5.3-04 5040-5.3-07 5040-7.1-03 5040-7.2-01 5040-7-03");
	REFUSED(0x0206c000, "41 43 00000000  00000003 00000001 00000000 'data'");
	REFUSED(0x1201c000, "41 43 00000000  00000004 00000001 00000000 'data'");
	REFUSED(0x1201c000, "41 43 00000000  FFFFFFFF 00000001 00000000");
	REFUSED(0x1203c000, "41 43 00000000  00000000 00000000 00000000 'data'");
	REFUSED(0x1203c000, "41 43 00000000  00000000 80000001 00000000 'data'");
	REFUSED(0x1204c000, "41 43 00000000  00000000 00000001 00000010 'd'");
	REFUSED(0x1204c000, "01 43 00000000  00000000 00000001 FFFFFFFF 'd'");
	REFUSED(0x1205c000, "41 43 00000000  00000000 00000001 00000000 'seventeen letters'");
	REFUSED(0x1205c000, "01 43 00000000  00000000 00000001 0000000F 'da'");
	REFUSED(0x1206c000, "40 43 00000000  00000000 00000001 00000000 'data'");
	REFUSED(0x1206c000, "42 43 00000000  00000000 00000001 00000000 'data'");
	REFUSED(0x1206c000, "43 43 00000000  00000000 00000001 00000000 'data'");
}

/* The same faults in a Read Request. The Terminate has no RDMA header (figure 10). */
static void read_requests_as_they_should_not_be(void **state)
{
	ROWS("5040-4.8-25 5040-4.8-31 5040-4.8-36 5040-4.8-37 5040-7.1-04 5040-7.2-06 5040-7.2-07");
	REFUSED(0x1201c000,
		"41 41 00000000  00000005 00000001 00000000"
		" DEADBEEF 0123456789ABCDEF 00000001 %w %q",
		x.stag, x.base);
	REFUSED(0x1203c000, READ_SEGMENT("00000000", "00000001 %w %q"), x.stag, x.base);
	/* MSN 2 before 1, and an MSN beyond IRD 2 */
	REFUSED(0x1203c000, READ_SEGMENT("00000002", "00000001 %w %q"), x.stag, x.base);
	REFUSED(0x1202c000, READ_SEGMENT("00000003", "00000001 %w %q"), x.stag, x.base);
	REFUSED(0x1204c000,
		"41 41 00000000  00000001 00000001 00000001"
		" DEADBEEF 0123456789ABCDEF 00000001 %w %q",
		x.stag, x.base);
	REFUSED(0x1204c000,
		"41 41 00000000  00000001 00000001 00000004"
		" DEADBEEF 0123456789ABCDEF 00000001 %w %q",
		x.stag, x.base);
	REFUSED(0x1205c000, READ_SEGMENT("00000001", "00000001 %w %q 00"), x.stag, x.base);
	REFUSED(0x02ffc000,
		"41 41 00000000  00000001 00000001 00000000"
		" DEADBEEF 0123456789ABCDEF 00000001 %w %w 000000",
		x.stag, 0);
	REFUSED(0x1206c000,
		"42 41 00000000  00000001 00000001 00000000"
		" DEADBEEF 0123456789ABCDEF 00000001 %w %q",
		x.stag, x.base);
	REFUSED(0x0205c000,
		"41 C1 00000000  00000001 00000001 00000000"
		" DEADBEEF 0123456789ABCDEF 00000001 %w %q",
		x.stag, x.base);
	REFUSED(0x0206c000,
		"41 43 00000000  00000001 00000001 00000000"
		" DEADBEEF 0123456789ABCDEF 00000001 %w %q",
		x.stag, x.base);
	/* repeats an answered MSN */
	begin();
	in(&x, READ_SEGMENT("00000001", "00000000 00000000 0000000000000000"));
	out(&x, "C1 42 DEADBEEF 0123456789ABCDEF");
	refused(0x1203c000, READ_SEGMENT("00000001", "00000001 %w %q"), x.stag, x.base);
	end();
}

static void terminates_as_they_should_not_be(void **state)
{
	ROWS("5040-5.4-05 5040-7.2-01 5040-7.2-02 5040-7.2-03");
	REFUSED(0x1203c000, "41 47 00000000  00000002 00000000 00000000 02060000");
	REFUSED(0x1203c000, "41 47 00000000  00000002 00000005 00000000 02060000");
	REFUSED(0x1204c000, "41 47 00000000  00000002 00000001 00000100 02060000");
	REFUSED(0x1206c000, "40 47 00000000  00000002 00000001 00000000 02060000");
	REFUSED(0x0205c000, "41 87 00000000  00000002 00000001 00000000 02060000");
	REFUSED(0x0206c000, "41 47 00000000  00000000 00000001 00000000 02060000");
	REFUSED(0x0206c000, "41 47 00000000  00000001 00000001 00000000 02060000");
	REFUSED(0x0206c000, "C1 47 %w %q 02060000", x.stag, x.base);
}

/*
 * Every opcode with every queue. In the wrong queue it is unexpected. An unknown queue is the first
 * error.
 */
static void every_opcode_everywhere(void **state)
{
	ROWS("5040-3.1-02 5040-4.1-04 5040-4.1-19 5040-4.8-06 5040-4.8-16 5040-4.8-25 5040-4.8-36"
	     " 5040-7.2-02 5040-7.2-07 7306-1.1-03 7306-8.2-01");
	enum { TAGGED = -1 };
	static const int home[16] = { TAGGED, 1, TAGGED, 0, 0, 0, 0, 2, 0, 0, 1, 3, 9, 9, 9, 9 };

	for (uint8_t op = 0; op < 16; op++) {
		for (int where = TAGGED; where <= 4; where++) {
			uint32_t word = where > 3 ? 0x1201c000 : 0x0206c000;
			uint8_t octet = 0x40 | op;

			if (where == home[op])
				continue;
			begin();
			if (where == TAGGED)
				refused(word, "C1 %b %w %q 'data'", &octet, (size_t)1, x.stag,
					x.base);
			else
				refused(word, "41 %b %w  %w 00000001 00000000 'data'", &octet,
					(size_t)1, x.stag, (uint32_t)where);
			end();
		}
	}
}

/* The versions are checked in all messages, DDP's before RDMAP's. */
static void every_version(void **state)
{
	ROWS("5040-4.1-06 5040-4.8-15 5040-4.8-19 5040-4.8-20 5040-4.8-36 5040-7.2-01 5040-7.2-03"
	     " 5040-7.2-06 5040-7.2-07 7306-8.2-01");
	static const uint8_t queue[16] = { [1] = 1, [7] = 2, [10] = 1, [11] = 3 };
	static const uint8_t version[] = { 0x00, 0x80, 0xc0 };

	for (uint8_t op = 0; op < 12; op++) {
		bool tagged = op == 0 || op == 2;

		for (unsigned int v = 0; v < 3; v++) {
			for (unsigned int dv = 0; dv < 4; dv++) {
				uint32_t ddp = tagged ? 0x1104c000 : 0x1206c000;
				uint32_t word = dv == 1 ? 0x0205c000 : ddp;
				uint8_t octets[2] = { (uint8_t)((tagged ? 0xc0 : 0x40) | dv),
						      version[v] | op };

				begin();
				if (tagged)
					refused(word, "%b %w %q 'data'", octets, (size_t)2, x.stag,
						x.base);
				else
					refused(word, "%b 00000000 %w 00000001 00000000 'data'",
						octets, (size_t)2, (uint32_t)queue[op]);
				end();
			}
		}
	}
}

static void invalidations(void **state)
{
	ROWS("5040-4.8-13 5040-4.8-31 5040-5.3-13 5040-5.3-15 5040-7.2-04 5040-7.2-05"
	     " 5040-8.1.1-03");
	struct iw_qp *second;
	uint8_t *p;

	REFUSED(0x0109c000, "41 44 %w  00000000 00000001 00000000", unknown);
	REFUSED(0x0109c000, "41 46 %w  00000000 00000001 00000000", wrong_key);
	REFUSED(0x0109c000, "41 44 00000000  00000000 00000001 00000000");
	begin();
	refused(0x0109c000, "41 44 %w  00000000 00000001 00000000", iw_mr_stag(foreign));
	/* the STag is still valid in its PD */
	second = fx_qp_sized(&x, other_pd, x.cq, 1);
	assert_int_equal(iw_mr_remote(second, iw_mr_stag(foreign), x.base, 100,
				      IW_ACCESS_REMOTE_READ, &p),
			 IW_REMOTE_OK);
	iw_qp_free(second);
	end();
	/* of the right PD, but other QPs of the PD may use it */
	begin();
	second = fx_qp_sized(&x, x.pd, x.cq, 1);
	refused(0x0109c000, "41 44 %w  00000000 00000001 00000000", x.stag);
	assert_int_equal(iw_mr_remote(second, x.stag, x.base, 100, IW_ACCESS_REMOTE_READ, &p),
			 IW_REMOTE_OK);
	iw_qp_free(second);
	end();
}

/*
 * Unrequested Read Responses. Reads of 10 bytes at 2000, 4 at 3000 and 10 at 4000 are outstanding.
 */
static void responses(void **state)
{
	ROWS("5040-4.4-06 5040-4.8-35 5040-5.2.2-04 5040-5.2.2-06 5040-5.5-09 5040-5.5-18"
	     " 5040-7.1-03 5040-7.2-01");
	static const struct {
		uint32_t word;
		uint32_t stag_change;
		uint64_t at;
		uint32_t len;
	} cases[] = {
		{ 0x1100c000, 0x100, 2000, 10 }, { 0x1100c000, 1, 2000, 10 },
		{ 0x1101c000, 0, 1999, 1 },	 { 0x1101c000, 0, 2010, 1 },
		{ 0x1101c000, 0, 2000, 11 },	 { 0x1101c000, 0, 2009, 2 },
		{ 0x1101c000, 0, 2004, 1000 },	 { 0x1101c000, 0, 0, 4 },
		{ 0x1101c000, 0, 2000, 9 }, /* the last segment, with a byte missing */
		{ 0x1101c000, 0, 2000, 0 },	 { 0x1101c000, 0, 3000, 4 }, /* out of turn */
		{ 0x1101c000, 0, 4000, 10 },
	};
	static const uint8_t data[1000] = { 1 };

	/* no read is outstanding */
	REFUSED(0x0206c000, "C1 42 %w %q 'data'", x.stag, x.base);
	REFUSED(0x0206c000, "C1 42 00000000 0000000000000000");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t m[SCRIPT_MAX];
		struct iw_cqe cqe;
		size_t n;

		begin();
		memset(x.mem, 0, FX_MEM);
		fx_post(&x, 1, IW_WR_RDMA_READ, x.base + 2000, 10, 0x99, 1, 0);
		fx_post(&x, 2, IW_WR_RDMA_READ, x.base + 3000, 4, 0x99, 1, 0);
		fx_post(&x, 3, IW_WR_RDMA_READ, x.base + 4000, 10, 0x99, 1, 0);
		for (unsigned int k = 0; k < 3; k++)
			out(&x, "41 41 ..");
		n = script_bytes(m, "C1 42 %w %q %b", x.stag ^ cases[i].stag_change,
				 x.base + cases[i].at, data, (size_t)cases[i].len);
		in(&x, "%b", m, n);
		terminated(cases[i].word, m, n);
		cqe = fx_cqe(&x);
		assert_int_equal(cqe.wr_id, 1);
		assert_int_equal(cqe.status, IW_WC_REM_OP_ERR);
		completions(&x, { 2, IW_WC_WR_FLUSH_ERR }, { 3, IW_WC_WR_FLUSH_ERR },
			    { 77, IW_WC_WR_FLUSH_ERR }, { 78, IW_WC_WR_FLUSH_ERR });
		for (unsigned int k = 0; k < FX_MEM; k++)
			assert_true(!x.mem[k] || (k >= 2000 && k < 2010) ||
				    (k >= 3000 && k < 3004) || (k >= 4000 && k < 4010));
		end();
	}
	/* a TO that wraps */
	begin();
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base, 10, 0x99, 1, 0);
	out(&x, "41 41 ..");
	in(&x, "C1 42 %w FFFFFFFFFFFFFFFC '01234567'", x.stag);
	out(&x, TERM_SEGMENT "  1103C000 0016 C1 42 %w FFFFFFFFFFFFFFFC", x.stag);
	out_end(&x);
	end();
}

/* The source of a read goes away after 2 x 500 of its 1200 bytes have left. */
static void in_the_midst_of_a_read(void **state)
{
	ROWS("5040-4.8-30 5040-4.8-33 5040-7.1-05");
	begin();
	iw_assoc_set_max_msg(x.assoc, 518);
	in(&x, READ_SEGMENT("00000001", "000004B0 %w %q"), x.stag, x.base + 8);
	out(&x, "81 42 DEADBEEF 0123456789ABCDEF ..");
	out(&x, "81 42 DEADBEEF 0123456789ABCFE3 ..");
	iw_mr_free(x.mr);
	x.mr = NULL;
	out(&x,
	    TERM_SEGMENT "0100E000 002E"
			 "  41 41 00000000  00000001 00000001 00000000"
			 "  DEADBEEF 0123456789ABD1D7 000000C8 %w %q",
	    x.stag, x.base + 8 + 1000);
	out_end(&x);
	fx_event(&x, IW_EVENT_QP_ACCESS);
	end();
}

/* After a local error, the peer gets a Terminate without headers. */
static void local_errors(void **state)
{
	ROWS("5040-4.2-03 5040-4.8-29 5040-4.8-34 5040-7.1-01 5040-7.1-02"
	     " 5040-6.2.1-02");
	static const struct {
		enum iw_wr_opcode op;
		enum iw_wc_status status;
	} cases[] = {
		{ IW_WR_SEND, IW_WC_LOC_PROT_ERR },
		{ IW_WR_SEND_WITH_INV, IW_WC_LOC_PROT_ERR },
		{ IW_WR_RDMA_WRITE, IW_WC_LOC_PROT_ERR },
		{ IW_WR_RDMA_READ, IW_WC_LOC_PROT_ERR },
		{ IW_WR_LOCAL_INV, IW_WC_LOC_QP_OP_ERR },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		fx_post(&x, 1, IW_WR_SEND, x.base, 4, 0, 0, 0);
		x.stag ^= 1; /* the key of the SGE */
		fx_post(&x, 2, (uint8_t)cases[i].op, x.base, 4, unknown, 0, 0);
		x.stag ^= 1;
		fx_post(&x, 3, IW_WR_SEND, x.base, 4, 0, 0, 0);
		out(&x, "41 43 ..");
		out(&x, TERM_SEGMENT "00000000");
		out_end(&x);
		assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -EPROTO);
		completions(&x, { 1, IW_WC_SUCCESS }, { 2, cases[i].status },
			    { 3, IW_WC_WR_FLUSH_ERR }, { 77, IW_WC_WR_FLUSH_ERR },
			    { 78, IW_WC_WR_FLUSH_ERR });
		end();
	}
}

/*
 * Each bit of valid segments is inverted, and each segment is truncated. The answer is a Terminate
 * of the tables of RFC 5040 4.8 and 5041 7.2, with the parts that its M, D and R bits name.
 * Otherwise only the session ends.
 */
static bool known(uint16_t error)
{
	static const uint16_t errors[] = {
		0x0000, 0x0100, 0x0101, 0x0102, 0x0103, 0x0104, 0x0109, 0x01ff, 0x0205,
		0x0206, 0x0207, 0x0208, 0x0209, 0x02ff, 0x1000, 0x1100, 0x1101, 0x1102,
		0x1103, 0x1104, 0x1201, 0x1202, 0x1203, 0x1204, 0x1205, 0x1206,
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i] == error)
			return true;
	return false;
}

static void check_terminate(const uint8_t *m, size_t len)
{
	size_t header = m[0] & 0x80 ? 14 : 18, want = 20 + 4;
	const uint8_t *t = x.out + 20; /* after DDP-SSN and header */
	unsigned int type = t[0];

	assert_memory_equal(x.out + 2, "\x41\x47\0\0\0\0\0\0\0\2\0\0\0\1\0\0\0\0", 18);
	assert_true(known(get_be16(t)));
	assert_int_equal(t[2] & 0x1f, 0);
	assert_int_equal(t[3], 0);
	assert_int_equal(!(t[2] & 0x80), !(t[2] & 0x40));
	assert_int_equal(!(t[2] & 0x40), !(type & 0xf)); /* local catastrophic */
	assert_int_equal(!!(t[2] & 0x20), type == 0x01 && t[1] != 0x09);
	if (t[2] & 0x40) {
		want += 2 + header;
		assert_int_equal(get_be16(t + 4), len);
		assert_memory_equal(t + 6, m, header);
	}
	if (t[2] & 0x20) {
		want += 28;
		assert_memory_equal(t + 6 + header, m + header, 28);
	}
	assert_int_equal(x.out_len, want);
}

static void mutant(uint8_t *m, size_t len)
{
	in(&x, "%b", m, len);
	for (unsigned int n = 0; fx_pull(&x); n++) {
		if (x.msg.ppid == 16 && (x.out[3] & 0xf) == 7)
			check_terminate(m, len);
		else if (x.msg.ppid == 16)
			assert_int_equal(x.out[3], 0x42);
		assert_true(n < 4);
	}
	assert_int_equal(x.mem[999], (uint8_t)(999 * 5));
	assert_int_equal(x.mem[1032], (uint8_t)(1032 * 5));
}

static size_t valid(unsigned int i, uint8_t *m)
{
	switch (i) {
	case 0:
		return script_bytes(m, "C1 40 %w %q 'data'", x.stag, x.base + 200);
	case 1:
		return script_bytes(m, "41 43 00000000  00000000 00000001 00000000 'data'");
	case 2:
		return script_bytes(m, "41 46 %w  00000000 00000001 00000000 'data'", x.stag);
	case 3:
		return script_bytes(m, READ_SEGMENT("00000001", "00000010 %w %q"), x.stag, x.base);
	case 4:
		return script_bytes(m, "C1 42 %w %q 'data'", x.stag, x.base + 500);
	default:
		return 0;
	}
}

static void one_bit_wrong(void **state)
{
	ROWS("5040-4.2-03 5040-4.8-03 5040-4.8-04 5040-4.8-22 5040-4.8-26 5040-4.8-27 5040-4.8-28"
	     " 5040-4.8-30");
	uint8_t m[100];

	for (unsigned int i = 0; i < 5; i++) {
		size_t n;

		begin();
		n = valid(i, m);
		end();
		for (size_t bit = 0; bit < n * 8 + n; bit++) {
			begin();
			n = valid(i, m);
			fx_post(&x, 1, IW_WR_RDMA_READ, x.base + 500, 4, 0x99, 1, 0);
			out(&x, "41 41 ..");
			if (bit < n * 8)
				m[bit / 8] ^= (uint8_t)(1 << bit % 8);
			mutant(m, bit < n * 8 ? n : bit - n * 8);
			end();
		}
	}
}

/*
 * Three wrong segments arrive in every order. One Terminate reports the first in the order of
 * DDP-SSNs.
 */
static void the_first_error_is_told(void **state)
{
	ROWS("5040-7.1-06 5040-6.2.1-01");
	static const uint8_t orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					      { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	for (unsigned int i = 0; i < 2 * 6; i++) {
		const uint8_t *order = orders[i / 2];
		uint8_t m[3][100];
		size_t n[3];

		begin();
		x.rnic->config.in_order = i & 1;
		n[0] = script_bytes(m[0], "C1 40 %w %q 'data'", x.stag, x.base - 1);
		n[1] = script_bytes(m[1], "41 43 00000000  00000000 00000001 00000010 'd'");
		n[2] = script_bytes(m[2], "C1 40 %w %q 'data'", unknown, x.base);
		for (unsigned int k = 0; k < 3; k++) {
			in_at(&x, (uint16_t)(x.ssn + 1 + order[k]), "%b", m[order[k]], n[order[k]]);
			silent(&x);
			fx_no_event(&x);
		}
		in(&x, "41 43 00000000  00000000 00000001 00000000 'good'");
		assert_int_equal(fx_cqe(&x).status, IW_WC_SUCCESS);
		terminated(0x1101c000, m[0], n[0]);
		end();
	}
	/*
	 * The same for early Sends that wait for receives: the first receive is not writable, the
	 * second is too short.
	 */
	begin();
	in_at(&x, 3, "41 43 00000000  00000000 00000003 00000000 'third'");
	in_at(&x, 4, "41 43 00000000  00000000 00000004 00000000 'fourth'");
	fx_post_recv(&x, 79, x.base, 16, iw_mr_stag(read_only));
	fx_post_recv(&x, 80, x.base, 5, x.stag);
	in_at(&x, 2, "41 43 00000000  00000000 00000002 00000000 'two'");
	silent(&x);
	in_at(&x, 1, "41 43 00000000  00000000 00000001 00000000 'one'");
	completions(&x, { 77, IW_WC_SUCCESS }, { 78, IW_WC_SUCCESS }, { 79, IW_WC_LOC_PROT_ERR },
		    { 80, IW_WC_WR_FLUSH_ERR });
	out(&x, TERM_SEGMENT "10000000");
	out_end(&x);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_requests_of_what_is_not_theirs),
		cmocka_unit_test(read_requests_at_the_edges),
		cmocka_unit_test(writes_of_what_is_not_theirs),
		cmocka_unit_test(sends_as_they_should_not_be),
		cmocka_unit_test(read_requests_as_they_should_not_be),
		cmocka_unit_test(terminates_as_they_should_not_be),
		cmocka_unit_test(every_opcode_everywhere),
		cmocka_unit_test(every_version),
		cmocka_unit_test(invalidations),
		cmocka_unit_test(responses),
		cmocka_unit_test(in_the_midst_of_a_read),
		cmocka_unit_test(local_errors),
		cmocka_unit_test(one_bit_wrong),
		cmocka_unit_test(the_first_error_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
