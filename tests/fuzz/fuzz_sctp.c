/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * A peer sends any SCTP packets in every state of an association. The input chooses the state, and
 * scripts the peer's packets, the user's actions and the time. The association must end or be able
 * to end, the answers must be well-formed, and no state may remain. If both sides know receipts
 * (sctp/receipts.h), no SACK of the instance may report more than its user permits. The peer's
 * SACKs must count exactly for their contents.
 */
#include "fixture/input.h"
#include "fixture/sctp_receipts_user.h"
#include "util/serial.h"

#define STEPS 96
#define MANY_ASSOCS 8 /* limit for one peer */
#define LONE_SACKS 2  /* maximum packets with a SACK and without DATA, caused by one packet */

static struct wire_sctp_init their_ack; /* the last INIT ACK, with its cookie */
static uint8_t cookie[2048];
static size_t cookie_len;
static uint8_t echo[4096]; /* the last packet of the instance */
static size_t echo_len;

/* Chunks that the instance has sent on its latest association. */
static struct {
	bool receipt;	    /* a receipt */
	uint32_t tsn;	    /* the TSN of the last receipt */
	bool bare;	    /* a SACK without a HOLD chunk, since look() was called */
	unsigned int sacks; /* packets with a SACK, since the peer's last packet */
	unsigned int lone;  /* those without DATA */
} seen;

/* Contents of the peer's SACKs since then. */
static struct {
	struct {
		uint32_t cum;
		bool held; /* until all DATA up to tsn has arrived */
		uint32_t tsn;
	} sack[4 * STEPS];
	unsigned int n;
	bool unknown; /* chunks of unknown contents were sent */
} told;

static struct {
	const struct sctp_assoc *a; /* NULL: unknown */
	uint32_t tsn;		    /* all messages up to this TSN were placed */
} placed;

static void tell(uint32_t cum, bool held, uint32_t tsn)
{
	must(told.n < sizeof(told.sack) / sizeof(told.sack[0]));
	told.sack[told.n].cum = cum;
	told.sack[told.n].held = held;
	told.sack[told.n].tsn = tsn;
	told.n++;
}

/* True if the peer has reported that all messages up to this TSN are placed. */
static bool is_told(uint32_t tsn)
{
	if (told.unknown || tsn == f.a->setup.init_tsn - 1)
		return true;
	for (unsigned int i = 0; i < told.n; i++)
		if (told.sack[i].cum == tsn &&
		    (!told.sack[i].held || serial32_ge(f.a->rx.map.cum, told.sack[i].tsn)))
			return true;
	return false;
}

static bool is_agreed(void)
{
	uint32_t window;

	return f.a && sctp_assoc_has_receipts(f.a, &window);
}

/* Resets the state for another association, or a restart of the same one. */
static void forget(void)
{
	memset(&seen, 0, sizeof(seen));
	told.n = 0;
	placed.a = NULL;
}

/*
 * Checks the placed messages after the user has got the DATA of the peer's packet. They are not
 * above the acknowledged ones, do not decrease, and agree with the peer's SACKs. If some
 * acknowledged messages are not placed, a timer must run to request more.
 */
static void check_placed(void)
{
	uint32_t acked, now;

	if (!f.a)
		return;
	acked = f.a->setup.init_tsn - 1 + sctp_assoc_acked(f.a);
	now = f.a->setup.init_tsn - 1 + sctp_assoc_placed(f.a);
	if (!is_agreed()) {
		must(now == acked);
		return;
	}
	must(serial32_le(now, acked));
	must(placed.a != f.a || serial32_ge(now, placed.tsn));
	must(is_told(now));
	if (now != acked && sctp_in_states(f.a, SCTP_STATES_SEND))
		must(sctp_timer_runs(f.a, SCTP_TIMER_RECEIPTS));
	/* An acknowledged receipt must be cleared, since TSNs wrap. */
	must(!f.a->receipts.sent || serial32_lt(f.a->out.cum, f.a->receipts.last_tsn));
	placed.a = f.a;
	placed.tsn = now;
}

/*
 * Checks a SACK that has left, with or without a HOLD chunk. Either the peer has acknowledged all
 * receipts, or the SACK announces receipts.
 */
static void see_sack(const struct wire_sctp_chunk *hold)
{
	bool unsent = hold && hold->flags & WIRE_SCTP_HOLD_UNSENT;
	bool arrived;
	uint32_t tsn;

	if (!f.a)
		return;
	must(!hold || is_agreed());
	if (!is_agreed())
		return;
	must(unsent || !receipts_user.due);
	arrived = !seen.receipt || serial32_ge(f.a->out.cum, seen.tsn);
	if (!hold) {
		must(arrived);
		seen.bare = true;
	} else if (!unsent) {
		tsn = get_be32(wire_sctp_value(hold));
		must(serial32_lt(tsn, f.a->out.next)); /* otherwise, the peer would wait for ever */
		must(arrived || tsn == seen.tsn);
	}
}

/* Records a receipt. No receipt may follow SACKs that announced none. */
static void see_data(const struct wire_sctp_data *d)
{
	if (d->len != 100 || d->data[0] != 'r' || (seen.receipt && serial32_le(d->tsn, seen.tsn)))
		return;
	must(!seen.bare || !is_agreed());
	seen.receipt = true;
	seen.tsn = d->tsn;
}

/* Checks the chunks of a packet of the instance: c, and the rest from q on. */
static void see_chunks(struct wire_sctp_chunk c, const uint8_t *q, const uint8_t *end)
{
	struct wire_sctp_chunk sack = { 0 }, hold = { 0 };
	struct wire_sctp_data d;
	bool data = false;
	uint8_t before = 0;

	do {
		if (c.type == WIRE_SCTP_SACK)
			sack = c;
		if (c.type == WIRE_SCTP_DATA && wire_sctp_data_get(&c, &d)) {
			see_data(&d);
			data = true;
		}
		if (c.type == WIRE_SCTP_HOLD) {
			must(c.len == WIRE_SCTP_HOLD_LEN);
			if (c.flags != WIRE_SCTP_HOLD_ASK) {
				must(before == WIRE_SCTP_SACK);
				hold = c;
			}
		}
		before = c.type;
	} while (wire_sctp_chunk_next(&q, end, &c));
	must(q == end);
	if (!sack.raw)
		return;
	seen.sacks++;
	seen.lone += !data;
	/* This SACK may refer to receipts of the same packet. */
	see_sack(hold.raw ? &hold : NULL);
}

/* Checks all packets of the instance, and takes over values as a peer does. */
static void look(void)
{
	struct wire_sctp_chunk c;
	struct packet *p;
	const uint8_t *q;

	seen.bare = false;
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
		see_chunks(c, q, p->data + p->len);
		echo_len = p->len;
		memcpy(echo, p->data, p->len);
	}
}

static void input_and_look(void)
{
	seen.sacks = seen.lone = 0;
	sendp();
	if (f.rx.up || f.rx.restart)
		forget();
	if (f.a)
		receipts_user_taken();
	check_placed();
	look();
	must(seen.lone <= LONE_SACKS);
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
	f.a = sctp_connect(f.ep, &f.path, PEER_PORT, 1500, f.user, f.now);
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
	receipts_user.plain += n;
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
	told.unknown |= type == WIRE_SCTP_SACK || type == WIRE_SCTP_HOLD;
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
	tell(cum, false, 0);
}

static void add_mangled_cookie(struct input *in)
{
	uint8_t at = in_u8(in), how = in_u8(in);

	told.unknown = true; /* the peer's TSNs may differ from now on */
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
	/* The length of the last chunk may be wrong. */
	if (in_u8(in) == 0xff && f.len > 20)
		f.len -= in_u8(in) % (f.len - 16);
	input_and_look();
}

/*
 * The peer sends a SACK, perhaps with the announcement of more, or a request. It may also send
 * DATA.
 */
static void hold_step(struct input *in)
{
	uint8_t how = in_u8(in), flags = in_u8(in) & 3;
	uint32_t cum = f.their_tsn + (uint32_t)(int8_t)in_u8(in);
	uint32_t tsn = f.tsn + (uint32_t)(int8_t)in_u8(in);
	bool sack = !(how & 1), hold = how & 2, whole = !(how & 8);
	bool holds = hold && flags != WIRE_SCTP_HOLD_ASK;
	bool unsent = flags & WIRE_SCTP_HOLD_UNSENT || !whole;
	bool sends = f.a && sctp_in_states(f.a, SCTP_STATES_SEND);
	const struct sctp_assoc *a = f.a;

	begin();
	if (sack) {
		add_sack(cum, 1000000, NULL, 0);
		if (!holds || !unsent)
			tell(cum, holds, tsn);
	}
	if (hold)
		put_be32(add(WIRE_SCTP_HOLD, flags, 4), tsn);
	if (hold && !whole) { /* the chunk has no TSN */
		f.len -= 4;
		put_be16(f.buf + f.len - 2, 4);
	}
	if (how & 4)
		add_data(f.tsn + (uint32_t)(int8_t)in_u8(in));
	input_and_look();
	if (!a || a != f.a || f.rx.assoc != a || !is_agreed())
		return;
	if (hold && flags & WIRE_SCTP_HOLD_ASK && a->state == SCTP_ESTABLISHED)
		must(seen.sacks);
	if (sack && !holds && sends && cum == a->out.cum)
		must(a->receipts.placed == cum);
}

static void raw_packet_step(struct input *in)
{
	size_t len;
	const uint8_t *bytes = in_bytes(in, 16u * in_u8(in), &len);

	begin();
	memcpy(f.buf + f.len, bytes, len);
	f.len += len;
	told.unknown = true;
	input_and_look();
}

/* Sends the last packet of the instance back to the instance. */
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
	told.unknown = true;
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
		sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, echo, in_u8(in) % (echo_len + 1),
				 f.now);
		break;
	default:
		receipts_user.plain_len = 1 + in_u16(in) % 500;
		break;
	}
	collect();
	look();
}

/* The user has receipts to send, or a receipt that it cannot send, or none. */
static void receipt_step(struct input *in)
{
	uint8_t how = in_u8(in);

	receipts_user.receipts += how & 3;
	receipts_user.due = receipts_user.receipts || how & 4;
	receipts_user.plain_first = how & 8;
	receipts_user.awaited = how & 0x10 ? 1 : 0;
	send_messages(how >> 5);
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
		else if (what < 0xd8)
			hold_step(in);
		else if (what < 0xe0)
			receipt_step(in);
		else
			wait_ns((uint64_t)in_u8(in) * (what & 1 ? MSEC : 100 * MSEC));
		check_placed();
		look();
	}
}

/* how: the versions of receipts that both sides know; 200 is a future version. */
static void start(unsigned int how)
{
	static const uint8_t versions[] = { 0, 1, 200 };
	struct sctp_config config;

	sctp_config_default(&config);
	config.receipts = (struct wire_sctp_receipts){ .version = versions[how % 3],
						       .window = RECEIPTS_USER_WINDOW };
	receipts_user_config(&config);
	f.receipts =
		(struct wire_sctp_receipts){ .version = versions[how / 3 % 3], .window = 0x12345 };
	cookie_len = echo_len = 0;
	memset(&their_ack, 0, sizeof(their_ack));
	told.unknown = false;
	forget();
}

/*
 * The association with a silent peer must end, so that no state remains. The peer must not get
 * repeated SACKs.
 */
static void be_silent(void)
{
	seen.sacks = seen.lone = 0;
	for (int silence = 0; silence < 400 && f.s->table.assoc_count; silence++) {
		wait_ns(SEC);
		look();
		if (f.a && silence == 100)
			sctp_assoc_shutdown(f.a, f.now);
	}
	must(!f.s->table.assoc_count);
	must(seen.lone <= 2 * LONE_SACKS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_of(data, size);
	uint8_t state = in_u8(&in);

	start(state / STATES);
	enter(state % STATES);
	if (f.a && f.a->state > SCTP_COOKIE_WAIT)
		must(is_agreed() == (f.s->config.receipts.version && f.receipts.version));
	run(&in);
	be_silent();
	teardown(NULL);
	return 0;
}
