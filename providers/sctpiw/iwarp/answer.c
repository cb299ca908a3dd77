/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two ends that write to each other in turn spin on memory for the answer, where only a change of
 * threads can place it. With an RNIC of iWARP a Write is complete when its bytes are copied, with others
 * when the peer has acknowledged it, and that is about when the answer comes: so a completion that is
 * all that the application waits for may as well come with the answer. Until then the application polls,
 * and its polls bring the answer in.
 */
#include "iwarp/private.h"

/* What an answer earns and a wait in vain costs; from ENOUGH on completions wait. */
#define ENOUGH 8
#define MOST 16
#define MISSED 8

static void missed(struct iw_qp_private *p)
{
	p->awaits_answer = false;
	p->answers = p->answers > MISSED ? p->answers - MISSED : 0;
}

/* Of all that the QP had to send nothing is left. */
static bool is_done(const struct iw_qp *qp)
{
	return iw_ring_head(&qp->sq) == iw_ring_tail(&qp->sq);
}

void iw_answer_expect(struct iw_qp *qp)
{
	struct iw_qp_private *p = qp->priv;
	struct iw_cq *cq = qp->send_cq;

	if (p->awaits_answer)
		missed(p);
	p->asked = true;
	if (p->answers < ENOUGH || !cq->unnotified || iw_cq_count(cq) != 1 || !is_done(qp))
		return;
	p->awaits_answer = true;
	atomic_store_explicit(&cq->answer_due, qp->rnic->now + IW_ANSWER_TIME, memory_order_release);
}

void iw_answer_came(struct iw_qp *qp)
{
	struct iw_qp_private *p = qp->priv;
	bool answer = p->asked && is_done(qp);

	p->asked = false;
	if (!p->awaits_answer) {
		answer = answer && iw_cq_is_empty(qp->send_cq);
	} else if (!atomic_exchange_explicit(&qp->send_cq->answer_due, 0, memory_order_acq_rel)) {
		missed(p);
		return;
	}
	p->awaits_answer = false;
	if (!answer)
		p->answers = 0;
	else if (p->answers < MOST)
		p->answers++;
}
