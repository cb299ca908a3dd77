/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A shard: sessions, timers and events, for one thread at a time. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_SHARD_H
#define SCTPIW_IWARP_SHARD_H

#include "iwarp/iw_mcast.h"
#include "iwarp/iw_shard.h"
#include "iwarp/iw_ud.h"
#include "iwarp/rnic.h"
#include "iwarp/table.h"
#include "util/list.h"
#include "util/timerq.h"

struct iw_cq;

struct iw_shard {
	struct iw_rnic *rnic;
	struct random_source *random;
	uint32_t read_stags; /* value of iw_reads.stag at the start of the next session */
	bool several;	     /* the RNIC has other shards */
	bool has_all; /* the lock's holder has the locks of all shards: iw_shard_with_all() */
	struct list_node wants_all; /* iw_rc.wants_all */
	struct list_node node;	    /* iw_rnic.shards */
	unsigned int index;	    /* index in iw_srq_full.parts, and bit in iw_srq.awaited */
	uint64_t now;		    /* ns, from the last iw_set_now() or iw_timers() */
	struct iw_stats stats;

	struct iw_table qps;	  /* struct iw_qp, by number */
	struct list_node all_qps; /* iw_qp_base.all */

	struct list_node assocs;
	struct list_node idle; /* iw_assoc.idle: the queue of iw_next_idle() */
	struct list_node sessions;
	struct list_node graveyard;   /* sessions that wait for iw_shard_reap() */
	unsigned int session_count;   /* sessions not yet freed */
	unsigned int turned_away;     /* iw_assoc.turned_away of all associations */
	struct timerq timers;	      /* timers of the sessions, one for each session */
	struct timerq cq_timers;      /* timers of CQs with moderation, one for each CQ */
	struct list_node referencing; /* iw_assoc.referencing */

	struct list_node ud_ready; /* struct iw_ud: datagrams to send */
	struct iw_ud_stats ud_stats;
	uint32_t ud_round; /* number of calls of iw_ud_begin_round() */
	struct iw_ud_low ud_low;
	struct iw_mcast_table mcast;

	struct list_node events;    /* struct iw_event_node */
	struct list_node srqs_due;  /* iw_srq_part.due */
	struct iw_cq *notify_first; /* CQs with completions that iw_next_notify() has not checked */
	struct iw_cq **notify_last; /* where to link the next CQ */
};

/* Frees the sessions in the graveyard. Call only where no caller holds a session pointer. */
void iw_shard_reap(struct iw_shard *shard);

#endif
