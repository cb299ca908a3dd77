/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What carries messages: associations between endpoints. There are two: our own SCTP over a
 * carrier of packets (own.c, llp.h), and the SCTP of the kernel (kernel.c). The engine uses one of
 * them for all it does. Everything needs the engine lock; errors are -errno, ports in host order.
 *
 * Downwards the engine calls the functions of this struct. Upwards a transport gives and takes
 * messages by iw_assoc_receive() and iw_assoc_pull() on assoc->iw, and says what becomes of an
 * association by the functions below.
 */
#ifndef SCTPIW_ENGINE_TRANSPORT_H
#define SCTPIW_ENGINE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "util/addr.h"

struct conn_assoc;
struct config_error;
struct endpoint;
struct engine;
struct sctp_stats;

enum loop_depth {
	LOOP_QUICK,    /* a poller: ask the sockets directly where there are few */
	LOOP_THOROUGH, /* the progress thread: look at errors, too */
};

enum loop_received {
	LOOP_NOTHING, /* and nothing follows from it */
	LOOP_STIRRED, /* nothing, but something may follow from having looked */
	LOOP_SOME,
	LOOP_MORE, /* there may be more at once */
};

struct transport {
	/* Some of its sockets are watched for edges: who asks epoll for them must act on them. */
	bool edges;

	/* Makes what it keeps for the engine. why: set on an error that a user can act upon. */
	int (*start)(struct engine *e, struct config_error *why);
	void (*stop)(struct engine *e);

	/*
	 * Opens ep, bound to addr; fills ep->local, port, family, wildcard, v6only, and has the
	 * engine's epoll watch it, one that is dormant with accept_at. -errno of bind().
	 */
	int (*open)(struct endpoint *ep, const struct sockaddr *addr, bool v6only);
	/* It has no association any more. */
	void (*close)(struct endpoint *ep);
	/* In the child of a fork: closes its descriptors and those of its associations. */
	void (*forget)(struct endpoint *ep);
	/* Whether peers may open associations to it; at first not. -errno of listen(). */
	int (*set_accept)(struct endpoint *ep, bool accept);
	/*
	 * From now on peers may open associations to that address of ep's, which is bound to all. A peer is
	 * told of no other one then: each pair of addresses can have an association of its own. May be
	 * repeated. -errno of bind() and listen().
	 */
	int (*accept_at)(struct endpoint *ep, const struct ip_addr *local);

	/* What is sent from now on carries ep->tos. */
	void (*set_tos)(struct endpoint *ep);

	/* Takes what came in. */
	enum loop_received (*receive)(struct engine *e, enum loop_depth depth);
	/* Reports what happened to associations; true: something did. */
	bool (*events)(struct engine *e);
	/* Pulls and sends, for every association that was rung, what may go out now. */
	void (*output)(struct engine *e);
	uint64_t (*next_timeout)(const struct engine *e);
	void (*timers)(struct engine *e);

	/*
	 * Opens an association; conn_assoc_up() or conn_assoc_over() follows, from events() or receive(). It
	 * is the only one from its endpoint, and from to->local, to that address and port.
	 */
	int (*connect)(struct conn_assoc *a, const struct path_addr *to, uint16_t port);
	/* iwarp has something to give. Cheap, and may be repeated. */
	void (*doorbell)(struct conn_assoc *a);
	/* See iw_llp_ops. */
	uint32_t (*acked)(struct conn_assoc *a);
	void (*copy_out)(struct conn_assoc *a, int sid); /* NULL: it lets nothing be referenced */
	/* Nothing that was pulled, here or on its way to the peer, waits for an acknowledgement. */
	bool (*is_drained)(const struct conn_assoc *a);
	/* Orderly: pulls no more, sends what was pulled; conn_assoc_over() follows. */
	void (*shutdown)(struct conn_assoc *a);
	/* At once: the peer gets an ABORT, and a->state is gone; nothing follows. */
	void (*abort)(struct conn_assoc *a);
	const struct path_addr *(*addr)(const struct conn_assoc *a); /* of the primary path */
	uint16_t (*remote_port)(const struct conn_assoc *a);
	/* What SCTP has counted; NULL: it does not say. */
	void (*stats)(const struct engine *e, struct sctp_stats *stats);
};

extern const struct transport transport_user_sctp, transport_kernel_sctp;

/* ---- what a transport tells the engine (assoc.c) ---- */

/* For one that a peer opened. NULL: out of memory. */
struct conn_assoc *conn_assoc_new(struct endpoint *ep);
/*
 * It is up, or up again after conn_assoc_restarted(). initiator: this side opened it; streams: usable
 * pairs; max_msg: the longest message that the path takes in one packet. false: it was aborted.
 */
bool conn_assoc_up(struct conn_assoc *a, bool initiator, unsigned int streams, size_t max_msg);
void conn_assoc_set_max_msg(struct conn_assoc *a, size_t max_msg);
/* The peer began anew: every session ends; conn_assoc_up() is to follow. */
void conn_assoc_restarted(struct conn_assoc *a);
/* The peer shuts down in order; conn_assoc_over() is to follow. */
void conn_assoc_peer_closes(struct conn_assoc *a);
/*
 * The end of it, whether it was up or not. The pointer is not to be used again. error:
 * -ECONNREFUSED, -ETIMEDOUT, -ECONNRESET, -EPROTO; orderly: by SHUTDOWN.
 */
void conn_assoc_over(struct conn_assoc *a, int error, bool orderly);
/* The transport is to abort it, because the peer broke the rules, or for want of memory. */
void conn_assoc_abort(struct conn_assoc *a, int error);

#endif
