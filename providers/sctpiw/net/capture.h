/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writes the packets of this process to a pcapng file (draft-ietf-opsawg-pcapng, LINKTYPE_RAW),
 * without root. A record has one packet as SCTP sent or received it, and made-up IP and UDP
 * headers. The record of a packet longer than capture-snaplen has the first bytes, and the packet's
 * length.
 *
 * Several processes may append to one file. All sections have the same single interface, so blocks
 * may follow the header of another process's section. Each write has whole blocks, and uses
 * O_APPEND. With capture-size there are several files (net/ring_file.h). Each process begins a
 * section in each file before its first packet there, so that each file is readable alone. The
 * shards of a process act like separate processes. Shard lock.
 */
#ifndef SCTPIW_NET_CAPTURE_H
#define SCTPIW_NET_CAPTURE_H

#include "conn/conn.h"
#include "conn/carrier.h"
#include "net/net.h"

struct config;
struct config_error;

/*
 * Opens the capture of the settings. Nothing is written before the first packet. Returns NULL on
 * failure; why then has a text for the user.
 */
struct capture *capture_open(const struct config *config, struct config_error *why);
/* Closes the file without a write: after a fork() the parent writes the buffer. */
void capture_free(struct capture *c);
/* Writes the buffered packets. A failure is logged, and ends the capture. */
void capture_flush(struct net *net);

enum capture_direction { CAPTURE_IN = 1, CAPTURE_OUT = 2 }; /* epb_flags */

/* Records packets that ep has sent or received, each of segment bytes; the last may be shorter. */
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
