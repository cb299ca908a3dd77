/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/rnic.h"

#include <errno.h>
#include <stdlib.h>

#include "iwarp/assoc.h"
#include "iwarp/cq.h"

struct iw_rnic *iw_rnic_new(const struct iw_config *config, const struct iw_rnic_ops *ops,
			    struct random_source *random)
{
	struct iw_rnic *rnic = calloc(1, sizeof(*rnic));

	if (!rnic)
		return NULL;
	rnic->config = *config;
	rnic->ops = *ops;
	rnic->random = random;
	rnic->next_qp_num = random_u32(random);
	rnic->stag_counter = random_u32(random);
	random_bytes(random, rnic->stag_keys, sizeof(rnic->stag_keys));
	rnic->shard.notify_last = &rnic->shard.notify_first;
	list_init(&rnic->all_qps);
	list_init(&rnic->all_cqs);
	list_init(&rnic->all_mrs);
	list_init(&rnic->shard.ud_ready);
	iw_mcast_init(&rnic->shard.mcast);
	list_init(&rnic->shard.events);
	list_init(&rnic->shard.sessions);
	list_init(&rnic->shard.graveyard);
	list_init(&rnic->shard.assocs);
	list_init(&rnic->shard.idle);
	list_init(&rnic->shard.referencing);
	list_init(&rnic->shard.srqs_due);
	return rnic;
}

void iw_rnic_free(struct iw_rnic *rnic)
{
	struct list_node *node;

	while ((node = list_pop(&rnic->shard.assocs)))
		iw_assoc_lost(list_entry(node, struct iw_assoc, all), -ECONNABORTED);
	while (!list_empty(&rnic->shard.sessions)) {
		struct iw_session *s =
			list_entry(rnic->shard.sessions.next, struct iw_session, all);

		iw_session_bury(s);
	}
	iw_rnic_reap(rnic);
	iw_table_fini(&rnic->qps);
	iw_table_fini(&rnic->mrs);
	iw_table_fini(&rnic->xrc_srqs);
	free(rnic->null_memory);
	timerq_fini(&rnic->shard.timers);
	timerq_fini(&rnic->shard.cq_timers);
	free(rnic);
}

void iw_rnic_set_place(struct iw_rnic *rnic, int (*place)(void *dst, const void *src, size_t len))
{
	rnic->ops.place = place;
}

uint32_t iw_rnic_send_window(const struct iw_rnic *rnic)
{
	return rnic->config.unexpected_bytes_per_qp;
}

void iw_rnic_forget(struct iw_rnic *rnic)
{
	while (list_pop(&rnic->shard.referencing))
		;
}

const struct iw_stats *iw_stats(const struct iw_rnic *rnic)
{
	return &rnic->shard.stats;
}

void iw_rnic_reap(struct iw_rnic *rnic)
{
	struct list_node *node;

	while ((node = list_pop(&rnic->shard.graveyard))) {
		struct iw_session *s = list_entry(node, struct iw_session, all);

		free(s->setup.local);
		free(s->setup.remote);
		free(s);
		rnic->shard.session_count--;
	}
}

void iw_set_now(struct iw_rnic *rnic, uint64_t now)
{
	rnic->shard.now = now;
}

uint64_t iw_next_timeout(const struct iw_rnic *rnic)
{
	const struct timerq_node *first = timerq_first(&rnic->shard.timers);
	const struct timerq_node *cq = timerq_first(&rnic->shard.cq_timers);
	uint64_t next = first ? first->when : UINT64_MAX;

	return cq && cq->when < next ? cq->when : next;
}

void iw_timers(struct iw_rnic *rnic, uint64_t now)
{
	struct timerq_node *first;

	rnic->shard.now = now;
	while ((first = timerq_first(&rnic->shard.timers)) && first->when <= now) {
		timerq_remove(&rnic->shard.timers, first);
		iw_session_timer(list_entry(first, struct iw_session, timer));
	}
	while ((first = timerq_first(&rnic->shard.cq_timers)) && first->when <= now) {
		timerq_remove(&rnic->shard.cq_timers, first);
		iw_cq_timer(list_entry(first, struct iw_cq_full, timer));
	}
	iw_rnic_reap(rnic);
}
