/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Datagrams: packets without an association (wire/datagram.h), through the ports of the QP numbers.
 * This module answers none, and keeps no state of a peer. Shard lock.
 */
#ifndef SCTPIW_CONN_DATAGRAM_H
#define SCTPIW_CONN_DATAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conn/pace.h"
#include "util/addr.h"

struct conn;
struct datagram_out;
struct endpoint;
struct iw_qp;

/* Part of struct conn. */
struct datagrams {
	struct datagram_out *out; /* NULL until there is something to send */
	/*
	 * A UD QP has few receives left, and its program needs time to post more. Meanwhile nothing
	 * is received, since datagrams would be dropped. False while there are associations.
	 */
	bool low;
	struct pace_answers answers;
};

void datagram_fini(struct conn *c);
/*
 * Starts receiving datagrams for the UD QP. Returns 0, -EOPNOTSUPP if the transport has none, or
 * the endpoint's -errno.
 */
int datagram_start(struct conn *c, const struct iw_qp *qp);
/* Handles a received packet for which wire_is_datagram() is true. */
void datagram_input(struct endpoint *ep, const struct path_addr *from, const uint8_t *packet,
		    size_t len);
/*
 * Sends a chunk of at most WIRE_SIDR_MAX bytes in its own packet, from ep to SCTP port `port` at
 * `to`. The packet is lost if the local port is full; it may be lost anywhere on the path.
 */
void datagram_send_chunk(struct endpoint *ep, const struct path_addr *to, uint16_t port,
			 const uint8_t *chunk, size_t len);
/*
 * Sends datagrams of UD QPs: a bounded number, as far as the receivers have room. This and
 * datagram_retry() need conn.datagrams.out, which is NULL until there was a UD QP.
 */
void datagram_output(struct conn *c);
/* True if datagram_output() left datagrams that could be sent at once. */
bool datagram_is_pending(const struct conn *c);
/* Returns when datagram_retry() is due, or TIME_NEVER. A full port has no timeout. */
uint64_t datagram_next_timeout(const struct conn *c);
/* Tries again after a full port or receiver. Returns false if nothing waited, or still waits. */
bool datagram_retry(struct conn *c);

#endif
