/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "wire/session.h"

#include <errno.h>
#include <string.h>

#include "util/bytes.h"

#define FLAG_A 0x80000000u
#define FLAG_B 0x40000000u
#define FLAG_C 0x00008000u
#define FLAG_D 0x00004000u
#define DEPTH_MASK 0x3fffu

static uint32_t clamp_depth(uint16_t depth)
{
	return depth > SESSION_DEPTH_ULP ? SESSION_DEPTH_MAX : depth;
}

static uint32_t enhanced_word(const struct session_enhanced *e)
{
	uint32_t word = clamp_depth(e->ird) << 16 | clamp_depth(e->ord);

	if (!e->peer_to_peer)
		return word;
	return word | FLAG_A | (e->rtr_send ? FLAG_B : 0) | (e->rtr_write ? FLAG_C : 0) |
	       (e->rtr_read ? FLAG_D : 0);
}

static void enhanced_from_word(struct session_enhanced *e, uint32_t word)
{
	e->ird = word >> 16 & DEPTH_MASK;
	e->ord = word & DEPTH_MASK;
	e->peer_to_peer = word & FLAG_A;
	/* If flag A is not set, the receiver ignores the other flags (RFC 6581 9.2). */
	e->rtr_send = e->peer_to_peer && (word & FLAG_B);
	e->rtr_write = e->peer_to_peer && (word & FLAG_C);
	e->rtr_read = e->peer_to_peer && (word & FLAG_D);
}

size_t session_encode(const struct session_control *c, uint8_t *buf, size_t len)
{
	size_t extra = session_is_enhanced(c->function) ? SESSION_ENHANCED_LEN : 0;
	size_t total = SESSION_CONTROL_MIN + extra + c->private_len;

	if (total > len || total > SESSION_CONTROL_MAX ||
	    (c->function == SESSION_TERMINATE && c->private_len))
		return 0;
	put_be16(buf, c->ssn);
	put_be16(buf + 2, c->function);
	if (extra)
		put_be32(buf + SESSION_CONTROL_MIN, enhanced_word(&c->enhanced));
	if (c->private_len)
		memcpy(buf + SESSION_CONTROL_MIN + extra, c->private_data, c->private_len);
	return total;
}

int session_decode(struct session_control *c, const uint8_t *data, size_t len)
{
	size_t at = SESSION_CONTROL_MIN;

	memset(c, 0, sizeof(*c));
	if (len < SESSION_CONTROL_MIN)
		return -EINVAL;
	c->ssn = get_be16(data);
	c->function = get_be16(data + 2);
	if (len > SESSION_CONTROL_MAX)
		return -EINVAL;
	if (c->function == SESSION_TERMINATE && len != SESSION_CONTROL_MIN)
		return -EINVAL;
	if (session_is_enhanced(c->function)) {
		if (len >= at + SESSION_ENHANCED_LEN) {
			enhanced_from_word(&c->enhanced, get_be32(data + at));
			at += SESSION_ENHANCED_LEN;
		} else if (c->function != SESSION_ENHANCED_REJECT || len != at) {
			return -EINVAL;
		}
	}
	c->private_len = (uint16_t)(len - at);
	c->private_data = data + at;
	return 0;
}
