/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Functions for fault injection (docs/faults.md), such as making a QP fail. */
#include "iwarp/assoc.h"
#include "iwarp/qp.h"
#include "iwarp/rc.h"
#include "iwarp/rnic.h"
#include "iwarp/terminate.h"

static struct iw_session *session_of(const struct iw_qp *qp)
{
	return qp->type == IW_QPT_UD ? NULL : iw_rc_of(qp)->session;
}

/* Returns the event for f's error, as if the Terminate had a header. */
static enum iw_event_type event_of(const struct iw_failure *f)
{
	struct iw_failure with_header = *f;

	with_header.term.has_header = TERM_TYPE(f->term.error) != 0;
	return iw_term_event(&with_header);
}

void iw_qp_terminate(struct iw_qp *qp, uint16_t error)
{
	struct iw_session *s = session_of(qp);
	struct iw_failure f;

	if (iw_qp_state(qp) == IW_QPS_RESET || iw_qp_state(qp) == IW_QPS_ERR)
		return;
	iw_fail(&f, error, NULL, 0);
	f.quiet = true;
	iw_event_raise(qp->shard, &iw_qp_base(qp)->event, event_of(&f));
	if (s)
		iw_session_fail(s, &f);
	else
		iw_qp_enter_error(qp, &f);
}

void iw_qp_fail_sends(struct iw_qp *qp, uint32_t status)
{
	struct iw_session *s = session_of(qp);
	struct iw_failure f;

	if (qp->type != IW_QPT_UD && qp->type != IW_QPT_UC) {
		iw_qp_modify(qp, IW_QPS_ERR);
		return;
	}
	if (iw_qp_state(qp) >= IW_QPS_SQE)
		return;
	/* The WQE at fault has already completed, so name an index that no waiting WQE has. */
	iw_fail_local(&f, IW_FAULT_SQ, iw_ring_tail(&qp->sq), status);
	if (s) {
		iw_session_fail(s, &f);
		return;
	}
	iw_qp_base(qp)->ops->disconnect(qp);
	iw_qp_enter_sq_error(qp, &f);
}

void *iw_qp_llp(const struct iw_qp *qp)
{
	const struct iw_session *s = session_of(qp);

	return s && !s->to_self && s->assoc ? s->assoc->llp : NULL;
}

struct iw_qp *iw_qp_next(const struct iw_shard *shard, const struct iw_qp *qp)
{
	const struct list_node *next = qp ? iw_qp_base(qp)->all.next : shard->all_qps.next;

	return next == &shard->all_qps ? NULL : &list_entry(next, struct iw_qp_base, all)->qp;
}
