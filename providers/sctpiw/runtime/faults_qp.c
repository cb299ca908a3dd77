/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "runtime/faults_qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conn/assoc.h"
#include "iwarp/iwarp.h"
#include "log/log.h"
#include "net/faults_net.h"
#include "runtime/rnic.h"
#include "runtime/shard.h"
#include "sys/sys.h"
#include "util/time.h"
#include "wire/terminate.h"

#define QP_ACTIONS                                                                                 \
	(1ull << FAULT_DO_fail_qp | 1ull << FAULT_DO_terminate | 1ull << FAULT_DO_rnr |            \
	 1ull << FAULT_DO_freeze_qp | 1ull << FAULT_DO_lose_session)
#define PEER_ACTIONS (1ull << FAULT_DO_freeze_peer | 1ull << FAULT_DO_kill_peer)
/*
 * ns. After `lose session`, packets of the peer are dropped for this time. Later packets of the
 * peer are answered with an ABORT.
 */
#define LOST_SILENCE NSEC_PER_SEC

static struct faults *faults; /* the faults of the process */

static bool selects(const struct fault_attrs *rule, enum fault_selector which)
{
	return rule->known >> which & 1;
}

/* ---- associations ---- */

/* Drops or holds the packets of an association until the time `until`, ns. */
static bool cut_assoc(struct conn *c, const struct conn_assoc *a, enum faults_net_cut_kind kind,
		      uint32_t rule, uint64_t until)
{
	const struct faults_net_cut cut = {
		.kind = kind,
		.rule = rule,
		.until = until,
		.peer = c->transport->addr(a)->remote,
		.port = a->ep->bound.port,
		.peer_port = c->transport->remote_port(a),
	};

	if (faults_net_cut(c, &cut))
		return true;
	log_error("fault %u has no effect: too many connections are frozen already", rule);
	return false;
}

static void lose(struct conn *c, struct conn_assoc *a, uint32_t rule)
{
	/* Use sys_now(): a polling thread may have read the clock later than c->now. */
	if (cut_assoc(c, a, FAULTS_NET_LOSE_ABORT, rule, sys_now() + LOST_SILENCE))
		conn_assoc_abort(a, -ETIMEDOUT);
}

/* ---- one queue pair ---- */

static uint16_t terminate_of(const struct fault_action *a)
{
	return TERM_ERROR(a->arg[fault_terminate_layer] & 0xf, a->arg[fault_terminate_type] & 0xf,
			  a->arg[fault_terminate_code] & 0xff);
}

bool faults_qp_do(struct shard *s, struct iw_qp *qp, const struct fault_action *a)
{
	struct conn_assoc *assoc = iw_qp_llp(qp);
	struct conn *c = &s->conn;

	switch (a->id) {
	case FAULT_DO_fail_qp:
		iw_qp_terminate(qp, TERM_RDMAP_LOCAL);
		return true;
	case FAULT_DO_terminate:
		iw_qp_terminate(qp, terminate_of(a));
		return true;
	case FAULT_DO_rnr:
		iw_qp_terminate(qp, TERM_DDP_NO_BUFFER);
		return true;
	case FAULT_DO_freeze_qp:
		if (assoc)
			cut_assoc(c, assoc, FAULTS_NET_HOLD, a->rule,
				  c->now + a->arg[fault_freeze_qp_time]);
		return true;
	case FAULT_DO_lose_session:
		if (assoc)
			lose(c, assoc, a->rule);
		return true;
	default:
		return false;
	}
}

/* ---- selection ---- */

static bool has_peer(const struct conn *c, const struct conn_assoc *a, const struct ip_addr *peer)
{
	return !a->gone && conn_assoc_has_address(a, peer);
}

bool faults_qp_is_meant(const struct shard *s, const struct iw_qp *qp,
			const struct fault_attrs *attrs)
{
	const struct conn_assoc *a = iw_qp_llp(qp);
	const struct conn *c = &s->conn;

	if (!qp->nth)
		return false;
	if (selects(attrs, FAULT_SELECT_qp) &&
	    (attrs->qp.nth ? attrs->qp.nth != qp->nth : attrs->qp.number != qp->num))
		return false;
	if (selects(attrs, FAULT_SELECT_peer) && !(a && has_peer(c, a, &attrs->peer)))
		return false;
	if (selects(attrs, FAULT_SELECT_port) && !(a && a->ep->bound.port == attrs->port))
		return false;
	return !selects(attrs, FAULT_SELECT_peer_port) ||
	       (a && !a->gone && c->transport->remote_port(a) == attrs->peer_port);
}

/*
 * Returns the selected QP with the lowest nth greater than the given nth, or NULL. nth numbers the
 * QPs in the order in which the program made them.
 */
static struct iw_qp *find_qp(const struct shard *s, const struct fault_attrs *attrs, uint32_t nth)
{
	struct iw_qp *found = NULL;

	for (struct iw_qp *qp = iw_qp_next(s->conn.iw, NULL); qp; qp = iw_qp_next(s->conn.iw, qp)) {
		if (qp->nth > nth && (!found || qp->nth < found->nth) &&
		    faults_qp_is_meant(s, qp, attrs))
			found = qp;
	}
	return found;
}

/* The action on one QP may destroy other QPs. */
static void do_to_qps(struct shard *s, const struct fault_action *a)
{
	struct iw_qp *qp = find_qp(s, &a->select, 0);

	while (qp) {
		uint32_t nth = qp->nth;

		faults_qp_do(s, qp, a);
		qp = find_qp(s, &a->select, nth);
	}
}

/*
 * Returns an association with the peer and the ports of the rule or the packet, or NULL. If attrs
 * has no peer and ports, returns any association.
 */
static struct conn_assoc *find_assoc(const struct conn *c, const struct fault_attrs *attrs)
{
	list_for_each(node, &c->assocs) {
		struct conn_assoc *a = list_entry(node, struct conn_assoc, all);

		if (a->gone ||
		    (selects(attrs, FAULT_SELECT_peer) && !has_peer(c, a, &attrs->peer)) ||
		    (selects(attrs, FAULT_SELECT_port) && a->ep->bound.port != attrs->port) ||
		    (selects(attrs, FAULT_SELECT_peer_port) &&
		     c->transport->remote_port(a) != attrs->peer_port))
			continue;
		return a;
	}
	return NULL;
}

static void do_to_peer(struct conn *c, const struct fault_action *a)
{
	const struct fault_attrs *attrs = &a->select;
	struct faults_net_cut cut = { .kind = FAULTS_NET_LOSE, .rule = a->rule };
	struct conn_assoc *assoc;

	if (a->id == FAULT_DO_freeze_peer) {
		cut.until = c->now + a->arg[fault_freeze_peer_time];
		if (selects(attrs, FAULT_SELECT_peer))
			cut.peer = attrs->peer;
		if (!faults_net_cut(c, &cut))
			log_error("fault %u has no effect: too many peers are frozen already",
				  a->rule);
		return;
	}
	while ((assoc = find_assoc(c, attrs)))
		conn_assoc_abort(assoc, -ECONNRESET);
}

/* ---- packets that trigger other actions ---- */

/* An action that a packet has triggered. It is performed once the packet is processed. */
struct later {
	/* first member, so that a pointer to the timer is a pointer to the struct */
	struct fault_timer timer;
	struct fault_action action;
};

static void fire(struct fault_timer *t, struct shard *s, uint64_t now)
{
	struct later *later = (struct later *)t;

	faults_perform(&s->rnic->faults, &later->action, now);
	free(later);
}

/*
 * The fault_asker of net/, which performs the actions on packets itself. For all other actions,
 * sets a timer that performs them later. Needs the shard lock.
 */
static bool ask(struct fault_asker *self, enum fault_site site, const struct fault_attrs *attrs,
		struct fault_action *out)
{
	const uint32_t known = 1u << FAULT_SELECT_peer | 1u << FAULT_SELECT_port |
			       1u << FAULT_SELECT_peer_port;
	struct later *later;

	if (!faults_ask(faults, site, attrs, out))
		return false;
	if (FAULTS_NET_ACTIONS >> out->id & 1)
		return true;
	later = malloc(sizeof(*later));
	if (!later)
		return false;
	*later = (struct later){ .timer.fire = fire, .action = *out };
	later->action.select = *attrs;
	later->action.select.known &= known;
	/* has_peer() reads the association, which may have ended by then */
	later->action.select.has_peer = NULL;
	later->action.select.assoc = NULL;
	faults_timer_set(faults, &later->timer, faults->shard->conn.now);
	return false;
}

static struct fault_asker asker = { .ask = ask };

/* ---- the injector ---- */

void faults_qp_install_net(struct shard *s)
{
	faults = &s->rnic->faults;
	if (faults_net_install(&s->conn, &asker))
		log_error("faults of packets do not happen: out of memory");
}

static void install(struct fault_injector *self, struct shard *s)
{
	faults_qp_install_net(s);
}

static void perform(struct fault_injector *self, struct shard *s, const struct fault_action *a,
		    uint64_t now)
{
	if (PEER_ACTIONS >> a->id & 1)
		do_to_peer(&s->conn, a);
	else
		do_to_qps(s, a);
}

static void removed(struct fault_injector *self, struct shard *s, uint32_t rule)
{
	faults_net_release(&s->conn, rule);
}

struct fault_injector faults_qp = {
	.does = { [FAULT_CLASS_NUMBER_PACKET] = FAULTS_NET_ACTIONS,
		  [FAULT_CLASS_NUMBER_TIMER] = QP_ACTIONS | PEER_ACTIONS },
	.install = install,
	.perform = perform,
	.removed = removed,
};
