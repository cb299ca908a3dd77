/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Datagrams: what leaves and comes without an association (wire/datagram.h), through the ports of the QP
 * numbers. Nothing is answered here, and nothing is kept of a peer. Shard lock.
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
	 * A UD QP has few receives left, and its program is to be given time to post more. Nothing is received
	 * meanwhile: it would have to be dropped. Never while there are associations.
	 */
	bool low;
	struct pace_answers answers;
};

/* Frees what is kept, at the end of the conn. */
void datagram_fini(struct conn *c);
/*
 * From now on datagrams to the UD QP are looked at. -EOPNOTSUPP: the transport has none; -errno of the
 * endpoint.
 */
int datagram_start(struct conn *c, const struct iw_qp *qp);
/* A packet came for which wire_is_datagram() holds. */
void datagram_input(struct endpoint *ep, const struct path_addr *from, const uint8_t *packet,
		    size_t len);
/*
 * Sends a chunk of WIRE_SIDR_MAX bytes at most, in a packet of its own, from ep to the SCTP port `port` at `to`. It is
 * lost if the port is full, as it may be anywhere on its way.
 */
void datagram_send_chunk(struct endpoint *ep, const struct path_addr *to, uint16_t port,
			 const uint8_t *chunk, size_t len);
/*
 * Sends what UD QPs have to send, as far as there is room for it and for a bounded number of datagrams. This and
 * datagram_retry() need conn.datagrams.out, which is NULL as long as nobody has had a UD QP.
 */
void datagram_output(struct conn *c);
/* Whether datagram_output() has left something that could be sent at once. */
bool datagram_is_pending(const struct conn *c);
/* When datagram_retry() has something to do; TIME_NEVER: nothing but a full port waits. */
uint64_t datagram_next_timeout(const struct conn *c);
/* A port or a receiver was full: tries once more. false: nothing was waiting, or it still is. */
bool datagram_retry(struct conn *c);

#endif
