/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packets that leave without an association: answers to packets out of the blue (RFC 9260 8.4),
 * INIT ACKs, and the last packet of an association that ends. They wait in a ring of fixed size for
 * sctp_output_ootb(). Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_OOTB_H
#define SCTPIW_SCTP_OOTB_H

#include "sctp/sctp.h"
#include "wire/sctp_packet.h"

#define SCTP_OOTB_MAX 64u   /* maximum of waiting packets */
#define SCTP_OOTB_LEN 1200u /* bytes of the longest packet in the ring */

struct sctp_in;

struct sctp_ootb {
	/* NULL: the endpoint was freed, and the packet must be skipped */
	struct sctp_endpoint *endpoint;
	struct path_addr to;
	uint16_t len; /* bytes of data */
	uint8_t data[SCTP_OOTB_LEN];
};

struct sctp_ootb_queue {
	struct sctp_ootb *ring; /* SCTP_OOTB_MAX packets, allocated at the first use */
	unsigned int head;
	unsigned int count;
	struct sctp_block *block; /* block that the next packets are sent from, or NULL */
};

/*
 * Queues a packet to that address. The caller writes the packet to data, beginning with the common
 * header, sets len, and calls sctp_ootb_seal(). Returns NULL when out of memory, or if the queue is
 * full; the caller then drops the packet.
 */
struct sctp_ootb *sctp_ootb_new(struct sctp_endpoint *ep, const struct path_addr *to);
/*
 * True if a packet from the address `to` may be answered; the address may be forged. False for
 * multicast and broadcast addresses, and for addresses that have used up their limit of answers.
 */
bool sctp_ootb_may_answer(const struct sctp_in *in, const struct ip_addr *to);
/* Writes the checksum of a complete packet. */
void sctp_ootb_seal(struct sctp_ootb *ootb);
/*
 * Queues a packet with one chunk. If cause is not 0, the chunk has this error cause with len bytes
 * of information (at most 256). h is the common header to send, in host order.
 */
void sctp_ootb_chunk(struct sctp_endpoint *ep, const struct path_addr *to,
		     const struct wire_sctp_common *h, uint8_t type, uint8_t flags, uint16_t cause,
		     const void *info, size_t len);
/*
 * As sctp_ootb_chunk(), for an ABORT or SHUTDOWN COMPLETE of an association that ends. Does nothing
 * while the peer's tag is unknown, since the peer then has no association either.
 */
void sctp_ootb_assoc(struct sctp_assoc *a, uint8_t type, uint16_t cause, const void *info,
		     size_t len);
/* Handles a packet without an association: sends an answer if RFC 9260 8.4 requires one. */
void sctp_ootb_input(struct sctp_in *in);
/* Drops the waiting packets of an endpoint that is about to be freed. */
void sctp_ootb_forget(struct sctp *s, const struct sctp_endpoint *ep);
void sctp_ootb_fini(struct sctp *s);

#endif
