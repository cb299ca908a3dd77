/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A shard of the RNIC: sessions, QPs and timers under one lock, which all functions need. Callers
 * hold the lock, which also permits reading the RNIC's objects.
 */
#ifndef SCTPIW_IWARP_IW_SHARD_H
#define SCTPIW_IWARP_IW_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "iwarp/iw_rnic.h"

struct iw_shard;

/*
 * Creates a shard, before any SRQ exists. Its index is the number of earlier shards. The RNIC and
 * random must outlive it. Returns NULL if out of memory. Needs the locks of all shards.
 */
struct iw_shard *iw_shard_new(struct iw_rnic *rnic, struct random_source *random);
/*
 * Ends associations and sessions. The caller has freed the shard's QPs and CQs, all SRQs and later
 * shards.
 */
void iw_shard_free(struct iw_shard *shard);
struct iw_rnic *iw_shard_rnic(const struct iw_shard *shard);
/*
 * True if a work request waits for the locks of all shards: LOCAL_INV and BIND_MW change STags that
 * other shards may be using. Take all locks, call iw_shard_with_all() with true, and pull from the
 * shard. Then call it with false and release the locks.
 */
bool iw_shard_wants_all(const struct iw_shard *shard);
void iw_shard_with_all(struct iw_shard *shard, bool has_all);
/*
 * Handles fork() in the child, where sessions end: messages that reference the application's memory
 * are never sent, and that memory is never accessed again. MRs, windows and PDs remain usable.
 */
void iw_shard_forget(struct iw_shard *shard);
/* Returns the time when iw_timers() is due, ns; UINT64_MAX: no timer runs. */
uint64_t iw_next_timeout(const struct iw_shard *shard);
/* Runs the timers due at now, ns. */
void iw_timers(struct iw_shard *shard, uint64_t now);
/* Sets the time, ns. Call before receiving or pulling messages, and before doorbells. */
void iw_set_now(struct iw_shard *shard, uint64_t now);

#define IW_OPCODES 16 /* number of RDMAP opcodes that fit in the header (wire/rdmap.h) */

/*
 * Messages, and their payload bytes in application memory, from Sends, Writes and Read Responses.
 * Read and Atomic Requests, Atomic Responses and Immediate Data are messages without such bytes.
 * Terminates and receipts do not count.
 */
struct iw_traffic {
	uint64_t messages; /* complete ones */
	uint64_t bytes;
};

/* Messages that UC QPs have dropped, by reason. */
struct iw_uc_drops {
	uint64_t no_receive; /* no receive was posted */
	uint64_t too_long;   /* for the receive */
	uint64_t access;     /* STag, bounds or rights forbid a Write, or the header is wrong */
	uint64_t bad_opcode; /* unsupported on UC, such as a read */
};

/* Counts since iw_shard_new(), over all sessions. */
struct iw_stats {
	uint64_t in[IW_OPCODES];      /* RDMAP messages delivered completely, by opcode */
	uint64_t out[IW_OPCODES];     /* RDMAP messages whose last segment was pulled, by opcode */
	uint64_t in_bytes, out_bytes; /* as in struct iw_traffic, including freed QPs */
	uint64_t sessions;	      /* sessions that were established */
	/* Time of the first established session or first datagram, ns; 0: none. */
	uint64_t first_use;
	uint64_t last_use;   /* time of the last session end or datagram, ns; 0: none */
	uint64_t errors;     /* QPs that entered the error state by a failure */
	uint64_t unexpected; /* segments of Sends without a posted receive */
	struct iw_uc_drops uc;
};

const struct iw_stats *iw_stats(const struct iw_shard *shard);
/* Sums the messages in iw_stats.in or .out that struct iw_traffic counts. */
uint64_t iw_messages(const uint64_t by_opcode[IW_OPCODES]);

#endif
