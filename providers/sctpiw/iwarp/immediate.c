/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Immediate Data (RFC 7306 6): 8 octets that go into a completion and take one receive, of whatever
 * length. Verbs have 4 of them, imm_data:
 *
 *	| imm_data, as the application gives it (4) | 0, or "SEND" (4) |
 *
 * The first four are where other RNICs (cxgb4) have them, too. RDMA_WRITE_WITH_IMM is an RDMA
 * Write, also one of nothing, and Immediate Data right behind it (6). How long the Write was the
 * receiver has counted, and takes from nobody's word. SEND_WITH_IMM of nothing is Immediate Data
 * alone; "SEND" keeps one that stands behind another Write from being taken for that Write's.
 * Immediate Data of another stack that stands alone, without that word, is the same. A Send with
 * both payload and immediate data is not to be had: no message carries the two, and two messages
 * would take two receives.
 *
 * In struct iw_rx_rec, stag and b are the octets as they came; once it is delivered, b is the
 * length of the Write.
 */
#include <string.h>

#include "iwarp/private.h"

#define WORD_SEND 0x53454e44u /* "SEND" */

size_t iw_imm_put(const struct iw_send_wqe *wqe, uint8_t *buf)
{
	bool se = wqe->flags & IW_SEND_SOLICITED;
	uint8_t *data = buf + DDP_UNTAGGED_LEN;

	ddp_put_untagged(buf, true, rdmap_octet(se ? RDMAP_IMMEDIATE_SE : RDMAP_IMMEDIATE), 0,
			 RDMAP_QN_SEND, wqe->msn, 0);
	memcpy(data, &wqe->imm_data, 4);
	put_be32(data + 4, wqe->opcode == IW_WR_SEND_WITH_IMM ? WORD_SEND : 0);
	return DDP_UNTAGGED_LEN + RDMAP_IMMEDIATE_LEN;
}

int iw_imm_check(const struct iw_segment *seg, struct iw_failure *f)
{
	/* 8 octets fit every packet, so nobody has reason to cut them. */
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
	memcpy(&rec->stag, payload, 4);
	rec->b = get_be32(payload + 4);
}

struct iw_rx_rec iw_imm_resolve(const struct iw_qp_private *p, const struct iw_rx_rec *rec)
{
	bool write = p->behind_write && rec->b != WORD_SEND;
	struct iw_rx_rec r = *rec;

	r.control &= (uint8_t)~IW_REC_BEHIND_WRITE; /* reserved, so the peer may have set it */
	if (write)
		r.control |= IW_REC_BEHIND_WRITE;
	r.b = write ? p->written : 0;
	return r;
}

void iw_imm_complete(const struct iw_rx_rec *rec, struct iw_cqe *cqe)
{
	if (rec->control & IW_REC_BEHIND_WRITE)
		cqe->opcode = IW_WC_RECV_RDMA_WITH_IMM;
	cqe->flags = IW_WC_WITH_IMM;
	cqe->byte_len = rec->b;
	cqe->imm_data = rec->stag;
}
