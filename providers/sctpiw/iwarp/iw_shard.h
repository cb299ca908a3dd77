/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A shard of the RNIC: sessions, QPs and timers under one lock. Callers of all functions hold the
 * shard's lock. The lock of one shard also permits reading shared objects, such as MRs.
 */
#ifndef SCTPIW_IWARP_IW_SHARD_H
#define SCTPIW_IWARP_IW_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "iwarp/iw_rnic.h"

struct iw_shard;

/*
 * Creates a shard. Call before any SRQ is created. The shard's index is the number of shards
 * created before. The RNIC and random must outlive the shard. Returns NULL if out of memory. Needs
 * the locks of all shards.
 */
struct iw_shard *iw_shard_new(struct iw_rnic *rnic, struct random_source *random);
/*
 * Frees the shard with its associations and sessions. The caller first frees the shard's QPs and
 * CQs, all SRQs, and all shards created later.
 */
void iw_shard_free(struct iw_shard *shard);
struct iw_rnic *iw_shard_rnic(const struct iw_shard *shard);
/*
 * True if a work request waits for the locks of all shards. LOCAL_INV and BIND_MW need these locks,
 * because they change STags that other shards may be using. The caller then takes the locks of all
 * shards, calls iw_shard_with_all() with true, and pulls messages from the shard. Afterwards the
 * caller calls iw_shard_with_all() with false, and releases the locks.
 */
bool iw_shard_wants_all(const struct iw_shard *shard);
void iw_shard_with_all(struct iw_shard *shard, bool has_all);
/*
 * Call after fork() in the child process. All sessions end there. The child sends no message that
 * references the application's memory, and never accesses that memory again. MRs, windows and PDs
 * remain usable.
 */
void iw_shard_forget(struct iw_shard *shard);
/* Returns the time in ns when iw_timers() is due, or UINT64_MAX if no timer runs. */
uint64_t iw_next_timeout(const struct iw_shard *shard);
/* Runs the timers that are due at the time now, in ns. */
void iw_timers(struct iw_shard *shard, uint64_t now);
/* Sets the current time, ns. Call before receiving or pulling messages, and before doorbells. */
void iw_set_now(struct iw_shard *shard, uint64_t now);

#define IW_OPCODES 16 /* number of RDMAP opcodes that fit in the header (wire/rdmap.h) */

/*
 * Counts of messages, and of payload bytes. Sends, Writes and Read Responses count with their
 * payload bytes. Read and Atomic Requests, Atomic Responses and Immediate Data count as messages
 * without payload bytes. Terminates and receipts do not count.
 */
struct iw_traffic {
	uint64_t messages; /* complete messages */
	uint64_t bytes;
};

/* Messages that UC QPs have dropped, by reason. */
struct iw_uc_drops {
	uint64_t no_receive; /* no receive was posted */
	uint64_t too_long;   /* longer than the receive */
	uint64_t access;     /* STag, bounds or rights forbid a Write, or the header is wrong */
	uint64_t bad_opcode; /* unsupported on UC, such as a read */
};

/* Counts since iw_shard_new(), for all sessions of the shard. */
struct iw_stats {
	uint64_t in[IW_OPCODES];  /* RDMAP messages delivered completely, by opcode */
	uint64_t out[IW_OPCODES]; /* RDMAP messages whose last segment was pulled, by opcode */
	/* bytes as in struct iw_traffic, including those of freed QPs */
	uint64_t in_bytes, out_bytes;
	uint64_t sessions; /* sessions that were established */
	/* Time of the first established session or first datagram, ns; 0: neither has occurred. */
	uint64_t first_use;
	uint64_t last_use;   /* time of the last session end or datagram, ns; 0: none yet */
	uint64_t errors;     /* QPs that entered the error state because of a failure */
	uint64_t unexpected; /* segments of Sends without a posted receive */
	struct iw_uc_drops uc;
};

const struct iw_stats *iw_stats(const struct iw_shard *shard);
/* Sums iw_stats.in or .out over the opcodes that struct iw_traffic counts as messages. */
uint64_t iw_messages(const uint64_t by_opcode[IW_OPCODES]);

#endif
