/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The only RNIC of the process, with all its shards. It is made on first use, and once more in a
 * child of fork() that opens the device itself. It is never freed.
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
	struct config config;	 /* read once, then constant */
	struct iw_rnic *iw;	 /* MRs, PDs, QP numbers; iwarp.h describes its lock */
	struct cm_id_table *ids; /* the rdma_cm ids of all shards */
	struct faults faults;
	struct shard shard; /* the first shard */
	struct shard *others[CONFIG_ENGINES_MAX - 1];
	unsigned int n_shards;
	struct conn *conns[CONFIG_ENGINES_MAX]; /* struct shard.conn of each shard */
	/* index of the next shard for a QP with new CQs; guarded by the locks of all shards */
	unsigned int turn;
};

/* Returns shard number i. i must be less than r->n_shards. */
static inline struct shard *rnic_shard(struct rnic *r, unsigned int i)
{
	return i ? r->others[i - 1] : &r->shard;
}

/*
 * Takes and releases the locks of all shards, as shard_lock() and shard_unlock() do for one shard.
 * The caller must hold none of them. The caller may then change objects of the RNIC that have
 * numbers, above all MRs. Each shard looks these objects up with only its own lock held, so a
 * change needs all locks.
 */
void rnic_lock(struct rnic *r);
void rnic_unlock(struct rnic *r);
/*
 * Returns the shard for a QP with these CQs, each of which may be NULL. If a CQ is used by other
 * QPs, this is their shard; otherwise it is the next shard in turn. Threads that each have their
 * own CQs then seldom need the same lock. Needs the locks of all shards.
 */
struct shard *rnic_place(struct rnic *r, const struct iw_cq *send_cq, const struct iw_cq *recv_cq);
/* Returns the QP with this number from any shard, or NULL. Needs the locks of all shards. */
struct iw_qp *rnic_qp(struct rnic *r, uint32_t num);
/* Records that QPs of the shard write completions to this CQ. Needs the locks of all shards. */
void rnic_completes_on(struct shard *s, struct iw_cq *cq);
/* Records the shard of a new or moved QP in the QP's CQs. Needs the locks of all shards. */
void rnic_qp_placed(struct iw_qp *qp);
/*
 * Moves a QP of the program to another shard. Returns 0, -EINVAL if the QP is connected, or
 * -ENOMEM. Needs the locks of all shards.
 */
int rnic_move_qp(struct iw_qp *qp, struct shard *to);
/*
 * Does the work that needs the locks of all shards (iw_shard_wants_all()). The caller must hold
 * none of them.
 */
void rnic_serve_all(struct rnic *r);
/*
 * Take and release the locks of all shards, as rnic_lock() and rnic_unlock() do, but do not run a
 * turn of each shard.
 */
void rnic_enter(struct rnic *r);
void rnic_leave(struct rnic *r);

/*
 * Returns the process's RNIC. Makes it if necessary. On failure, returns NULL and sets errno; only
 * the first failure is logged. Thread-safe.
 */
struct rnic *rnic_get(void);
/*
 * Returns the process's RNIC, for hooks that take the locks of all shards. Returns NULL if there is
 * no RNIC, if this thread has a shard's lock, or if the process is ending.
 */
struct rnic *rnic_to_interrupt(void);

/* Returns the time of the clock that time stamps use, ns. This clock never goes back. */
uint64_t rnic_clock(void);
/*
 * Returns the time of day, in ns since 1970, minus rnic_clock(), modulo 2^64. The difference stays
 * constant until the time of day is set.
 */
uint64_t rnic_wallclock_offset(void);
/* Returns the number of online processors, at least 1. */
int rnic_processors(void);

#endif
