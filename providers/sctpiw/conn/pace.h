/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Keeps a sender of datagrams to what receivers on this host can take. Nothing acknowledges a datagram, but the
 * kernel tells how much waits in a socket of this host (carrier.room): while too much does, the next datagrams to
 * it wait in their send queues. Of receivers on other hosts nothing is known, and nothing waits. Shard lock.
 */
#ifndef SCTPIW_CONN_PACE_H
#define SCTPIW_CONN_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/addr.h"

struct conn;
struct endpoint;

/* Receivers that are known. Two that share a place are asked for in turn, and nothing waits for one beside a full one. */
#define PACE_RECEIVERS 256u

/* One receiving port. All zero: nothing is known. */
struct pace_receiver {
	struct ip_addr to;
	uint16_t port;
	bool full;	     /* nothing may leave before ask_at */
	uint32_t credit;     /* bytes that may leave without asking */
	uint64_t ask_at;     /* ns. It is not asked for before that, unless there was credit */
	uint64_t full_since; /* ns; 0: it was not full when it was last asked for */
};

/* All zero is a new one. */
struct pace {
	struct pace_receiver receivers[PACE_RECEIVERS];
};

/* ns. So soon a full receiver is asked for again: it reads more than a batch in this time. */
#define PACE_ASK_AGAIN 20000u
/*
 * ns. Whoever does not make room for so long does not read, and its datagrams are sent all the same, and lost, as
 * on a network. It is longer than a process waits for its processor on a busy host.
 */
#define PACE_PATIENCE 200000000u
/* ns. For so long nothing is asked about a receiver of which nothing is known, or that does not read. */
#define PACE_UNKNOWN 10000000u

/*
 * Whether datagrams from ep to to->remote, port to->udp_port, may leave at conn.now. false: they wait, for
 * PACE_ASK_AGAIN at most before this is asked again.
 */
bool pace_allows(struct conn *c, struct pace *p, const struct endpoint *ep,
		 const struct path_addr *to);
/* Packets of len bytes in all were sent there. */
void pace_sent(struct pace *p, const struct path_addr *to, size_t len);

#endif
