/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reassembly of fragmented messages (RFC 9260 6.9). sctpiw never fragments, and a peer that follows
 * RFC 5043 need not. So nothing here is fast: each fragment is an allocation of its own, in TSN
 * order, within SCTP_REASM_BYTES. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_REASM_H
#define SCTPIW_SCTP_REASM_H

#include "util/list.h"
#include "wire/sctp_packet.h"

#define SCTP_REASM_BYTES (256u << 10)	/* limit for all messages together */
#define SCTP_REASM_MESSAGE (128u << 10) /* longest message; a DDP segment has 64 KiB */
#define SCTP_REASM_FRAGMENTS 256u

struct sctp_reasm {
	struct list_node fragments; /* sorted by TSN */
	size_t bytes;		    /* bytes of user data in the fragments */
	unsigned int count;
};

/* A complete message; the owner frees it with free(). */
struct sctp_reasm_message {
	struct sctp_reasm_message *next;
	uint16_t sid;
	uint32_t ppid;
	uint32_t len;
	uint8_t data[];
};

void sctp_reasm_init(struct sctp_reasm *r);
void sctp_reasm_clear(struct sctp_reasm *r);
/*
 * Takes a fragment (not both B and E) that was not received before. next: it is the first one after
 * the cumulative TSN. Such a fragment may exceed the budget, up to twice as many, since a full
 * budget would never empty otherwise. Returns 1 and *done if a message is complete, else 0. Returns
 * -ENOBUFS if there is no room; the fragment must then be dropped as if it had not come. Returns
 * -EMSGSIZE if the message is too long, and -EPROTO if it contradicts its neighbours.
 */
int sctp_reasm_add(struct sctp_reasm *r, const struct wire_sctp_data *d, bool next,
		   struct sctp_reasm_message **done);

#endif
