/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packets out of the blue (RFC 9260 8.4), and all others that leave without an association:
 * INIT ACKs and the last word of an association that ends. They wait in a ring of fixed size until
 * sctp_output_ootb() fetches them. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_OOTB_H
#define SCTPIW_SCTP_OOTB_H

#include "sctp/sctp.h"
#include "wire/sctp_packet.h"

#define SCTP_OOTB_MAX 64u   /* packets that can wait */
#define SCTP_OOTB_LEN 1200u /* bytes of the longest of them */

struct sctp_in;

/* One packet that waits. */
struct sctp_ootb {
	struct sctp_endpoint *endpoint; /* NULL: it was freed, and the packet is to be skipped */
	struct path_addr to;
	uint16_t len; /* bytes of data */
	uint8_t data[SCTP_OOTB_LEN];
};

struct sctp_ootb_queue {
	struct sctp_ootb *ring; /* SCTP_OOTB_MAX of them, made when first needed */
	unsigned int head;
	unsigned int count;
	struct sctp_block *block; /* where they are copied to be sent, or NULL */
};

/*
 * Queues a packet to that address. The caller fills data from the common header on, sets len and
 * calls sctp_ootb_seal(). NULL: the queue is full or there is no memory, and the packet is dropped.
 */
struct sctp_ootb *sctp_ootb_new(struct sctp_endpoint *ep, const struct path_addr *to);
/*
 * Whether a packet from that address, which may be forged, gets an answer. Group addresses get
 * none, nor do addresses over their limit.
 */
bool sctp_ootb_may_answer(const struct sctp_in *in, const struct ip_addr *to);
/* Writes the checksum over the len bytes of a packet that is complete. */
void sctp_ootb_seal(struct sctp_ootb *ootb);
/*
 * Queues a packet of one chunk that has no value but, unless cause is 0, one error cause with len
 * bytes of information (more than 256 are cut off). h: the header to send, in host order.
 */
void sctp_ootb_chunk(struct sctp_endpoint *ep, const struct path_addr *to,
		     const struct wire_sctp_common *h, uint8_t type, uint8_t flags, uint16_t cause,
		     const void *info, size_t len);
/*
 * Queues an ABORT or SHUTDOWN COMPLETE of an association that ends, as sctp_ootb_chunk() does. Does
 * nothing while the peer's tag is unknown, since the peer does not know of us either.
 */
void sctp_ootb_assoc(struct sctp_assoc *a, uint8_t type, uint16_t cause, const void *info,
		     size_t len);
/* Answers a packet that belongs to no association, if the rules of RFC 9260 8.4 have an answer. */
void sctp_ootb_input(struct sctp_in *in);
/* Forgets the packets that were to leave through an endpoint which is about to be freed. */
void sctp_ootb_forget(struct sctp *s, const struct sctp_endpoint *ep);
/* Frees what the queue holds. */
void sctp_ootb_fini(struct sctp *s);

#endif
