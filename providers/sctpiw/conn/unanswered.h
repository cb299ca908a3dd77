/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Log lines about peers that do not answer. After three seconds, a line names the peer and possible
 * causes. If a peer refuses because its settings differ, a line names the settings. Users need
 * these lines, because the events and completions that programs get do not include the cause.
 * Callers hold the shard's lock.
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

/* Time without an answer after which the line is logged. */
#define UNANSWERED_TIME (3 * NSEC_PER_SEC)
/* Maximum length of a line in bytes; a longer line is cut. */
#define UNANSWERED_LINE 480
/*
 * Prefix of the reason that a peer sends when it refuses an INIT because its setting `llp` differs.
 * The value of the peer's setting follows (docs/wire.md).
 */
#define UNANSWERED_LLP "sctpiw: llp = "

/* An attempt of the local side to open an association. Part of struct conn_assoc. */
struct conn_attempt {
	struct list_node node; /* conn_unanswered.list, until the attempt is logged, up or lost */
	uint64_t since;	       /* 0: the peer opened the association, or it is up */
	struct path_addr to;
	uint16_t port; /* port of the peer */
};

/* Part of struct conn. */
struct conn_unanswered {
	struct list_node list; /* conn_attempt.node, oldest first */
	/* The peer in the last line, so that a program that retries causes only one line. */
	struct ip_addr told;
	uint16_t told_port;
};

void unanswered_init(struct conn_unanswered *u);
/* Notes that the local side began to open an association to that SCTP port. */
void unanswered_begin(struct conn_assoc *a, const struct path_addr *to, uint16_t port);
/* Notes that the association is up. Either side may have opened it. */
void unanswered_up(struct conn_assoc *a);
/*
 * Notes that the association was lost with this -errno. The transport must still have the data of
 * the attempt.
 */
void unanswered_over(struct conn_assoc *a, int error);
/*
 * Logs a line about a peer, unless the last line was about the same peer. The format is as in
 * printf().
 */
void unanswered_tell(struct conn *c, const struct ip_addr *peer, uint16_t port, const char *format,
		     ...) __attribute__((format(printf, 4, 5)));
/* Writes the possible causes to buf if no peer answers at `to`. Returns buf. */
const char *unanswered_cause(const struct conn *c, const struct path_addr *to, char *buf,
			     size_t len);
/*
 * Logs that a peer uses a key, if the packet is a DTLS ClientHello. Call this for packets that are
 * not SCTP, if this process has no key. The peer gets no answer. port: the packet's destination
 * port.
 */
void unanswered_key(struct conn *c, uint16_t port, const struct path_addr *from,
		    const uint8_t *packet, size_t len);
uint64_t unanswered_next_timeout(const struct conn *c);
void unanswered_timers(struct conn *c);

#endif
