/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * On top of iw_script.h: whole user messages, their DDP-SSN first, both ways; for what session
 * control and segments are together on a stream (RFC 5043).
 */
#ifndef TESTS_CONFORMANCE_SESSION_SCRIPT_H
#define TESTS_CONFORMANCE_SESSION_SCRIPT_H

#include "conformance/iw_script.h"

#define SEGMENT 16u
#define CONTROL 17u

/* The peer sends this on stream x->sid; x->ssn is the next one behind it. */
static inline void says(struct fx *x, uint32_t ppid, const char *format, ...)
{
	uint8_t m[SCRIPT_MAX];
	va_list args;
	bool open;
	size_t n;

	va_start(args, format);
	n = script_vbytes(m, &open, format, args);
	va_end(args);
	assert_true(n >= 2);
	x->ssn = (uint16_t)(get_be16(m) + 1);
	assert_int_equal(fx_feed(x, ppid, get_be16(m), m + 2, n - 2), 0);
}

/* It hears this on stream x->sid. */
static inline void hears(struct fx *x, uint32_t ppid, const char *format, ...)
{
	uint8_t m[SCRIPT_MAX];
	va_list args;
	bool open;
	size_t n;

	va_start(args, format);
	n = script_vbytes(m, &open, format, args);
	va_end(args);
	assert_true(fx_pull(x));
	assert_int_equal(x->msg.ppid, ppid);
	assert_int_equal(x->msg.sid, x->sid);
	if (open)
		assert_true(x->out_len >= n);
	else
		assert_int_equal(x->out_len, n);
	assert_memory_equal(x->out, m, n);
}

static inline struct iw_session_param session_param(uint32_t ird, uint32_t ord, const char *data)
{
	struct iw_session_param p = { .ird = ird, .ord = ord, .rnr_retry_count = 7 };

	p.private_data_len = (uint16_t)strlen(data);
	memcpy(p.private_data, data, p.private_data_len);
	return p;
}

/* We call on a stream of ours; nothing was pulled yet. */
static inline void call(struct fx *x, const struct iw_session_param *p)
{
	assert_int_equal(iw_session_initiate(x->assoc, x->qp, p, NULL, &x->session), 0);
	x->ssn = 0;
}

/* The application accepts what the peer called for. */
static inline void accept_call(struct fx *x, const struct iw_session_param *p)
{
	x->session = fx_event(x, IW_EVENT_INITIATE).session;
	assert_int_equal(iw_session_accept(x->session, x->qp, p), 0);
}

/* A QP that was in a session may be in another one. */
static inline void reuse_qp(struct fx *x)
{
	assert_int_equal(iw_qp_modify(x->qp, IW_QPS_RESET), 0);
	assert_int_equal(iw_qp_modify(x->qp, IW_QPS_INIT), 0);
}

#endif
