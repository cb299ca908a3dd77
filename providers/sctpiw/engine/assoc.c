/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Between SCTP's associations and iwarp's: who sits on which, how long, and what becomes of it. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "engine/cm.h"
#include "engine/log.h"
#include "engine/private.h"
#include "engine/sockaddr.h"

/* How long an association without sessions is kept. */
static const uint64_t idle_limit[IDLE_LISTS] = {
	[IDLE_ACTIVE] = 2 * SYS_NSEC_PER_SEC,
	[IDLE_PASSIVE] = 3 * SYS_NSEC_PER_SEC,
};

/* SCTP keeps 64 packets of no association. */
#define ABORTS_AT_ONCE 32

static size_t pull(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg)
{
	struct assoc *a = user;
	struct iw_msg m;
	size_t len;

	if (!a || !a->iw)
		return 0;
	len = iw_assoc_pull(a->iw, buf, room, &m);
	if (len) {
		msg->sid = m.sid;
		msg->ppid = m.ppid;
		msg->more = m.more;
	}
	return len;
}

const struct sctp_user_ops assoc_user_ops = {.pull = pull};

static void kick(void *llp)
{
	struct assoc *a = llp;

	if (!a->gone)
		sctp_assoc_kick(a->sctp);
}

static uint32_t acked(void *llp)
{
	struct assoc *a = llp;

	return a->gone ? 0 : sctp_assoc_acked(a->sctp);
}

static const struct iw_llp_ops llp_ops = {.kick = kick, .acked = acked};

static struct assoc *assoc_new(struct endpoint *ep)
{
	struct assoc *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->ep = ep;
	list_init(&a->waiting);
	list_init(&a->idle_node);
	list_add_tail(&ep->assocs, &a->node);
	ep->refs++;
	return a;
}

static void assoc_free(struct assoc *a)
{
	list_del(&a->node);
	list_del(&a->idle_node);
	endpoint_put(a->ep);
	free(a);
}

bool assoc_is_up(const struct assoc *a)
{
	return a->iw && !a->closing && !a->gone;
}

void assoc_update_mtu(struct assoc *a)
{
	size_t max_msg = sctp_assoc_max_msg(a->sctp);

	if (max_msg == a->max_msg)
		return;
	a->max_msg = max_msg;
	iw_assoc_set_max_msg(a->iw, max_msg);
}

/* SCTP's part is over, or another one takes its place: every session ends. */
static void drop_sessions(struct assoc *a, int error)
{
	struct iw_assoc *iw = a->iw;

	a->iw = NULL;
	if (iw)
		iw_assoc_lost(iw, error);
}

static void log_assoc(const struct assoc *a, const char *what)
{
	char text[SOCKADDR_TEXT];

	if (log_enabled(LOG_LEVEL_DEBUG))
		log_debug("port %u, %s: %s", a->ep->port,
			  sockaddr_text_ip(&sctp_assoc_addr(a->sctp)->remote,
					   sctp_assoc_remote_port(a->sctp), text),
			  what);
}

/* Kills it because the peer broke the rules, or for want of memory. */
static void assoc_abort(struct assoc *a, int error)
{
	log_assoc(a, "aborted");
	a->gone = true;
	sctp_assoc_abort(a->sctp);
	drop_sessions(a, error);
	cm_assoc_failed(a, error);
	assoc_free(a);
}

/* false: it had to be aborted */
static bool assoc_up(struct assoc *a)
{
	struct engine *e = a->ep->engine;

	if (a->iw)
		return true;
	if (!sctp_assoc_is_initiator(a->sctp))
		sctp_assoc_set_mtu(a->sctp, route_mtu(sctp_assoc_addr(a->sctp)));
	a->max_msg = sctp_assoc_max_msg(a->sctp);
	a->iw = iw_assoc_new(e->rnic, &llp_ops, a, sctp_assoc_is_initiator(a->sctp),
			     sctp_assoc_streams(a->sctp), a->max_msg);
	if (!a->iw) {
		assoc_abort(a, -ENOMEM);
		return false;
	}
	log_assoc(a, "association up");
	cm_assoc_up(a);
	assoc_check_idle(a);
	return true;
}

/* ---- input ---- */

/* Who an association of this packet belongs to; NULL: nobody, and it was aborted. */
static struct assoc *user_of(struct endpoint *ep, const struct sctp_rx *rx)
{
	struct assoc *a = sctp_assoc_user(rx->assoc);

	if (!a) {
		a = assoc_new(ep);
		if (!a) {
			sctp_assoc_abort(rx->assoc);
			return NULL;
		}
		a->sctp = rx->assoc;
		sctp_assoc_set_user(rx->assoc, a);
	}
	if (rx->restart) {
		log_assoc(a, "restarted by the peer");
		drop_sessions(a, -ECONNRESET);
		a->closing = false;
	}
	if (rx->up || rx->restart || (rx->count && !a->iw && !a->closing))
		return assoc_up(a) ? a : NULL;
	return a;
}

void assoc_input(struct endpoint *ep, const struct path_addr *from, const uint8_t *packet,
		 size_t len)
{
	struct engine *e = ep->engine;
	struct sctp_rx *rx = e->rx;
	struct assoc *a;

	sctp_input(ep->sctp, from, packet, len, e->now, rx);
	if (!rx->assoc || (!rx->count && !rx->up && !rx->restart))
		return;
	a = user_of(ep, rx);
	/*
	 * While it closes there are no sessions to deliver to; a peer whose Initiate crosses our
	 * SHUTDOWN asks again on a new association.
	 */
	if (!a || !a->iw || a->closing)
		return;
	for (unsigned int i = 0; i < rx->count; i++) {
		const struct sctp_data *d = &rx->data[i];

		if (iw_assoc_receive(a->iw, d->sid, d->ppid, d->data, d->len)) {
			assoc_abort(a, -EPROTO);
			return;
		}
	}
}

/* ---- events ---- */

/* Ids that still wait for it want a new one in its place. */
static void replace(struct assoc *old)
{
	struct list_node *node;

	while ((node = list_pop(&old->waiting)))
		cm_reconnect(list_entry(node, struct cm_id, wait_node));
}

static void assoc_gone(struct assoc *a, int error, bool orderly)
{
	a->gone = true;
	drop_sessions(a, error);
	if (orderly || a->closing)
		replace(a);
	else
		cm_assoc_failed(a, error);
	assoc_free(a);
}

bool assoc_events(struct engine *e)
{
	struct sctp_event ev;
	bool any = false;

	while (sctp_next_event(e->sctp, &ev)) {
		struct assoc *a = ev.user;

		any = true;
		if (!a)
			continue;
		switch (ev.type) {
		case SCTP_EVENT_UP:
			assoc_up(a);
			break;
		case SCTP_EVENT_SHUTDOWN:
			log_assoc(a, "the peer shuts down");
			a->closing = true;
			list_del(&a->idle_node);
			drop_sessions(a, -ECONNRESET);
			break;
		case SCTP_EVENT_LOST:
			log_debug("port %u: association lost, error %d", a->ep->port, -ev.error);
			assoc_gone(a, ev.error, false);
			break;
		case SCTP_EVENT_CLOSED:
			log_debug("port %u: association closed", a->ep->port);
			assoc_gone(a, -ECONNRESET, true);
			break;
		}
	}
	return any;
}

/* ---- opening and closing ---- */

static struct assoc *find(struct endpoint *ep, const struct path_addr *to, uint16_t port)
{
	list_for_each(node, &ep->assocs) {
		struct assoc *a = list_entry(node, struct assoc, node);

		if (!a->gone && sctp_assoc_remote_port(a->sctp) == port &&
		    ip_addr_equal(&sctp_assoc_addr(a->sctp)->remote, &to->remote))
			return a;
	}
	return NULL;
}

struct assoc *assoc_connect(struct endpoint *ep, const struct path_addr *to, uint16_t port)
{
	struct engine *e = ep->engine;
	struct assoc *a = find(ep, to, port);

	if (a) {
		list_del(&a->idle_node);
		return a;
	}
	a = assoc_new(ep);
	if (!a)
		return NULL;
	a->sctp = sctp_connect(ep->sctp, to, port, route_mtu(to), a, e->now);
	if (!a->sctp) {
		assoc_free(a);
		return NULL;
	}
	return a;
}

void assoc_check_idle(struct assoc *a)
{
	struct engine *e = a->ep->engine;
	int which;

	if (a->gone || a->closing || !a->iw || !list_empty(&a->waiting) ||
	    iw_assoc_sessions(a->iw)) {
		list_del(&a->idle_node);
		return;
	}
	if (list_linked(&a->idle_node))
		return;
	which = sctp_assoc_is_initiator(a->sctp) ? IDLE_ACTIVE : IDLE_PASSIVE;
	a->idle_deadline = e->now + idle_limit[which];
	list_add_tail(&e->idle[which], &a->idle_node);
}

static void close_idle(struct engine *e, struct list_node *list)
{
	while (!list_empty(list)) {
		struct assoc *a = list_entry(list->next, struct assoc, idle_node);

		if (a->idle_deadline > e->now)
			return;
		list_del(&a->idle_node);
		if (iw_assoc_sessions(a->iw))
			continue;
		log_assoc(a, "idle, shutting down");
		a->closing = true;
		sctp_assoc_shutdown(a->sctp, e->now);
	}
}

void assoc_timers(struct engine *e)
{
	for (int i = 0; i < IDLE_LISTS; i++)
		close_idle(e, &e->idle[i]);
}

uint64_t assoc_next_timeout(const struct engine *e)
{
	uint64_t next = ENGINE_NEVER;

	for (int i = 0; i < IDLE_LISTS; i++) {
		const struct list_node *list = &e->idle[i];

		if (!list_empty(list)) {
			const struct assoc *a = list_entry(list->next, struct assoc, idle_node);

			if (a->idle_deadline < next)
				next = a->idle_deadline;
		}
	}
	return next;
}

void assoc_abort_all(struct engine *e)
{
	unsigned int n = 0;

	list_for_each(node, &e->endpoints) {
		struct endpoint *ep = list_entry(node, struct endpoint, node);

		list_for_each(anode, &ep->assocs) {
			struct assoc *a = list_entry(anode, struct assoc, node);

			if (!a->gone)
				sctp_assoc_abort(a->sctp);
			a->gone = true;
			/* Before the queue of ABORTs is full. */
			if (++n % ABORTS_AT_ONCE == 0)
				loop_output(e);
		}
	}
}
