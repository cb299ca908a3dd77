/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Internals of sctp/ and iwarp/ that the simulated stacks use: limits that always hold, and numbers
 * near their wrap. An association's transport state is SCTP's association.
 */
#include "iwarp/assoc.h"
#include "iwarp/rc.h"
#include "iwarp/session.h"
#include "iwarp/srq.h"
#include "sctp/assoc.h"
#include "sim/stack.h"

static void check_assoc(const struct stack_node *n, const struct sctp_assoc *a)
{
	check(atomic_load(&n->conn.sacks_asked) == sctp_has_asked(a->s));
	check(sctp_outq_count(&a->out) <= a->s->config.max_tsn_distance);
	check(a->rx.reasm.bytes <= SCTP_REASM_BYTES);
	check(a->rx.reasm.count <= SCTP_REASM_FRAGMENTS);
	check(a->s->ootb.count <= SCTP_OOTB_MAX);
}

void stack_check_bounds(const struct stack_node *n)
{
	list_for_each(node, &n->conn.endpoints.open) {
		const struct endpoint *ep = list_entry(node, struct endpoint, node);

		list_for_each(anode, &ep->assocs)
			check_assoc(n, list_entry(anode, struct conn_assoc, node)->state);
	}
	list_for_each(node, &n->iw->sessions) {
		const struct iw_session *s = list_entry(node, struct iw_session, all);

		check(s->rx.order.size <= 32768);
		check(s->rx.early.bytes <= 16u << 20);
		if (s->qp) {
			check(iw_rc_of(s->qp)->rx.unexpected.bytes <=
			      n->iw_config.unexpected_bytes_per_qp);
			check(iw_rc_of(s->qp)->rx.unexpected.count <= IW_UNEXPECTED_MSNS);
			check(iw_rc_of(s->qp)->rx.taken <= n->srq_slots);
		}
	}
}

void stack_set_ssn(struct stack_world *w, uint16_t ssn)
{
	for (unsigned int i = 0; i < 2 * w->n_works; i++) {
		struct iw_session *s = iw_rc_of(w->works[i / 2]->side[i % 2].qp)->session;

		check(s && !s->rx.order.used && s->tx.ssn == 1 && s->rx.ssn == 1);
		s->tx.ssn = s->rx.ssn = ssn;
	}
}

uint32_t stack_init_tsn(const struct conn_assoc *a)
{
	return ((const struct sctp_assoc *)a->state)->setup.init_tsn;
}

uint32_t stack_acked_tsn(const struct conn_assoc *a)
{
	return ((const struct sctp_assoc *)a->state)->out.cum;
}

bool stack_iw_is_initiator(const struct conn_assoc *a)
{
	return iw_assoc_is_initiator(a->iw);
}

void stack_shutdown(struct conn_assoc *a)
{
	a->closing = true;
	a->ep->conn->transport->shutdown(a);
}

void stack_srq_check(const struct stack_node *n)
{
	uint32_t left = n->n_srq_free;

	if (n->srq)
		left += iw_srq_left(n->srq);
	for (unsigned int i = 0; n->xrcd && i < STACK_XRC_SRQS; i++)
		left += iw_srq_left(n->xrc_srq[i]);
	check(left == n->srq_slots);
}
