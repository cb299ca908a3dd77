/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writes the packets of this process to a pcapng file (draft-ietf-opsawg-pcapng, LINKTYPE_RAW).
 * Needs no root rights. A record has one packet as SCTP has sent or received it, after generated IP
 * and UDP headers. If the packet is longer than capture-snaplen, the record has only its first
 * bytes, and its length.
 *
 * Several processes may append to one file. Every section describes the same single interface. So a
 * process may write blocks after the section header of another process. Each write has only whole
 * blocks, and uses O_APPEND. If capture-size is set, there are several files (net/ring_file.h).
 * Each process starts a section in each file before its first packet there, so that each file can
 * be read alone. Shards write independently, as if they were processes. Shard lock.
 */
#ifndef SCTPIW_NET_CAPTURE_H
#define SCTPIW_NET_CAPTURE_H

#include "conn/conn.h"
#include "conn/carrier.h"
#include "net/net.h"

struct config;
struct config_error;

/*
 * Opens the capture that the settings describe. Nothing is written before the first packet. Returns
 * NULL on failure, with a text for the user in why.
 */
struct capture *capture_open(const struct config *config, struct config_error *why);
/* Closes the file without writing the buffer. After a fork(), the parent writes the buffer. */
void capture_free(struct capture *c);
/* Writes the buffered packets. A failure is logged, and ends the capture. */
void capture_flush(struct net *net);

enum capture_direction { CAPTURE_IN = 1, CAPTURE_OUT = 2 }; /* values of epb_flags */

/* Records packets that ep has sent or received, each of segment bytes. The last may be shorter. */
void capture_packets(struct endpoint *ep, const struct path_addr *path, enum capture_direction dir,
		     const uint8_t *data, size_t len, size_t segment);

static inline void capture_sent(struct endpoint *ep, const struct path_addr *to,
				const uint8_t *data, size_t len, size_t segment)
{
	if (__builtin_expect(ep->conn->net->capture != NULL, 0))
		capture_packets(ep, to, CAPTURE_OUT, data, len, segment);
}

static inline void capture_received(struct endpoint *ep, const struct carrier_datagram *d)
{
	if (__builtin_expect(ep->conn->net->capture != NULL, 0))
		capture_packets(ep, &d->from, CAPTURE_IN, d->data, d->len, d->segment);
}

#endif
