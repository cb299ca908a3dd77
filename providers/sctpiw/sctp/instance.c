/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Instances and endpoints. */
#include "sctp/instance.h"

#include <stdlib.h>

#include "sctp/assoc.h"
#include "sctp/away.h"
#include "sctp/mtu.h"
#include "util/alloc.h"

#define BUCKETS_MIN 64u

void sctp_config_default(struct sctp_config *config)
{
	*config = (struct sctp_config){
		.streams = 65535,
		.adaptation = 1,
		.rto_initial = 1000 * NSEC_PER_MSEC,
		.rto_min = 1000 * NSEC_PER_MSEC,
		.rto_max = 60000 * NSEC_PER_MSEC,
		.cookie_life = 60000 * NSEC_PER_MSEC,
		.heartbeat_interval = 1000 * NSEC_PER_MSEC,
		.sack_delay = 10 * NSEC_PER_MSEC,
		.silent_limit = 30000 * NSEC_PER_MSEC,
		.connect_limit = 30000 * NSEC_PER_MSEC,
		.max_tsn_distance = 4095,
		.mtu_probe = true,
		.packet_max = SCTP_PACKET_MAX,
		.mtu_raise_time = 600000 * NSEC_PER_MSEC,
	};
}

/* Replaces values that would make the protocol misbehave. */
static void config_clamp(struct sctp_config *c)
{
	if (!c->streams)
		c->streams = 1;
	if (c->sack_delay > 500 * NSEC_PER_MSEC) /* limit of RFC 9260 6.2 */
		c->sack_delay = 500 * NSEC_PER_MSEC;
	if (c->rto_min < NSEC_PER_MSEC)
		c->rto_min = NSEC_PER_MSEC;
	if (c->rto_max < c->rto_min)
		c->rto_max = c->rto_min;
	if (c->rto_initial < c->rto_min)
		c->rto_initial = c->rto_min;
	if (c->rto_initial > c->rto_max)
		c->rto_initial = c->rto_max;
	if (c->heartbeat_interval < 10 * NSEC_PER_MSEC)
		c->heartbeat_interval = 10 * NSEC_PER_MSEC;
	if (c->mtu_raise_time < 1000 * NSEC_PER_MSEC)
		c->mtu_raise_time = 1000 * NSEC_PER_MSEC;
	if (!c->max_tsn_distance)
		c->max_tsn_distance = 1;
	if (c->max_tsn_distance > SCTP_RXMAP_RANGE - 1)
		c->max_tsn_distance = SCTP_RXMAP_RANGE - 1;
}

struct sctp *sctp_new(const struct sctp_config *config, const struct sctp_user_ops *ops,
		      struct random_source *random)
{
	struct sctp *s = alloc_lines(sizeof(*s));
	size_t i;

	if (!s)
		return NULL;
	s->table.buckets = malloc(BUCKETS_MIN * sizeof(*s->table.buckets));
	if (!s->table.buckets) {
		free(s);
		return NULL;
	}
	s->table.bucket_count = BUCKETS_MIN;
	for (i = 0; i < s->table.bucket_count; i++)
		list_init(&s->table.buckets[i]);
	s->config = *config;
	config_clamp(&s->config);
	s->ops = *ops;
	s->random = random;
	random_bytes(random, &s->table.seed, sizeof(s->table.seed));
	list_init(&s->endpoints);
	list_init(&s->ready);
	list_init(&s->asked);
	list_init(&s->events);
	sctp_known_init(&s->known);
	return s;
}

void sctp_instance_free_reassembled(struct sctp *s)
{
	while (s->reassembled) {
		struct sctp_reasm_message *m = s->reassembled;

		s->reassembled = m->next;
		free(m);
	}
}

const struct sctp_stats *sctp_stats(const struct sctp *s)
{
	return &s->stats;
}

void sctp_free(struct sctp *s)
{
	if (!s)
		return;
	list_for_each_safe(n, &s->endpoints)
		sctp_endpoint_free(list_entry(n, struct sctp_endpoint, node));
	sctp_instance_free_reassembled(s);
	sctp_ootb_fini(s);
	sctp_known_fini(&s->known);
	sctp_block_pool_fini(&s->blocks);
	timerq_fini(&s->timers);
	free(s->table.buckets);
	free(s);
}

struct sctp_endpoint *sctp_endpoint_new(struct sctp *s, uint16_t port, size_t rcvbuf, void *ctx)
{
	struct sctp_endpoint *ep = alloc_lines(sizeof(*ep));

	if (!ep)
		return NULL;
	ep->s = s;
	ep->port = port;
	ep->rcvbuf = rcvbuf;
	ep->ctx = ctx;
	list_init(&ep->assocs);
	for (unsigned int i = 0; i < SCTP_MULTIHOMED; i++)
		list_init(&ep->multihomed[i]);
	list_add_tail(&s->endpoints, &ep->node);
	return ep;
}

void sctp_endpoint_set_accept(struct sctp_endpoint *ep, bool accept)
{
	ep->accept = accept;
	ep->quiet_until = 0;
}

void sctp_endpoint_set_quiet(struct sctp_endpoint *ep, uint64_t until)
{
	ep->quiet_until = until;
}

void sctp_endpoint_readdress(struct sctp_endpoint *ep, uint64_t now)
{
	list_for_each(n, &ep->assocs) {
		struct sctp_assoc *a = list_entry(n, struct sctp_assoc, ep_node);

		sctp_away_readdress(a);
		sctp_paths_readdress(a, now);
		sctp_asconf_readdress(a, now);
	}
}

void *sctp_endpoint_ctx(const struct sctp_endpoint *ep)
{
	return ep->ctx;
}

void sctp_endpoint_free(struct sctp_endpoint *ep)
{
	if (!ep)
		return;
	list_for_each_safe(n, &ep->assocs)
		sctp_assoc_free(list_entry(n, struct sctp_assoc, ep_node));
	sctp_ootb_forget(ep->s, ep);
	list_del(&ep->node);
	free(ep);
}

struct sctp_assoc *sctp_next_ready(struct sctp *s)
{
	struct list_node *n = list_pop(&s->ready);

	return n ? list_entry(n, struct sctp_assoc, ready_node) : NULL;
}

void sctp_batch_done(struct sctp *s, struct sctp_batch *batch)
{
	if (batch->block)
		sctp_block_unref(&s->blocks, batch->block);
	batch->block = NULL;
	s->refs.count = 0; /* no caller has a batch that needs the references */
}

/* Returns the event to fetch first. */
static enum sctp_event_type first_event(const struct sctp_assoc *a)
{
	/* The order in which the events happen. */
	static const enum sctp_event_type order[] = { SCTP_EVENT_UP, SCTP_EVENT_PATH,
						      SCTP_EVENT_SHUTDOWN, SCTP_EVENT_CLOSED,
						      SCTP_EVENT_LOST };
	unsigned int i = 0;

	while (!(a->events >> order[i] & 1))
		i++;
	return order[i];
}

bool sctp_has_events(const struct sctp *s)
{
	return s->gone || !list_empty(&s->events);
}

bool sctp_next_event(struct sctp *s, struct sctp_event *ev)
{
	struct sctp_assoc *a;

	if (s->gone)
		sctp_assoc_free(s->gone);
	if (list_empty(&s->events))
		return false;
	a = list_entry(s->events.next, struct sctp_assoc, event_node);
	ev->type = first_event(a);
	ev->assoc = a;
	ev->user = a->user;
	ev->error = ev->type == SCTP_EVENT_LOST ? a->error : 0;
	sctp_assoc_event_cancel(a, ev->type);
	if (ev->type == SCTP_EVENT_LOST || ev->type == SCTP_EVENT_CLOSED)
		s->gone = a;
	return true;
}
