/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Measures the cost of hostile packets for a process that requires a key (net/dtls.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attack-cost.h"
#include "config/config.h"
#include "config/config_keys.h"
#include "conn/conn.h"
#include "net/dtls_gnutls.h"
#include "net/dtls_ipsec_mb.h"
#include "net/dtls_peer.h"
#include "util/bytes.h"

#define KEYS "lab 00112233445566778899aabbccddeeff\n"
#define PORT 6000
#define DATAGRAM 65507u
#define PACKET 1400u
/* Sizes of the headers in a record of a handshake (RFC 6347 4.2.2). */
#define MESSAGE 12u
/* offsets of the cookie's length field in a ClientHello and in a HelloVerifyRequest */
#define AT_COOKIE (DTLS_HEADER + MESSAGE + 2 + DTLS_RANDOM + 1)
#define AT_VERIFY (DTLS_HEADER + MESSAGE + 2)
#define DH_BYTES 256u /* size of a public key in bytes */

static struct {
	struct dtls *dtls;
	struct dtls_port *port; /* the port under attack */
	uint64_t now;
	struct path_addr from;
	uint8_t hello[2048]; /* a ClientHello without a cookie */
	size_t hello_len;
	uint8_t answer[2048]; /* the last message that the port has sent */
	size_t answer_len;
	uint8_t buf[DATAGRAM];
	size_t len;
} w;

static void transmit(void *ctx, const struct path_addr *to, const uint8_t *data, size_t len)
{
	w.answer_len = len < sizeof(w.answer) ? len : sizeof(w.answer);
	memcpy(w.answer, data, w.answer_len);
}

static void deliver(void *ctx, const struct path_addr *from, uint8_t *packet, size_t len)
{
}

static void failed(void *ctx, const struct path_addr *to, int error, const uint8_t *packet,
		   size_t len)
{
}

static bool is_self(void *ctx, const struct path_addr *to)
{
	return false;
}

static void start(void)
{
	static const struct dtls_ops ops = { transmit, deliver, failed, is_self };
	static struct conn_dtls_traffic stats;
	struct dtls_param param = { .ops = &ops, .rekey = DTLS_REKEY, .stats = &stats };
	struct config_error why;
	struct config_keys keys;

	if (!config_keys_parse("", KEYS, strlen(KEYS), &keys, &why))
		exit(1);
	param.keys = &keys;
	w.dtls = dtls_new(&param);
	w.port = w.dtls ? dtls_port_new(w.dtls, PORT, NULL) : NULL;
	if (!w.port)
		exit(1);
	w.now = NSEC_PER_SEC;
	w.from.udp_port = PORT;
	memcpy(w.from.remote.b, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\2", 16);
	memcpy(w.from.local.b, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\1", 16);
}

static void stop(void)
{
	dtls_port_free(w.port);
	dtls_free(w.dtls);
}

static void input(void)
{
	dtls_port_input(w.port, &w.from, w.buf, w.len, w.now);
}

/* Makes the port request a session, and copies the ClientHello that the port sends. */
static void take_hello(void)
{
	start();
	dtls_port_wait(w.port, &w.from, w.buf, 1, w.now);
	memcpy(w.hello, w.answer, w.answer_len);
	w.hello_len = w.answer_len;
	stop();
}

/* ---- the kinds of packets: each function makes one in w.buf ---- */

/* Changes the source address and advances the time, so that no rate limit takes effect. */
static void from_another(void)
{
	static uint32_t from;

	w.now += 10 * NSEC_PER_MSEC;
	put_be32(w.from.remote.b + 12, 0x0a000000 + from++ % 1000000);
}

static void put_hello(void)
{
	memcpy(w.buf, w.hello, w.hello_len);
	w.len = w.hello_len;
}

static void hello(void)
{
	from_another();
	put_hello();
}

/* Gets a cookie from the port, and makes a ClientHello with this cookie. */
static void hello_with_cookie(void)
{
	size_t cookie, len;

	hello();
	input();
	cookie = w.answer[AT_VERIFY];
	put_hello();
	memcpy(w.buf + AT_COOKIE, w.answer + AT_VERIFY, 1 + cookie);
	memcpy(w.buf + AT_COOKIE + 1 + cookie, w.hello + AT_COOKIE + 1,
	       w.hello_len - AT_COOKIE - 1);
	w.len += cookie;
	len = w.len - DTLS_HEADER;
	put_be16(w.buf + 9, 1); /* record number */
	put_be16(w.buf + 11, (uint16_t)len);
	len -= MESSAGE;
	put_be16(w.buf + DTLS_HEADER + 2, (uint16_t)len);
	put_be16(w.buf + DTLS_HEADER + 4, 1); /* message number */
	put_be16(w.buf + DTLS_HEADER + 10, (uint16_t)len);
}

static void hello_with_wrong_cookie(void)
{
	hello_with_cookie();
	w.buf[AT_COOKIE + 1] ^= 1;
}

static uint8_t *put_header(uint8_t *p, uint8_t type, uint64_t seq, size_t len)
{
	p[0] = type;
	put_be16(p + 1, 0xfefd);
	put_be64(p + 3, seq);
	put_be16(p + 11, (uint16_t)len);
	return p + DTLS_HEADER;
}

/*
 * Begins a handshake, and makes the ClientKeyExchange of this handshake. It contains the right
 * identity, which an attacker can read in the packets of a peer.
 */
static void key_exchange(void)
{
	const size_t len = 2 + 3 + 2 + DH_BYTES;
	uint8_t *p;

	hello_with_cookie();
	input();
	if (!w.port->n)
		exit(1);
	p = put_header(w.buf, DTLS_HANDSHAKE, 2, MESSAGE + len);
	memset(p, 0, MESSAGE + len);
	p[0] = 16;
	put_be16(p + 2, (uint16_t)len);
	put_be16(p + 4, 2);
	put_be16(p + 10, (uint16_t)len);
	p += MESSAGE;
	memcpy(p, "\0\3lab", 5);
	put_be16(p + 5, DH_BYTES);
	p[6 + DH_BYTES] = 4;
	w.len = DTLS_HEADER + MESSAGE + len;
}

static void put_data(size_t each, size_t room)
{
	w.len = 0;
	while (w.len + DTLS_HEADER + each <= room) {
		memset(put_header(w.buf + w.len, DTLS_DATA, UINT64_C(1) << 48 | w.len, each), 5,
		       each);
		w.len += DTLS_HEADER + each;
	}
}

static void data_of_nobody(void)
{
	from_another();
	put_data(PACKET, DTLS_HEADER + PACKET);
}

/* Makes a session, to which the packets of the other functions claim to belong. */
static void plant(void)
{
	static const uint8_t key[16] = { 1 }, iv[4] = { 2 };
	struct dtls_peer *peer = dtls_peer_get(w.port, &w.from, w.now);

	if (peer && !peer->now.rx) {
		peer->now.tx = dtls_cipher_new(DTLS_AES_128_GCM, 1, key, 16, iv, 4);
		peer->now.rx = dtls_cipher_new(DTLS_AES_128_GCM, 1, key, 16, iv, 4);
	}
	if (!peer || !peer->now.rx || !peer->now.tx)
		exit(1);
}

static void data_of_another_key(void)
{
	plant();
	put_data(PACKET, DTLS_HEADER + PACKET);
}

static void much_of_another_key(void)
{
	plant();
	put_data(DTLS_PLAIN_MAX - DTLS_HEADER, DATAGRAM);
}

static void many_of_another_key(void)
{
	plant();
	put_data(DTLS_OVERHEAD, DATAGRAM);
}

static void clear(void)
{
	from_another();
	w.len = PACKET;
	memset(w.buf, 1, w.len);
}

static const struct kind {
	const char *name;
	void (*make)(void);
} kinds[] = {
	{ "ClientHello without a cookie, each from another address", hello },
	{ "ClientHello with a wrong cookie", hello_with_wrong_cookie },
	{ "ClientHello with its cookie, which begins a handshake", hello_with_cookie },
	{ "ClientKeyExchange of such a handshake, without the key", key_exchange },
	{ "record of no session", data_of_nobody },
	{ "record that the session's key does not open", data_of_another_key },
	{ "64 KiB of long ones of these", much_of_another_key },
	{ "64 KiB of short ones", many_of_another_key },
	{ "packet that is no record", clear },
};

static void measure(const struct kind *kind, double limit)
{
	double spent = 0, begun;
	unsigned long n = 0;

	start();
	for (; spent < limit; n++) {
		kind->make();
		begun = attack_seconds();
		input();
		spent += attack_seconds() - begun;
	}
	stop();
	attack_row(kind->name, spent, n);
}

void attack_dtls(double limit)
{
	struct config_error why;

	if (!dtls_gnutls_load(&why)) {
		fprintf(stderr, "attack-cost: %s\n", why.text);
		return;
	}
	dtls_gcm_load();
	take_hello();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		measure(&kinds[i], limit);
}
