/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The RNIC's own state, and that of its shard. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_RNIC_H
#define SCTPIW_IWARP_RNIC_H

#include "iwarp/iw_mcast.h"
#include "iwarp/iw_rnic.h"
#include "iwarp/iw_ud.h"
#include "iwarp/table.h"
#include "util/list.h"
#include "util/timerq.h"

#define IW_MSEC 1000000ull /* ns */
/* DDP header and payload in bytes; the Terminate has 16 bits for it (RFC 5040 4.8). */
#define IW_SEGMENT_MAX 65535

struct iw_cq;

/*
 * What one thread at a time moves on: sessions, their timers and what they have to tell. All of it
 * belongs to the shard whose lock is held; there is one shard today, and it is part of the RNIC.
 */
struct iw_shard {
	uint64_t now; /* ns, as iw_set_now() and iw_timers() said last */
	struct iw_stats stats;

	struct list_node assocs;
	struct list_node idle; /* iw_assoc.idle: what iw_next_idle() returns */
	struct list_node sessions;
	struct list_node graveyard;   /* sessions that wait for iw_rnic_reap() */
	unsigned int session_count;   /* sessions that are not freed */
	unsigned int turned_away;     /* iw_assoc.turned_away of all associations */
	struct timerq timers;	      /* of the sessions, one each */
	struct timerq cq_timers;      /* of CQs with moderation, one each */
	struct list_node referencing; /* iw_assoc.referencing */

	struct list_node ud_ready; /* struct iw_ud: datagrams to send */
	struct iw_ud_stats ud_stats;
	uint32_t ud_round; /* counts iw_ud_begin_round() */
	struct iw_ud_low ud_low;
	struct iw_mcast_table mcast;

	struct list_node events;   /* struct iw_event_node */
	struct list_node srqs_due; /* iw_srq_full.due */
	struct iw_cq *notify_first; /* CQs with completions that iw_next_notify() has not looked at */
	struct iw_cq **notify_last; /* where the next one is to be linked */
};

/* What all shards have in common: the objects that have numbers, and their limits. */
struct iw_rnic {
	struct iw_config config;
	struct iw_rnic_ops ops;
	struct random_source *random;

	struct iw_table qps; /* struct iw_qp, by number */
	uint32_t next_qp_num;
	struct iw_table xrc_srqs; /* struct iw_srq, by number */
	uint16_t next_srq_num;
	unsigned int pds, cqs, srqs; /* that exist */
	/* What iw_inspect.h walks through: iw_qp_base.all, iw_cq_full.all, iw_mr.all. */
	struct list_node all_qps, all_cqs, all_mrs;

	struct iw_table mrs; /* struct iw_mr, and those in struct iw_mw, by the STag's 24-bit index */
	uint32_t mws;	     /* windows among them */
	uint64_t stag_keys[6];
	uint32_t stag_counter; /* for the next STag of an MR or window */
	uint32_t read_stags;   /* iw_reads.stag of the next session */
	/*
	 * What null MRs show: IW_SEGMENT_MAX zeros, then as much room for what is lost. NULL before
	 * there is one.
	 */
	uint8_t *null_memory;

	struct iw_shard shard;
};

/* Frees the sessions that are over. Only to be called where no caller holds a session. */
void iw_rnic_reap(struct iw_rnic *rnic);

#endif
