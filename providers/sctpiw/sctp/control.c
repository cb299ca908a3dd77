/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The answers collect in a block, and leave with the next packet. A received packet may have any
 * number of requests, but gets at most one packet of answers (RFC 9260 12.4).
 */
#include "sctp/control.h"

#include "sctp/input.h"

/*
 * Bytes for the other chunks in the packet. They are COOKIE ACK, HEARTBEAT, SHUTDOWN ACK, a HOLD
 * chunk that requests a SACK, a SACK without blocks, and its HOLD chunk.
 */
#define RESERVE (WIRE_SCTP_COMMON_LEN + 64)

uint8_t *sctp_control_room(struct sctp_assoc *a, size_t len)
{
	size_t used = sctp_control_used(a);
	uint8_t *p;

	if (used + len + RESERVE > a->path->mtu.max_packet)
		return NULL;
	if (!a->control)
		a->control = sctp_block_get(&a->s->blocks);
	if (!a->control)
		return NULL;
	p = a->control->data + used;
	a->control->used += (uint32_t)len;
	sctp_assoc_ready(a);
	return p;
}

bool sctp_control_fits(const struct sctp_assoc *a)
{
	return a->control->used + RESERVE <= a->path->mtu.max_packet;
}

void sctp_control_error(struct sctp_assoc *a, uint16_t cause, const void *info, size_t len)
{
	size_t whole = WIRE_SCTP_CHUNK_LEN + round_up4(4 + len);
	uint8_t *p = sctp_control_room(a, whole);

	if (!p)
		return;
	/* The chunk's length must exclude the padding of the last cause (3.2). */
	wire_sctp_chunk_put(p, WIRE_SCTP_ERROR, 0, WIRE_SCTP_CHUNK_LEN + 4 + len);
	wire_sctp_cause_put(p + WIRE_SCTP_CHUNK_LEN, cause, info, len);
}

uint32_t sctp_control_used(const struct sctp_assoc *a)
{
	return a->control ? a->control->used : 0;
}

void sctp_control_rewind(struct sctp_assoc *a, uint32_t used)
{
	if (!used)
		sctp_control_clear(a);
	else if (a->control && a->control->used > used)
		a->control->used = used;
}

void sctp_control_clear(struct sctp_assoc *a)
{
	if (a->control)
		sctp_block_unref(&a->s->blocks, a->control);
	a->control = NULL;
}

void sctp_control_error_in(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	const uint8_t *p = wire_sctp_value(c);
	const uint8_t *end = c->raw + c->len;
	struct wire_sctp_cause_tlv cause;

	/* Ignore all other causes: the peer can do without the chunks that they report. */
	while (wire_sctp_cause_next(&p, end, &cause)) {
		if (cause.code == WIRE_SCTP_CAUSE_CHUNK)
			sctp_asconf_reported(in->a, cause.info, cause.len);
		if (cause.code == WIRE_SCTP_CAUSE_STALE_COOKIE &&
		    in->a->state == SCTP_COOKIE_ECHOED) {
			sctp_handshake_stale(in->a, in->now);
			in->stop = true;
			return;
		}
	}
}

void sctp_control_unknown(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	uint8_t action = c->type >> 6;

	if (action & WIRE_SCTP_UNKNOWN_REPORT &&
	    sctp_in_states(in->a, SCTP_STATES_SEND | SCTP_STATES_RECEIVE))
		sctp_control_error(in->a, WIRE_SCTP_CAUSE_CHUNK, c->raw, c->len);
	if (!(action & WIRE_SCTP_UNKNOWN_SKIP))
		in->stop = true;
}
