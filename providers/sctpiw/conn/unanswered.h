/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Log lines for users about peers that do not answer. After three seconds, a line names the peer
 * and possible causes. If a peer refuses because of different settings, a line names the settings.
 * Programs only get events of rdma_cm, and completions. Shard lock.
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

/* Time without a line. */
#define UNANSWERED_TIME (3 * NSEC_PER_SEC)
/* Maximum bytes of a line; the rest is cut. */
#define UNANSWERED_LINE 480
/*
 * Prefix of the reason that a peer gives for refusing another llp. Its llp follows (docs/wire.md).
 */
#define UNANSWERED_LLP "sctpiw: llp = "

/* conn_unanswered.list, until logged, up, or lost */
struct conn_attempt {
	struct list_node node; /* conn_unanswered.list, until the log line, or up */
	uint64_t since;	       /* 0: opened by the peer, or up */
	struct path_addr to;
	uint16_t port; /* port of the peer */
};

/* Part of struct conn. */
struct conn_unanswered {
	struct list_node list; /* conn_attempt.node, oldest first */
	/* Peer of the last line: a program that retries gets only one line. */
	struct ip_addr told;
	uint16_t told_port;
};

void unanswered_init(struct conn_unanswered *u);
/* The local side opened an association to that SCTP port, which is not up yet. */
void unanswered_begin(struct conn_assoc *a, const struct path_addr *to, uint16_t port);
/* The association is up, whichever side opened it. */
void unanswered_up(struct conn_assoc *a);
/* The association was lost with this -errno. The transport still has data of the attempt. */
void unanswered_over(struct conn_assoc *a, int error);
/*
 * Logs a line about a peer, but not twice in a row about the same peer: the first line is enough.
 * The format is printf()'s.
 */
void unanswered_tell(struct conn *c, const struct ip_addr *peer, uint16_t port, const char *format,
		     ...) __attribute__((format(printf, 4, 5)));
/* Writes possible causes to buf, when no peer answers at `to`. Returns buf. */
const char *unanswered_cause(const struct conn *c, const struct path_addr *to, char *buf,
			     size_t len);
/*
 * Logs that a peer uses a key, if the packet, which is no SCTP, is a ClientHello. The peer gets no
 * answer, since this process has no key. port: the port that the packet was sent to.
 */
void unanswered_key(struct conn *c, uint16_t port, const struct path_addr *from,
		    const uint8_t *packet, size_t len);
uint64_t unanswered_next_timeout(const struct conn *c);
void unanswered_timers(struct conn *c);

#endif
