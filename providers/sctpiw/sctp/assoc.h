/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An association: its life, lookup and events. Each module keeps its state in its own struct, which
 * its header declares. The caller's lock guards all of these structs. The comment of a function
 * says if the function may end the association. The state is then SCTP_CLOSED, and the association
 * only waits until the user has fetched the event that reports the end.
 */
#ifndef SCTPIW_SCTP_ASSOC_H
#define SCTPIW_SCTP_ASSOC_H

#include "sctp/asconf.h"
#include "sctp/auth.h"
#include "sctp/close.h"
#include "sctp/handshake.h"
#include "sctp/inflight.h"
#include "sctp/instance.h"
#include "sctp/locals.h"
#include "sctp/outq.h"
#include "sctp/paths.h"
#include "sctp/receipts.h"
#include "sctp/recovery.h"
#include "sctp/rx.h"
#include "sctp/timers.h"
#include "sctp/tx.h"
#include "sctp/window.h"
#include "sctp/zcopy.h"

/* The states of RFC 9260 4, in its order. From SCTP_ESTABLISHED on, the association is up. */
enum sctp_state {
	SCTP_CLOSED,
	SCTP_COOKIE_WAIT,
	SCTP_COOKIE_ECHOED,
	SCTP_ESTABLISHED,
	SCTP_SHUTDOWN_PENDING,
	SCTP_SHUTDOWN_SENT,
	SCTP_SHUTDOWN_RECEIVED,
	SCTP_SHUTDOWN_ACK_SENT,
};

/* Sets of states, for sctp_in_states(). */
#define SCTP_IN(state) (1u << (state))
#define SCTP_STATES_SETUP (SCTP_IN(SCTP_COOKIE_WAIT) | SCTP_IN(SCTP_COOKIE_ECHOED))
/* States in which DATA may be sent, and SACKs are processed (RFC 9260 6). */
#define SCTP_STATES_SEND                                                                           \
	(SCTP_IN(SCTP_ESTABLISHED) | SCTP_IN(SCTP_SHUTDOWN_PENDING) |                              \
	 SCTP_IN(SCTP_SHUTDOWN_RECEIVED))
#define SCTP_STATES_RECEIVE                                                                        \
	(SCTP_IN(SCTP_ESTABLISHED) | SCTP_IN(SCTP_SHUTDOWN_PENDING) | SCTP_IN(SCTP_SHUTDOWN_SENT))
#define SCTP_STATES_UP (SCTP_STATES_SEND | SCTP_STATES_RECEIVE | SCTP_IN(SCTP_SHUTDOWN_ACK_SENT))

/* Counters of rare events, for sctp_assoc_inspect(): see struct sctp_assoc_info. */
struct sctp_assoc_counts {
	uint64_t lost, resent, timeouts;
};

struct sctp_assoc {
	struct sctp *s;
	struct sctp_endpoint *ep;
	void *user;
	enum sctp_state state;
	struct list_node hash_node;  /* in a bucket of sctp.table */
	struct list_node ep_node;    /* in sctp_endpoint.assocs */
	struct list_node ready_node; /* in sctp.ready */
	struct list_node event_node; /* in sctp.events */
	struct list_node asked_node; /* in sctp.asked */
	/* events that the user has not fetched yet: bits 1 << enum sctp_event_type */
	unsigned int events;
	int error; /* error of SCTP_EVENT_LOST, -errno */
	/* Identification of the association in packets. */
	uint16_t remote_port;
	uint16_t out_streams;
	uint16_t in_streams;
	uint32_t local_tag;
	uint32_t peer_tag; /* 0: not known yet */
	uint64_t heard;	   /* time of the peer's last valid packet, ns */
	/* Output. */
	unsigned int pending; /* control chunks to send: bits of enum sctp_pending */
	bool want_pull;	      /* the user may have more to send */
	/* block with answers (control.c) in its first `used` bytes, or NULL */
	struct sctp_block *control;
	/* State of the modules. */
	/* the path in use: carries all DATA except on joined paths (spread.h) */
	struct sctp_path *path;
	struct sctp_outq out; /* the outstanding chunks */
	struct sctp_inflight inflight;
	struct sctp_window window;
	struct sctp_sender tx;
	struct sctp_recovery recovery;
	struct sctp_learnt learnt;
	struct sctp_zcopy zcopy;
	struct sctp_timer_set timers;
	struct sctp_receiver rx;
	struct sctp_receipts receipts;
	struct sctp_handshake setup;
	struct sctp_closing closing;
	struct sctp_paths paths;
	struct sctp_locals locals;
	struct sctp_auth auth;
	struct sctp_asconf asconf;
	struct sctp_assoc_counts counts;
};

/* Returns the path with this index: 0 for the path in use, see struct sctp_paths. */
static inline struct sctp_path *sctp_path_at(const struct sctp_assoc *a, unsigned int i)
{
	return i ? a->paths.other[i - 1] : a->path;
}

/* Returns the path with this id, which stays the same when another path is used. */
static inline struct sctp_path *sctp_path_by_id(struct sctp_assoc *a, unsigned int id)
{
	return id ? &a->paths.listed[id - 1] : &a->paths.first;
}

/* Returns the path of the chunk's last transmission. */
static inline struct sctp_path *sctp_path_of(const struct sctp_assoc *a, const struct sctp_out *o)
{
	return sctp_path_by_id((struct sctp_assoc *)(uintptr_t)a, o->path);
}

static inline bool sctp_in_states(const struct sctp_assoc *a, unsigned int states)
{
	return SCTP_IN(a->state) & states;
}

/* Stops the timer. The node in sctp.timers may then be too early; sctp_timers() corrects it. */
static inline void sctp_timer_stop(struct sctp_assoc *a, enum sctp_timer t)
{
	a->timers.at[t] = TIME_NEVER;
}

static inline bool sctp_timer_runs(const struct sctp_assoc *a, enum sctp_timer t)
{
	return a->timers.at[t] != TIME_NEVER;
}

/*
 * Creates an association in SCTP_CLOSED. The caller must set another state at once. mtu is the
 * interface's MTU, in bytes of whole IP packets. Returns NULL when out of memory, or if the
 * instance already has SCTP_ASSOCS_MAX associations.
 */
struct sctp_assoc *sctp_assoc_new(struct sctp_endpoint *ep, const struct path_addr *addr,
				  uint16_t remote_port, uint32_t mtu, uint64_t now);
/* Frees an association at once, without an event. */
void sctp_assoc_free(struct sctp_assoc *a);
/*
 * Finds the association whose peer has this address, or returns NULL. A peer may have several
 * associations, each with another local address; that address may not be known yet. A peer may also
 * list addresses that another association uses. tag is the packet's tag, of either side, or 0. A
 * matching tag takes precedence over addresses. A confirmed address takes precedence over one that
 * the peer only claims.
 */
struct sctp_assoc *sctp_assoc_find(struct sctp_endpoint *ep, const struct path_addr *addr,
				   uint16_t port, uint32_t tag);
/*
 * As sctp_assoc_find(), for n addresses in a list. Returns the association for the first address
 * that is confirmed as the peer's (5.1.2, 5.4), or NULL.
 */
struct sctp_assoc *sctp_assoc_find_listed(struct sctp_endpoint *ep, const struct ip_addr *local,
					  const struct ip_addr *remote, unsigned int n,
					  uint16_t port);
/*
 * True if the tag belongs to an association with that port whose peer has, or had, several
 * addresses. The peer may have deleted the source address of a packet that was already under way
 * (RFC 5061 4.2.4). Such a packet is not out of the blue.
 */
bool sctp_assoc_has_tag(const struct sctp_endpoint *ep, uint16_t port, uint32_t tag);
/* True if another association with this port uses, or has confirmed, this peer address. */
bool sctp_assoc_has_rival(const struct sctp_assoc *a, const struct ip_addr *remote);
/* Call this when the path in use, or its remote address, has changed. */
void sctp_assoc_rehash(struct sctp_assoc *a);
/*
 * Ends the association, unless it has ended already. error 0 causes SCTP_EVENT_CLOSED, any other
 * error SCTP_EVENT_LOST.
 */
void sctp_assoc_end(struct sctp_assoc *a, int error);
void sctp_assoc_event(struct sctp_assoc *a, enum sctp_event_type type);
/* Cancels an event that the user has not fetched yet. */
void sctp_assoc_event_cancel(struct sctp_assoc *a, enum sctp_event_type type);
/* Puts the association on the ready list: sctp_output() may have something to send. */
void sctp_assoc_ready(struct sctp_assoc *a);
/* Returns the receive window to advertise now, in bytes. */
uint32_t sctp_assoc_rwnd(const struct sctp_assoc *a);
/* Returns a random tag other than 0. */
uint32_t sctp_assoc_new_tag(struct sctp *s);
/* Returns the common header of a packet to the peer, in host order. */
static inline struct wire_sctp_common sctp_assoc_header(const struct sctp_assoc *a)
{
	return (struct wire_sctp_common){ a->ep->port, a->remote_port, a->peer_tag };
}

#endif
