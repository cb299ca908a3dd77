/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/xrc.h"

#include <errno.h>
#include <stdlib.h>

#include "iwarp/assoc.h"
#include "iwarp/cq.h"
#include "iwarp/rc.h"
#include "iwarp/srq.h"

/* A PD with SRQs in a domain. */
struct xrc_pd {
	struct list_node node; /* iw_xrcd.pds */
	struct iw_pd *pd;
	uint32_t srqs; /* number of the domain's SRQs in this PD */
};

struct iw_xrcd {
	struct iw_rnic *rnic;
	/* PD, CQ and SRQ of the XRC_RECV QPs: a PD without memory, an unused CQ and SRQ. */
	struct iw_pd *pd;
	struct iw_cq *cq;
	struct iw_srq *srq;
	struct list_node pds; /* xrc_pd.node: the PDs of all SRQs of the domain */
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
	xrcd->rnic = shard->rnic;
	list_init(&xrcd->pds);
	xrcd->pd = iw_pd_new(shard->rnic, NULL);
	xrcd->cq = iw_cq_new(shard, 1, NULL);
	if (!xrcd->pd || !xrcd->cq || iw_srq_new(xrcd->pd, 1, IW_MAX_SGE, NULL, &xrcd->srq)) {
		free_parts(xrcd);
		return NULL;
	}
	xrcd->srq->xrcd = xrcd;
	return xrcd;
}

int iw_xrcd_free(struct iw_xrcd *xrcd)
{
	if (xrcd->srq->refs || !list_empty(&xrcd->pds))
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

static struct xrc_pd *find_pd(const struct iw_xrcd *xrcd, const struct iw_pd *pd)
{
	list_for_each(node, &xrcd->pds) {
		struct xrc_pd *p = list_entry(node, struct xrc_pd, node);

		if (p->pd == pd)
			return p;
	}
	return NULL;
}

/* Counts an SRQ of the domain that belongs to this PD. Returns 0, or -ENOMEM. */
static int hold_pd(struct iw_xrcd *xrcd, struct iw_pd *pd)
{
	struct xrc_pd *p = find_pd(xrcd, pd);

	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return -ENOMEM;
		p->pd = pd;
		list_add_tail(&xrcd->pds, &p->node);
	}
	p->srqs++;
	pd->xrc_srqs++;
	return 0;
}

static void drop_pd(struct iw_xrcd *xrcd, struct iw_pd *pd)
{
	struct xrc_pd *p = find_pd(xrcd, pd);

	pd->xrc_srqs--;
	if (--p->srqs)
		return;
	list_del(&p->node);
	free(p);
}

/* Lets QPs of all shards complete receives on the CQ. */
static void join_all(struct iw_cq *cq, const struct iw_rnic *rnic)
{
	list_for_each(node, &rnic->shards)
		iw_cq_join(cq, list_entry(node, struct iw_shard, node));
}

int iw_xrc_srq_new(struct iw_xrcd *xrcd, struct iw_pd *pd, struct iw_cq *cq, uint32_t max_wr,
		   uint32_t max_sge, void *ctx, struct iw_srq **out)
{
	struct iw_rnic *rnic = xrcd->rnic;
	struct iw_srq *srq;
	uint32_t num;
	int err;

	err = iw_srq_new(pd, max_wr, max_sge, ctx, &srq);
	if (err)
		return err;
	num = new_num(rnic); /* a free number exists: SRQs are fewer than numbers */
	err = iw_table_insert(&rnic->xrc_srqs, num, srq);
	if (err) {
		iw_srq_free(srq);
		return err;
	}
	err = hold_pd(xrcd, pd);
	if (err) {
		iw_table_remove(&rnic->xrc_srqs, num);
		iw_srq_free(srq);
		return err;
	}
	srq->xrcd = xrcd;
	srq->num = num;
	srq->cq = cq;
	cq->refs++;
	join_all(cq, rnic);
	*out = srq;
	return 0;
}

/* Returns the QP's first message for this SRQ, or NULL. */
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

/* Fails the session because the message names an SRQ that is gone. */
static void fail_message(struct iw_session *s, const struct iw_srq *srq,
			 const struct iw_unexpected *m)
{
	const struct iw_rx_rec *rec = m->first ? &m->first->rec : &m->rec;
	struct iw_failure f;

	if (rec->control) {
		iw_fail_rec(&f, TERM_DDP_QN, rec);
		ddp_put_qn(f.term.header, RDMAP_QN_SRQ | srq->num);
	} else { /* no segment is stored: all received bytes are in the message's receive */
		iw_fail(&f, TERM_DDP_QN, NULL, 0);
	}
	iw_session_fail(s, &f);
}

/* Fails the sessions of this shard that have a message for the SRQ. */
static void fail_messages(struct iw_srq *srq, struct iw_shard *shard)
{
	list_for_each(node, &shard->all_qps) {
		struct iw_qp *qp = &list_entry(node, struct iw_qp_base, all)->qp;
		const struct iw_unexpected *m;

		if (qp->srq != srq->xrcd->srq || !iw_rc_of(qp)->session)
			continue;
		m = first_message(srq, iw_rc_of(qp));
		if (m)
			fail_message(iw_rc_of(qp)->session, srq, m);
	}
}

void iw_xrc_srq_leave(struct iw_srq *srq)
{
	struct iw_rnic *rnic = srq->pd->rnic;

	iw_table_remove(&rnic->xrc_srqs, srq->num);
	list_for_each(node, &rnic->shards)
		fail_messages(srq, list_entry(node, struct iw_shard, node));
	iw_cq_disown(srq->cq, srq);
	srq->cq->refs--;
	drop_pd(srq->xrcd, srq->pd);
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
	return find_pd(qp->srq->xrcd, pd);
}
