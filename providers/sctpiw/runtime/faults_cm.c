/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "runtime/faults_cm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/iwarp.h"
#include "log/log.h"
#include "net/faults_peer.h"
#include "runtime/channel.h"
#include "runtime/rnic.h"
#include "util/sockaddr.h"

/* An event that a rule delays, or that waits for an earlier delayed event. */
struct held_event {
	/* first member, so that a pointer to the timer is a pointer to the struct */
	struct fault_timer timer;
	struct list_node node; /* node of `held`, in the order in which the events were posted */
	struct event_source *src;
	/* the rule that delays the event; 0: the event only waits for earlier events */
	uint32_t rule;
	/* end of the rule's delay, ns; 0: no rule delays the event, or the rule was removed */
	uint64_t due;
	struct rnic_cm_event event;
};

/*
 * An id whose connection has ended for the program. The session of the id ends later, once no
 * function uses the id and all its packets were sent. `goes`: the id is then freed, too, since its
 * connection request was rejected before the program received the request.
 */
struct dead_id {
	/* first member, so that a pointer to the timer is a pointer to the struct */
	struct fault_timer timer;
	uint32_t handle;
	bool goes;
};

/* State of this file. Guarded by the shard lock. */
static struct {
	struct shard *shard;
	struct conn_ops ops; /* a copy of the shard's conn_ops with functions of this file */
	struct list_node held;
} cm = { .held = { &cm.held, &cm.held } };

struct fault_attrs faults_cm_attrs(const struct cm_id *id)
{
	struct fault_attrs attrs = { .known = 1u << FAULT_SELECT_id, .id = id->handle };
	const struct iw_assoc *assoc = id->session ? iw_session_assoc(id->session) : NULL;

	if (assoc)
		faults_peer_set(&attrs, iw_assoc_llp(assoc));
	if (id->src.ss_family) {
		attrs.known |= 1u << FAULT_SELECT_port;
		attrs.port = sockaddr_port((const struct sockaddr *)&id->src);
	}
	if (id->dst.ss_family) {
		attrs.known |= 1u << FAULT_SELECT_peer | 1u << FAULT_SELECT_peer_port;
		attrs.peer = sockaddr_ip((const struct sockaddr *)&id->dst);
		attrs.peer_port = sockaddr_port((const struct sockaddr *)&id->dst);
	}
	return attrs;
}

/* Returns FAULT_SITE_NONE if no rule watches events of that type. */
static enum fault_site site_of(uint32_t event)
{
	switch (event) {
	case CM_EVENT_ADDR_RESOLVED:
		return FAULT_SITE_addr_resolved;
	case CM_EVENT_ADDR_ERROR:
		return FAULT_SITE_addr_error;
	case CM_EVENT_ROUTE_RESOLVED:
		return FAULT_SITE_route_resolved;
	case CM_EVENT_CONNECT_REQUEST:
		return FAULT_SITE_connect_request;
	case CM_EVENT_CONNECT_RESPONSE:
		return FAULT_SITE_connect_response;
	case CM_EVENT_CONNECT_ERROR:
		return FAULT_SITE_connect_error;
	case CM_EVENT_UNREACHABLE:
		return FAULT_SITE_unreachable;
	case CM_EVENT_REJECTED:
		return FAULT_SITE_rejected;
	case CM_EVENT_ESTABLISHED:
		return FAULT_SITE_established;
	case CM_EVENT_DISCONNECTED:
		return FAULT_SITE_disconnected;
	case CM_EVENT_MULTICAST_JOIN:
		return FAULT_SITE_multicast_join;
	case CM_EVENT_TIMEWAIT_EXIT:
		return FAULT_SITE_timewait_exit;
	default:
		return FAULT_SITE_NONE;
	}
}

/* ---- delayed events ---- */

static void fire_held(struct fault_timer *t, struct shard *s, uint64_t now)
{
	struct held_event *h = (struct held_event *)t;

	list_del(&h->node);
	channel_post(h->src, &h->event, sizeof(h->event));
	free(h);
}

/* Returns the release time of the last delayed event of this source before `end`, or 0. */
static uint64_t last_held(const struct event_source *src, const struct list_node *end)
{
	for (const struct list_node *node = end->prev; node != &cm.held; node = node->prev) {
		const struct held_event *h = list_entry(node, struct held_event, node);

		if (h->src == src)
			return h->timer.when;
	}
	return 0;
}

/*
 * Sets the timer of a delayed event. The event is never released before an earlier event of its
 * source, even if the earlier event has a longer delay.
 */
static void set_timer(struct held_event *h)
{
	uint64_t last = last_held(h->src, &h->node);

	faults_timer_set(&cm.shard->rnic->faults, &h->timer, h->due > last ? h->due : last + 1);
}

static int post_later(struct event_source *src, const struct rnic_cm_event *ev, uint32_t rule,
		      uint64_t due)
{
	struct held_event *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->timer.fire = fire_held;
	h->src = src;
	h->rule = rule;
	h->due = due;
	h->event = *ev;
	list_add_tail(&cm.held, &h->node);
	set_timer(h);
	return 0;
}

static int post_now(struct event_source *src, const struct rnic_cm_event *ev)
{
	return last_held(src, &cm.held) ? post_later(src, ev, 0, 0) :
					  channel_post(src, ev, sizeof(*ev));
}

/*
 * Releases the events that a removed rule delayed, or all events after the removal of all rules.
 * Each released event still waits for earlier events of its source.
 */
static void removed(struct fault_injector *self, struct shard *s, uint32_t rule)
{
	list_for_each_safe(node, &cm.held) {
		struct held_event *h = list_entry(node, struct held_event, node);

		if (!rule || h->rule == rule)
			h->due = 0;
		set_timer(h);
		if (h->timer.when > s->conn.now)
			continue;
		faults_timer_cancel(&h->timer);
		fire_held(&h->timer, s, s->conn.now);
	}
}

/* Replaces channel_purge(). */
static uint32_t purge(struct event_source *src)
{
	list_for_each_safe(node, &cm.held) {
		struct held_event *h = list_entry(node, struct held_event, node);

		if (h->src != src)
			continue;
		faults_timer_cancel(&h->timer);
		list_del(&h->node);
		free(h);
	}
	return channel_purge(src);
}

static void fire_dead(struct fault_timer *t, struct shard *s, uint64_t now)
{
	struct dead_id *dead = (struct dead_id *)t;
	struct cm_id *id = cm_id_get(&s->conn, dead->handle);

	if (id && dead->goes)
		cm_id_free(id);
	else if (id)
		cm_hang_up(id);
	free(dead);
}

/* Adds a dead_id for this id. Returns false if out of memory. */
static bool bury(const struct cm_id *id, bool goes)
{
	struct dead_id *dead = calloc(1, sizeof(*dead));

	if (!dead)
		return false;
	dead->timer.fire = fire_dead;
	dead->handle = id->handle;
	dead->goes = goes;
	faults_timer_set(&cm.shard->rnic->faults, &dead->timer, cm.shard->conn.now);
	return true;
}

/* ---- actions on an event ---- */

/* Aborts the id's connection, for the peer, too, if the connection is up or being set up. */
static void give_up(struct cm_id *id)
{
	if (id->state == CM_ESTABLISHED || id->state == CM_ACCEPTED || id->state == CM_CONNECTING) {
		id->state = CM_OVER;
		if (!bury(id, false))
			cm_hang_up(id);
	}
}

static int reject(struct event_source *src, struct rnic_cm_event *ev, struct cm_id *id,
		  const struct fault_action *a)
{
	size_t len = a->arg[fault_reject_data];

	if (ev->event != CM_EVENT_CONNECT_REQUEST) {
		give_up(id);
		ev->event = CM_EVENT_REJECTED;
		ev->status = fault_given(a, fault_reject_reason) ?
				     (int32_t)a->arg[fault_reject_reason] :
				     CM_REJ_CONSUMER_DEFINED;
		ev->param = (struct rnic_conn_param){ .private_data_len = (uint8_t)len };
		memcpy(ev->param.private_data, a->data, len);
		cm_event_pad(id->conn, ev);
		return post_now(src, ev);
	}
	cm_reject(id, 0, a->data, (uint8_t)len);
	return bury(id, true) ? 0 : -ENOMEM;
}

static bool ends_connection(uint32_t event)
{
	return event == CM_EVENT_CONNECT_ERROR || event == CM_EVENT_UNREACHABLE ||
	       event == CM_EVENT_REJECTED || event == CM_EVENT_DISCONNECTED;
}

/*
 * Posts an event with another type or status instead of the program's event, and sets the state of
 * the id accordingly.
 */
static int report(struct event_source *src, struct rnic_cm_event *ev, struct cm_id *id,
		  const struct fault_action *a)
{
	uint32_t event = (uint32_t)a->arg[fault_report_event];

	if (event == CM_EVENT_ADDR_ERROR && id->state == CM_ADDR_RESOLVED)
		id->state = CM_BOUND;
	else if (event == CM_EVENT_ROUTE_ERROR && id->state == CM_ROUTE_RESOLVED)
		id->state = CM_ADDR_RESOLVED;
	else if (ends_connection(event))
		give_up(id);
	ev->event = event;
	ev->status = -(int32_t)a->arg[fault_report_status];
	ev->param = (struct rnic_conn_param){ 0 };
	return post_now(src, ev);
}

/*
 * Posts a second connection request that seems to come from another peer. When the program accepts
 * the second request, the peer has already gone.
 */
static int repeat_request(struct event_source *src, const struct rnic_cm_event *ev,
			  const struct cm_id *id)
{
	struct cm_id *listener = id->request.listener, *again;
	const struct path_addr path = {
		.local = sockaddr_ip((const struct sockaddr *)&id->src),
		.remote = sockaddr_ip((const struct sockaddr *)&id->dst),
	};
	struct rnic_cm_event ev_again = *ev;
	int ret;

	if (!listener || !id->connected_type)
		return 0;
	again = cm_request_new(listener->ep, &path,
			       sockaddr_port((const struct sockaddr *)&id->dst));
	if (!again)
		return 0;
	again->peer_qp_num = id->peer_qp_num;
	again->peer_counts = id->peer_counts;
	ev_again.id = again->handle;
	ret = post_now(src, &ev_again);
	if (ret)
		cm_id_free(again);
	return 0;
}

static int duplicate(struct event_source *src, const struct rnic_cm_event *ev,
		     const struct cm_id *id, const struct fault_action *a)
{
	uint64_t times = fault_given(a, fault_duplicate_times) ? a->arg[fault_duplicate_times] : 1;
	int ret = post_now(src, ev);

	/*
	 * No RDMA device posts an event of an existing connection twice, so only connection
	 * requests are repeated.
	 */
	for (; !ret && times && ev->event == CM_EVENT_CONNECT_REQUEST; times--)
		ret = repeat_request(src, ev, id);
	return ret;
}

static int perform_on(struct event_source *src, const struct rnic_cm_event *given, struct cm_id *id,
		      const struct fault_action *a)
{
	struct rnic_cm_event ev = *given;
	uint64_t jitter = a->arg[fault_delay_jitter];

	switch (a->id) {
	case FAULT_DO_drop:
		return 0;
	case FAULT_DO_delay:
		return post_later(src, &ev, a->rule,
				  cm.shard->conn.now + a->arg[fault_delay_time] +
					  (jitter ? a->random % jitter : 0));
	case FAULT_DO_duplicate:
		return duplicate(src, &ev, id, a);
	case FAULT_DO_reject:
		return reject(src, &ev, id, a);
	case FAULT_DO_report:
		return report(src, &ev, id, a);
	default:
		return post_now(src, &ev);
	}
}

/* Replaces channel_post(). */
static int post(struct event_source *src, const void *event, size_t len)
{
	const struct rnic_cm_event *ev = event;
	enum fault_site site = site_of(ev->event);
	/* id may be NULL: events of multicast groups contain no id. */
	struct cm_id *id = cm_id_get(&cm.shard->conn, ev->id);
	struct fault_attrs attrs;
	struct fault_action a;

	if (!site || !id)
		return post_now(src, ev);
	attrs = faults_cm_attrs(id);
	if (!faults_ask(&cm.shard->rnic->faults, site, &attrs, &a))
		return post_now(src, ev);
	return perform_on(src, ev, id, &a);
}

/* ---- time alone ---- */

/* True if any device may post this event on the id at any time. */
static bool may_come(const struct cm_id *id, uint32_t event)
{
	switch (event) {
	case CM_EVENT_DEVICE_REMOVAL:
	case CM_EVENT_ADDR_CHANGE:
		return id->state != CM_IDLE;
	case CM_EVENT_CONNECT_ERROR:
	case CM_EVENT_UNREACHABLE:
	case CM_EVENT_REJECTED:
		return id->state == CM_CONNECTING;
	default:
		return false;
	}
}

static void report_on(struct cm_id *id, const struct fault_action *a)
{
	uint32_t event = (uint32_t)a->arg[fault_report_event];
	struct rnic_cm_event ev = {
		.uid = id->uid,
		.id = id->handle,
		.datagram = !id->connected_type,
	};

	if (event == CM_EVENT_DISCONNECTED && id->state == CM_ESTABLISHED) {
		cm_disconnect(id);
		return;
	}
	if (!may_come(id, event))
		return;
	id->conn->cm.last_event = id->conn->now;
	if (report(&id->source, &ev, id, a))
		log_error("out of memory: a connection event is lost");
}

static bool is_meant(const struct cm_id *id, const struct fault_attrs *rule)
{
	struct fault_attrs attrs = faults_cm_attrs(id);

	if (rule->known >> FAULT_SELECT_id & 1 && rule->id != id->handle)
		return false;
	return !(rule->known >> FAULT_SELECT_peer & 1) ||
	       (attrs.known >> FAULT_SELECT_peer & 1 && fault_attrs_has_peer(&attrs, &rule->peer));
}

static void perform(struct fault_injector *self, struct shard *s, const struct fault_action *a,
		    uint64_t now)
{
	struct cm_id *id;
	uint32_t pos = 0;

	while ((id = cm_id_next(&s->conn, &pos)))
		if (is_meant(id, &a->select) && !id->request.listener)
			report_on(id, a);
}

static void install(struct fault_injector *self, struct shard *s)
{
	cm.shard = s;
	/* the delayed events of a parent process stay with the parent */
	list_init(&cm.held);
	cm.ops = *s->conn.ops;
	cm.ops.events.post = post;
	cm.ops.events.purge = purge;
	s->conn.ops = &cm.ops;
	faults_cm_calls_install();
}

struct fault_injector faults_cm = {
	.does = { [FAULT_CLASS_NUMBER_CM_CALL] = 1ull << FAULT_DO_fail,
		  [FAULT_CLASS_NUMBER_CM_EVENT] = 1ull << FAULT_DO_drop | 1ull << FAULT_DO_delay |
						  1ull << FAULT_DO_duplicate |
						  1ull << FAULT_DO_reject | 1ull << FAULT_DO_report,
		  [FAULT_CLASS_NUMBER_TIMER] = 1ull << FAULT_DO_report },
	.install = install,
	.perform = perform,
	.removed = removed,
};
