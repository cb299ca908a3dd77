/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The state that all associations of an instance share, and the local ports. sctp.h declares the
 * calls that create and free them. Guarded by the caller's lock.
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

/* Bytes of the receive buffer that a packet takes besides its length, as measured on Linux. */
#define SCTP_PACKET_OVERHEAD 832u
#define SCTP_ASSOCS_MAX 65536u /* in an instance; further INITs get an ABORT */
#define SCTP_MULTIHOMED 256u /* hash chains for peers with several addresses, by the peer's port */

/* Associations by endpoint, remote address and port (assoc.c). */
struct sctp_table {
	struct list_node *buckets;
	size_t bucket_count; /* a power of two */
	size_t assoc_count;  /* includes ended ones with an unfetched event */
	uint64_t seed;	     /* random, so that a peer cannot target one bucket */
};

/* The user's memory that the last batch references (zcopy.c). */
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
	struct timerq timers; /* one node for each association */
	struct sctp_stats stats;
	uint32_t in_flight;	 /* sum of window.rwnd_outstanding of all associations */
	struct list_node ready;	 /* associations with something to send */
	struct list_node asked;	 /* associations whose peer has requested a SACK at once */
	struct list_node events; /* associations with events not yet fetched */
	struct sctp_assoc *gone; /* its last event was fetched; freed at the next fetch */
	struct sctp_block_pool blocks;
	struct sctp_cookie_key cookie_key;
	struct sctp_known known;
	/* handed out in rx; freed by the next sctp_input() */
	struct sctp_reasm_message *reassembled;
	struct sctp_ootb_queue ootb;
	uint64_t rations[RATION_PLACES];		 /* for answers to strangers (ootb.c) */
	struct wire_sctp_gap gaps[SCTP_RXMAP_RANGE / 2]; /* scratch for the SACK being built */
	struct sctp_batch_refs refs;
};

/* A local SCTP port. */
struct sctp_endpoint {
	struct list_node node;
	struct sctp *s;
	struct list_node assocs;
	/* Associations whose peer has, or had, several addresses (sctp_paths.node). */
	struct list_node multihomed[SCTP_MULTIHOMED];
	struct sctp_assoc *recent; /* found last, or NULL: packets come in batches */
	unsigned int assoc_count;  /* associations that have not ended */
	uint16_t port;
	bool accept;	      /* INITs are accepted */
	uint64_t quiet_until; /* until then, INITs that are not accepted are dropped */
	size_t rcvbuf;	      /* true size of the socket's receive buffer, bytes */
	void *ctx;	      /* the caller's */
};

/* Frees the messages that the last sctp_input() handed out. */
void sctp_instance_free_reassembled(struct sctp *s);

#endif
