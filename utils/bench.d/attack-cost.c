/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Measures the processor time that hostile packets cost their receiver. It is the time of SCTP
 * alone, or of DTLS below SCTP (attack-cost-dtls.c), without sockets.
 *
 *   attack-cost [SECONDS]   of processor time for each kind of packet; 0.2 by default
 *
 * Some packets belong to an association. This association has a full window of outstanding data.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attack-cost.h"
#include "sctp/assoc.h"
#include "wire/sctp_init.h"

#define LOCAL_PORT 6000
#define PEER_PORT 7000
#define TAG 0x11223344u
#define MESSAGE 20u
#define PACKET 65504u

static struct {
	struct sctp *s;
	struct sctp_endpoint *ep;
	struct sctp_assoc *a;
	struct path_addr path;
	struct sctp_rx rx;
	uint64_t now;
	uint32_t tsn; /* the peer's next TSN */
	uint8_t buf[PACKET + 64];
	size_t len;
	bool may_send;
} w;

static void fill(struct random_source *self, void *buf, size_t len)
{
	static uint64_t seed = 1;

	for (size_t i = 0; i < len; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		((uint8_t *)buf)[i] = (uint8_t)(seed >> 56);
	}
}

static struct random_source randomness = { .fill = fill, .used = sizeof(randomness.pool) };

static size_t pull(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg)
{
	if (!w.may_send || room < MESSAGE)
		return 0;
	memset(buf, 0, MESSAGE);
	*msg = (struct sctp_msg){ .sid = 1, .ppid = 16, .more = true };
	return MESSAGE;
}

double attack_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void attack_row(const char *name, double spent, unsigned long n)
{
	printf("| %s | %.2f |\n", name, spent / (double)n * 1e6);
}

/* The last packet that SCTP sent outside an association. */
static uint8_t last[2048];
static size_t last_len;

/* Receives and drops all packets that SCTP sends. */
static void output(void)
{
	struct sctp_batch b;
	struct sctp_event ev;
	struct sctp_assoc *a;

	while (sctp_next_event(w.s, &ev))
		if (ev.type == SCTP_EVENT_LOST || ev.type == SCTP_EVENT_CLOSED)
			w.a = NULL;
	while (sctp_output_ootb(w.s, &b) > 0) {
		last_len = b.len < sizeof(last) ? b.len : sizeof(last);
		memcpy(last, b.data, last_len);
		sctp_batch_done(w.s, &b);
	}
	while ((a = sctp_next_ready(w.s)))
		while (sctp_output(a, w.now, &b) > 0)
			sctp_batch_done(w.s, &b);
}

static void begin(uint32_t tag)
{
	wire_sctp_common_put(w.buf, &(struct wire_sctp_common){ PEER_PORT, LOCAL_PORT, tag });
	w.len = WIRE_SCTP_COMMON_LEN;
}

static uint8_t *add(uint8_t type, uint8_t flags, size_t value)
{
	uint8_t *p = w.buf + w.len;

	memset(p, 0, round_up4(4 + value));
	wire_sctp_chunk_put(p, type, flags, 4 + value);
	w.len += round_up4(4 + value);
	return p + 4;
}

static void seal(void)
{
	put_be32(w.buf + 8, 0);
	wire_sctp_checksum_put(w.buf, w.len);
}

static void input(void)
{
	sctp_input(w.ep, &w.path, w.buf, w.len, w.now, &w.rx);
}

static void start(void)
{
	static const struct sctp_user_ops ops = { pull };
	struct sctp_config config;

	memset(&w, 0, sizeof(w));
	sctp_config_default(&config);
	config.mtu_probe = false;
	w.s = sctp_new(&config, &ops, &randomness);
	w.ep = w.s ? sctp_endpoint_new(w.s, LOCAL_PORT, 4 << 20, NULL) : NULL;
	if (!w.ep)
		exit(1);
	sctp_endpoint_set_accept(w.ep, true);
	w.now = 1000000000;
	w.tsn = 1;
	w.path.udp_port = PEER_PORT;
	memcpy(w.path.remote.b, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\2", 16);
	memcpy(w.path.local.b, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\1", 16);
}

static void stop(void)
{
	sctp_free(w.s);
}

static void add_init(void)
{
	const struct wire_sctp_init init = {
		.tag = TAG,
		.a_rwnd = 1u << 30,
		.os = 64,
		.mis = 64,
		.tsn = 1,
		.adaptation = 1,
	};

	begin(0);
	w.len += wire_sctp_init_put(w.buf + w.len, WIRE_SCTP_INIT, &init);
	seal();
}

/*
 * Sends an INIT, and makes a COOKIE ECHO from the answer. The COOKIE ECHO is in w.buf. Returns the
 * answer's verification tag.
 */
static uint32_t handshake(void)
{
	const uint8_t *p = last + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_init ack;
	struct wire_sctp_chunk c;

	add_init();
	input();
	output();
	if (!wire_sctp_chunk_next(&p, last + last_len, &c) || !wire_sctp_init_get(&c, &ack))
		exit(1);
	begin(ack.tag);
	memcpy(add(WIRE_SCTP_COOKIE_ECHO, 0, ack.cookie_len), ack.cookie, ack.cookie_len);
	seal();
	return ack.tag;
}

static void associate(void)
{
	handshake();
	input();
	if (!w.rx.up)
		exit(1);
	w.a = w.rx.assoc;
	output();
	sctp_assoc_set_mtu(w.a, 9000);
	w.a->path->cc.cwnd = 1u << 30; /* so that no window limits the outstanding data */
	w.a->window.peer_rwnd = 1u << 30;
	w.may_send = true;
	sctp_assoc_doorbell(w.a);
	output();
	w.may_send = false;
}

/* One function per kind of packet. Each function makes a packet in w.buf. */

static void init(void)
{
	static uint32_t from;

	put_be32(w.path.remote.b + 12, 0x0a000000 + from++ % 1000000);
	add_init();
}

static void forged_cookie(void)
{
	if (!w.len)
		handshake();
	w.buf[w.len - 1] ^= 1;
	seal();
}

static void stranger(void)
{
	begin(0x5555);
	add(WIRE_SCTP_SACK, 0, 12);
	seal();
}

static void wrong_tag(void)
{
	begin(w.a->local_tag + 1);
	add(WIRE_SCTP_SACK, 0, 12);
	seal();
}

static void add_sack(uint16_t from, uint16_t to)
{
	const struct wire_sctp_gap gap = { from, to };

	w.len += wire_sctp_sack_put(w.buf + w.len, w.a->out.cum, 1u << 30, &gap, from ? 1 : 0, NULL,
				    0);
}

static void sacks(void)
{
	begin(w.a->local_tag);
	while (w.len + 16 <= PACKET)
		add_sack(0, 0);
	seal();
}

/* Each SACK acknowledges only the highest TSN and reports all others as missing. */
static void sacks_of_one(void)
{
	uint16_t n = (uint16_t)sctp_outq_count(&w.a->out);

	begin(w.a->local_tag);
	while (w.len + 20 <= PACKET)
		add_sack(n, n);
	seal();
}

/* Each SACK acknowledges all TSNs but the first. */
static void sacks_of_all(void)
{
	uint16_t n = (uint16_t)sctp_outq_count(&w.a->out);

	begin(w.a->local_tag);
	while (w.len + 20 <= PACKET)
		add_sack(2, n);
	seal();
}

/* Every second SACK withdraws most of the acknowledgements of the previous SACK. */
static void sacks_that_renege(void)
{
	uint16_t n = (uint16_t)sctp_outq_count(&w.a->out);

	begin(w.a->local_tag);
	while (w.len + 40 <= PACKET) {
		add_sack(2, n);
		add_sack(n, n);
	}
	seal();
}

static void shutdowns(void)
{
	uint16_t n = (uint16_t)sctp_outq_count(&w.a->out);

	begin(w.a->local_tag);
	add_sack(n, n);
	while (w.len + 8 <= PACKET)
		put_be32(add(WIRE_SCTP_SHUTDOWN, 0, 4), w.a->out.cum);
	seal();
}

static void chunks_of(uint8_t type, size_t value)
{
	begin(w.a->local_tag);
	while (w.len + 4 + value <= PACKET)
		add(type, 0, value);
	seal();
}

static void heartbeats(void)
{
	chunks_of(WIRE_SCTP_HEARTBEAT, 4);
}

static void heartbeat_acks(void)
{
	chunks_of(WIRE_SCTP_HEARTBEAT_ACK, 20);
}

static void errors(void)
{
	chunks_of(WIRE_SCTP_ERROR, 0);
}

static void unknown(void)
{
	chunks_of(0xff, 0);
}

static void padding(void)
{
	chunks_of(WIRE_SCTP_PAD, 0);
}

static void add_data(uint32_t tsn, uint8_t flags)
{
	uint8_t *p = add(WIRE_SCTP_DATA, flags, 13);

	put_be32(p, tsn);
	put_be16(p + 4, 1);
	put_be32(p + 8, 16);
}

static void data(void)
{
	begin(w.a->local_tag);
	while (w.len + 20 <= PACKET)
		add_data(w.tsn++, WIRE_SCTP_DATA_U | WIRE_SCTP_DATA_B | WIRE_SCTP_DATA_E);
	seal();
}

static void duplicates(void)
{
	begin(w.a->local_tag);
	while (w.len + 20 <= PACKET)
		add_data(w.a->rx.map.cum, WIRE_SCTP_DATA_U | WIRE_SCTP_DATA_B | WIRE_SCTP_DATA_E);
	seal();
}

/* The peer omits every second TSN, and never sends the first one. */
static void holes(void)
{
	begin(w.a->local_tag);
	for (uint32_t tsn = w.tsn + 1; w.len + 20 <= PACKET; tsn += 2)
		add_data(tsn, WIRE_SCTP_DATA_U | WIRE_SCTP_DATA_B | WIRE_SCTP_DATA_E);
	seal();
}

/* The peer sends fragments of messages that never end, in reverse order. */
static void fragments(void)
{
	uint32_t tsn = w.tsn + PACKET / 20;

	begin(w.a->local_tag);
	while (w.len + 20 <= PACKET)
		add_data(tsn--, WIRE_SCTP_DATA_U);
	seal();
}

static const struct kind {
	const char *name;
	void (*make)(void);
	bool association;
} kinds[] = {
	{ "INIT, each from another address", init, false },
	{ "COOKIE ECHO with a wrong digest", forged_cookie, false },
	{ "SACK of no association", stranger, false },
	{ "SACK under a wrong tag", wrong_tag, true },
	{ "64 KiB of SACKs without gap blocks", sacks, true },
	{ "64 KiB of SACKs of the last chunk alone", sacks_of_one, true },
	{ "64 KiB of SACKs of all but the first chunk", sacks_of_all, true },
	{ "64 KiB of SACKs that take back and give again", sacks_that_renege, true },
	{ "64 KiB of SHUTDOWNs", shutdowns, true },
	{ "64 KiB of HEARTBEATs", heartbeats, true },
	{ "64 KiB of HEARTBEAT ACKs", heartbeat_acks, true },
	{ "64 KiB of ERRORs", errors, true },
	{ "64 KiB of unknown chunks to report", unknown, true },
	{ "64 KiB of PADs", padding, true },
	{ "64 KiB of DATA of one byte", data, true },
	{ "64 KiB of the same DATA again", duplicates, true },
	{ "64 KiB of DATA with holes", holes, true },
	{ "64 KiB of fragments without an end", fragments, true },
};

static void measure(const struct kind *kind, double limit)
{
	double spent = 0, begun;
	unsigned long n = 0;

	start();
	if (kind->association)
		associate();
	w.len = 0;
	while (spent < limit) {
		if (kind->association && !w.a) {
			stop();
			start();
			associate();
		}
		kind->make();
		begun = attack_seconds();
		input();
		output();
		spent += attack_seconds() - begun;
		n++;
	}
	stop();
	attack_row(kind->name, spent, n);
}

int main(int argc, char **argv)
{
	double limit = argc > 1 ? strtod(argv[1], NULL) : 0.2;

	puts("| packet | us |\n|---|---|");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		measure(&kinds[i], limit);
	attack_dtls(limit);
	return 0;
}
