/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A transport carries messages between endpoints over associations. There are two: the SCTP of
 * user_sctp.h over a carrier of packets, and the kernel's SCTP (net/kernel_sctp.h). A conn uses one
 * of them. Shard lock; errors are -errno, ports are in host order.
 *
 * conn/ calls the functions of this struct. A transport passes messages with iw_assoc_receive() and
 * iw_assoc_pull() on conn_assoc.iw. It reports the state of an association with the functions of
 * the last part of conn/assoc.h. One call serves a whole pass, so that the cost is one indirect
 * call for many packets.
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

/* How thoroughly to check for received packets. */
enum conn_depth {
	CONN_QUICK,    /* for pollers: read the sockets directly if there are few */
	CONN_THOROUGH, /* for the progress thread: also read errors */
};

enum conn_received {
	CONN_NOTHING, /* nothing received, and nothing else to do */
	CONN_STIRRED, /* nothing received, but other work may follow */
	CONN_SOME,
	CONN_MORE, /* more may be available at once */
};

/* State of an association that the local side opens, and that is not up. */
struct transport_attempt {
	bool answered;	    /* the peer, its host or a router has answered */
	bool unreachable;   /* ended by ICMP errors */
	const char *reason; /* the peer's text in its refusal; "": none */
};

struct transport {
	/*
	 * Some sockets are edge-triggered in epoll: a caller that reads epoll events must handle
	 * them.
	 */
	bool edges;

	/* Creates the conn's data. After an error that the user can solve, why is set. */
	int (*start)(struct conn *c, struct config_error *why);
	void (*stop)(struct conn *c);

	/*
	 * Opens ep, bound to addr. Fills ep->bound and ep->state, and watches the endpoint; a
	 * dormant one only after accept_at(). Returns 0 or the -errno of bind(); after an error,
	 * nothing is open.
	 */
	int (*open)(struct endpoint *ep, const struct sockaddr *addr, bool v6only);
	/* Closes an endpoint without associations. */
	void (*close)(struct endpoint *ep);
	/* In the child of a fork(): closes the descriptors of ep and its associations. */
	void (*forget)(struct endpoint *ep);
	/*
	 * Sets whether peers may open associations to ep; initially not. 0, or -errno of listen().
	 */
	int (*set_accept)(struct endpoint *ep, bool accept);
	/*
	 * Until that time, peers' requests for associations are dropped instead of refused, so that
	 * they retransmit: the application may listen soon. NULL: requests are refused.
	 */
	void (*set_quiet)(struct endpoint *ep, uint64_t until);
	/*
	 * Lets peers open associations to that address of ep, which is bound to all. Such a peer
	 * learns no other address, so that each pair of addresses can have its own association.
	 * Returns 0, or the -errno of bind() and listen().
	 */
	int (*accept_at)(struct endpoint *ep, const struct ip_addr *local);
	/*
	 * Starts receiving at ep, which is dormant, but accepts no associations. Returns 0 or
	 * -errno. NULL: the transport carries no datagrams.
	 */
	int (*watch)(struct endpoint *ep);
	/* Later packets carry ep->tos. */
	void (*set_tos)(struct endpoint *ep);

	/* conn_readdress() for one endpoint. NULL: the transport notices changes itself. */
	void (*readdress)(struct endpoint *ep);

	enum conn_received (*receive)(struct conn *c, enum conn_depth depth);
	/* Reports events of associations. Returns true if there were any. */
	bool (*events)(struct conn *c);
	/*
	 * Pulls and sends messages of every association whose doorbell was rung. Returns false if
	 * there was none.
	 */
	bool (*output)(struct conn *c);
	/* Returns the bytes in flight, with packet overhead. NULL: unknown. */
	uint32_t (*in_flight)(const struct conn *c);
	uint64_t (*next_timeout)(const struct conn *c);
	void (*timers)(struct conn *c);

	/*
	 * Opens an association: the only one from its endpoint, and from to->local, to that address
	 * and port. conn_assoc_up() or conn_assoc_over() follows, from events() or receive().
	 * Returns 0 or -errno.
	 */
	int (*connect)(struct conn_assoc *a, const struct path_addr *to, uint16_t port);
	/* iwarp has messages to send. Cheap, and may be repeated. */
	void (*doorbell)(struct conn_assoc *a);
	/*
	 * As in struct iw_llp_ops. NULL: placement at the peer is unknown, and WRs complete when
	 * the peer has their messages.
	 */
	uint32_t (*placed)(struct conn_assoc *a);
	/*
	 * Returns the agreed parameters of sctpiw's extension, with the peer's window of Sends, or
	 * NULL if the peer lacks the extension. NULL function: the transport lacks it.
	 */
	const struct wire_sctp_receipts *(*agreed)(struct conn_assoc *a);
	/*
	 * Sends the requested acknowledgements that wait for a message. Needed if conn.sacks_asked
	 * is set. NULL: acknowledgements never wait.
	 */
	void (*flush_sacks)(struct conn *c);
	/*
	 * As in struct iw_llp_ops. copy_out NULL: the transport references no memory. void_messages
	 * NULL: it cannot change its messages.
	 */
	uint32_t (*acked)(struct conn_assoc *a);
	void (*copy_out)(struct conn_assoc *a);
	void (*void_messages)(struct conn_assoc *a, uint16_t sid);
	/* True if no pulled message is unacknowledged, here or on its way to the peer. */
	bool (*is_drained)(const struct conn_assoc *a);
	/* Ends in order: sends the messages already pulled. conn_assoc_over() follows. */
	void (*shutdown)(struct conn_assoc *a);
	/* Ends at once: the peer gets an ABORT, and a->state is freed. Nothing follows. */
	void (*abort)(struct conn_assoc *a);
	const struct path_addr *(*addr)(
		const struct conn_assoc *a); /* addresses of the primary path */
	/* sctp_assoc_is_between(). NULL: compare with addr(). */
	bool (*is_between)(const struct conn_assoc *a, const struct path_addr *to);
	/* True if the peer is known to have that address as well. NULL: only that of addr(). */
	bool (*has_address)(const struct conn_assoc *a, const struct ip_addr *remote);
	/*
	 * sctp_assoc_path_use() and sctp_assoc_prefer(). NULL: paths are unknown, and cannot be
	 * chosen.
	 */
	enum sctp_path_use (*path_use)(const struct conn_assoc *a, const struct path_addr *to);
	void (*prefer)(const struct conn_assoc *a, const struct path_addr *to);
	uint16_t (*remote_port)(const struct conn_assoc *a);
	/* Reports SCTP's state of an association that has not ended. NULL: not available. */
	void (*inspect)(const struct conn_assoc *a, struct sctp_assoc_info *info);
	/* Reports SCTP's paths, and returns their number. NULL: not available. */
	unsigned int (*inspect_paths)(const struct conn_assoc *a, struct sctp_path_info *info);
	/* Reports a connection attempt, for log lines. NULL: not available. */
	void (*attempt)(const struct conn_assoc *a, struct transport_attempt *attempt);
	/* Reports SCTP's counters. NULL: not available. */
	void (*stats)(const struct conn *c, struct sctp_stats *stats);
};

#endif
