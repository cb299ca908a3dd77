/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reassembly of fragmented messages (RFC 9260 6.9). sctpiw never fragments messages, and a peer
 * that follows RFC 5043 does not have to. So this code is simple, not fast. Each fragment has its
 * own allocation in a list in TSN order. Their total is limited to SCTP_REASM_BYTES. Guarded by the
 * caller's lock.
 */
#ifndef SCTPIW_SCTP_REASM_H
#define SCTPIW_SCTP_REASM_H

#include "util/list.h"
#include "wire/sctp_packet.h"

#define SCTP_REASM_BYTES (256u << 10)	/* limit of the fragments of all messages */
#define SCTP_REASM_MESSAGE (128u << 10) /* longest message; a DDP segment has at most 64 KiB */
#define SCTP_REASM_FRAGMENTS 256u

struct sctp_reasm {
	struct list_node fragments; /* sorted by TSN */
	size_t bytes;		    /* bytes of user data in the fragments */
	unsigned int count;
};

/* A complete message. The caller frees it with free(). */
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
 * Adds a fragment (not both B and E) that was not received before. next: the fragment has the TSN
 * after the cumulative TSN. Such a fragment may exceed the limits: up to SCTP_REASM_MESSAGE bytes
 * more, and twice as many fragments. Otherwise a full list could never become empty. Returns 1 and
 * sets *done if a message is complete, else returns 0. Returns -ENOBUFS if there is no room; the
 * caller must then drop the fragment as if it had not come. Returns -EMSGSIZE if the message is too
 * long, and -EPROTO if the fragment contradicts its neighbours.
 */
int sctp_reasm_add(struct sctp_reasm *r, const struct wire_sctp_data *d, bool next,
		   struct sctp_reasm_message **done);

#endif
