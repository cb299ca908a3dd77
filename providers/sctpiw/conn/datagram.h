/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Datagrams: packets without an association (wire/datagram.h), sent and received at the ports of QP
 * numbers (qp_num.h). This module sends no acknowledgements, and keeps no state per peer. Callers
 * hold the shard's lock.
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
	struct datagram_out *out; /* NULL until there is a UD QP */
	/*
	 * A UD QP has few receives left. The conn then does not read its sockets, to give the
	 * program time to post receives; otherwise datagrams would be dropped. Always false while
	 * the conn has associations.
	 */
	bool low;
	struct pace_answers answers;
};

void datagram_fini(struct conn *c);
/*
 * Starts receiving datagrams for the UD QP. Returns 0, -EOPNOTSUPP if the transport does not
 * support datagrams, -ENOMEM, or the -errno of endpoint_watch().
 */
int datagram_start(struct conn *c, const struct iw_qp *qp);
/* Handles a received packet for which wire_is_datagram() is true. */
void datagram_input(struct endpoint *ep, const struct path_addr *from, const uint8_t *packet,
		    size_t len);
/*
 * Sends a chunk of at most WIRE_SIDR_MAX bytes in its own packet, from ep to SCTP port `port` at
 * `to`. The packet is lost if the socket's send buffer is full. It may also be lost on the path.
 */
void datagram_send_chunk(struct endpoint *ep, const struct path_addr *to, uint16_t port,
			 const uint8_t *chunk, size_t len);
/*
 * Sends a bounded number of datagrams of UD QPs to receivers that have room. conn.datagrams.out
 * must not be NULL; the same holds for datagram_retry().
 */
void datagram_output(struct conn *c);
/* True if datagram_output() would send more datagrams when called again. */
bool datagram_is_pending(const struct conn *c);
/*
 * Returns the time at which to call datagram_retry(), or TIME_NEVER. A full send buffer sets no
 * time, since its room is an event.
 */
uint64_t datagram_next_timeout(const struct conn *c);
/*
 * Tries again to send datagrams that waited for a full send buffer or receiver. Returns false if no
 * datagram waited, or if all still wait.
 */
bool datagram_retry(struct conn *c);

#endif
