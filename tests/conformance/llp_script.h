/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The RNIC on our SCTP, against a peer that is packets: unit/sctp_peer.h and iw_script.h together.
 * One association (f.a) with one session on stream 0, established by open_all().
 */
#ifndef TESTS_CONFORMANCE_LLP_SCRIPT_H
#define TESTS_CONFORMANCE_LLP_SCRIPT_H

#include "conformance/iw_script.h"
#undef MSEC
#include "unit/sctp_peer.h"

#define U WIRE_SCTP_DATA_U
#define B WIRE_SCTP_DATA_B
#define E WIRE_SCTP_DATA_E
#define WHOLE (U | B | E)

static struct fx x;

/* ---- the RNIC as SCTP's user ---- */

static inline size_t pull_rnic(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg)
{
	struct iw_msg m = { 0 };
	size_t n = iw_assoc_pull(x.assoc, buf, room, &m);

	*msg = (struct sctp_msg){ .sid = m.sid, .ppid = m.ppid, .more = m.more };
	return n;
}

static inline void doorbell_sctp(void *llp)
{
	if (f.a)
		sctp_assoc_doorbell(f.a);
}

static inline uint32_t acked_by_sctp(void *llp)
{
	return f.a ? sctp_assoc_acked(f.a) : 0;
}

/* ---- the peer ---- */

static uint8_t sid; /* of what it sends */

static inline void add_message(uint32_t tsn, uint8_t flags, uint32_t ppid, const char *format, ...)
{
	uint8_t m[SCRIPT_MAX], *p;
	va_list args;
	bool open;
	size_t n;

	va_start(args, format);
	n = script_vbytes(m, &open, format, args);
	va_end(args);
	p = add(WIRE_SCTP_DATA, flags, 12 + n);
	put_be32(p, tsn);
	put_be16(p + 4, sid);
	put_be32(p + 8, ppid);
	memcpy(p + 12, m, n);
}

/* The packet goes to SCTP, what comes of it to the RNIC, and what both say is collected. */
static inline void send_packet(void)
{
	iw_set_now(x.rnic, f.now);
	wire_sctp_checksum_put(f.buf, f.len);
	sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
	for (unsigned int i = 0; i < f.rx.count; i++) {
		struct sctp_data *d = &f.rx.data[i];

		assert_int_equal(iw_assoc_receive(x.assoc, d->sid, d->ppid, d->data, d->len), 0);
	}
	collect();
}

static inline void acknowledge(uint32_t tsn)
{
	begin();
	add_sack(tsn, 1000000, NULL, 0);
	send_packet();
}

/* The next DATA chunk of ours; raw is NULL when there is none. */
static inline struct wire_sctp_chunk next_data(void)
{
	static const uint8_t *q;
	static struct packet *p;
	struct wire_sctp_chunk c;

	for (;;) {
		if (p)
			while (wire_sctp_chunk_next(&q, p->data + p->len, &c))
				if (c.type == WIRE_SCTP_DATA)
					return c;
		p = take();
		if (!p)
			return (struct wire_sctp_chunk){ 0 };
		q = p->data + WIRE_SCTP_COMMON_LEN;
	}
}

static uint32_t tsn; /* the peer's next */

/* An association with one session on stream 0; the Accept is acknowledged. */
static inline int open_all(void **state)
{
	static const struct iw_llp_ops llp = { .doorbell = doorbell_sctp, .acked = acked_by_sctp };

	setup(state);
	establish();
	fx_start(&x, false);
	iw_assoc_lost(x.assoc, 0);
	x.assoc = iw_assoc_new(x.rnic, &llp, NULL, false, sctp_assoc_streams(f.a),
			       sctp_assoc_max_msg(f.a));
	f.s->ops.pull = pull_rnic;
	sid = 0;
	tsn = f.tsn;
	begin();
	add_message(tsn++, WHOLE, 17, "0000 0001");
	send_packet();
	x.session = fx_event(&x, IW_EVENT_INITIATE).session;
	assert_int_equal(iw_session_accept(x.session, x.qp,
					   &(struct iw_session_param){ .ird = 4, .ord = 4,
								       .rnr_retry_count = 7 }), 0);
	collect();
	assert_memory_equal(next_data().raw + 12, "\0\0\0\x11\0\0\0\2", 8);
	acknowledge(f.their_tsn++);
	drop_all();
	return 0;
}

static inline int close_all(void **state)
{
	while (next_data().raw)
		;
	fx_stop(&x);
	return teardown(state);
}

#define LLP_TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

#endif
