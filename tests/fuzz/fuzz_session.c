/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * A peer sends any session control messages (RFC 5043 6, RFC 6581) on many streams of one
 * association, while an application accepts, rejects, initiates and closes. Each session that the
 * application holds must end with one event, and the peer must not get more sessions than there are
 * streams.
 */
#include "fixture/input.h"
#include "fixture/iw_fixture.h"

#define STEPS 200
#define QPS 4
#define HELD 64
#define STREAMS 64 /* as fx_start() makes them */

static struct fx x;
static struct iw_qp *qp[QPS];
static struct iw_session *unexpected[HELD]; /* those that the application holds until they end */
static uint16_t ssn[STREAMS];
static unsigned int n_unexpected;

static void hold(struct iw_session *s)
{
	must(s && n_unexpected < HELD);
	unexpected[n_unexpected++] = s;
}

static void let_go(unsigned int i)
{
	unexpected[i] = unexpected[--n_unexpected];
}

static void take_events(void)
{
	struct iw_event ev;
	unsigned int i;

	while (iw_next_event(x.rnic, &ev)) {
		switch (ev.type) {
		case IW_EVENT_INITIATE:
			must(ev.param.private_data_len <= IW_MAX_PRIVATE_DATA);
			hold(ev.session);
			break;
		case IW_EVENT_REJECT:
		case IW_EVENT_CLOSED:
			for (i = 0; i < n_unexpected && unexpected[i] != ev.session; i++)
				;
			must(i < n_unexpected);
			let_go(i);
			break;
		default:
			break;
		}
	}
}

static struct iw_session_param param(struct input *in)
{
	struct iw_session_param p = { .ird = in_u8(in) % (IW_MAX_IRD + 1),
				      .ord = in_u8(in) % (IW_MAX_ORD + 1) };
	uint8_t more = in_u8(in);

	p.rnr_retry_count = more & 7;
	p.rtr = more & 8 ? more >> 5 : 0; /* some of the three kinds, or all */
	p.private_data_len = more & 16 ? in_u8(in) * 2 % (IW_MAX_PRIVATE_DATA - 3) : 0;
	memset(p.private_data, 0x33, p.private_data_len);
	return p;
}

static void decide(struct input *in)
{
	uint8_t what = in_u8(in);
	struct iw_session_param p = param(in);
	struct iw_qp *q = qp[what % QPS];
	struct iw_session *s;
	unsigned int i;

	if (what < 0x40) {
		if (n_unexpected < HELD && !iw_session_initiate(x.assoc, q, &p, NULL, &s))
			hold(s);
		return;
	}
	if (!n_unexpected)
		return;
	i = in_u8(in) % n_unexpected;
	s = unexpected[i];
	if (what < 0x90) {
		iw_session_accept(s, q, &p);
		return;
	}
	if (what < 0xb0) {
		let_go(i);
		iw_session_reject(s, p.private_data, p.private_data_len % 300);
	} else if (what < 0xc0) {
		let_go(i);
		iw_session_refuse(s);
	} else {
		let_go(i);
		iw_session_close(s);
	}
}

static void new_qp(struct input *in)
{
	unsigned int i = in_u8(in) % QPS;

	iw_qp_free(qp[i]);
	qp[i] = fx_qp_sized(&x, x.pd, x.cq, 8);
}

static void message(struct input *in)
{
	uint8_t how = in_u8(in), m[600];
	uint16_t at;
	const uint8_t *bytes;
	size_t len;

	x.sid = in_u8(in) % (how & 0x80 ? STREAMS : 4);
	if (how & 0x40)
		ssn[x.sid] = (uint16_t)(ssn[x.sid] + in_u8(in) - 2);
	at = ssn[x.sid]++;
	bytes = in_bytes(in, in_u8(in) * (how & 0x20 ? 3u : 1u), &len);
	len = len < 596 ? len : 596;
	put_be16(m, how & 0x10 ? in_u16(in) : 1 + how % 7);
	memcpy(m + 2, bytes, len);
	/* The peer begins anew on a stream whose session it thinks is over. */
	if (how & 8)
		at = ssn[x.sid] = 0;
	if (fx_feed(&x, how % 5 ? 17 : 16, at, m, len + 2))
		must(0); /* the stream does exist */
	if (how & 8)
		ssn[x.sid] = 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_of(data, size);

	n_unexpected = 0;
	memset(ssn, 0, sizeof(ssn));
	fx_start(&x, in_u8(&in) & 1);
	for (int i = 0; i < QPS; i++)
		qp[i] = fx_qp_sized(&x, x.pd, x.cq, 8);
	for (int i = 0; i < STEPS && in_more(&in); i++) {
		uint8_t what = in_u8(&in);

		if (what < 0x80)
			message(&in);
		else if (what < 0xc0)
			decide(&in);
		else if (what < 0xd0)
			new_qp(&in);
		else if (what < 0xe8)
			fx_pull(&x);
		else
			fx_ack(&x, in_u8(&in) % 4);
		take_events();
		must(iw_assoc_sessions(x.assoc) <= STREAMS);
	}
	iw_assoc_lost(x.assoc, -ECONNRESET);
	take_events();
	must(!n_unexpected);
	for (int i = 0; i < QPS; i++)
		iw_qp_free(qp[i]);
	x.assoc = iw_assoc_new(x.rnic, &(struct iw_llp_ops){ .doorbell = fx_doorbell }, &x, true, 2,
			       1452);
	fx_stop(&x);
	return 0;
}
