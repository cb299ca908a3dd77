/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Immediate Data (RFC 7306 6) is a message of 8 octets, which the receiver gets in a completion.
 * Immediate Data uses one receive of any length. The verbs provide only 4 of the octets, imm_data:
 *
 *	| imm_data, as the application gives it (4) | 0, or "SEND" (4) |
 *
 * Other RNICs (cxgb4) also put imm_data into the first four octets.
 *
 * An RDMA_WRITE_WITH_IMM is sent as an RDMA Write, which may be empty, directly followed by
 * Immediate Data (RFC 7306 6). The receiver itself counts the bytes of the Write.
 *
 * A SEND_WITH_IMM to a peer that supports receipts is sent as RDMAP_SEND_IMM, which has both
 * payload and immediate data. RFC 7306 has no such message. So a SEND_WITH_IMM to any other peer
 * fails if it has payload: two messages would use two receives. Without payload, it is sent as
 * Immediate Data alone. The word "SEND" marks Immediate Data that does not belong to a preceding
 * Write. Immediate Data without that word does not belong to a Write either, unless it directly
 * follows one.
 */
#include "iwarp/immediate.h"

#include <string.h>

#include "iwarp/cq.h"
#include "iwarp/iw_wr.h"
#include "iwarp/sq.h"
#include "iwarp/terminate.h"
#include "wire/rdmap.h"

#define WORD_SEND 0x53454e44u /* "SEND" */

size_t iw_imm_put(const struct iw_send_wqe *wqe, uint8_t *buf)
{
	bool alone = iw_wr_info(wqe->opcode)->kind == IW_WR_KIND_SEND;
	bool se = wqe->flags & IW_SEND_SOLICITED;
	uint8_t *data = buf + DDP_UNTAGGED_LEN;

	ddp_put_untagged(buf, true, rdmap_octet(se ? RDMAP_IMMEDIATE_SE : RDMAP_IMMEDIATE), 0,
			 RDMAP_QN_SEND, wqe->msn, 0);
	memcpy(data, &wqe->imm_data, 4);
	put_be32(data + 4, alone ? WORD_SEND : 0);
	return DDP_UNTAGGED_LEN + RDMAP_IMMEDIATE_LEN;
}

int iw_imm_check(const struct iw_segment *seg, struct iw_failure *f)
{
	/* The 8 octets fit in every packet, so no sender needs to split the message. */
	if (seg->h.mo)
		return iw_fail(f, TERM_DDP_MO, seg->raw, seg->len);
	if (seg->payload_len > RDMAP_IMMEDIATE_LEN)
		return iw_fail(f, TERM_DDP_TOO_LONG, seg->raw, seg->len);
	if (seg->payload_len < RDMAP_IMMEDIATE_LEN || !ddp_is_last(seg->h.control))
		return iw_fail(f, TERM_RDMAP_UNSPECIFIED, seg->raw, seg->len);
	return 0;
}

void iw_imm_record(struct iw_rx_rec *rec, const uint8_t *payload)
{
	memcpy(&rec->imm_data, payload, 4);
	rec->imm_word = get_be32(payload + 4);
}

struct iw_rx_rec iw_imm_resolve(const struct iw_peer_write *w, const struct iw_rx_rec *rec)
{
	bool write = w->just_before && rec->imm_word != WORD_SEND;
	struct iw_rx_rec r = *rec;

	r.control &= (uint8_t)~IW_REC_BEHIND_WRITE; /* the peer may have set this reserved bit */
	if (write)
		r.control |= IW_REC_BEHIND_WRITE;
	r.write_len = write ? w->bytes : 0;
	return r;
}

void iw_imm_complete(const struct iw_rx_rec *rec, struct iw_cqe *cqe)
{
	if (rec->control & IW_REC_BEHIND_WRITE)
		cqe->opcode = IW_WC_RECV_RDMA_WITH_IMM;
	cqe->flags = IW_WC_WITH_IMM;
	cqe->byte_len = rec->write_len;
	cqe->imm_data = rec->imm_data;
}
