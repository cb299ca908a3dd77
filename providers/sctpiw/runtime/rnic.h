/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The process's one RNIC: what all shards have in common. It is made on first use, and anew in a
 * child of fork() that opens the device itself. It ends with the process.
 */
#ifndef SCTPIW_RUNTIME_RNIC_H
#define SCTPIW_RUNTIME_RNIC_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "runtime/faults.h"
#include "runtime/shard.h"

struct cm_id_table;
struct iw_cq;
struct iw_qp;
struct iw_rnic;

struct rnic {
	struct config config;	 /* read once, constant since */
	struct iw_rnic *iw;	 /* MRs, PDs, QP numbers; see iwarp.h for its lock */
	struct cm_id_table *ids; /* the rdma_cm ids of all shards */
	struct faults faults;
	struct shard shard; /* the first one */
	struct shard *others[CONFIG_ENGINES_MAX - 1];
	unsigned int n_shards;
	struct conn *conns[CONFIG_ENGINES_MAX]; /* of the shards */
	unsigned int turn; /* the shard for the next QP whose CQs are new; locks of all shards */
};

/* i < rnic.n_shards; 0: the first. */
static inline struct shard *rnic_shard(struct rnic *r, unsigned int i)
{
	return i ? r->others[i - 1] : &r->shard;
}

/*
 * Takes and releases the locks of all shards, as shard_lock() and shard_unlock() do of one. The caller has none of
 * them. What the RNIC owns may be changed then: objects that have numbers, MRs above all, which every shard may look
 * up under its own lock. So nobody who has one shard's lock may wait for these.
 */
void rnic_lock(struct rnic *r);
void rnic_unlock(struct rnic *r);
/*
 * Where a QP with these CQs, or none, is to be: where they have queues already, or else shards take turns. So threads that
 * have CQs of their own seldom meet. Locks of all shards.
 */
struct shard *rnic_place(struct rnic *r, const struct iw_cq *send_cq, const struct iw_cq *recv_cq);
/* The QP of this number, in whatever shard it is; NULL: there is none. Locks of all shards. */
struct iw_qp *rnic_qp(struct rnic *r, uint32_t num);
/* Queues of the shard complete on this CQ of the program's from now on. Locks of all shards. */
void rnic_completes_on(struct shard *s, struct iw_cq *cq);
/* A QP of the program's was made, or has moved: its CQs know its shard from now on. Locks of all shards. */
void rnic_qp_placed(struct iw_qp *qp);
/* Moves a QP of the program's. -EINVAL: it is connected; -ENOMEM. Locks of all shards. */
int rnic_move_qp(struct iw_qp *qp, struct shard *to);
/* Serves what waits for the locks of all shards (iw_shard_wants_all()). The caller has none of them. */
void rnic_serve_all(struct rnic *r);
/* The same without the turns that shard_lock() and shard_unlock() make. */
void rnic_enter(struct rnic *r);
void rnic_leave(struct rnic *r);

/*
 * The process's RNIC, which is made if there is none. NULL: errno says why, and the first time a
 * line was logged. Any thread.
 */
struct rnic *rnic_get(void);
/*
 * Returns the process's RNIC, for hooks that take the locks of all shards. Returns NULL without an
 * RNIC, if this thread has one of the locks, or if the process is ending.
 */
struct rnic *rnic_to_interrupt(void);

/* The clock of time stamps, ns, which never goes back. */
uint64_t rnic_clock(void);
/*
 * What makes a time of that clock a time of day, ns since 1970, when it is added (modulo 2^64). It
 * stays the same until somebody sets the time of day.
 */
uint64_t rnic_wallclock_offset(void);
/* The number of processors that are online; at least 1. */
int rnic_processors(void);

#endif
