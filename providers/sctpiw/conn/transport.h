/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A transport carries messages between endpoints over associations. There are two: our own SCTP over a
 * carrier of packets (user_sctp.h), and the SCTP of the kernel (net/kernel_sctp.h). A conn uses one of them
 * for all it does. Shard lock; errors are -errno, ports are in host order.
 *
 * Downwards conn/ calls the functions of this struct. Upwards a transport gives and takes messages by
 * iw_assoc_receive() and iw_assoc_pull() on conn_assoc.iw, and says what becomes of an association by the
 * functions of the last part of conn/assoc.h. One call serves a whole pass, so that the interface costs an
 * indirect call for many packets.
 */
#ifndef SCTPIW_CONN_TRANSPORT_H
#define SCTPIW_CONN_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "sctp/path_use.h"
#include "util/addr.h"

struct config_error;
struct conn;
struct conn_assoc;
struct endpoint;
struct sctp_assoc_info;
struct sctp_path_info;
struct sctp_stats;
struct wire_sctp_receipts;

/* How thoroughly to look for what came in. */
enum conn_depth {
	CONN_QUICK,    /* a poller: ask the sockets directly where there are few */
	CONN_THOROUGH, /* the progress thread: look at errors, too */
};

enum conn_received {
	CONN_NOTHING, /* nothing came, and nothing follows from having looked */
	CONN_STIRRED, /* nothing came, but something may follow from having looked */
	CONN_SOME,
	CONN_MORE, /* there may be more at once */
};

/* What is known of an association that this side opens, and that is not up. */
struct transport_attempt {
	bool answered;	    /* the peer has said something, or its host or a router has */
	bool unreachable;   /* ICMP errors have ended it */
	const char *reason; /* that the peer gave when it refused, as text; "": none */
};

struct transport {
	/* Some of its sockets are watched for edges: whoever asks epoll for them must act on them. */
	bool edges;

	/* Makes what the transport keeps for the conn. why: set on an error that a user can act upon. */
	int (*start)(struct conn *c, struct config_error *why);
	void (*stop)(struct conn *c);

	/*
	 * Opens ep, bound to addr; fills ep->bound and ep->state, and has the endpoint watched; a dormant one
	 * only from accept_at() on. -errno of bind(), and nothing is open then.
	 */
	int (*open)(struct endpoint *ep, const struct sockaddr *addr, bool v6only);
	/* The endpoint has no association any more. */
	void (*close)(struct endpoint *ep);
	/* In the child of a fork: closes its descriptors and those of its associations. */
	void (*forget)(struct endpoint *ep);
	/* Whether peers may open associations to ep; at first not. -errno of listen(). */
	int (*set_accept)(struct endpoint *ep, bool accept);
	/*
	 * The application may have ep accept soon: peers that are earlier are not refused until that time, but
	 * get no answer, and so ask again. NULL: they are refused.
	 */
	void (*set_quiet)(struct endpoint *ep, uint64_t until);
	/*
	 * From now on peers may open associations to that address of ep, which is bound to all. A peer is told
	 * of no other address then, so that each pair of addresses can have an association of its own. -errno
	 * of bind() and listen().
	 */
	int (*accept_at)(struct endpoint *ep, const struct ip_addr *local);
	/*
	 * From now on what comes at ep, which is dormant, is looked at, though nobody may open associations
	 * there. -errno. NULL: the transport carries no datagrams.
	 */
	int (*watch)(struct endpoint *ep);
	/* What is sent from now on carries ep->tos. */
	void (*set_tos)(struct endpoint *ep);

	/* conn_readdress(), of the endpoint. NULL: the transport finds out by itself. */
	void (*readdress)(struct endpoint *ep);

	/* Takes what came in. */
	enum conn_received (*receive)(struct conn *c, enum conn_depth depth);
	/* Reports what happened to associations; true: something did. */
	bool (*events)(struct conn *c);
	/*
	 * Pulls and sends what may go out now, for every association whose doorbell was rung; false: there was
	 * none.
	 */
	bool (*output)(struct conn *c);
	/* bytes in flight, with the packets' overhead. NULL: nobody knows. */
	uint32_t (*in_flight)(const struct conn *c);
	uint64_t (*next_timeout)(const struct conn *c);
	void (*timers)(struct conn *c);

	/*
	 * Opens an association; conn_assoc_up() or conn_assoc_over() follows, from events() or receive(). It
	 * is the only one from its endpoint, and from to->local, to that address and port. -errno.
	 */
	int (*connect)(struct conn_assoc *a, const struct path_addr *to, uint16_t port);
	/* iwarp has something to give. Cheap, and may be repeated. */
	void (*doorbell)(struct conn_assoc *a);
	/*
	 * As in struct iw_llp_ops. NULL: the transport cannot tell what the peer has placed, and WRs are
	 * complete when it has their messages.
	 */
	uint32_t (*placed)(struct conn_assoc *a);
	/*
	 * What both sides know of our extension, with the peer's window of Sends; NULL: the peer does not know it.
	 * No such function: no side ever does.
	 */
	const struct wire_sctp_receipts *(*agreed)(struct conn_assoc *a);
	/*
	 * Has acknowledgements sent that peers have asked for, and that wait for something to ride on. NULL:
	 * none ever wait; else conn.sacks_asked says whether some do.
	 */
	void (*flush_sacks)(struct conn *c);
	/*
	 * As in struct iw_llp_ops. copy_out NULL: the transport references no memory. void_messages NULL: it
	 * cannot change what it has.
	 */
	uint32_t (*acked)(struct conn_assoc *a);
	void (*copy_out)(struct conn_assoc *a);
	void (*void_messages)(struct conn_assoc *a, uint16_t sid);
	/* Nothing that was pulled waits for an acknowledgement, here or on its way to the peer. */
	bool (*is_drained)(const struct conn_assoc *a);
	/* Orderly: pulls no more, sends what was pulled; conn_assoc_over() follows. */
	void (*shutdown)(struct conn_assoc *a);
	/* At once: the peer gets an ABORT, and a->state is gone; nothing follows. */
	void (*abort)(struct conn_assoc *a);
	const struct path_addr *(*addr)(const struct conn_assoc *a); /* of the primary path */
	/* sctp_assoc_is_between(). NULL: the addresses of addr() tell. */
	bool (*is_between)(const struct conn_assoc *a, const struct path_addr *to);
	/* Whether the peer is known to have that address as well. NULL: it has that of addr() alone. */
	bool (*has_address)(const struct conn_assoc *a, const struct ip_addr *remote);
	/* sctp_assoc_path_use() and sctp_assoc_prefer(). NULL: nothing is known of its paths, nor to be chosen. */
	enum sctp_path_use (*path_use)(const struct conn_assoc *a, const struct path_addr *to);
	void (*prefer)(const struct conn_assoc *a, const struct path_addr *to);
	uint16_t (*remote_port)(const struct conn_assoc *a);
	/* What SCTP knows of an association that is not gone; NULL: the transport does not say. */
	void (*inspect)(const struct conn_assoc *a, struct sctp_assoc_info *info);
	/* The same of its paths: how many. NULL: the transport does not say. */
	unsigned int (*inspect_paths)(const struct conn_assoc *a, struct sctp_path_info *info);
	/* For lines to the user. NULL: nothing is known. */
	void (*attempt)(const struct conn_assoc *a, struct transport_attempt *attempt);
	/* What SCTP has counted; NULL: the transport does not say. */
	void (*stats)(const struct conn *c, struct sctp_stats *stats);
};

#endif
