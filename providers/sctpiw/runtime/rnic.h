/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The process's one RNIC, shared by all shards. It is made on first use, and again in a child of
 * fork() that opens the device itself. It lives until the process ends.
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
	struct iw_rnic *iw;	 /* MRs, PDs, QP numbers; see iwarp.h for its lock */
	struct cm_id_table *ids; /* the rdma_cm ids of all shards */
	struct faults faults;
	struct shard shard; /* the first one */
	struct shard *others[CONFIG_ENGINES_MAX - 1];
	unsigned int n_shards;
	struct conn *conns[CONFIG_ENGINES_MAX]; /* of all shards */
	unsigned int turn; /* next shard for a QP with new CQs; locks of all shards */
};

/* Requires i < rnic.n_shards. 0 is the first shard. */
static inline struct shard *rnic_shard(struct rnic *r, unsigned int i)
{
	return i ? r->others[i - 1] : &r->shard;
}

/*
 * Takes and releases the locks of all shards, as shard_lock() and shard_unlock() do for one. The
 * caller must hold none of them. The caller may then change objects of the RNIC that have numbers,
 * above all MRs, which every shard looks up under its own lock. So a thread that holds one shard's
 * lock must not wait for these.
 */
void rnic_lock(struct rnic *r);
void rnic_unlock(struct rnic *r);
/*
 * Returns the shard for a QP with these CQs, which may be NULL: the shard of their other queues, or
 * else the next shard in turn. So threads with their own CQs seldom meet. Needs the locks of all
 * shards.
 */
struct shard *rnic_place(struct rnic *r, const struct iw_cq *send_cq, const struct iw_cq *recv_cq);
/* Returns the QP of this number in any shard, or NULL. Needs the locks of all shards. */
struct iw_qp *rnic_qp(struct rnic *r, uint32_t num);
/*
 * Notes that queues of the shard complete on this CQ of the program. Needs the locks of all shards.
 */
void rnic_completes_on(struct shard *s, struct iw_cq *cq);
/* Notes the shard of a new or moved QP of the program in its CQs. Needs the locks of all shards. */
void rnic_qp_placed(struct iw_qp *qp);
/*
 * Moves a QP of the program. Returns 0, -EINVAL if the QP is connected, or -ENOMEM. Needs the locks
 * of all shards.
 */
int rnic_move_qp(struct iw_qp *qp, struct shard *to);
/*
 * Does the work that needs the locks of all shards (iw_shard_wants_all()). The caller must hold
 * none of them.
 */
void rnic_serve_all(struct rnic *r);
/* As rnic_lock() and rnic_unlock(), without the turns of shard_lock() and shard_unlock(). */
void rnic_enter(struct rnic *r);
void rnic_leave(struct rnic *r);

/*
 * Returns the process's RNIC, after making it if necessary. Otherwise returns NULL and sets errno;
 * the first failure is logged. Thread-safe.
 */
struct rnic *rnic_get(void);
/*
 * Returns the process's RNIC, for hooks that take the locks of all shards. Returns NULL without an
 * RNIC, if this thread has one of the locks, or if the process is ending.
 */
struct rnic *rnic_to_interrupt(void);

/* Returns the clock of time stamps, ns, which never goes back. */
uint64_t rnic_clock(void);
/*
 * Returns the time of day, ns since 1970, minus that clock, modulo 2^64. The difference is constant
 * until the time of day is set.
 */
uint64_t rnic_wallclock_offset(void);
/* Returns the number of online processors, at least 1. */
int rnic_processors(void);

#endif
