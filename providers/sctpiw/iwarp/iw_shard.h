/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A shard of the RNIC: sessions, QPs and their timers under one lock, which all of this needs. The rooms
 * to the right have the lock; a thread that has it sees what the RNIC owns as well.
 */
#ifndef SCTPIW_IWARP_IW_SHARD_H
#define SCTPIW_IWARP_IW_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "iwarp/iw_rnic.h"

struct iw_shard;

/*
 * A shard of the RNIC, which has no SRQ yet; its index is the number of those before it. Both the RNIC and random must
 * outlive it. NULL: out of memory. Needs the locks of all shards.
 */
struct iw_shard *iw_shard_new(struct iw_rnic *rnic, struct random_source *random);
/* Ends its associations and sessions. The caller has freed its QPs and CQs, all SRQs and the shards behind it before. */
void iw_shard_free(struct iw_shard *shard);
struct iw_rnic *iw_shard_rnic(const struct iw_shard *shard);
/*
 * Work requests that change what an STag means, LOCAL_INV and BIND_MW, wait until the locks of all shards are held, as
 * other shards may be about to use it. Whether there are any; and to be called, with true, once all locks are held, and
 * with false when the shard has been pulled from and before they are given up.
 */
bool iw_shard_wants_all(const struct iw_shard *shard);
void iw_shard_with_all(struct iw_shard *shard, bool has_all);
/*
 * In the child of a fork(), where no session goes on: what they reference of the application's
 * memory is not sent any more, and is left alone from now on. MRs, windows and PDs work on.
 */
void iw_shard_forget(struct iw_shard *shard);
/* When iw_timers() wants to be called, ns; UINT64_MAX: no timer runs. */
uint64_t iw_next_timeout(const struct iw_shard *shard);
/* Serves the timers that are due at now, ns. */
void iw_timers(struct iw_shard *shard, uint64_t now);
/* Tells the time, ns; to be called before messages are received or pulled, and before doorbells. */
void iw_set_now(struct iw_shard *shard, uint64_t now);

#define IW_OPCODES 16 /* of RDMAP: the values that fit its header (wire/rdmap.h) */

/*
 * Messages, and the bytes of the application's memory in them: of Sends, Writes and Read Responses.
 * Read and Atomic Requests, Atomic Responses and Immediate Data are messages without such bytes.
 * Terminates and receipts do not count.
 */
struct iw_traffic {
	uint64_t messages; /* that are whole */
	uint64_t bytes;
};

/* Messages that UC QPs have dropped, by reason. */
struct iw_uc_drops {
	uint64_t no_receive; /* none was posted */
	uint64_t too_long;   /* for the receive */
	uint64_t access; /* STag, bounds or rights did not allow a Write, or the header was wrong */
	uint64_t bad_opcode; /* of a kind that UC does not have, such as a read */
};

/* Counts since iw_shard_new(), over all sessions. */
struct iw_stats {
	uint64_t in[IW_OPCODES];      /* RDMAP messages delivered whole, by opcode */
	uint64_t out[IW_OPCODES];     /* RDMAP messages whose last segment was pulled, by opcode */
	uint64_t in_bytes, out_bytes; /* as of struct iw_traffic, of all QPs that there were */
	uint64_t sessions;	      /* sessions that were established */
	/* When the first session was established, or the first datagram passed, ns; 0: there was none. */
	uint64_t first_use;
	uint64_t last_use;   /* when a session ended last, or a datagram passed, ns; 0: none has */
	uint64_t errors;     /* QPs that have entered the error state by a failure */
	uint64_t unexpected; /* segments of Sends that found no receive posted */
	struct iw_uc_drops uc;
};

const struct iw_stats *iw_stats(const struct iw_shard *shard);
/* The sum of the messages in iw_stats.in or .out that count for struct iw_traffic. */
uint64_t iw_messages(const uint64_t by_opcode[IW_OPCODES]);

#endif
