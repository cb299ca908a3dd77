/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completion queues from the RNIC's side. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_CQ_H
#define SCTPIW_IWARP_CQ_H

#include "iwarp/event.h"
#include "iwarp/iw_cq.h"
#include "util/list.h"
#include "util/timerq.h"

/* A CQ with what only this room sees of it. */
struct iw_cq_full {
	struct iw_cq cq;
	struct iw_event_node event;
	/* Moderation: */
	uint32_t count;	 /* completions that an event waits for; 0: it does not wait */
	uint64_t period; /* ns that an event waits at most */
	bool postponed;	 /* an event is due, and waits for more completions or for the timer */
	bool ripe;	 /* it has waited long enough */
	struct timerq_node timer; /* iw_shard.cq_timers */
	struct iw_shard *timing;  /* whose timer runs; NULL: none */
	struct list_node all;	  /* iw_rnic.all_cqs */
};

/* The period is over; the timer was this shard's. */
void iw_cq_timer(struct iw_cq_full *full, struct iw_shard *shard);

/*
 * Appends an entry of a queue of this shard. solicited: it counts for IW_CQ_ARM_SOLICITED. false: the entry is lost, since
 * the CQ is full or was so before; IW_EVENT_CQ_ERROR is raised. An entry that is lost since overrun
 * is to be ignored counts as appended.
 */
bool iw_cq_push(struct iw_cq *cq, struct iw_shard *shard, const struct iw_cqe *cqe, bool solicited);

#endif
