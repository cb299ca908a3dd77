/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two ends that write to each other in turn spin on memory for the answer, where only a change of
 * threads can place it. With an RNIC of iWARP a Write is complete when its bytes are copied, with others
 * when the peer has acknowledged it, and that is about when the answer comes: so a completion that is
 * all that the application waits for may as well come with the answer. Until then the application polls,
 * and its polls bring the answer in.
 */
#include "iwarp/private.h"

/*
 * After so many rounds in turn, more than others, completions wait, until one has waited in vain, or
 * two in a row where others have not; then it takes twice as many rounds, as if the answers always
 * came late.
 */
#define ROUNDS_MIN 8
#define ROUNDS_MAX 1024
/*
 * How long they wait, ns, and for each byte, of which no more than so many count: an answer may be as long as what
 * it answers, and both take their time. What comes later is worth a change of threads.
 */
#define WAIT 50000u
#define WAIT_BYTE 2u
#define WAIT_BYTES_MAX 262144u

void iw_answer_forget(struct iw_qp_private *p)
{
	p->rounds = 0;
	p->rounds_needed = ROUNDS_MIN;
	p->trust = 0;
	p->asked = p->awaits_answer = false;
}

static void missed(struct iw_qp_private *p)
{
	p->awaits_answer = false;
	if (p->trust && !--p->trust && p->rounds_needed < ROUNDS_MAX)
		p->rounds_needed *= 2;
}

/* Of all that the QP had to send nothing is left. */
static bool is_done(const struct iw_qp *qp)
{
	return iw_ring_head(&qp->sq) == iw_ring_tail(&qp->sq);
}

void iw_answer_expect(struct iw_qp *qp, uint32_t len)
{
	struct iw_qp_private *p = qp->priv;
	struct iw_cq *cq = qp->send_cq;
	uint64_t wait = WAIT + WAIT_BYTE * (len < WAIT_BYTES_MAX ? len : WAIT_BYTES_MAX);

	if (p->awaits_answer)
		missed(p);
	p->asked = true;
	if (!p->trust || !cq->unnotified || iw_cq_count(cq) != 1 || !is_done(qp))
		return;
	p->awaits_answer = true;
	atomic_store_explicit(&cq->answer_due, qp->rnic->now + wait, memory_order_release);
}

void iw_answer_came(struct iw_qp *qp)
{
	struct iw_qp_private *p = qp->priv;
	bool asked = p->asked;

	p->asked = false;
	if (p->awaits_answer) {
		if (!atomic_exchange_explicit(&qp->send_cq->answer_due, 0, memory_order_acq_rel)) {
			missed(p);
			return;
		}
		p->awaits_answer = false;
		p->trust = 2;
		p->rounds_needed = ROUNDS_MIN;
	} else if (!asked || !is_done(qp) || !iw_cq_is_empty(qp->send_cq)) {
		/* Or the application has acted already on what it saw in memory before we delivered it. */
		p->rounds -= p->rounds > 0;
	} else if (!p->trust && ++p->rounds >= p->rounds_needed) {
		p->rounds = 0;
		p->trust = 1;
	}
}
