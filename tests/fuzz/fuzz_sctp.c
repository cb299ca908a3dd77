/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * A peer sends any SCTP packets in every state of an association. The input chooses the state, and
 * then scripts what the peer sends, what the user does and how time passes. Whatever that is, the
 * association must end or be able to end, the answers must be well-formed, and nothing may be left
 * behind.
 */
#include "fixture/input.h"
#include "fixture/sctp_peer.h"

#define STEPS 96
#define MANY_ASSOCS 8 /* one peer must not be able to make more */

static struct wire_sctp_init their_ack; /* the last INIT ACK, with its cookie */
static uint8_t cookie[2048];
static size_t cookie_len;
static uint8_t echo[4096]; /* the last packet that the instance sent */
static size_t echo_len;

/* Checks all that the instance has sent, and learns from it as a peer does. */
static void look(void)
{
	struct wire_sctp_chunk c;
	struct packet *p;
	const uint8_t *q;

	while ((p = take())) {
		q = p->data + WIRE_SCTP_COMMON_LEN;
		must(wire_sctp_chunk_next(&q, p->data + p->len, &c));
		if ((c.type == WIRE_SCTP_INIT || c.type == WIRE_SCTP_INIT_ACK) &&
		    wire_sctp_init_get(&c, &their_ack)) {
			f.their_tag = their_ack.tag;
			f.their_tsn = their_ack.tsn;
			if (their_ack.cookie && their_ack.cookie_len <= sizeof(cookie)) {
				cookie_len = their_ack.cookie_len;
				memcpy(cookie, their_ack.cookie, cookie_len);
			}
		}
		while (wire_sctp_chunk_next(&q, p->data + p->len, &c))
			;
		must(q == p->data + p->len);
		echo_len = p->len;
		memcpy(echo, p->data, p->len);
	}
}

static void input_and_look(void)
{
	sendp();
	look();
	must(f.s->table.assoc_count <= MANY_ASSOCS);
}

static void add_cookie(void)
{
	memcpy(add(WIRE_SCTP_COOKIE_ECHO, 0, cookie_len), cookie, cookie_len);
}

static void add_our_init(uint8_t type)
{
	struct wire_sctp_init init = our_init();

	if (type == WIRE_SCTP_INIT_ACK) {
		init.cookie = (const uint8_t *)"cookie!!";
		init.cookie_len = 8;
	}
	add_init(type, &init);
}

static void connect_out(void)
{
	f.a = sctp_connect(f.ep, &f.path, PEER_PORT, 1500, NULL, f.now);
	must(f.a);
	sctp_assoc_doorbell(f.a);
	collect();
	look();
}

static void say_init_ack(void)
{
	begin_tag(their_ack.tag);
	add_our_init(WIRE_SCTP_INIT_ACK);
	input_and_look();
}

static void say(uint8_t type, size_t value)
{
	begin();
	memset(add(type, 0, value), 0, value);
	input_and_look();
}

static void accept_peer(void)
{
	begin_tag(0);
	add_our_init(WIRE_SCTP_INIT);
	input_and_look();
	begin();
	add_cookie();
	input_and_look();
	must(f.rx.up);
}

static void send_messages(unsigned int n)
{
	f.messages += n;
	if (f.a)
		sctp_assoc_doorbell(f.a);
	collect();
	look();
}

enum {
	NOTHING,
	COOKIE_WAIT,
	COOKIE_ECHOED,
	UP_PASSIVE,
	UP_ACTIVE,
	UP_SENDING,
	SHUTDOWN_PENDING,
	SHUTDOWN_SENT,
	SHUTDOWN_RECEIVED,
	SHUTDOWN_ACK_SENT,
	STATES
};

static void enter(unsigned int state)
{
	if (state == COOKIE_WAIT || state == COOKIE_ECHOED || state == UP_ACTIVE) {
		connect_out();
		if (state != COOKIE_WAIT)
			say_init_ack();
		if (state == UP_ACTIVE)
			say(WIRE_SCTP_COOKIE_ACK, 0);
		return;
	}
	if (state != NOTHING)
		accept_peer();
	if (state == UP_SENDING || state == SHUTDOWN_PENDING || state == SHUTDOWN_RECEIVED)
		send_messages(20);
	if (state == SHUTDOWN_PENDING || state == SHUTDOWN_SENT) {
		sctp_assoc_shutdown(f.a, f.now);
		collect();
		look();
	}
	if (state == SHUTDOWN_RECEIVED || state == SHUTDOWN_ACK_SENT) {
		begin();
		put_be32(add(WIRE_SCTP_SHUTDOWN, 0, 4), f.their_tsn - 1);
		input_and_look();
	}
}

static void add_raw_chunk(struct input *in)
{
	static const uint8_t types[] = { 0, 1,	2,  3,	4,    5,    6,	  7,	8,
					 9, 10, 11, 14, 0x84, 0xc1, 0x80, 0xc0, 0x40 };
	uint8_t type = in_u8(in), flags = in_u8(in);
	size_t len, max = in_u8(in);
	const uint8_t *bytes = in_bytes(in, max & 0x80 ? (max & 0x7f) * 16 : max, &len);

	if (f.len + len + 8 > sizeof(f.buf))
		return;
	type = type & 0x80 ? type & 0x7f : types[type % sizeof(types)];
	memcpy(add(type, flags, len), bytes, len);
}

static void add_fuzzed_data(struct input *in)
{
	uint8_t flags = in_u8(in);
	uint32_t tsn = f.tsn + (uint32_t)(int8_t)in_u8(in) * (flags & 0x80 ? 301 : 1);

	add_data_flags(tsn, flags & 0x40 ? flags : flags | 7, in_u8(in), flags);
}

static void add_fuzzed_sack(struct input *in)
{
	uint32_t cum = f.their_tsn + (uint32_t)(int8_t)in_u8(in), rwnd = in_u16(in) * 4u;
	struct wire_sctp_gap gaps[8];
	unsigned int n = in_u8(in) % 9;

	for (unsigned int i = 0; i < n; i++) {
		gaps[i].start = in_u8(in);
		gaps[i].end = in_u8(in);
	}
	add_sack(cum, rwnd, gaps, n);
}

static void add_mangled_cookie(struct input *in)
{
	uint8_t at = in_u8(in), how = in_u8(in);

	if (cookie_len)
		cookie[at % cookie_len] ^= how;
	add_cookie();
	if (cookie_len)
		cookie[at % cookie_len] ^= how;
}

static uint32_t choose_tag(struct input *in)
{
	switch (in_u8(in) % 5) {
	case 0:
		return 0;
	case 1:
		return f.tag;
	case 2:
		return in_u32(in);
	default:
		return f.their_tag;
	}
}

static void packet_step(struct input *in)
{
	unsigned int chunks = 1 + in_u8(in) % 4;

	begin_tag(choose_tag(in));
	while (chunks-- && f.len < 2048) {
		switch (in_u8(in) % 6) {
		case 0:
			add_fuzzed_data(in);
			break;
		case 1:
			add_fuzzed_sack(in);
			break;
		case 2:
			add_mangled_cookie(in);
			break;
		case 3:
			add_our_init(in_u8(in) & 1 ? WIRE_SCTP_INIT : WIRE_SCTP_INIT_ACK);
			break;
		default:
			add_raw_chunk(in);
			break;
		}
	}
	/* The last chunk may lie about its length. */
	if (in_u8(in) == 0xff && f.len > 20)
		f.len -= in_u8(in) % (f.len - 16);
	input_and_look();
}

static void raw_packet_step(struct input *in)
{
	size_t len;
	const uint8_t *bytes = in_bytes(in, 16u * in_u8(in), &len);

	begin();
	memcpy(f.buf + f.len, bytes, len);
	f.len += len;
	input_and_look();
}

/* Sends back to the instance what it has sent. */
static void reflect_step(void)
{
	uint16_t source = get_be16(echo);

	if (echo_len < WIRE_SCTP_MIN_PACKET)
		return;
	memcpy(f.buf, echo, echo_len);
	f.len = echo_len;
	put_be16(f.buf, get_be16(echo + 2));
	put_be16(f.buf + 2, source);
	memset(f.buf + 8, 0, 4);
	input_and_look();
}

static void user_step(struct input *in)
{
	switch (in_u8(in) % 6) {
	case 0:
		send_messages(in_u8(in));
		break;
	case 1:
		if (f.a)
			sctp_assoc_shutdown(f.a, f.now);
		break;
	case 2:
		if (f.a)
			sctp_assoc_abort(f.a);
		f.a = NULL;
		break;
	case 3:
		if (f.a)
			sctp_assoc_set_mtu(f.a, in_u16(in) % 4096);
		break;
	case 4:
		sctp_unreachable(f.ep, &f.path, echo, in_u8(in) % (echo_len + 1), f.now);
		break;
	default:
		f.message_len = 1 + in_u16(in) % 500;
		break;
	}
	collect();
	look();
}

static void run(struct input *in)
{
	for (int i = 0; i < STEPS && in_more(in); i++) {
		uint8_t what = in_u8(in);

		if (what < 0x90)
			packet_step(in);
		else if (what < 0xa0)
			raw_packet_step(in);
		else if (what < 0xb0)
			reflect_step();
		else if (what < 0xd0)
			user_step(in);
		else
			wait_ns((uint64_t)in_u8(in) * (what & 1 ? MSEC : 100 * MSEC));
		look();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_of(data, size);
	uint8_t state = in_u8(&in);
	struct sctp_config config;
	int silence;

	sctp_config_default(&config);
	setup_config(&config);
	cookie_len = echo_len = 0;
	memset(&their_ack, 0, sizeof(their_ack));
	enter(state % STATES);
	run(&in);
	/* A peer that falls silent must be given up, so that no state stays for ever. */
	for (silence = 0; silence < 400 && f.s->table.assoc_count; silence++) {
		wait_ns(SEC);
		look();
		if (f.a && silence == 100)
			sctp_assoc_shutdown(f.a, f.now);
	}
	must(!f.s->table.assoc_count);
	teardown(NULL);
	return 0;
}
