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
#include "util/random.h"

struct cm_id_table;
struct iw_rnic;

struct rnic {
	struct config config;	     /* read once, constant since */
	struct random_source random; /* the shard's lock guards it */
	struct iw_rnic *iw;	     /* MRs, PDs, QP numbers; see iwarp.h for its lock */
	struct cm_id_table *ids;     /* the rdma_cm ids; the shard's lock guards it */
	struct faults faults;
	struct shard shard;
};

/*
 * The process's RNIC, which is made if there is none. NULL: errno says why, and the first time a
 * line was logged. Any thread.
 */
struct rnic *rnic_get(void);

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
