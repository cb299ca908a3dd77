/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Placement (RFC 5041 5, 7.1): every segment is checked by itself and its payload goes to its final
 * place, in whatever order segments come. Delivery is rdmap_rx.c.
 */
#include <errno.h>

#include "iwarp/private.h"

/* Which opcodes travel where (RFC 5040 4.1, RFC 7306 4.1). */
enum where { NOWHERE, TAGGED, QUEUE_0, QUEUE_1, QUEUE_2, QUEUE_3 };

static const uint8_t places[16] = {
	[RDMAP_WRITE] = TAGGED,		  [RDMAP_READ_RESPONSE] = TAGGED,
	[RDMAP_SEND] = QUEUE_0,		  [RDMAP_SEND_INV] = QUEUE_0,
	[RDMAP_SEND_SE] = QUEUE_0,	  [RDMAP_SEND_SE_INV] = QUEUE_0,
	[RDMAP_IMMEDIATE] = QUEUE_0,	  [RDMAP_IMMEDIATE_SE] = QUEUE_0,
	[RDMAP_READ_REQUEST] = QUEUE_1,	  [RDMAP_ATOMIC_REQUEST] = QUEUE_1,
	[RDMAP_TERMINATE] = QUEUE_2,	  [RDMAP_ATOMIC_RESPONSE] = QUEUE_3,
};

static int check_header(const struct iw_segment *seg, struct iw_failure *f)
{
	bool tagged = ddp_is_tagged(seg->h.control);
	enum where where = tagged ? TAGGED : QUEUE_0 + seg->h.qn;

	if (ddp_version(seg->h.control) != DDP_VERSION)
		return iw_fail(f, tagged ? TERM_DDP_TAGGED_VERSION : TERM_DDP_UNTAGGED_VERSION,
			       seg->raw, seg->len);
	if (!tagged && seg->h.qn > RDMAP_QN_ATOMIC_RESPONSE)
		return iw_fail(f, TERM_DDP_QN, seg->raw, seg->len);
	if (rdmap_version(seg->h.rdmap) != RDMAP_VERSION)
		return iw_fail(f, TERM_RDMAP_VERSION, seg->raw, seg->len);
	if (places[rdmap_opcode(seg->h.rdmap)] != where)
		return iw_fail(f, TERM_RDMAP_OPCODE, seg->raw, seg->len);
	return 0;
}

static int place_write(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f)
{
	/* DDP has no code for missing rights. */
	static const uint16_t errors[] = {
		[IW_REMOTE_STAG] = TERM_DDP_STAG,   [IW_REMOTE_PD] = TERM_DDP_STREAM,
		[IW_REMOTE_ACCESS] = TERM_DDP_STAG, [IW_REMOTE_WRAP] = TERM_DDP_WRAP,
		[IW_REMOTE_BOUNDS] = TERM_DDP_BOUNDS,
	};
	enum iw_remote verdict;
	uint8_t *to;

	verdict = iw_mr_remote(s->qp, seg->h.stag, seg->h.to, seg->payload_len,
			       IW_ACCESS_REMOTE_WRITE, &to);
	if (!verdict && s->rnic->ops.copy(to, seg->payload, seg->payload_len))
		verdict = IW_REMOTE_BOUNDS; /* the application unmapped it */
	return verdict ? iw_fail(f, errors[verdict], seg->raw, seg->len) : 0;
}

static int place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f)
{
	switch (rdmap_opcode(seg->h.rdmap)) {
	case RDMAP_WRITE:
		/* Without payload STag and TO are not looked at (RFC 5041 5.2). */
		return seg->payload_len ? place_write(s, seg, f) : 0;
	case RDMAP_READ_RESPONSE:
		return seg->payload_len ? iw_read_place(s, seg, f) : 0;
	case RDMAP_READ_REQUEST:
	case RDMAP_ATOMIC_REQUEST:
		return iw_irq_place(s, seg, f);
	case RDMAP_ATOMIC_RESPONSE:
		return iw_atomic_place(s, seg, f);
	case RDMAP_TERMINATE:
		return iw_term_place(s, seg, f);
	default:
		return iw_rq_place(s, seg, f);
	}
}

int iw_ddp_place(struct iw_session *s, uint16_t ssn, const uint8_t *data, size_t len,
		 struct iw_rx_rec *rec, struct iw_failure *f)
{
	struct iw_segment seg = { .raw = data, .ssn = ssn };
	size_t header;
	int err;

	header = len <= IW_SEGMENT_MAX ? ddp_get(&seg.h, data, len) : 0;
	if (!header)
		return iw_fail_illegal(f);
	seg.len = (uint32_t)len;
	seg.payload = data + header;
	seg.payload_len = (uint32_t)(len - header);
	err = check_header(&seg, f);
	if (!err)
		err = place(s, &seg, f);
	if (err)
		return err;

	rec->control = seg.h.control;
	rec->rdmap = seg.h.rdmap;
	rec->len = (uint16_t)seg.payload_len;
	rec->stag = seg.h.stag;
	if (ddp_is_tagged(seg.h.control)) {
		rec->a = (uint32_t)(seg.h.to >> 32);
		rec->b = (uint32_t)seg.h.to;
	} else {
		rec->a = seg.h.msn;
		rec->b = seg.h.mo;
		if (rdmap_is_immediate(rdmap_opcode(seg.h.rdmap)))
			iw_imm_record(rec, seg.payload);
	}
	return 0;
}
