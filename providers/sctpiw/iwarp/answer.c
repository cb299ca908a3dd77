/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * When two applications write to each other in turn, each spins on its memory for the answer, and
 * only a change of threads lets the progress thread place it. An iWARP RNIC completes a Write when
 * its bytes are copied; others complete it when the peer has acknowledged it, and that is about
 * when the answer comes. So a completion for which alone the application waits may as well come
 * with the answer: until then the application polls the CQ, and its polls bring the answer in.
 */
#include "iwarp/answer.h"

#include "iwarp/qp.h"
#include "iwarp/rnic.h"

/*
 * Completions begin to wait after ROUNDS_MIN Writes in turn (more than Writes that were not). They
 * stop when one has waited in vain, or, if some have not, two in a row. Then it takes twice as many
 * rounds until they wait again, up to ROUNDS_MAX, so that a QP whose answers always come late
 * seldom waits.
 */
#define ROUNDS_MIN 8
#define ROUNDS_MAX 1024
/*
 * How long a completion waits, in ns: WAIT, and WAIT_BYTE for each byte of its Write, up to
 * WAIT_BYTES_MAX bytes. An answer may be as long as the Write, and both take their time; an answer
 * that comes later than that is worth a change of threads.
 */
#define WAIT 50000u
#define WAIT_BYTE 2u
#define WAIT_BYTES_MAX 262144u

void iw_answer_forget(struct iw_answer *a)
{
	*a = (struct iw_answer){ .rounds_needed = ROUNDS_MIN };
}

/* The answer came too late, or not while the completion waited. */
static void missed(struct iw_answer *a)
{
	a->awaited = false;
	if (a->trust && !--a->trust && a->rounds_needed < ROUNDS_MAX)
		a->rounds_needed *= 2;
}

/* Has the QP nothing left to send? */
static bool is_done(const struct iw_qp *qp)
{
	return iw_ring_head(&qp->sq) == iw_ring_tail(&qp->sq);
}

void iw_answer_expect(struct iw_qp *qp, uint32_t len)
{
	struct iw_answer *a = &iw_qp_base(qp)->answer;
	struct iw_cq *cq = qp->send_cq;
	uint64_t wait = WAIT + WAIT_BYTE * (len < WAIT_BYTES_MAX ? len : WAIT_BYTES_MAX);

	if (a->awaited)
		missed(a);
	a->asked = true;
	if (!a->trust || !cq->unnotified || iw_cq_count(cq) != 1 || !is_done(qp))
		return;
	a->awaited = true;
	atomic_store_explicit(&cq->answer_due, qp->rnic->shard.now + wait, memory_order_release);
}

void iw_answer_came(struct iw_qp *qp)
{
	struct iw_answer *a = &iw_qp_base(qp)->answer;
	bool asked = a->asked;

	a->asked = false;
	if (a->awaited) {
		if (!atomic_exchange_explicit(&qp->send_cq->answer_due, 0, memory_order_acq_rel)) {
			missed(a);
			return;
		}
		a->awaited = false;
		a->trust = 2;
		a->rounds_needed = ROUNDS_MIN;
	} else if (!asked || !is_done(qp) || !iw_cq_is_empty(qp->send_cq)) {
		/*
		 * The application may have acted already on what it saw in memory, before delivery.
		 */
		a->rounds -= a->rounds > 0;
	} else if (!a->trust && ++a->rounds >= a->rounds_needed) {
		a->rounds = 0;
		a->trust = 1;
	}
}
