/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "launcher/doctor_guests.h"

#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <string.h>

#include "util/bytes.h"
#include "util/time.h"

#define VERSION 1
/* a cookie is valid for at least this time, and at most twice as long */
#define COOKIE_LIFE (30 * NSEC_PER_SEC)
/* another guest may replace a guest that has sent nothing for this time */
#define IDLE (10 * NSEC_PER_SEC)

static const uint8_t magic[4] = { 's', 'p', 'w', 'D' };

void doctor_message_write(const struct doctor_message *m, uint8_t *buf)
{
	memset(buf, 0, DOCTOR_MESSAGE_LEN);
	memcpy(buf, magic, sizeof(magic));
	buf[4] = VERSION;
	buf[5] = m->type;
	put_be64(buf + 8, m->nonce);
	memcpy(buf + 16, m->cookie, sizeof(m->cookie));
	put_be32(buf + 32, m->sequence);
	put_be32(buf + 36, m->received);
	put_be32(buf + 40, m->overtaken);
}

bool doctor_message_read(struct doctor_message *m, const uint8_t *buf, size_t len)
{
	if (len < DOCTOR_MESSAGE_LEN || memcmp(buf, magic, sizeof(magic)) || buf[4] != VERSION)
		return false;
	m->type = buf[5];
	m->nonce = get_be64(buf + 8);
	memcpy(m->cookie, buf + 16, sizeof(m->cookie));
	m->sequence = get_be32(buf + 32);
	m->received = get_be32(buf + 36);
	m->overtaken = get_be32(buf + 40);
	return true;
}

/* ---- cookies ---- */

/*
 * Makes a cookie from an address, a port, a nonce and the number of a period of COOKIE_LIFE. Only
 * the listener knows the secret, so only the listener can make a cookie.
 */
static void make_cookie(const struct doctor_guests *g, const struct ip_addr *ip, uint16_t port,
			uint64_t nonce, uint64_t span, uint8_t cookie[DOCTOR_COOKIE_LEN])
{
	struct hmac_sha256_ctx hmac;
	uint8_t text[16 + 2 + 8 + 8];

	memcpy(text, ip->b, 16);
	put_be16(text + 16, port);
	put_be64(text + 18, nonce);
	put_be64(text + 26, span);
	hmac_sha256_set_key(&hmac, sizeof(g->secret), g->secret);
	hmac_sha256_update(&hmac, sizeof(text), text);
	hmac_sha256_digest(&hmac, DOCTOR_COOKIE_LEN, cookie);
}

static bool cookie_is_good(const struct doctor_guests *g, const struct ip_addr *ip, uint16_t port,
			   uint64_t now, const struct doctor_message *m)
{
	uint64_t span = now / COOKIE_LIFE;
	uint8_t cookie[DOCTOR_COOKIE_LEN];

	for (unsigned int back = 0; back < 2; back++) {
		make_cookie(g, ip, port, m->nonce, span - back, cookie);
		if (memeql_sec(cookie, m->cookie, sizeof(cookie)))
			return true;
	}
	return false;
}

/* ---- entries ---- */

/*
 * Returns the entry of an address. A new address replaces the address that has sent nothing for the
 * longest time.
 */
static struct doctor_caller *find_caller(struct doctor_guests *g, const struct ip_addr *ip,
					 uint64_t now)
{
	struct doctor_caller *oldest = &g->caller[0];

	for (unsigned int i = 0; i < DOCTOR_GUESTS; i++) {
		struct doctor_caller *c = &g->caller[i];

		if (c->heard && ip_addr_equal(&c->ip, ip)) {
			c->heard = now;
			return c;
		}
		if (c->heard < oldest->heard)
			oldest = c;
	}
	*oldest = (struct doctor_caller){ .ip = *ip, .heard = now };
	return oldest;
}

/* Returns the entry of a guest. Returns NULL if the guest is new and no entry is free. */
static struct doctor_guest *find_guest(struct doctor_guests *g, const struct ip_addr *ip,
				       uint16_t port, uint64_t nonce, uint64_t now)
{
	struct doctor_guest *oldest = &g->guest[0];

	for (unsigned int i = 0; i < DOCTOR_GUESTS; i++) {
		struct doctor_guest *guest = &g->guest[i];

		if (guest->heard && guest->nonce == nonce && guest->port == port &&
		    ip_addr_equal(&guest->ip, ip)) {
			guest->heard = now;
			return guest;
		}
		if (guest->heard < oldest->heard)
			oldest = guest;
	}
	if (oldest->heard && now - oldest->heard < IDLE)
		return NULL;
	*oldest = (struct doctor_guest){ .ip = *ip, .port = port, .nonce = nonce, .heard = now };
	return oldest;
}

/* ---- answers ---- */

static void count_probe(struct doctor_guest *guest, uint32_t sequence)
{
	guest->received++;
	if (sequence < guest->highest)
		guest->overtaken++;
	else
		guest->highest = sequence;
}

static size_t answer_hello(struct doctor_guests *g, struct doctor_caller *caller, uint16_t port,
			   uint64_t now, struct doctor_message *m, enum doctor_event *event)
{
	caller->hellos++;
	if (caller->hellos == DOCTOR_HELLOS_DEAF)
		*event = DOCTOR_DEAF;
	m->type = DOCTOR_COOKIE;
	make_cookie(g, &caller->ip, port, m->nonce, now / COOKIE_LIFE, m->cookie);
	return DOCTOR_MESSAGE_LEN;
}

size_t doctor_guests_answer(struct doctor_guests *g, const struct ip_addr *ip, uint16_t port,
			    uint64_t now, uint8_t *buf, size_t len, enum doctor_event *event)
{
	struct doctor_caller *caller;
	struct doctor_guest *guest;
	struct doctor_message m;
	size_t back;

	*event = DOCTOR_NOTHING;
	if (!doctor_message_read(&m, buf, len))
		return 0;
	caller = find_caller(g, ip, now);
	caller->datagrams++;
	if (m.type == DOCTOR_HELLO) {
		back = answer_hello(g, caller, port, now, &m, event);
		doctor_message_write(&m, buf);
		return back;
	}
	if ((m.type != DOCTOR_PROBE && m.type != DOCTOR_COUNT) ||
	    !cookie_is_good(g, ip, port, now, &m))
		return 0;
	guest = find_guest(g, ip, port, m.nonce, now);
	if (!guest)
		return 0;
	caller->hellos = 0;
	if (!caller->welcomed)
		*event = DOCTOR_WELCOME;
	caller->welcomed = true;
	if (m.type == DOCTOR_PROBE)
		count_probe(guest, m.sequence);
	back = m.type == DOCTOR_PROBE ? len : DOCTOR_MESSAGE_LEN;
	m.type = m.type == DOCTOR_PROBE ? DOCTOR_ECHO : DOCTOR_COUNTED;
	m.received = guest->received;
	m.overtaken = guest->overtaken;
	doctor_message_write(&m, buf);
	return back;
}

uint32_t doctor_guests_heard(const struct doctor_guests *g, const struct ip_addr *ip)
{
	for (unsigned int i = 0; i < DOCTOR_GUESTS; i++) {
		if (g->caller[i].heard && ip_addr_equal(&g->caller[i].ip, ip))
			return g->caller[i].datagrams;
	}
	return 0;
}
