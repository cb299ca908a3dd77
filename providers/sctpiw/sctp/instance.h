/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What all associations of one instance share, and the local ports. The calls that make and free
 * them are in sctp.h. Guarded by the caller's lock.
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

/*
 * What a packet costs the receiving socket buffer besides its bytes: the difference between a
 * packet's true size and its length, as measured on Linux.
 */
#define SCTP_PACKET_OVERHEAD 832u
#define SCTP_ASSOCS_MAX 65536u /* in an instance; an INIT beyond them is answered with an ABORT */
#define SCTP_MULTIHOMED 256u /* hash chains for peers with several addresses, by the peer's port */

/* Associations by endpoint, remote address and port (assoc.c). */
struct sctp_table {
	struct list_node *buckets;
	size_t bucket_count; /* power of two */
	size_t assoc_count;  /* in the instance, with those whose last event still waits */
	uint64_t seed;	     /* random, so that a peer cannot aim at one bucket */
};

/* The user's memory that the batch built last refers to (zcopy.c). */
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
	struct timerq timers; /* one node an association */
	struct sctp_stats stats;
	uint32_t in_flight;	 /* of all associations: the sum of window.rwnd_outstanding */
	struct list_node ready;	 /* associations with something to send */
	struct list_node asked;	 /* associations whose peer has asked for a SACK at once */
	struct list_node events; /* associations with events that were not fetched */
	struct sctp_assoc *gone; /* whose last event was fetched; freed when the next one is */
	struct sctp_block_pool blocks;
	struct sctp_cookie_key cookie_key;
	struct sctp_known known;
	/* handed out in rx; freed by the next sctp_input() */
	struct sctp_reasm_message *reassembled;
	struct sctp_ootb_queue ootb;
	uint64_t rations[RATION_PLACES];		 /* of answers to strangers (ootb.c) */
	struct wire_sctp_gap gaps[SCTP_RXMAP_RANGE / 2]; /* scratch for the SACK being built */
	struct sctp_batch_refs refs;
};

/* A local SCTP port. */
struct sctp_endpoint {
	struct list_node node;
	struct sctp *s;
	struct list_node assocs;
	/* Associations whose peer has several addresses, or has had them (sctp_paths.node). */
	struct list_node multihomed[SCTP_MULTIHOMED];
	struct sctp_assoc *recent; /* found last, or NULL: packets come in batches */
	unsigned int assoc_count;  /* associations that have not ended */
	uint16_t port;
	bool accept;	      /* INITs are answered */
	uint64_t quiet_until; /* INITs that are not accepted are dropped until then */
	size_t rcvbuf;	      /* bytes that the socket really holds */
	void *ctx;	      /* the caller's */
};

/* Frees the messages that the last sctp_input() handed out. */
void sctp_instance_free_reassembled(struct sctp *s);

#endif
