/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Placement: checks each segment when it arrives, in any order, and copies its payload to the final
 * place. Delivery is in rdmap_rx.c.
 */
#include "iwarp/ddp_rx.h"

#include <errno.h>

#include "iwarp/assoc.h"
#include "iwarp/atomic.h"
#include "iwarp/opcode.h"
#include "iwarp/overlap.h"
#include "iwarp/rc.h"
#include "iwarp/xrc.h"

/*
 * Checks the DDP and RDMAP headers. A peer that does not support receipts may send only the
 * messages of RFC 5040 and RFC 7306. s->takes lists the messages that the QP type accepts.
 */
static int check_header(const struct iw_session *s, const struct iw_segment *seg,
			struct iw_failure *f)
{
	bool tagged = ddp_is_tagged(seg->h.control);
	bool extended = s->assoc->receipts;
	uint32_t path = tagged ? IW_PATH_TAGGED : IW_PATH_QUEUE_0 + seg->h.qn;

	if (ddp_version(seg->h.control) != DDP_VERSION)
		return iw_fail(f, tagged ? TERM_DDP_TAGGED_VERSION : TERM_DDP_UNTAGGED_VERSION,
			       seg->raw, seg->len);
	if (!tagged && seg->h.qn > (extended ? RDMAP_QN_RECEIPT : RDMAP_QN_ATOMIC_RESPONSE)) {
		if (!iw_xrc_has_queue(s, seg->h.qn))
			return iw_fail(f, TERM_DDP_QN, seg->raw, seg->len);
		path = IW_PATH_QUEUE_0;
	}
	if (rdmap_version(seg->h.rdmap) != RDMAP_VERSION)
		return iw_fail(f, TERM_RDMAP_VERSION, seg->raw, seg->len);
	if (s->takes[rdmap_opcode(seg->h.rdmap)].path != path ||
	    (rdmap_is_extension(rdmap_opcode(seg->h.rdmap)) && !extended))
		return iw_fail(f, TERM_RDMAP_OPCODE, seg->raw, seg->len);
	return 0;
}

static int iw_write_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f)
{
	enum iw_remote verdict;
	uint8_t *to;

	verdict = iw_mr_remote(s->qp, seg->h.stag, seg->h.to, seg->payload_len,
			       IW_ACCESS_REMOTE_WRITE, &to);
	if (!verdict && iw_tagged_copy(s, to, seg))
		verdict = IW_REMOTE_BOUNDS; /* the application has unmapped the memory */
	if (!verdict)
		return 0;
	return iw_fail(f, iw_opcode_error(RDMAP_WRITE, verdict), seg->raw, seg->len);
}

#define PLACE(opcode, path, sender, completes, errors, place, deliver)                             \
	case opcode:                                                                               \
		return place(s, seg, f);

static int place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f)
{
	/* If a tagged segment has no payload, its STag and TO are ignored (RFC 5041 5.2). */
	if (ddp_is_tagged(seg->h.control) && !seg->payload_len)
		return 0;
	switch (rdmap_opcode(seg->h.rdmap)) {
		IW_RDMAP_OPCODES(PLACE)
	default:
		return iw_fail_illegal(f); /* check_header() has refused all other opcodes */
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
	err = check_header(s, &seg, f);
	if (!err)
		err = place(s, &seg, f);
	if (err)
		return err;

	rec->control = seg.h.control;
	rec->rdmap = seg.h.rdmap;
	rec->len = (uint16_t)seg.payload_len;
	rec->stag = seg.h.stag;
	if (ddp_is_tagged(seg.h.control)) {
		rec->to_hi = (uint32_t)(seg.h.to >> 32);
		rec->to_lo = (uint32_t)seg.h.to;
	} else {
		rec->msn = seg.h.msn;
		rec->mo = seg.h.mo;
		if (rdmap_is_octets(rdmap_opcode(seg.h.rdmap)))
			iw_imm_record(rec, seg.payload);
	}
	return 0;
}
