/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completion queues: the functions that the RNIC itself uses. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_CQ_H
#define SCTPIW_IWARP_CQ_H

#include "iwarp/event.h"
#include "iwarp/iw_cq.h"
#include "util/list.h"
#include "util/timerq.h"

/* A CQ with its private part. */
struct iw_cq_full {
	struct iw_cq cq;
	struct iw_event_node event;
	/* Moderation, see iw_cq_moderate(): */
	uint32_t count;		  /* completions before an event; 0: no moderation */
	uint64_t period;	  /* maximum delay of an event, ns */
	bool postponed;		  /* an event waits for more completions or for the timer */
	bool ripe;		  /* the event has waited long enough */
	struct timerq_node timer; /* iw_shard.cq_timers */
	struct iw_shard *timing;  /* shard whose timer runs; NULL: none */
	struct list_node all;	  /* iw_rnic.all_cqs */
};

/* Handles the end of the period; shard ran the timer. */
void iw_cq_timer(struct iw_cq_full *full, struct iw_shard *shard);

/*
 * Appends an entry for a queue of this shard. solicited: the entry counts for IW_CQ_ARM_SOLICITED.
 * If the CQ is full, drops the entry, raises IW_EVENT_CQ_ERROR and returns false, now and in all
 * later calls. If ignore_overrun is set, drops the entry without an event and returns true.
 */
bool iw_cq_push(struct iw_cq *cq, struct iw_shard *shard, const struct iw_cqe *cqe, bool solicited);

#endif
