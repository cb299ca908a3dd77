/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A peer that speaks SCTP and RFC 5043 by hand to a whole stack, chunk by chunk. How packets get
 * there and back is for the test to say: transmit and receive. Chunk values and user messages are
 * written in the language of iw_script.h.
 *
 *	peer_calls(&usual);
 *	peer_says(3, CONTROL, "0000 0001 'private data'");
 *	peer_hears(3, CONTROL, "0000 0002");
 *
 * Every DATA chunk that it hears is checked: flags, PPID, the series of DDP-SSNs on the stream, and
 * that the messages make a session of RFC 5043 6.2 to 6.4. Everything is static: one program, one
 * peer.
 */
#ifndef TESTS_CONFORMANCE_PEER_SCRIPT_H
#define TESTS_CONFORMANCE_PEER_SCRIPT_H

#include "conformance/session_script.h"

#include "wire/sctp_init.h"
#include "wire/sctp_packet.h"

#define PEER_STREAMS 4096
#define WHOLE (WIRE_SCTP_DATA_U | WIRE_SCTP_DATA_B | WIRE_SCTP_DATA_E)

static struct peer {
	void (*transmit)(const uint8_t *packet, size_t len);
	size_t (*receive)(uint8_t *packet, size_t size); /* 0: nothing came */
	uint16_t port, dut_port;
	uint32_t tag, dut_tag;
	uint32_t tsn;	   /* our next */
	uint32_t first;	   /* of theirs */
	uint32_t cum;	   /* all of theirs up to here came */
	uint32_t a_rwnd;
	bool mute;	   /* sends no SACK by itself */
	uint8_t buf[8192]; /* the packet that is written */
	size_t len;
	uint8_t in[65536]; /* the packet that is read */
	size_t in_len;
	const uint8_t *at;
	bool owes_sack;
	unsigned int heard[256]; /* chunks by type */
	unsigned int heard_again; /* DATA chunks that had come already */
	struct {
		uint16_t next; /* DDP-SSN */
		uint16_t first; /* function code of DDP-SSN 0 */
		bool over;
	} stream[PEER_STREAMS];
} peer;

/* What the peer offers in its INIT or INIT ACK. */
struct peer_offer {
	const char *streams;	/* outbound, inbound */
	const char *parameters; /* adaptation indication and the like */
};

static const struct peer_offer usual = { "0040 0040", "C006 0008 00000001" };

/* ---- writing ---- */

static inline void peer_packet(uint32_t tag)
{
	const struct wire_sctp_common h = { peer.port, peer.dut_port, tag };

	wire_sctp_common_put(peer.buf, &h);
	peer.len = WIRE_SCTP_COMMON_LEN;
}

static inline void peer_vchunk(uint8_t type, uint8_t flags, const uint8_t *head, size_t head_len,
			       const char *format, va_list args)
{
	uint8_t *p = peer.buf + peer.len, value[SCRIPT_MAX];
	bool open;
	size_t n = script_vbytes(value, &open, format, args);

	assert_true(peer.len + 8 + head_len + n <= sizeof(peer.buf));
	wire_sctp_chunk_put(p, type, flags, 4 + head_len + n);
	if (head_len)
		memcpy(p + 4, head, head_len);
	memcpy(p + 4 + head_len, value, n);
	peer.len += wire_sctp_pad(p, 4 + head_len + n);
}

static inline void peer_chunk(uint8_t type, uint8_t flags, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	peer_vchunk(type, flags, NULL, 0, format, args);
	va_end(args);
}

/* A DATA chunk; its Stream Sequence Number is noise. */
static inline void peer_data(uint32_t tsn, uint8_t flags, uint16_t sid, uint32_t ppid,
			     const char *format, ...)
{
	uint8_t head[12];
	va_list args;

	put_be32(head, tsn);
	put_be16(head + 4, sid);
	put_be16(head + 6, (uint16_t)(tsn * 40503u));
	put_be32(head + 8, ppid);
	va_start(args, format);
	peer_vchunk(WIRE_SCTP_DATA, flags, head, sizeof(head), format, args);
	va_end(args);
}

static inline void peer_send(void)
{
	wire_sctp_checksum_put(peer.buf, peer.len);
	peer.transmit(peer.buf, peer.len);
}

static inline void peer_begin(void)
{
	peer_packet(peer.dut_tag);
}

static inline void peer_sack(uint32_t cum)
{
	peer_begin();
	peer_chunk(WIRE_SCTP_SACK, 0, "%w %w 0000 0000", cum, peer.a_rwnd);
	peer_send();
}

/* One user message in a packet of its own. */
#define peer_says(sid, ppid, ...)                                                                  \
	do {                                                                                       \
		peer_begin();                                                                      \
		peer_data(peer.tsn++, WHOLE, sid, ppid, __VA_ARGS__);                              \
		peer_send();                                                                       \
	} while (0)

/* ---- reading ---- */

/* The next chunk that came, from whatever packet. */
static inline bool peer_next(struct wire_sctp_chunk *c)
{
	struct wire_sctp_common h;

	while (!peer.at || !wire_sctp_chunk_next(&peer.at, peer.in + peer.in_len, c)) {
		if (peer.owes_sack && !peer.mute)
			peer_sack(peer.cum);
		peer.owes_sack = false;
		peer.at = NULL;
		peer.in_len = peer.receive(peer.in, sizeof(peer.in));
		if (!peer.in_len)
			return false;
		assert_true(peer.in_len >= WIRE_SCTP_COMMON_LEN);
		assert_true(wire_sctp_checksum_ok(peer.in, peer.in_len));
		wire_sctp_common_get(peer.in, &h);
		assert_int_equal(h.sport, peer.dut_port);
		assert_int_equal(h.dport, peer.port);
		peer.at = peer.in + WIRE_SCTP_COMMON_LEN;
	}
	peer.heard[c->type]++;
	return true;
}

/* RFC 5043 6.2, 6.3, 6.4; RFC 6581 7 */
static inline void check_pattern(const struct wire_sctp_data *d)
{
	uint16_t ssn = get_be16(d->data), function = d->len >= 4 ? get_be16(d->data + 2) : 0;
	bool initiate;

	assert_true(d->ppid == SEGMENT || d->ppid == CONTROL);
	assert_true(d->sid < PEER_STREAMS && d->len >= 4);
	initiate = peer.stream[d->sid].first == 1 || peer.stream[d->sid].first == 5;
	if (peer.stream[d->sid].over || (ssn == 0 && initiate && peer.stream[d->sid].next == 1))
		peer.stream[d->sid].next = 0;
	peer.stream[d->sid].over = false;
	assert_int_equal(ssn, peer.stream[d->sid].next++);
	if (ssn == 0) {
		assert_int_equal(d->ppid, CONTROL);
		assert_in_range(function, 1, 7);
		peer.stream[d->sid].first = function;
	} else if (d->ppid == CONTROL) {
		assert_int_equal(function, 4);
	}
	if (d->ppid == CONTROL && (function == 3 || function == 4 || function == 7))
		peer.stream[d->sid].over = true;
	if (d->ppid == CONTROL && function == 4)
		assert_int_equal(d->len, 4);
}

/* The next new DATA chunk; what is none is skipped, heartbeats are answered. */
static inline bool peer_takes(struct wire_sctp_data *d)
{
	struct wire_sctp_chunk c;

	while (peer_next(&c)) {
		if (c.type == WIRE_SCTP_HEARTBEAT) {
			peer_begin();
			peer_chunk(WIRE_SCTP_HEARTBEAT_ACK, 0, "%b", wire_sctp_value(&c),
				   wire_sctp_value_len(&c));
			peer_send();
		}
		if (c.type != WIRE_SCTP_DATA)
			continue;
		assert_true(wire_sctp_data_get(&c, d));
		assert_int_equal(d->flags & ~WIRE_SCTP_DATA_I, WHOLE);
		peer.owes_sack = true;
		if ((int32_t)(d->tsn - peer.cum) <= 0) {
			peer.heard_again++;
			continue;
		}
		assert_int_equal(d->tsn, peer.cum + 1);
		peer.cum++;
		check_pattern(d);
		return true;
	}
	return false;
}

static inline void peer_hears(uint16_t sid, uint32_t ppid, const char *format, ...)
{
	uint8_t m[SCRIPT_MAX];
	struct wire_sctp_data d = { 0 };
	va_list args;
	bool open;
	size_t n;

	va_start(args, format);
	n = script_vbytes(m, &open, format, args);
	va_end(args);
	if (!peer_takes(&d))
		fail_msg("nothing came instead of: %s", format);
	assert_int_equal(d.sid, sid);
	assert_int_equal(d.ppid, ppid);
	if (open)
		assert_true(d.len >= n);
	else
		assert_int_equal(d.len, n);
	assert_memory_equal(d.data, m, n);
}

static inline void peer_hears_nothing(void)
{
	struct wire_sctp_data d = { 0 };

	assert_false(peer_takes(&d));
}

/* The next chunk is of this type. */
static inline struct wire_sctp_chunk peer_hears_chunk(uint8_t type)
{
	struct wire_sctp_chunk c;

	if (!peer_next(&c))
		fail_msg("nothing came instead of a chunk of type %u", type);
	assert_int_equal(c.type, type);
	return c;
}

/* ---- the handshake ---- */

static inline void peer_reset(void)
{
	memset(peer.stream, 0, sizeof(peer.stream));
	memset(peer.heard, 0, sizeof(peer.heard));
	peer.heard_again = 0;
	peer.at = NULL;
	peer.mute = peer.owes_sack = false;
	peer.tag = 0x11223344;
	peer.tsn = 0xfffffffe; /* wraps soon */
	peer.a_rwnd = 1 << 20;
}

/* What is in the INIT or INIT ACK of a DDP endpoint (RFC 5043 5.1, 7.2, 8). */
static inline struct wire_sctp_init peer_reads_init(const struct wire_sctp_chunk *c)
{
	const uint8_t *p = c->raw + WIRE_SCTP_INIT_LEN, *end = c->raw + c->len;
	struct wire_sctp_init init;
	unsigned int indications = 0;

	assert_true(wire_sctp_init_get(c, &init));
	while (p + 4 <= end) {
		uint16_t type = get_be16(p), len = get_be16(p + 2);

		assert_true(len >= 4 && p + len <= end);
		assert_int_not_equal(type, WIRE_SCTP_PARAM_IPV4);
		assert_int_not_equal(type, WIRE_SCTP_PARAM_IPV6);
		if (type == WIRE_SCTP_PARAM_ADAPTATION) {
			assert_memory_equal(p, "\xc0\x06\0\x08\0\0\0\1", 8);
			indications++;
		}
		p += round_up4(len);
	}
	assert_int_equal(indications, 1);
	assert_int_equal(init.os, init.mis);
	peer.dut_tag = init.tag;
	peer.first = init.tsn;
	peer.cum = init.tsn - 1;
	return init;
}

static inline void peer_sends_init(const struct peer_offer *offer)
{
	uint8_t streams[4], parameters[256];
	size_t n = script_bytes(parameters, offer->parameters);

	assert_int_equal(script_bytes(streams, offer->streams), 4);
	peer_packet(0);
	peer_chunk(WIRE_SCTP_INIT, 0, "%w %w %b %w %b", peer.tag, peer.a_rwnd, streams, (size_t)4,
		   peer.tsn, parameters, n);
	peer_send();
}

static inline void peer_sends_init_ack(const struct peer_offer *offer)
{
	uint8_t streams[4], parameters[256];
	size_t n = script_bytes(parameters, offer->parameters);

	assert_int_equal(script_bytes(streams, offer->streams), 4);
	peer_begin();
	peer_chunk(WIRE_SCTP_INIT_ACK, 0, "%w %w %b %w %b 0007 0008 'cook'", peer.tag, peer.a_rwnd,
		   streams, (size_t)4, peer.tsn, parameters, n);
	peer_send();
}

/* The peer opens the association. */
static inline struct wire_sctp_init peer_calls(const struct peer_offer *offer)
{
	struct wire_sctp_init init;
	struct wire_sctp_chunk c;

	peer_sends_init(offer);
	c = peer_hears_chunk(WIRE_SCTP_INIT_ACK);
	init = peer_reads_init(&c);
	peer_begin();
	peer_chunk(WIRE_SCTP_COOKIE_ECHO, 0, "%b", init.cookie, init.cookie_len);
	peer_send();
	peer_hears_chunk(WIRE_SCTP_COOKIE_ACK);
	return init;
}

/* The stack opens it. */
static inline struct wire_sctp_init peer_is_called(const struct peer_offer *offer)
{
	struct wire_sctp_chunk c = peer_hears_chunk(WIRE_SCTP_INIT);
	struct wire_sctp_init init = peer_reads_init(&c);

	peer_sends_init_ack(offer);
	c = peer_hears_chunk(WIRE_SCTP_COOKIE_ECHO);
	assert_memory_equal(wire_sctp_value(&c), "cook", 4);
	peer_begin();
	peer_chunk(WIRE_SCTP_COOKIE_ACK, 0, "");
	peer_send();
	return init;
}

#endif
