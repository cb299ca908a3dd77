/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <string.h>

#include "sctp/assoc.h"
#include "sctp/paths.h"

/*
 * Writes a COOKIE ECHO and a HEARTBEAT for an unconfirmed address of the peer (5.4). Returns their
 * length in bytes, or 0 if they exceed the path MTU.
 */
static size_t cookie_echo(struct sctp_assoc *a, struct sctp_path *path, uint8_t *p, size_t room,
			  uint64_t now)
{
	size_t len = WIRE_SCTP_CHUNK_LEN + a->setup.cookie_len;
	size_t whole = round_up4(len);

	if (whole + SCTP_HEARTBEAT_LEN > room ||
	    WIRE_SCTP_COMMON_LEN + whole + SCTP_HEARTBEAT_LEN > path->mtu.max_packet)
		return 0;
	a->pending &= ~SCTP_PEND_COOKIE_ECHO;
	wire_sctp_chunk_put(p, WIRE_SCTP_COOKIE_ECHO, 0, len);
	memcpy(p + WIRE_SCTP_CHUNK_LEN, a->setup.cookie, a->setup.cookie_len);
	wire_sctp_pad(p, len);
	return whole + sctp_path_heartbeat_put(a, path, p + whole, now);
}

/*
 * Writes a due SACK that must go to the source of its DATA (6.4). The address must be confirmed
 * (5.4). Returns the length, or 0.
 */
static size_t sack(struct sctp_assoc *a, uint8_t *p, size_t room, struct path_addr *to)
{
	const struct sctp_path *path = a->paths.sack_path;
	size_t hold = sctp_receipts_hold_len(a);
	struct sctp_sack_plan plan;

	if (!path || !(a->pending & SCTP_PEND_SACK) || a->pending & SCTP_PEND_COOKIE_ACK ||
	    !path->confirmed || !path->usable)
		return 0;
	if (room > path->mtu.max_packet - WIRE_SCTP_COMMON_LEN)
		room = path->mtu.max_packet - WIRE_SCTP_COMMON_LEN;
	plan = sctp_rx_sack_plan(a, room - hold);
	sctp_rx_sack_put(a, &plan, p);
	sctp_receipts_sack_sent(a, p + plan.len, hold);
	sctp_rx_sack_sent(a);
	*to = path->addr;
	return plan.len + hold;
}

/* Writes a HEARTBEAT for one path with hb.wanted. Returns its length, or 0 if there is none. */
static size_t heartbeat(struct sctp_assoc *a, uint8_t *p, uint64_t now, struct path_addr *to)
{
	unsigned int i;

	for (i = 0; a->pending & SCTP_PEND_PATHS && i < a->paths.others; i++) {
		struct sctp_path *path = a->paths.other[i];

		if (!path->hb.wanted)
			continue;
		path->hb.wanted = false;
		sctp_locals_choose(a, path);
		*to = path->addr;
		return sctp_path_heartbeat_put(a, path, p, now);
	}
	a->pending &= ~SCTP_PEND_PATHS;
	return 0;
}

size_t sctp_paths_packet(struct sctp_assoc *a, uint8_t *p, size_t room, uint64_t now,
			 struct path_addr *to)
{
	const struct wire_sctp_common h = sctp_assoc_header(a);
	uint8_t *chunk = p + WIRE_SCTP_COMMON_LEN;
	size_t len;

	room -= WIRE_SCTP_COMMON_LEN;
	wire_sctp_common_put(p, &h);
	len = sctp_asconf_put(a, chunk, now, to);
	if (len)
		return WIRE_SCTP_COMMON_LEN + len;
	if (sctp_path_in_doubt(a) && a->pending & SCTP_PEND_HEARTBEAT) {
		a->pending &= ~SCTP_PEND_HEARTBEAT;
		sctp_locals_choose(a, a->path);
		*to = a->path->addr;
		return WIRE_SCTP_COMMON_LEN + sctp_path_heartbeat_put(a, a->path, chunk, now);
	}
	if (a->pending & SCTP_PEND_INIT && a->paths.echo_index) {
		*to = sctp_path_at(a, a->paths.echo_index)->addr;
		return WIRE_SCTP_COMMON_LEN + sctp_handshake_init_put(a, chunk);
	}
	if (a->pending & SCTP_PEND_COOKIE_ECHO && a->paths.echo_index) {
		struct sctp_path *path = sctp_path_at(a, a->paths.echo_index);

		*to = path->addr;
		len = cookie_echo(a, path, chunk, room, now);
		if (!len) /* send it to the destination of the INIT */
			a->paths.echo_index = 0;
	} else {
		len = sack(a, chunk, room, to);
		if (!len)
			len = heartbeat(a, chunk, now, to);
	}
	return len ? WIRE_SCTP_COMMON_LEN + len : 0;
}
