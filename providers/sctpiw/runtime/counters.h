/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The port's counters, found by the names that sysfs gives their files. */
#ifndef SCTPIW_RUNTIME_COUNTERS_H
#define SCTPIW_RUNTIME_COUNTERS_H

#include <stdint.h>

#include "conn/conn.h"
#include "iwarp/iw_shard.h"
#include "iwarp/iw_ud.h"
#include "sctp/sctp.h"

struct rnic;
struct shard;

/* The counters, added up over all shards. */
struct counters_sum {
	struct conn_traffic traffic;
	struct sctp_stats sctp;
	struct iw_stats iw;
	struct iw_ud_stats ud;
	unsigned int assocs; /* current associations */
};

/* Sets *sum. Needs the locks of all shards. */
void counters_add(struct rnic *r, struct counters_sum *sum);

/*
 * Sets *value to the counter that has this file name in ports/1/counters or ports/1/hw_counters.
 * All counters start from 0 when this process opens the device. Returns 0, or -ENOENT if no counter
 * has this name. Takes the locks of all shards itself.
 */
int counters_get(struct shard *s, const char *name, uint64_t *value);
/* Calls `each` for every counter. All values are of the same moment. Takes the locks itself. */
void counters_all(struct shard *s, void (*each)(void *ctx, const char *name, uint64_t value),
		  void *ctx);

#endif
