/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A transport carries messages between endpoints over associations. Two transports exist:
 * user_sctp.h with sctpiw's own SCTP over a carrier of packets, and net/kernel_sctp.h with the
 * kernel's SCTP. A conn uses one of them. Callers hold the shard's lock. Errors are -errno. Ports
 * are in host byte order.
 *
 * conn/ calls the functions of this struct. A transport calls iw_assoc_receive() to pass received
 * messages to conn_assoc.iw, and iw_assoc_pull() to get messages to send. It reports the state of
 * an association with the functions in the last part of conn/assoc.h. One call of receive() or
 * output() handles many packets, so that the cost of the indirect call is small.
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
	CONN_QUICK,    /* for polling threads: read the sockets directly if they are few */
	CONN_THOROUGH, /* for the progress thread: also read errors */
};

enum conn_received {
	CONN_NOTHING, /* nothing was received, and there is no other work */
	CONN_STIRRED, /* nothing was received, but there may be other work */
	CONN_SOME,
	CONN_MORE, /* packets were received, and more may be available now */
};

/* State of an association that the local side is opening. */
struct transport_attempt {
	bool answered;	    /* the peer, its host or a router has answered */
	bool unreachable;   /* ICMP errors ended the attempt */
	const char *reason; /* text from the peer's refusal; "": the peer sent none */
};

struct transport {
	/*
	 * Some sockets are edge-triggered in epoll: each of their events is reported only once, so
	 * a caller of epoll_wait() must handle it.
	 */
	bool edges;

	/*
	 * Creates the transport's data for the conn. Returns 0 or -errno. Sets why if the user can
	 * solve the problem.
	 */
	int (*start)(struct conn *c, struct config_error *why);
	void (*stop)(struct conn *c);

	/*
	 * Opens a port bound to addr for ep. Fills ep->bound and ep->state. Starts receiving,
	 * except for a dormant endpoint, which receives after accept_at() or watch(). Returns 0, or
	 * the -errno of bind(). After an error, the port is not open.
	 */
	int (*open)(struct endpoint *ep, const struct sockaddr *addr, bool v6only);
	/* Closes an endpoint without associations. */
	void (*close)(struct endpoint *ep);
	/* For the child of a fork(): closes the descriptors of ep and its associations. */
	void (*forget)(struct endpoint *ep);
	/*
	 * Sets whether peers may open associations to ep; initially they may not. Returns 0, or the
	 * -errno of listen().
	 */
	int (*set_accept)(struct endpoint *ep, bool accept);
	/*
	 * Until that time, drops the INITs of peers instead of refusing them. The peers retransmit
	 * the INITs, and the application may listen by then. NULL: the transport always refuses.
	 */
	void (*set_quiet)(struct endpoint *ep, uint64_t until);
	/*
	 * Lets peers open associations to this local address; ep is bound to all addresses. The
	 * peer learns no other local address, so that each pair of addresses can have its own
	 * association. Returns 0, or the -errno of bind() or listen().
	 */
	int (*accept_at)(struct endpoint *ep, const struct ip_addr *local);
	/*
	 * Starts receiving at a dormant ep, without accepting associations. Returns 0 or
	 * -errno. NULL: the transport carries no datagrams.
	 */
	int (*watch)(struct endpoint *ep);
	/* Applies ep->tos to later packets. */
	void (*set_tos)(struct endpoint *ep);

	/*
	 * Does the work of conn_readdress() for one endpoint. NULL: the transport notices changes
	 * itself.
	 */
	void (*readdress)(struct endpoint *ep);

	enum conn_received (*receive)(struct conn *c, enum conn_depth depth);
	/* Reports events of associations. Returns true if there were any. */
	bool (*events)(struct conn *c);
	/*
	 * Pulls and sends messages of every association for which doorbell() was called. Returns
	 * false if there was none.
	 */
	bool (*output)(struct conn *c);
	/* Returns the bytes in flight, with packet overhead. NULL: unknown. */
	uint32_t (*in_flight)(const struct conn *c);
	uint64_t (*next_timeout)(const struct conn *c);
	void (*timers)(struct conn *c);

	/*
	 * Opens an association. Its local end is a->ep with the address to->local. Its remote end
	 * is this SCTP port at the address to->remote. No other association may connect the same
	 * addresses and ports. conn_assoc_up() or conn_assoc_over() follows, from events() or
	 * receive(). Returns 0 or -errno.
	 */
	int (*connect)(struct conn_assoc *a, const struct path_addr *to, uint16_t port);
	/* Notes that iwarp has messages to send. The call is cheap, and may be repeated. */
	void (*doorbell)(struct conn_assoc *a);
	/*
	 * As in struct iw_llp_ops. NULL: the peer does not report placement, and WRs complete once
	 * their messages are acknowledged.
	 */
	uint32_t (*placed)(struct conn_assoc *a);
	/*
	 * Returns the agreed parameters of sctpiw's extension (wire/sctp_receipts.h), including the
	 * peer's window of Sends. Returns NULL if the peer lacks the extension. NULL instead of the
	 * function: the transport lacks the extension.
	 */
	const struct wire_sctp_receipts *(*agreed)(struct conn_assoc *a);
	/*
	 * Sends acknowledgements that were delayed to travel with a message. Must be called if
	 * conn.sacks_asked is set. NULL: the transport delays none.
	 */
	void (*flush_sacks)(struct conn *c);
	/*
	 * As in struct iw_llp_ops. copy_out is NULL if the transport references no memory of
	 * applications. void_messages is NULL if the transport cannot change messages that it has
	 * pulled.
	 */
	uint32_t (*acked)(struct conn_assoc *a);
	void (*copy_out)(struct conn_assoc *a);
	void (*void_messages)(struct conn_assoc *a, uint16_t sid);
	/* True if the peer has acknowledged all messages that the transport has pulled. */
	bool (*is_drained)(const struct conn_assoc *a);
	/*
	 * Ends the association in order, after the messages that were already pulled are sent.
	 * conn_assoc_over() follows.
	 */
	void (*shutdown)(struct conn_assoc *a);
	/*
	 * Ends the association at once: sends an ABORT, and frees a->state. No call about the
	 * association follows.
	 */
	void (*abort)(struct conn_assoc *a);
	const struct path_addr *(*addr)(
		const struct conn_assoc *a); /* addresses of the primary path */
	/* As sctp_assoc_is_between(). NULL: the caller compares the addresses with addr(). */
	bool (*is_between)(const struct conn_assoc *a, const struct path_addr *to);
	/*
	 * True if this is one of the peer's known addresses. NULL: only the address in addr() is
	 * known.
	 */
	bool (*has_address)(const struct conn_assoc *a, const struct ip_addr *remote);
	/*
	 * As sctp_assoc_path_use() and sctp_assoc_prefer(). NULL: the transport neither reports nor
	 * chooses paths.
	 */
	enum sctp_path_use (*path_use)(const struct conn_assoc *a, const struct path_addr *to);
	void (*prefer)(const struct conn_assoc *a, const struct path_addr *to);
	uint16_t (*remote_port)(const struct conn_assoc *a);
	/* Reports SCTP's state of an association that has not ended. NULL: not available. */
	void (*inspect)(const struct conn_assoc *a, struct sctp_assoc_info *info);
	/* Reports SCTP's paths, and returns their number. NULL: not available. */
	unsigned int (*inspect_paths)(const struct conn_assoc *a, struct sctp_path_info *info);
	/*
	 * Reports the state of an attempt to open an association, for log lines. NULL: not
	 * available.
	 */
	void (*attempt)(const struct conn_assoc *a, struct transport_attempt *attempt);
	/* Reports SCTP's counters. NULL: not available. */
	void (*stats)(const struct conn *c, struct sctp_stats *stats);
};

#endif
