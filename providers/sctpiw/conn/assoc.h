/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An SCTP association and its iwarp sessions. The transport, which moves the messages, and iwarp
 * both refer to an association by this struct. Shard lock.
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
	struct endpoint *ep;   /* holds a reference */
	void *state;	       /* private to the transport */
	struct iw_assoc *iw;   /* NULL before the association is up, and after its loss */
	size_t max_msg;	       /* longest message, as set in iwarp, bytes */
	bool initiator;	       /* the local side opened the association */
	bool cm_messages;      /* Initiate, Accept and Reject begin with cm_message.h */
	bool closing;	       /* either side shuts down: no new session */
	bool gone;	       /* ended for the transport, which is not called again */

	/* Users that wait until the association is up. */
	struct list_node waiting; /* cm_id.wait_node */
	struct list_node oob;	  /* oob_qp.wait_node */
	/* QPs connected out of band that have a session. */
	struct list_node second; /* oob_second.node */

	/* The attempt to open the association, if the local side did. */
	struct conn_attempt attempt;

	/* Used while the association has no session. */
	struct list_node idle_node; /* conn_idle.list[] */
	uint64_t idle_deadline;

	/* Used while no local id or QP uses the association. */
	struct list_node stranger_node; /* conn_strangers.list */
};

/*
 * The lists of associations without sessions. The side that opened an association closes it first.
 * Otherwise the peer might close the association just when the opener needs it again.
 */
enum conn_idle_list {
	IDLE_PASSIVE,
	IDLE_ACTIVE,
	IDLE_ABANDONED, /* no id has the association's port any more */
	IDLE_LISTS,
};

/* Part of struct conn. */
struct conn_idle {
	struct list_node list[IDLE_LISTS]; /* conn_assoc.idle_node, by deadline */
};

/*
 * Associations that peers opened, and that no local id or QP has a session on. They have had no
 * request yet, or only refused requests, or are idle or closing. Anybody can open associations, and
 * a slow peer may take long to close them, so their number is limited. Beyond the limit, the one
 * that is a stranger for the longest time is aborted. Part of struct conn.
 */
struct conn_strangers {
	struct list_node list; /* conn_assoc.stranger_node, oldest first */
	unsigned int count;
};

#define CONN_STRANGERS_MAX 1024

void conn_idle_init(struct conn_idle *idle);
void conn_strangers_init(struct conn_strangers *strangers);

/* ---- for users of associations ---- */

/* True if the peer is known to have that address. */
bool conn_assoc_has_address(const struct conn_assoc *a, const struct ip_addr *remote);

/*
 * Finds or opens the association from ep to the peer's address and port; from to->local if set. The
 * association may not be up yet, or may be closing: then the caller waits on it. Returns 0 or
 * -errno.
 */
int conn_assoc_connect(struct endpoint *ep, const struct path_addr *to, uint16_t port,
		       struct conn_assoc **out);
/* True if the association can have another session. */
bool conn_assoc_is_up(const struct conn_assoc *a);
/* Ends all associations of the endpoint without notice to peers or users, when the conn ends. */
void conn_assoc_drop_all(struct endpoint *ep);
/*
 * Starts the idle time if the association has no sessions. Call it after a session began or ended.
 */
void conn_assoc_check_idle(struct conn_assoc *a);
/* Ends the idle time. */
void conn_assoc_in_use(struct conn_assoc *a);
void conn_assoc_timers(struct conn *c);
uint64_t conn_assoc_next_timeout(const struct conn *c);

/* ---- for transports ---- */

/* Returns a new struct for an association that a peer opened, or NULL when out of memory. */
struct conn_assoc *conn_assoc_new(struct endpoint *ep);
/*
 * The association is up, or up again after conn_assoc_restarted(). initiator: the local side opened
 * it. streams: usable pairs. max_msg: longest message that fits one packet on the path, bytes.
 * Returns false if the association was aborted.
 */
bool conn_assoc_up(struct conn_assoc *a, bool initiator, unsigned int streams, size_t max_msg);
void conn_assoc_set_max_msg(struct conn_assoc *a, size_t max_msg);
/* The peer restarted (RFC 9260 5.2.4): every session ends. conn_assoc_up() follows. */
void conn_assoc_restarted(struct conn_assoc *a);
/* The peer shuts down in order. conn_assoc_over() follows. */
void conn_assoc_peer_closes(struct conn_assoc *a);
/*
 * The association has ended, or its setup failed. The pointer is not valid afterwards. error:
 * -ECONNREFUSED, -ETIMEDOUT, -ECONNRESET or -EPROTO. orderly: by SHUTDOWN.
 */
void conn_assoc_over(struct conn_assoc *a, int error, bool orderly);
/*
 * Aborts the association after a protocol violation of the peer (-EPROTO), or when out of memory.
 * The pointer is not valid afterwards.
 */
void conn_assoc_abort(struct conn_assoc *a, int error);
/*
 * Sends the ABORT and sets `gone`, unless the association has ended. The caller ends the sessions.
 */
void conn_assoc_tell_abort(struct conn_assoc *a);

#endif
