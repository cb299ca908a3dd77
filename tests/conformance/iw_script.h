/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Scripts for the scripted peer of unit/iw_fixture.h. Messages are written as they stand in the
 * figures of the RFCs, behind the DDP-SSN: hex digits, blanks as one likes, 'text', and
 *
 *	%w  uint32_t	%q  uint64_t	%b  const void *, size_t: so many bytes
 *
 * in network order; in what is expected ".." at the end stands for whatever follows. A Send, say:
 *
 *	in(&x, "41 43 00000000  00000000 00000001 00000000 'hello'");
 */
#ifndef TESTS_CONFORMANCE_IW_SCRIPT_H
#define TESTS_CONFORMANCE_IW_SCRIPT_H

#include "conformance/rows.h"
#include "unit/iw_fixture.h"

#include <ctype.h>

#define SCRIPT_MAX 8192

/* The DDP header of every RDMAP Terminate, ours and the peer's. */
#define TERM_SEGMENT "41 47 00000000  00000002 00000001 00000000  "
/* The peer's Read Request of this MSN; size goes on with the source. */
#define READ_SEGMENT(msn, size)                                                                    \
	"41 41 00000000  00000001 " msn " 00000000  DEADBEEF 0123456789ABCDEF " size

static uint16_t script_out_ssn; /* of our next message */

static inline unsigned int script_digit(char c)
{
	return (unsigned int)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

/* Returns the length; *open: the format ended in "..". */
static inline size_t script_vbytes(uint8_t *out, bool *open, const char *f, va_list args)
{
	size_t n = 0;

	*open = false;
	while (*f) {
		assert_true(n + 8 <= SCRIPT_MAX);
		if (isspace((unsigned char)*f)) {
			f++;
		} else if (*f == '\'') {
			for (f++; *f != '\''; f++)
				out[n++] = (uint8_t)*f;
			f++;
		} else if (!strncmp(f, "..", 3)) {
			*open = true;
			f += 2;
		} else if (!strncmp(f, "%w", 2)) {
			put_be32(out + n, va_arg(args, uint32_t));
			n += 4;
			f += 2;
		} else if (!strncmp(f, "%q", 2)) {
			put_be64(out + n, va_arg(args, uint64_t));
			n += 8;
			f += 2;
		} else if (!strncmp(f, "%b", 2)) {
			const void *data = va_arg(args, const void *);
			size_t len = va_arg(args, size_t);

			assert_true(n + len <= SCRIPT_MAX);
			memcpy(out + n, data, len);
			n += len;
			f += 2;
		} else {
			assert_true(isxdigit((unsigned char)f[0]) && isxdigit((unsigned char)f[1]));
			out[n++] = (uint8_t)(script_digit(f[0]) << 4 | script_digit(f[1]));
			f += 2;
		}
	}
	return n;
}

static inline size_t script_bytes(uint8_t *out, const char *format, ...)
{
	va_list args;
	bool open;
	size_t n;

	va_start(args, format);
	n = script_vbytes(out, &open, format, args);
	va_end(args);
	return n;
}

/* A plain session that the peer opened, with these depths of ours, established. */
static inline void open_session(struct fx *x, uint32_t ird, uint32_t ord)
{
	fx_passive(x, ird, ord, 7);
	script_out_ssn = 1;
}

/* A DDP segment from the peer, with this DDP-SSN, and with the next one. */
static inline void in_at(struct fx *x, uint16_t ssn, const char *format, ...)
{
	uint8_t m[SCRIPT_MAX];
	va_list args;
	bool open;
	size_t n;

	va_start(args, format);
	n = script_vbytes(m, &open, format, args);
	va_end(args);
	assert_int_equal(fx_feed(x, 16, ssn, m, n), 0);
}

#define in(x, ...) in_at(x, (x)->ssn++, __VA_ARGS__)

/* Our next message is this DDP segment, with the DDP-SSN that is next. */
static inline void out(struct fx *x, const char *format, ...)
{
	uint8_t m[SCRIPT_MAX];
	va_list args;
	bool open;
	size_t n;

	va_start(args, format);
	n = script_vbytes(m, &open, format, args);
	va_end(args);
	assert_true(fx_pull(x));
	assert_int_equal(x->msg.ppid, 16);
	assert_int_equal(x->msg.sid, x->sid);
	assert_int_equal(get_be16(x->out), script_out_ssn++);
	if (open)
		assert_true(x->out_len >= n + 2);
	else
		assert_int_equal(x->out_len, n + 2);
	assert_memory_equal(x->out + 2, m, n);
}

/* Nothing to say. */
static inline void silent(struct fx *x)
{
	assert_false(fx_pull(x));
}

/* A session Terminate (RFC 5043), and nothing behind it. */
static inline void out_end(struct fx *x)
{
	assert_true(fx_pull(x));
	assert_int_equal(x->msg.ppid, 17);
	assert_int_equal(get_be16(x->out), script_out_ssn++);
	assert_int_equal(x->out_len, 4);
	assert_memory_equal(x->out + 2, "\0\4", 2);
	silent(x);
}

/* The completions that are there, all of them, in this order. */
struct script_cqe {
	uint64_t wr_id;
	enum iw_wc_status status;
};

static inline void completions_are(struct fx *x, const struct script_cqe *want, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct iw_cqe cqe = fx_cqe(x);

		assert_int_equal(cqe.wr_id, want[i].wr_id);
		assert_int_equal(cqe.status, want[i].status);
	}
	assert_true(iw_cq_is_empty(x->cq));
}

/* completions(&x, { 1, IW_WC_SUCCESS }, { 2, IW_WC_WR_FLUSH_ERR }); */
#define completions(x, ...)                                                                        \
	do {                                                                                       \
		const struct script_cqe want_[] = { __VA_ARGS__ };                                 \
		completions_are(x, want_, sizeof(want_) / sizeof(want_[0]));                       \
	} while (0)

static inline void no_completion(struct fx *x)
{
	assert_true(iw_cq_is_empty(x->cq));
}

#endif
