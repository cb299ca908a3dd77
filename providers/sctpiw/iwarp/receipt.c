/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/receipt.h"

#include <string.h>

#include "iwarp/assoc.h"
#include "iwarp/rc.h"

/* ---- this side's receipts ---- */

static struct rdmap_receipt now(const struct iw_session *s)
{
	const struct iw_rc *rc = iw_rc_of(s->qp);
	const struct iw_unexpected_table *t = &rc->rx.unexpected;
	struct rdmap_receipt r = { .ssn = s->rx.delivered };

	r.waiting = t->count || rc->rx.refused;
	if (rc->rx.refused) /* the refused message precedes all waiting messages */
		r.msn = rc->rx.refused_index - rc->rx.delta;
	else if (r.waiting) /* without an SRQ, rx.taken is 0 */
		r.msn = t->first + rc->rx.taken - rc->rx.delta;
	return r;
}

void iw_receipt_count(struct iw_session *s)
{
	bool owes = s->assoc && s->assoc->receipts && s->state != IW_S_OVER &&
		    (s->tx.receipt_due || s->tx.term_due || s->tx.terminate_due ||
		     s->tx.control == SESSION_TERMINATE);

	if (!s->assoc || owes == s->tx.owes)
		return;
	s->tx.owes = owes;
	s->assoc->owing += owes ? 1u : -1u;
	/* If no session owes a receipt any more, the LLP may have acknowledgements to send. */
	if (!s->assoc->owing && !s->assoc->pulling)
		s->assoc->ops.doorbell(s->assoc->llp);
}

void iw_receipt_update(struct iw_session *s)
{
	struct rdmap_receipt r;

	/* Nothing may be sent yet; establish() calls this function again. */
	if (!s->assoc->receipts || s->tx.receipt_due || s->state != IW_S_ESTABLISHED)
		return;
	r = now(s);
	if (r.waiting == s->tx.receipt.waiting && r.msn == s->tx.receipt.msn)
		return;
	s->tx.receipt_due = true;
	iw_receipt_count(s);
	iw_session_wake(s);
}

void iw_receipt_finish(struct iw_session *s)
{
	if (!s->assoc || !s->assoc->receipts)
		return;
	s->tx.receipt = now(s);
	s->tx.receipt.final = true;
	s->tx.receipt_due = true;
}

void iw_receipt_finish_to_self(struct iw_session *s)
{
	struct rdmap_receipt r = now(s);

	r.final = true;
	iw_unplaced_finish(iw_rc_of(s->qp), &r);
}

size_t iw_receipt_pull(struct iw_session *s, uint8_t *buf, size_t limit)
{
	const size_t header = SESSION_SSN_LEN + DDP_UNTAGGED_LEN;

	if (limit < header + RDMAP_RECEIPT_LEN)
		return 0;
	if (!s->tx.receipt.final)
		s->tx.receipt = now(s);
	ddp_put_untagged(buf + SESSION_SSN_LEN, true, rdmap_octet(RDMAP_RECEIPT), 0,
			 RDMAP_QN_RECEIPT, ++s->tx.receipt_msn, 0);
	rdmap_put_receipt(buf + header, &s->tx.receipt);
	s->tx.receipt_due = false;
	return header + RDMAP_RECEIPT_LEN;
}

bool iw_assoc_owes_receipt(const struct iw_assoc *assoc)
{
	return assoc->owing != 0;
}

/* ---- the peer's receipts ---- */

int iw_receipt_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f)
{
	(void)s;
	if (seg->h.mo)
		return iw_fail(f, TERM_DDP_MO, seg->raw, seg->len);
	if (seg->payload_len > RDMAP_RECEIPT_LEN)
		return iw_fail(f, TERM_DDP_TOO_LONG, seg->raw, seg->len);
	if (seg->payload_len < RDMAP_RECEIPT_LEN || !ddp_is_last(seg->h.control))
		return iw_fail(f, TERM_RDMAP_UNSPECIFIED, seg->raw, seg->len);
	return 0;
}

int iw_receipt_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f)
{
	struct iw_rc *rc = iw_rc_of(s->qp);
	uint8_t octets[RDMAP_RECEIPT_LEN];
	struct rdmap_receipt r;

	if (rec->msn != ++s->rx.receipt_msn)
		return iw_fail_rec(f, TERM_DDP_MSN, rec);
	memcpy(octets, &rec->imm_data, 4);
	put_be32(octets + 4, rec->imm_word);
	rdmap_get_receipt(&r, octets);
	iw_unplaced_receipt(rc, &r);
	return 0;
}
