/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An SCTP association with the iwarp sessions on it: it stands between the transport, which moves its
 * messages, and iwarp, and is known to both by this struct. Shard lock.
 */
#ifndef SCTPIW_CONN_ASSOC_H
#define SCTPIW_CONN_ASSOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conn/unanswered.h"
#include "util/addr.h"
#include "util/list.h"

struct conn;
struct endpoint;
struct iw_assoc;

struct conn_assoc {
	struct list_node node; /* endpoint.assocs */
	struct list_node all;  /* conn.assocs */
	struct endpoint *ep;   /* referenced */
	void *state;	       /* the transport's own */
	struct iw_assoc *iw;   /* NULL until the association is up, and after it was lost */
	size_t max_msg;	       /* as iwarp knows it, bytes */
	bool initiator;	       /* this side opened it */
	bool cm_messages; /* both connection managers say more than private data (cm_message.h) */
	bool closing;	  /* shutting down, by either side: it takes no new session */
	bool gone;	  /* the transport's part is over: the transport is not called again */

	/* Whoever waits for it to come up. */
	struct list_node waiting; /* cm_id.wait_node */
	struct list_node oob;	  /* oob_qp.wait_node */
	/* Those that are connected out of band and have a session. */
	struct list_node second; /* oob_second.node */

	/* Until it is up, if this side opened it. */
	struct conn_attempt attempt;

	/* While it has no session. */
	struct list_node idle_node; /* conn_idle.list[] */
	uint64_t idle_deadline;

	/* While nobody here has a use for it. */
	struct list_node stranger_node; /* conn_strangers.list */
};

/*
 * The lists of associations without sessions. The side that opened an association gives it up first, so
 * that the peer does not close it just when this side wants to use it again.
 */
enum conn_idle_list {
	IDLE_PASSIVE,
	IDLE_ACTIVE,
	IDLE_ABANDONED, /* no id has its port any more, so nobody will use it again */
	IDLE_LISTS,
};

/* Part of struct conn. */
struct conn_idle {
	struct list_node list[IDLE_LISTS]; /* conn_assoc.idle_node, by deadline */
};

/*
 * Associations that peers opened, and that neither an id nor a QP has a session on: those that have
 * none yet, those whose requests were turned away, and those that are idle or closing. Anybody can
 * open one, and a peer that lives may take its time to close it, so their number has a limit: the
 * one that is a stranger for the longest time is aborted for the newest. Part of struct conn.
 */
struct conn_strangers {
	struct list_node list; /* conn_assoc.stranger_node, the oldest first */
	unsigned int count;
};

#define CONN_STRANGERS_MAX 1024

void conn_idle_init(struct conn_idle *idle);
void conn_strangers_init(struct conn_strangers *strangers);

/* ---- for those who use associations ---- */

/* Whether the peer has that address, as far as it is known. */
bool conn_assoc_has_address(const struct conn_assoc *a, const struct ip_addr *remote);

/*
 * The association from ep (and from to->local, if that is set) to the peer's address and port: the one
 * that is there, or a new one. It may not be up yet, or closing: then the caller waits on it. -errno.
 */
int conn_assoc_connect(struct endpoint *ep, const struct path_addr *to, uint16_t port,
		       struct conn_assoc **out);
/* Whether it can have another session. */
bool conn_assoc_is_up(const struct conn_assoc *a);
/* Ends all associations of the endpoint without a word to anybody, for the end of the conn. */
void conn_assoc_drop_all(struct endpoint *ep);
/*
 * A session of it began or ended, or it has none yet: the idle time begins if there are none left.
 */
void conn_assoc_check_idle(struct conn_assoc *a);
/* It has a use again: the idle time ends. */
void conn_assoc_in_use(struct conn_assoc *a);
void conn_assoc_timers(struct conn *c);
uint64_t conn_assoc_next_timeout(const struct conn *c);

/* ---- what a transport tells ---- */

/* A new one for an association that a peer opened. NULL: out of memory. */
struct conn_assoc *conn_assoc_new(struct endpoint *ep);
/*
 * It is up, or up again after conn_assoc_restarted(). initiator: this side opened it; streams: usable
 * pairs; max_msg: the longest message that the path takes in one packet, bytes. false: it was aborted.
 */
bool conn_assoc_up(struct conn_assoc *a, bool initiator, unsigned int streams, size_t max_msg);
void conn_assoc_set_max_msg(struct conn_assoc *a, size_t max_msg);
/* The peer began anew (RFC 9260 5.2.4): every session ends; conn_assoc_up() is to follow. */
void conn_assoc_restarted(struct conn_assoc *a);
/* The peer shuts down in order; conn_assoc_over() is to follow. */
void conn_assoc_peer_closes(struct conn_assoc *a);
/*
 * The association has ended, whether it was up or not; the pointer is not valid afterwards. error:
 * -ECONNREFUSED, -ETIMEDOUT, -ECONNRESET, -EPROTO; orderly: by SHUTDOWN.
 */
void conn_assoc_over(struct conn_assoc *a, int error, bool orderly);
/*
 * The transport is to abort it, because the peer broke the rules (-EPROTO) or for want of memory. The
 * pointer is not valid afterwards.
 */
void conn_assoc_abort(struct conn_assoc *a, int error);
/* Sends only its ABORT, unless it has ended: it is gone afterwards. To drop its sessions is left to the caller. */
void conn_assoc_tell_abort(struct conn_assoc *a);

#endif
