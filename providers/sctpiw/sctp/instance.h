/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The state that all associations of an instance share, and the local ports. The functions that
 * create and free them are in sctp.h. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_INSTANCE_H
#define SCTPIW_SCTP_INSTANCE_H

#include "sctp/block.h"
#include "sctp/cookie.h"
#include "sctp/known.h"
#include "sctp/ootb.h"
#include "sctp/reasm.h"
#include "sctp/rxmap.h"
#include "sctp/sctp.h"
#include "util/list.h"
#include "util/ration.h"
#include "util/timerq.h"

/* Bytes that a packet takes in a receive buffer besides its length, as measured on Linux. */
#define SCTP_PACKET_OVERHEAD 832u
#define SCTP_ASSOCS_MAX 65536u /* maximum of an instance; further INITs get an ABORT */
/* number of hash chains for peers with several addresses; the hash is the peer's port */
#define SCTP_MULTIHOMED 256u

/* Hash table of associations, by endpoint, remote address and port (assoc.c). */
struct sctp_table {
	struct list_node *buckets;
	size_t bucket_count; /* a power of two */
	/* includes ended associations with an event that the user has not fetched */
	size_t assoc_count;
	/* random, so that a peer cannot choose addresses that all hash to one bucket */
	uint64_t seed;
};

/* References of the last batch to the user's memory (zcopy.c). */
struct sctp_batch_refs {
	struct sctp_ref ref[SCTP_BATCH_REFS]; /* in ascending order of their place in the batch */
	unsigned int count;
};

struct sctp {
	struct sctp_config config;
	struct sctp_user_ops ops;
	struct random_source *random;
	struct list_node endpoints;
	struct sctp_table table;
	struct timerq timers; /* one node for each association, at its earliest timer */
	struct sctp_stats stats;
	uint32_t in_flight;	 /* sum of window.rwnd_outstanding of all associations */
	struct list_node ready;	 /* associations with something to send */
	struct list_node asked;	 /* associations whose peer has requested a SACK at once */
	struct list_node events; /* associations with events not yet fetched */
	/* association whose last event was fetched; the next fetch of an event frees it */
	struct sctp_assoc *gone;
	struct sctp_block_pool blocks;
	struct sctp_cookie_key cookie_key;
	struct sctp_known known;
	/* messages returned in rx; the next sctp_input() frees them */
	struct sctp_reasm_message *reassembled;
	struct sctp_ootb_queue ootb;
	/* limits of the answers to packets without an association (ootb.c) */
	uint64_t rations[RATION_PLACES];
	/* temporary memory for the SACK being built */
	struct wire_sctp_gap gaps[SCTP_RXMAP_RANGE / 2];
	struct sctp_batch_refs refs;
};

/* A local SCTP port. */
struct sctp_endpoint {
	struct list_node node;
	struct sctp *s;
	struct list_node assocs;
	/* Associations whose peer has, or had, several addresses (sctp_paths.node). */
	struct list_node multihomed[SCTP_MULTIHOMED];
	/* association found last, or NULL; the next packet is often for the same one */
	struct sctp_assoc *recent;
	unsigned int assoc_count; /* associations that have not ended */
	uint16_t port;
	bool accept; /* INITs are accepted */
	/* time until which unacceptable INITs are dropped without an answer */
	uint64_t quiet_until;
	size_t rcvbuf; /* true size of the socket's receive buffer, bytes */
	void *ctx;     /* the caller's context */
};

/* Frees the messages that the last sctp_input() has returned. */
void sctp_instance_free_reassembled(struct sctp *s);

#endif
