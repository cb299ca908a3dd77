/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/xrc.h"

#include <errno.h>
#include <stdlib.h>

#include "iwarp/assoc.h"
#include "iwarp/cq.h"
#include "iwarp/rc.h"
#include "iwarp/srq.h"

struct iw_xrcd {
	struct iw_shard *shard; /* of its QPs and SRQs */
	/* What its QPs have instead of their own: a PD without memory, a CQ and an SRQ that stay empty. */
	struct iw_pd *pd;
	struct iw_cq *cq;
	struct iw_srq *srq;
	struct list_node srqs; /* iw_srq_full.of_xrcd */
};

static void free_parts(struct iw_xrcd *xrcd)
{
	if (xrcd->srq)
		iw_srq_free(xrcd->srq);
	if (xrcd->cq)
		iw_cq_free(xrcd->cq);
	if (xrcd->pd)
		iw_pd_free(xrcd->pd);
	free(xrcd);
}

struct iw_xrcd *iw_xrcd_new(struct iw_shard *shard)
{
	struct iw_xrcd *xrcd = calloc(1, sizeof(*xrcd));

	if (!xrcd)
		return NULL;
	xrcd->shard = shard;
	list_init(&xrcd->srqs);
	xrcd->pd = iw_pd_new(shard->rnic, NULL);
	xrcd->cq = iw_cq_new(shard, 1, NULL);
	if (!xrcd->pd || !xrcd->cq ||
	    iw_srq_new(shard, xrcd->pd, 1, IW_MAX_SGE, NULL, &xrcd->srq)) {
		free_parts(xrcd);
		return NULL;
	}
	xrcd->srq->xrcd = xrcd;
	return xrcd;
}

int iw_xrcd_free(struct iw_xrcd *xrcd)
{
	if (xrcd->srq->refs || !list_empty(&xrcd->srqs))
		return -EBUSY;
	free_parts(xrcd);
	return 0;
}

struct iw_qp_attr iw_xrcd_qp_attr(const struct iw_qp_attr *attr)
{
	struct iw_qp_attr a = *attr;

	a.pd = attr->xrcd->pd;
	a.send_cq = a.recv_cq = attr->xrcd->cq;
	a.srq = attr->xrcd->srq;
	a.max_send_wr = a.max_send_sge = a.max_inline = 0;
	return a;
}

/* ---- SRQs ---- */

static uint16_t new_num(struct iw_rnic *rnic)
{
	uint16_t num;

	do
		num = ++rnic->next_srq_num;
	while (!num || iw_table_find(&rnic->xrc_srqs, num));
	return num;
}

int iw_xrc_srq_new(struct iw_xrcd *xrcd, struct iw_pd *pd, struct iw_cq *cq, uint32_t max_wr,
		   uint32_t max_sge, void *ctx, struct iw_srq **out)
{
	struct iw_rnic *rnic = xrcd->shard->rnic;
	struct iw_srq *srq;
	uint32_t num;
	int err;

	err = iw_srq_new(xrcd->shard, pd, max_wr, max_sge, ctx, &srq);
	if (err)
		return err;
	num = new_num(rnic); /* one is free: there are fewer SRQs than numbers */
	err = iw_table_insert(&rnic->xrc_srqs, num, srq);
	if (err) {
		iw_srq_free(srq);
		return err;
	}
	srq->xrcd = xrcd;
	srq->num = num;
	srq->cq = cq;
	cq->refs++;
	pd->xrc_srqs++;
	iw_cq_join(cq, xrcd->shard);
	list_add_tail(&xrcd->srqs, &list_entry(srq, struct iw_srq_full, srq)->of_xrcd);
	*out = srq;
	return 0;
}

/* The first message of the QP that is for this SRQ; NULL: there is none. */
static const struct iw_unexpected *first_message(const struct iw_srq *srq, const struct iw_rc *rc)
{
	const struct iw_unexpected_table *t = &rc->rx.unexpected;

	for (uint32_t i = 0; i < t->size; i++) {
		const struct iw_unexpected *m = iw_unexpected_at(t, t->first + i);

		if (m->recv.srq == srq)
			return m;
	}
	return NULL;
}

/* The message names an SRQ that is gone. */
static void fail_message(struct iw_session *s, const struct iw_srq *srq,
			 const struct iw_unexpected *m)
{
	const struct iw_rx_rec *rec = m->first ? &m->first->rec : &m->rec;
	struct iw_failure f;

	if (rec->control) {
		iw_fail_rec(&f, TERM_DDP_QN, rec);
		ddp_put_qn(f.term.header, RDMAP_QN_SRQ | srq->num);
	} else { /* all that has come of it is in its receive */
		iw_fail(&f, TERM_DDP_QN, NULL, 0);
	}
	iw_session_fail(s, &f);
}

void iw_xrc_srq_leave(struct iw_srq *srq)
{
	iw_table_remove(&srq->shard->rnic->xrc_srqs, srq->num);
	list_for_each(node, &srq->shard->all_qps) {
		struct iw_qp *qp = &list_entry(node, struct iw_qp_base, all)->qp;
		const struct iw_unexpected *m;

		if (qp->srq != srq->xrcd->srq || !iw_rc_of(qp)->session)
			continue;
		m = first_message(srq, iw_rc_of(qp));
		if (m)
			fail_message(iw_rc_of(qp)->session, srq, m);
	}
	list_del(&list_entry(srq, struct iw_srq_full, srq)->of_xrcd);
	srq->cq->refs--;
	srq->pd->xrc_srqs--;
}

/* ---- messages ---- */

bool iw_xrc_has_queue(const struct iw_session *s, uint32_t qn)
{
	return s->assoc->srq_numbers && rdmap_qn_is_srq(qn) && iw_xrc_is_recv(s->qp);
}

struct iw_srq *iw_xrc_lookup(const struct iw_qp *qp, uint32_t qn)
{
	struct iw_srq *srq = NULL;

	if (rdmap_qn_is_srq(qn))
		srq = iw_table_find(&qp->shard->rnic->xrc_srqs, rdmap_qn_srq_num(qn));
	return srq && srq->xrcd == qp->srq->xrcd ? srq : NULL;
}

bool iw_xrc_shares(const struct iw_qp *qp, const struct iw_pd *pd)
{
	struct list_node *srqs = &qp->srq->xrcd->srqs;

	list_for_each(node, srqs) {
		if (list_entry(node, struct iw_srq_full, of_xrcd)->srq.pd != pd)
			continue;
		/* The next look finds it at once, also if there are many. */
		list_del(node);
		list_add(srqs, node);
		return true;
	}
	return false;
}
