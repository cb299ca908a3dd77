/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/shard.h"

#include <errno.h>
#include <stdlib.h>

#include "iwarp/assoc.h"
#include "iwarp/cq.h"
#include "iwarp/rc.h"
#include "util/alloc.h"

struct iw_shard *iw_shard_new(struct iw_rnic *rnic, struct random_source *random)
{
	struct iw_shard *shard = alloc_lines(sizeof(*shard));

	if (!shard)
		return NULL;
	shard->rnic = rnic;
	shard->random = random;
	shard->read_stags = random_u32(random);
	shard->notify_last = &shard->notify_first;
	list_init(&shard->wants_all);
	list_init(&shard->all_qps);
	list_init(&shard->ud_ready);
	iw_mcast_init(&shard->mcast);
	list_init(&shard->events);
	list_init(&shard->sessions);
	list_init(&shard->graveyard);
	list_init(&shard->assocs);
	list_init(&shard->idle);
	list_init(&shard->referencing);
	list_init(&shard->srqs_due);
	shard->index = rnic->n_shards++;
	list_add_tail(&rnic->shards, &shard->node);
	if (rnic->n_shards > 1)
		list_for_each(node, &rnic->shards)
			list_entry(node, struct iw_shard, node)->several = true;
	return shard;
}

void iw_shard_free(struct iw_shard *shard)
{
	struct list_node *node;

	while ((node = list_pop(&shard->assocs)))
		iw_assoc_lost(list_entry(node, struct iw_assoc, all), -ECONNABORTED);
	while (!list_empty(&shard->sessions))
		iw_session_bury(list_entry(shard->sessions.next, struct iw_session, all));
	iw_shard_reap(shard);
	iw_table_fini(&shard->qps);
	timerq_fini(&shard->timers);
	timerq_fini(&shard->cq_timers);
	list_del(&shard->node);
	shard->rnic->n_shards--;
	free(shard);
}

bool iw_shard_wants_all(const struct iw_shard *shard)
{
	return !list_empty(&shard->wants_all);
}

void iw_shard_with_all(struct iw_shard *shard, bool has_all)
{
	struct list_node *node;

	shard->has_all = has_all;
	while (has_all && (node = list_pop(&shard->wants_all)))
		iw_session_wake(list_entry(node, struct iw_rc, wants_all)->session);
}

struct iw_rnic *iw_shard_rnic(const struct iw_shard *shard)
{
	return shard->rnic;
}

void iw_shard_forget(struct iw_shard *shard)
{
	while (list_pop(&shard->referencing))
		;
}

const struct iw_stats *iw_stats(const struct iw_shard *shard)
{
	return &shard->stats;
}

void iw_shard_reap(struct iw_shard *shard)
{
	struct list_node *node;

	while ((node = list_pop(&shard->graveyard))) {
		struct iw_session *s = list_entry(node, struct iw_session, all);

		free(s->setup.local);
		free(s->setup.remote);
		free(s);
		shard->session_count--;
	}
}

void iw_set_now(struct iw_shard *shard, uint64_t now)
{
	shard->now = now;
}

uint64_t iw_next_timeout(const struct iw_shard *shard)
{
	const struct timerq_node *first = timerq_first(&shard->timers);
	const struct timerq_node *cq = timerq_first(&shard->cq_timers);
	uint64_t next = first ? first->when : UINT64_MAX;

	return cq && cq->when < next ? cq->when : next;
}

void iw_timers(struct iw_shard *shard, uint64_t now)
{
	struct timerq_node *first;

	shard->now = now;
	while ((first = timerq_first(&shard->timers)) && first->when <= now) {
		timerq_remove(&shard->timers, first);
		iw_session_timer(list_entry(first, struct iw_session, timer));
	}
	while ((first = timerq_first(&shard->cq_timers)) && first->when <= now) {
		timerq_remove(&shard->cq_timers, first);
		iw_cq_timer(list_entry(first, struct iw_cq_full, timer), shard);
	}
	iw_shard_reap(shard);
}
