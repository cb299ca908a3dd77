/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "net/faults_stages.h"

#include <stdlib.h>

#include "net/faults_held.h"
#include "util/time.h"
#include "wire/sctp_packet.h"

#define QUEUE_DEFAULT ((uint64_t)64 << 10) /* bytes */

/* A link of limited rate, for one rule and direction. */
struct link_of_rule {
	struct list_node node; /* first member */
	uint32_t rule;
	bool out;
	uint64_t free_at; /* ns: when all packets in the queue have been sent */
};

void faults_stages_init(struct faults_stages *s)
{
	list_init(&s->links);
	s->n_cuts = 0;
}

void faults_stages_release(struct faults_stages *s, uint32_t rule)
{
	unsigned int kept = 0;

	list_for_each_safe(node, &s->links) {
		struct link_of_rule *link = (struct link_of_rule *)node;

		if (rule && link->rule != rule)
			continue;
		list_del(node);
		free(link);
	}
	for (unsigned int i = 0; i < s->n_cuts; i++) {
		/* A cut without a rule ends only by its time. */
		if (!s->cuts[i].rule || (rule && s->cuts[i].rule != rule))
			s->cuts[kept++] = s->cuts[i];
	}
	s->n_cuts = kept;
}

/* ---- slow links ---- */

static struct link_of_rule *link_of(struct faults_stages *s, uint32_t rule, bool out)
{
	struct link_of_rule *link;

	list_for_each(node, &s->links) {
		link = (struct link_of_rule *)node;
		if (link->rule == rule && link->out == out)
			return link;
	}
	link = calloc(1, sizeof(*link));
	if (!link)
		return NULL;
	link->rule = rule;
	link->out = out;
	list_add_tail(&s->links, &link->node);
	return link;
}

/* Returns the ns to send these bytes. No overflow up to FAULTS_HELD_MAX bytes. */
static uint64_t duration(uint64_t bytes, uint64_t bits_per_s)
{
	return bytes * 8 * NSEC_PER_SEC / bits_per_s;
}

uint64_t faults_stages_limit(struct faults_stages *s, const struct faults_packet *p,
			     const struct fault_action *a, uint64_t now)
{
	uint64_t rate = a->arg[fault_limit_rate_rate], len = faults_packet_ip_len(p);
	uint64_t queue = fault_given(a, fault_limit_rate_queue) ? a->arg[fault_limit_rate_queue] :
								  QUEUE_DEFAULT;
	struct link_of_rule *link = link_of(s, a->rule, p->out);

	if (!link || !rate)
		return TIME_NEVER;
	if (queue > FAULTS_HELD_MAX)
		queue = FAULTS_HELD_MAX;
	if (link->free_at < now)
		link->free_at = now;
	/* The packet that is being sent is not in the queue. */
	if (link->free_at - now > duration(queue, rate))
		return TIME_NEVER;
	link->free_at += duration(len, rate);
	return link->free_at;
}

/* ---- cuts ---- */

bool faults_stages_add_cut(struct faults_stages *s, const struct faults_net_cut *cut, uint64_t now)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < s->n_cuts; i++) {
		if (s->cuts[i].until > now)
			s->cuts[kept++] = s->cuts[i];
	}
	s->n_cuts = kept;
	if (kept == FAULTS_CUTS)
		return false;
	s->cuts[s->n_cuts++] = *cut;
	return true;
}

static bool is_cut(const struct faults_net_cut *cut, const struct fault_attrs *p, uint64_t now)
{
	if (cut->until <= now)
		return false;
	if (!ip_addr_is_zero(&cut->peer) && !fault_attrs_has_peer(p, &cut->peer))
		return false;
	if ((cut->port && cut->port != p->port) ||
	    (cut->peer_port && cut->peer_port != p->peer_port))
		return false;
	return cut->kind != FAULTS_NET_LOSE_ABORT ||
	       (p->direction == FAULT_OUT && p->chunk >> WIRE_SCTP_ABORT & 1);
}

const struct faults_net_cut *faults_stages_cut(struct faults_stages *s,
					       const struct fault_attrs *packet, uint64_t now)
{
	for (unsigned int i = 0; i < s->n_cuts; i++) {
		if (is_cut(&s->cuts[i], packet, now))
			return &s->cuts[i];
	}
	return NULL;
}
