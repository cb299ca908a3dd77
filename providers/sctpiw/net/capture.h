/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writes the packets of this process to a pcapng file (draft-ietf-opsawg-pcapng, LINKTYPE_RAW), without root:
 * as SCTP handed them over or got them, one record each, under IP and UDP headers that are made up for them.
 * Several processes append to one file. Each section has one interface, and those of all sections are alike, so
 * that blocks may follow the header of another process's section; whole blocks are written at a time, with
 * O_APPEND. Of a packet longer than capture-snaplen the record has the first bytes, and says how long it was. With
 * capture-size there are several files (net/ring_file.h), and each process begins a section in each of them before
 * its first packet there, so that every file can be read by itself. The shards of a process do so as processes do.
 * Shard lock.
 */
#ifndef SCTPIW_NET_CAPTURE_H
#define SCTPIW_NET_CAPTURE_H

#include "conn/conn.h"
#include "conn/carrier.h"
#include "net/net.h"

struct config;
struct config_error;

/*
 * Opens the capture that the settings ask for. Nothing is written before the first packet. NULL: why
 * says what a user can do.
 */
struct capture *capture_open(const struct config *config, struct config_error *why);
/* Closes it without a write: after a fork what is buffered is the parent's. */
void capture_free(struct capture *c);
/* Writes what has been gathered. If that fails a line says so, and the capture is over. */
void capture_flush(struct net *net);

enum capture_direction { CAPTURE_IN = 1, CAPTURE_OUT = 2 }; /* epb_flags */

/* Takes packets of segment bytes each, the last may be shorter, that ep has sent or received. */
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
