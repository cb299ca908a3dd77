/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a user is told, on standard error, of peers that do not answer: after three seconds, what is waited for
 * and what the cause may be; and when a peer refuses because its settings are others, which ones these are.
 * What programs are told is what rdma_cm and completions say. Shard lock.
 */
#ifndef SCTPIW_CONN_UNANSWERED_H
#define SCTPIW_CONN_UNANSWERED_H

#include <stddef.h>
#include <stdint.h>

#include "util/addr.h"
#include "util/list.h"
#include "util/time.h"

struct conn;
struct conn_assoc;

/* For so long nothing is said. */
#define UNANSWERED_TIME (3 * NSEC_PER_SEC)
/* Bytes of a line at most; it is cut there. */
#define UNANSWERED_LINE 480
/* How a peer's reason begins that was asked by another way than its own: its llp follows (docs/wire.md). */
#define UNANSWERED_LLP "sctpiw: llp = "

/* Part of struct conn_assoc: how this side came to open it. */
struct conn_attempt {
	struct list_node node; /* conn_unanswered.list, until the user was told, or it is up */
	uint64_t since;	       /* 0: this side did not open it, or it is up */
	struct path_addr to;
	uint16_t port; /* the peer's */
};

/* Part of struct conn. */
struct conn_unanswered {
	struct list_node list; /* conn_attempt.node, the oldest first */
	/* Whom the last line was about: a program that tries again and again gets one. */
	struct ip_addr told;
	uint16_t told_port;
};

void unanswered_init(struct conn_unanswered *u);
/* This side has opened an association to that SCTP port, which is not up. */
void unanswered_begin(struct conn_assoc *a, const struct path_addr *to, uint16_t port);
/* The association is up, whoever has opened it. */
void unanswered_up(struct conn_assoc *a);
/* It was lost, with this -errno; the transport can still tell of the attempt. */
void unanswered_over(struct conn_assoc *a, int error);
/*
 * Writes a line about a peer, but not two in a row about the same one: whoever speaks of it first has said what
 * there is to say. The format is printf()'s.
 */
void unanswered_tell(struct conn *c, const struct ip_addr *peer, uint16_t port, const char *format,
		     ...) __attribute__((format(printf, 4, 5)));
/*
 * Writes to buf what may be the cause when nothing comes back from a peer, whose SCTP port is `port` and whose
 * UDP port is `to->udp_port`. Returns buf.
 */
const char *unanswered_cause(const struct conn *c, const struct path_addr *to, char *buf,
			     size_t len);
/*
 * Says that a peer asks with a key, if the packet, which is none of SCTP, is a ClientHello: this process has none, so
 * that the peer gets no answer. port: the one that was asked.
 */
void unanswered_key(struct conn *c, uint16_t port, const struct path_addr *from,
		    const uint8_t *packet, size_t len);
uint64_t unanswered_next_timeout(const struct conn *c);
void unanswered_timers(struct conn *c);

#endif
