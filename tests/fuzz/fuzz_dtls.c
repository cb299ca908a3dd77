/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/*
 * Two hosts with the same key, and strangers. Strangers send any datagrams to the hosts. They
 * change, hold, repeat and drop the hosts' datagrams, and quote them in ICMP errors, before, during
 * and besides handshakes. The input chooses the initial state of the hosts, and scripts the rest.
 * Only messages of a host reach the other host, and only once. A stranger without a cookie gets
 * little more than it sends. Once the strangers are gone, the hosts can communicate.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "config/config.h"
#include "fixture/dtls_pair.h"
#include "fixture/input.h"
#include "net/dtls_gnutls.h"
#include "util/bytes.h"

#define STEPS 64
#define STRANGER 3000
#define MESSAGES 256 /* numbers of messages */
#define CROWD 200    /* datagrams in transit before some are lost */
#define PATIENCE 400 /* s: maximum time until the hosts can communicate again */

enum { SEALED_ALREADY = 1, OPTIONAL = 2, REKEYS = 4 };

static struct dtls_host *const a = &dtls_hosts[0], *const b = &dtls_hosts[1];
static void *gnutls_base; /* address of that library */
static bool running;
static bool has_cookie;		     /* the stranger has answered a HelloVerifyRequest */
static uint8_t hello[DTLS_DATAGRAM]; /* a ClientHello of a, without a cookie */
static size_t hello_len;
static struct dtls_datagram kept;
static bool seen[MESSAGES];
static unsigned int next_message, how;

/*
 * Returns the hosts' time to GnuTLS, and the real time to the fuzzer, whose signal handler measures
 * the time of an input. Visible, so that libraries find this function.
 */
__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *ts)
{
	Dl_info caller;

	if (running && dladdr(__builtin_return_address(0), &caller) &&
	    caller.dli_fbase == gnutls_base)
		return dtls_pair_clock(ts);
	return (int)syscall(SYS_clock_gettime, id, ts);
}

/* ---- the hosts ---- */

static void check_messages(const struct dtls_host *h, unsigned int before, bool stranger)
{
	unsigned int number;

	if (h->received == before)
		return;
	must(!stranger && h->received == before + 1);
	must(sscanf(h->last, "message %u", &number) == 1 && number < next_message);
	must(!seen[number % MESSAGES]);
	seen[number % MESSAGES] = true;
}

static void give(struct dtls_host *h, uint16_t from, const uint8_t *data, size_t len)
{
	unsigned int before = h->received;
	size_t bytes = net.other_bytes;

	dtls_pair_inject(h, from, data, len);
	check_messages(h, before, from == STRANGER);
	/* An answer to a datagram without a cookie is at most slightly longer. */
	must(has_cookie || net.other_bytes - bytes <= len + 128);
}

static void send_message(struct dtls_host *from)
{
	char text[32];

	seen[next_message % MESSAGES] = false;
	snprintf(text, sizeof(text), "message %u", next_message++);
	dtls_pair_send_text(from, from == a ? b : a, text);
}

static void start(struct dtls_host *h)
{
	uint16_t number = h == a ? 1000 : 2000;

	dtls_pair_stop(h);
	dtls_pair_start_with(h, number, DTLS_LAB, how & OPTIONAL, how & REKEYS ? 6 : DTLS_REKEY);
}

/* Gives both hosts the keys of a session, as a handshake would. */
static void plant(void)
{
	static const uint8_t key[2][16] = { { 1 }, { 2 } }, iv[2][4] = { { 3 }, { 4 } };
	struct path_addr to_a = dtls_pair_address(1000), to_b = dtls_pair_address(2000);
	struct dtls_peer *of_a = dtls_peer_get(a->port, &to_b, net.now);
	struct dtls_peer *of_b = dtls_peer_get(b->port, &to_a, net.now);

	must(of_a && of_b);
	of_a->now.tx = dtls_cipher_new(DTLS_AES_128_GCM, 1, key[0], 16, iv[0], 4);
	of_b->now.rx = dtls_cipher_new(DTLS_AES_128_GCM, 1, key[0], 16, iv[0], 4);
	of_b->now.tx = dtls_cipher_new(DTLS_AES_128_GCM, 1, key[1], 16, iv[1], 4);
	of_a->now.rx = dtls_cipher_new(DTLS_AES_128_GCM, 1, key[1], 16, iv[1], 4);
}

/* ---- datagrams in transit ---- */

static void deliver_step(struct input *in)
{
	uint8_t what = in_u8(in);
	struct dtls_datagram d;

	if (!net.count)
		return;
	d = net.flight[net.first];
	net.first = (net.first + 1) % DTLS_FLIGHT;
	net.count--;
	if (what & 1)
		kept = d;
	if (what & 2) /* lost, or kept for later */
		return;
	if (what & 4)
		d.data[in_u16(in) % d.len] ^= (uint8_t)(1 << in_u8(in) % 8);
	if (what & 8)
		d.len = 1 + in_u16(in) % d.len;
	give(d.to, d.from, d.data, d.len);
	if (what & 16)
		give(d.to, d.from, d.data, d.len);
}

static void deliver_all(void)
{
	while (net.count) {
		struct dtls_datagram *d = &net.flight[net.first];

		net.first = (net.first + 1) % DTLS_FLIGHT;
		net.count--;
		give(d->to, d->from, d->data, d->len);
	}
}

/* Delivers the kept datagram (again), unchanged or with another number. */
static void replay_step(struct input *in)
{
	uint8_t what = in_u8(in);
	struct dtls_datagram d = kept;

	if (!d.len)
		return;
	if (what & 1 && d.len >= DTLS_HEADER)
		put_be32(d.data + 7, get_be32(d.data + 7) + (uint32_t)(int8_t)in_u8(in));
	if (what & 2 && d.len >= DTLS_HEADER)
		put_be16(d.data + 3, in_u8(in) % 3);
	give(what & 4 ? b : a, what & 8 ? STRANGER : what & 4 ? 1000 : 2000, d.data, d.len);
}

/* ---- datagrams of strangers ---- */

static size_t put_record(struct input *in, uint8_t *p, size_t room)
{
	uint8_t what = in_u8(in);
	const uint8_t *body;
	size_t len;

	if (room < DTLS_HEADER)
		return 0;
	body = in_bytes(in, in_u8(in), &len);
	len = len < room - DTLS_HEADER ? len : room - DTLS_HEADER;
	p[0] = (uint8_t)(DTLS_CHANGE_CIPHER_SPEC + what % 4);
	put_be16(p + 1, what & 0x80 ? 0xfeff : 0xfefd);
	put_be16(p + 3, what >> 2 & 1);
	put_be32(p + 5, what & 8 ? 0x00100000 : 0);
	put_be32(p + 7, in_u16(in));
	put_be16(p + 11, (uint16_t)(what & 0x10 ? in_u16(in) : len));
	memcpy(p + DTLS_HEADER, body, len);
	return DTLS_HEADER + len;
}

/* Makes a fragment of a handshake message (RFC 6347 4.2.2), with any lengths. */
static size_t put_fragment(struct input *in, uint8_t *p)
{
	static const uint8_t types[] = { 0, 1, 2, 3, 12, 14, 16, 20 };
	uint8_t what = in_u8(in);
	const uint8_t *body;
	size_t len;

	body = in_bytes(in, in_u8(in), &len);
	p[0] = DTLS_HANDSHAKE;
	put_be16(p + 1, 0xfefd);
	put_be64(p + 3, (uint64_t)(what >> 3 & 1) << 48 | in_u8(in));
	put_be16(p + 11, (uint16_t)(12 + len));
	p += DTLS_HEADER;
	p[0] = types[what % 8];
	put_be32(p, (uint32_t)p[0] << 24 | (what & 0x10 ? in_u16(in) : (uint32_t)len));
	put_be16(p + 4, in_u8(in) % 8);
	put_be32(p + 6, what & 0x20 ? in_u16(in) : 0);
	put_be32(p + 8, (what & 0x20 ? (uint32_t)in_u8(in) << 24 : 0) |
				(what & 0x40 ? in_u16(in) : (uint32_t)len));
	memcpy(p + 12, body, len);
	return DTLS_HEADER + 12 + len;
}

/*
 * Makes a ClientHello with another random, perhaps with the stranger's cookie, and perhaps with a
 * changed octet. In a HelloVerifyRequest, the cookie's length follows the headers and a version.
 */
static size_t put_hello(struct input *in, uint8_t *p)
{
	const size_t at_cookie = DTLS_HEADER + 12 + 2 + DTLS_RANDOM + 1;
	const struct dtls_datagram *verify = &net.other;
	uint8_t what = in_u8(in);
	size_t len = hello_len, more;

	memcpy(p, hello, len);
	p[DTLS_HEADER + 12 + 2] = in_u8(in);
	if (what & 1 && verify->len > DTLS_HEADER + 15 && verify->data[0] == DTLS_HANDSHAKE &&
	    verify->data[DTLS_HEADER] == 3) {
		more = verify->data[DTLS_HEADER + 14];
		more = more < verify->len - DTLS_HEADER - 15 ? more :
							       verify->len - DTLS_HEADER - 15;
		memmove(p + at_cookie + 1 + more, p + at_cookie + 1, len - at_cookie - 1);
		memcpy(p + at_cookie + 1, verify->data + DTLS_HEADER + 15, more);
		p[at_cookie] = (uint8_t)more;
		len += more;
		has_cookie = true;
		put_be16(p + 11, (uint16_t)(len - DTLS_HEADER));
		put_be16(p + DTLS_HEADER + 2, (uint16_t)(len - DTLS_HEADER - 12));
		put_be16(p + DTLS_HEADER + 10, (uint16_t)(len - DTLS_HEADER - 12));
		put_be16(p + DTLS_HEADER + 4, 1);
	}
	put_be32(p + 7, in_u8(in));
	if (what & 2)
		p[in_u16(in) % len] ^= in_u8(in);
	if (what & 4)
		len = 1 + in_u16(in) % len;
	return len;
}

static void forge_step(struct input *in)
{
	uint8_t datagram[DTLS_DATAGRAM], what = in_u8(in);
	struct dtls_host *to = what & 0x10 ? a : b;
	size_t len = 0;

	switch (what % 4) {
	case 0:
		for (unsigned int n = 1 + (what >> 6); n; n--)
			len += put_record(in, datagram + len, sizeof(datagram) - len);
		break;
	case 1:
		len = put_fragment(in, datagram);
		break;
	default:
		len = put_hello(in, datagram);
		break;
	}
	give(to, what & 0x20 ? STRANGER : to == a ? 2000 : 1000, datagram, len);
}

static void bytes_step(struct input *in)
{
	uint8_t what = in_u8(in);
	struct dtls_host *to = what & 1 ? a : b;
	const uint8_t *data;
	size_t len;

	data = in_bytes(in, in_u8(in), &len);
	if (len)
		give(to, what & 2 ? STRANGER : to == a ? 2000 : 1000, data, len);
}

/* An ICMP error quotes the kept datagram, or a stranger's invention. */
static void error_step(struct input *in)
{
	uint8_t quoted[64], what = in_u8(in);
	struct dtls_host *h = what & 1 ? a : b;
	struct path_addr to = dtls_pair_address(h == a ? 2000 : 1000);
	const uint8_t *bytes = kept.data;
	size_t len = kept.len < sizeof(quoted) ? kept.len : sizeof(quoted);

	if (what & 2)
		bytes = in_bytes(in, sizeof(quoted), &len);
	memcpy(quoted, bytes, len);
	if (what & 4 && len)
		quoted[in_u8(in) % len] ^= 1;
	if (dtls_port_error(h->port, &to, quoted, &len, sizeof(quoted),
			    what & 8 ? -ECONNREFUSED : 0, net.now))
		must(len <= sizeof(quoted) && !memcmp(quoted, "message ", len < 8 ? len : 8));
}

/* ---- time ---- */

static void wait_until(uint64_t end)
{
	for (;;) {
		uint64_t t_a = dtls_next_timeout(a->dtls), t_b = dtls_next_timeout(b->dtls);
		uint64_t next = t_a < t_b ? t_a : t_b;

		if (next >= end)
			break;
		net.now = next > net.now ? next : net.now;
		dtls_timers(a->dtls, net.now);
		dtls_timers(b->dtls, net.now);
		if (net.count > CROWD)
			net.count = 0;
	}
	net.now = end;
}

static void step(struct input *in)
{
	uint8_t what = in_u8(in);

	switch (what % 16) {
	case 0:
		bytes_step(in);
		break;
	case 1:
	case 2:
	case 3:
		forge_step(in);
		break;
	case 4:
		send_message(a);
		break;
	case 5:
		send_message(b);
		break;
	case 6:
		replay_step(in);
		break;
	case 7:
		wait_until(net.now + in_u8(in) * (what & 0x10 ? NSEC_PER_SEC : 20 * NSEC_PER_MSEC));
		break;
	case 8:
		error_step(in);
		break;
	case 9:
		start(what & 0x10 ? a : b);
		break;
	case 10:
		deliver_all();
		break;
	default:
		deliver_step(in);
		break;
	}
	if (net.count > CROWD)
		net.count = 0;
}

/* Without strangers, and with a good network, the hosts can communicate. */
static void talk(struct dtls_host *from, const struct dtls_host *to)
{
	unsigned int before = to->received + to->clear;

	for (unsigned int i = 0; i < PATIENCE; i++) {
		send_message(from);
		for (uint64_t end = net.now + NSEC_PER_SEC; net.now < end;) {
			deliver_all();
			wait_until(net.now + 100 * NSEC_PER_MSEC);
		}
		deliver_all();
		if (to->received + to->clear != before)
			return;
	}
	must(!"the hosts can talk");
}

/* Makes one ClientHello, which serves all inputs. */
static void take_hello(void)
{
	struct config_error why;
	Dl_info library;

	must(dtls_gnutls_load(&why) && dladdr((void *)gnutls.handshake, &library));
	gnutls_base = library.dli_fbase;
	running = true;
	dtls_pair_setup(NULL);
	send_message(a);
	hello_len = net.flight[net.first].len;
	memcpy(hello, net.flight[net.first].data, hello_len);
	dtls_pair_teardown(NULL);
	running = false;
}

static void prepare(void)
{
	if (!hello_len)
		take_hello();
	running = true;
	dtls_pair_restart();
	start(a);
	start(b);
	next_message = 0;
	kept.len = 0;
	has_cookie = false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_of(data, size);

	how = in_u8(&in);
	prepare();
	if (how & SEALED_ALREADY)
		plant();
	for (int i = 0; i < STEPS && in_more(&in); i++)
		step(&in);
	talk(a, b);
	talk(b, a);
	dtls_pair_teardown(NULL);
	running = false;
	return 0;
}
