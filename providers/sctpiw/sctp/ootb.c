/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* If the queue is full, packets are dropped: the peer retransmits, or its timers expire. */
#include "sctp/ootb.h"

#include <stdlib.h>

#include "sctp/input.h"

#define INFO_MAX 256u /* maximum bytes in an error cause, so that the answer stays short */
/* Limit of answers to one address: ANSWERS at once, then one per ANSWER_TIME, in ns. */
#define ANSWERS 512u
#define ANSWER_TIME NSEC_PER_MSEC

struct sctp_ootb *sctp_ootb_new(struct sctp_endpoint *ep, const struct path_addr *to)
{
	struct sctp_ootb_queue *q = &ep->s->ootb;
	struct sctp_ootb *ootb;

	if (!q->ring)
		q->ring = calloc(SCTP_OOTB_MAX, sizeof(*q->ring));
	if (!q->ring || q->count == SCTP_OOTB_MAX)
		return NULL;
	ootb = &q->ring[(q->head + q->count) % SCTP_OOTB_MAX];
	q->count++;
	ootb->endpoint = ep;
	ootb->to = *to;
	ootb->len = 0;
	return ootb;
}

bool sctp_ootb_may_answer(const struct sctp_in *in, const struct ip_addr *to)
{
	/* multicast 224.0.0.0/4 and ff00::/8, reserved addresses, and broadcast 255.255.255.255 */
	if (ip_addr_is_v4(to) ? to->b[12] >= 224 : to->b[0] == 0xff)
		return false;
	return ration_take(&in->s->rations[ration_place(in->s->table.seed, to)], in->now, ANSWERS,
			   ANSWER_TIME);
}

void sctp_ootb_seal(struct sctp_ootb *ootb)
{
	wire_sctp_checksum_put(ootb->data, ootb->len);
}

void sctp_ootb_chunk(struct sctp_endpoint *ep, const struct path_addr *to,
		     const struct wire_sctp_common *h, uint8_t type, uint8_t flags, uint16_t cause,
		     const void *info, size_t len)
{
	struct sctp_ootb *ootb = sctp_ootb_new(ep, to);
	size_t chunk = WIRE_SCTP_CHUNK_LEN;
	size_t padding = 0;
	uint8_t *p;

	if (!ootb)
		return;
	ep->s->stats.aborts_out += type == WIRE_SCTP_ABORT;
	p = ootb->data + WIRE_SCTP_COMMON_LEN;
	wire_sctp_common_put(ootb->data, h);
	if (cause) {
		if (len > INFO_MAX)
			len = INFO_MAX;
		padding = wire_sctp_cause_put(p + chunk, cause, info, len) - (4 + len);
		chunk += 4 + len;
	}
	wire_sctp_chunk_put(p, type, flags, chunk);
	ootb->len = (uint16_t)(WIRE_SCTP_COMMON_LEN + chunk + padding);
	sctp_ootb_seal(ootb);
}

void sctp_ootb_assoc(struct sctp_assoc *a, uint8_t type, uint16_t cause, const void *info,
		     size_t len)
{
	const struct wire_sctp_common h = sctp_assoc_header(a);

	if (a->peer_tag)
		sctp_ootb_chunk(a->ep, &a->path->addr, &h, type, 0, cause, info, len);
}

/* True if the ERROR chunk has the cause Stale Cookie. */
static bool is_stale_cookie(const struct wire_sctp_chunk *c)
{
	const uint8_t *p = wire_sctp_value(c);
	const uint8_t *end = c->raw + c->len;
	struct wire_sctp_cause_tlv cause;

	while (wire_sctp_cause_next(&p, end, &cause))
		if (cause.code == WIRE_SCTP_CAUSE_STALE_COOKIE)
			return true;
	return false;
}

void sctp_ootb_input(struct sctp_in *in)
{
	const struct wire_sctp_common h = { in->h.dport, in->h.sport, in->h.vtag };
	const uint8_t *p = in->packet + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_chunk c;
	uint8_t answer = WIRE_SCTP_ABORT;
	bool any = false;

	while (wire_sctp_chunk_next(&p, in->end, &c)) {
		any = true;
		switch (c.type) {
		case WIRE_SCTP_ABORT:
		case WIRE_SCTP_SHUTDOWN_COMPLETE:
		case WIRE_SCTP_COOKIE_ACK:
			return;
		case WIRE_SCTP_ERROR:
			if (is_stale_cookie(&c))
				return;
			break;
		case WIRE_SCTP_SHUTDOWN_ACK:
			answer = WIRE_SCTP_SHUTDOWN_COMPLETE;
			break;
		}
	}
	if (any && sctp_ootb_may_answer(in, &in->from->remote))
		sctp_ootb_chunk(in->ep, in->from, &h, answer, WIRE_SCTP_T_BIT, 0, NULL, 0);
}

void sctp_ootb_forget(struct sctp *s, const struct sctp_endpoint *ep)
{
	struct sctp_ootb_queue *q = &s->ootb;
	unsigned int i;

	for (i = 0; i < q->count; i++) {
		struct sctp_ootb *ootb = &q->ring[(q->head + i) % SCTP_OOTB_MAX];

		if (ootb->endpoint == ep)
			ootb->endpoint = NULL;
	}
}

void sctp_ootb_fini(struct sctp *s)
{
	if (s->ootb.block)
		sctp_block_unref(&s->blocks, s->ootb.block);
	free(s->ootb.ring);
}

/*
 * Removes the next packet from the queue, and skips packets of freed endpoints. Returns NULL if the
 * queue is empty.
 */
static struct sctp_ootb *next(struct sctp_ootb_queue *q)
{
	while (q->count) {
		struct sctp_ootb *ootb = &q->ring[q->head];

		q->head = (q->head + 1) % SCTP_OOTB_MAX;
		q->count--;
		if (ootb->endpoint)
			return ootb;
	}
	return NULL;
}

int sctp_output_ootb(struct sctp *s, struct sctp_batch *batch)
{
	struct sctp_ootb_queue *q = &s->ootb;
	struct sctp_block *b = q->block;
	struct sctp_ootb *ootb;

	if (!q->count)
		return 0;
	if (b && SCTP_BLOCK_SIZE - b->used < SCTP_OOTB_LEN) {
		sctp_block_unref(&s->blocks, b);
		b = NULL;
	}
	if (!b)
		b = sctp_block_get(&s->blocks);
	q->block = b;
	if (!b)
		return 0;
	ootb = next(q);
	if (!ootb)
		return 0;
	memcpy(b->data + b->used, ootb->data, ootb->len);
	*batch = (struct sctp_batch){
		.endpoint = ootb->endpoint,
		.data = b->data + b->used,
		.len = ootb->len,
		.segment = ootb->len,
		.to = ootb->to,
		.df = false, /* the path MTU is not known, and an INIT ACK may exceed it */
		.block = b,
	};
	b->used += (uint32_t)round_up4(ootb->len);
	b->refs++;
	return 1;
}
