/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An SCTP association, on which iwarp has its sessions. The transport, which sends and receives the
 * messages, and iwarp both refer to the association by struct conn_assoc. Callers hold the shard's
 * lock.
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
	struct iw_assoc *iw;   /* NULL before the association is up, and after it was lost */
	size_t max_msg;	       /* longest message, as set in iw, bytes */
	bool initiator;	       /* the local side opened the association */
	bool cm_messages;      /* Initiate, Accept and Reject begin with cm_message.h */
	bool closing;	       /* either side shuts down: no new session may begin */
	bool gone;	       /* the association has ended: do not call the transport */

	/* Ids and QPs that wait until the association is up. */
	struct list_node waiting; /* cm_id.wait_node */
	struct list_node oob;	  /* oob_qp.wait_node */
	/* QPs connected out of band that have a session. */
	struct list_node second; /* oob_second.node */

	/* The attempt to open the association, if the local side opens it. */
	struct conn_attempt attempt;

	/* Used while the association has no session. */
	struct list_node idle_node; /* conn_idle.list[] */
	uint64_t idle_deadline;

	/* Used while no local id or QP uses the association. */
	struct list_node stranger_node; /* conn_strangers.list */
};

/*
 * The lists of associations without sessions. The side that opened an association closes it first.
 * If the peer closed it first, the opener might need it again at that moment.
 */
enum conn_idle_list {
	IDLE_PASSIVE,
	IDLE_ACTIVE,
	IDLE_ABANDONED, /* no id uses the association's port any more */
	IDLE_LISTS,
};

/* Part of struct conn. */
struct conn_idle {
	struct list_node list[IDLE_LISTS]; /* conn_assoc.idle_node, by deadline */
};

/*
 * Strangers: associations that peers opened, and on which no local id or QP has a session. Either
 * no request has arrived on the association, or all were refused, or the association is idle or
 * closing. Anybody can open associations, and a slow peer may take long to close them, so their
 * number is limited. Above the limit, the oldest stranger is aborted. Part of struct conn.
 */
struct conn_strangers {
	struct list_node list; /* conn_assoc.stranger_node, oldest first */
	unsigned int count;
};

#define CONN_STRANGERS_MAX 1024

void conn_idle_init(struct conn_idle *idle);
void conn_strangers_init(struct conn_strangers *strangers);

/* ---- for users of associations ---- */

/* True if this is one of the peer's known addresses. */
bool conn_assoc_has_address(const struct conn_assoc *a, const struct ip_addr *remote);

/*
 * Finds or opens the association between ep and this SCTP port of the peer at to->remote. The local
 * address is to->local, or any if to->local is zero. While conn_assoc_is_up() is false, the caller
 * must wait: it adds itself to the association's `waiting` or `oob`. Returns 0 or -errno.
 */
int conn_assoc_connect(struct endpoint *ep, const struct path_addr *to, uint16_t port,
		       struct conn_assoc **out);
/* True if a session may begin on the association. */
bool conn_assoc_is_up(const struct conn_assoc *a);
/*
 * Aborts and frees all associations of the endpoint when the conn ends. The ids and QPs that wait
 * for them get no notice.
 */
void conn_assoc_drop_all(struct endpoint *ep);
/*
 * Starts the idle time if the association has no sessions. Call this after a session begins or
 * ends.
 */
void conn_assoc_check_idle(struct conn_assoc *a);
/* Stops the idle time, before a session begins. */
void conn_assoc_in_use(struct conn_assoc *a);
void conn_assoc_timers(struct conn *c);
uint64_t conn_assoc_next_timeout(const struct conn *c);

/* ---- for transports ---- */

/* Returns a new struct for an association that a peer opened, or NULL when out of memory. */
struct conn_assoc *conn_assoc_new(struct endpoint *ep);
/*
 * Reports that the association is up, or up again after conn_assoc_restarted(). initiator: the
 * local side opened it. streams: number of usable pairs of streams. max_msg: longest message that
 * fits into one packet on the path, in bytes. Returns false if memory ran out; the association is
 * then aborted.
 */
bool conn_assoc_up(struct conn_assoc *a, bool initiator, unsigned int streams, size_t max_msg);
void conn_assoc_set_max_msg(struct conn_assoc *a, size_t max_msg);
/*
 * Reports that the peer restarted (RFC 9260 5.2.4), which ends every session. The transport calls
 * conn_assoc_up() next.
 */
void conn_assoc_restarted(struct conn_assoc *a);
/* Reports that the peer began an orderly shutdown. The transport calls conn_assoc_over() later. */
void conn_assoc_peer_closes(struct conn_assoc *a);
/*
 * Reports that the association has ended, or that its setup failed. Frees a. error: -ECONNREFUSED,
 * -ETIMEDOUT, -ECONNRESET or -EPROTO. orderly: the association ended by SHUTDOWN.
 */
void conn_assoc_over(struct conn_assoc *a, int error, bool orderly);
/*
 * Aborts the association, because of a protocol violation by the peer (-EPROTO) or a lack of
 * memory. Frees a.
 */
void conn_assoc_abort(struct conn_assoc *a, int error);
/*
 * Sends an ABORT and sets `gone`, unless `gone` is set already. The caller must end the sessions.
 */
void conn_assoc_tell_abort(struct conn_assoc *a);

#endif
