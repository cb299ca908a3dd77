/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An association: its life, how it is found, its events. Each duty has its state in a struct of its
 * own, which is declared in the header of the module that does it.
 *
 * Guarded, all of it, by the caller's lock. A call that may end an association says so in
 * its comment: afterwards the state is SCTP_CLOSED, and only the event that reports the end is left
 * of it.
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

/* In the order of RFC 9260 4, so that all from SCTP_ESTABLISHED on are up. */
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
/* DATA may leave and SACKs count (RFC 9260 6). */
#define SCTP_STATES_SEND                                                                           \
	(SCTP_IN(SCTP_ESTABLISHED) | SCTP_IN(SCTP_SHUTDOWN_PENDING) |                              \
	 SCTP_IN(SCTP_SHUTDOWN_RECEIVED))
#define SCTP_STATES_RECEIVE                                                                        \
	(SCTP_IN(SCTP_ESTABLISHED) | SCTP_IN(SCTP_SHUTDOWN_PENDING) | SCTP_IN(SCTP_SHUTDOWN_SENT))
#define SCTP_STATES_UP (SCTP_STATES_SEND | SCTP_STATES_RECEIVE | SCTP_IN(SCTP_SHUTDOWN_ACK_SENT))

/* For sctp_assoc_inspect(): see struct sctp_assoc_info. What counts here is rare. */
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
	unsigned int events;	     /* 1 << enum sctp_event_type, not fetched yet */
	int error;		     /* of SCTP_EVENT_LOST, -errno */
	/* What the packets of the association say of it. */
	uint16_t remote_port;
	uint16_t out_streams;
	uint16_t in_streams;
	uint32_t local_tag;
	uint32_t peer_tag; /* 0: unknown yet */
	uint64_t heard;	   /* when the last valid packet of the peer came, ns */
	/* What is to be sent. */
	unsigned int pending;	    /* enum sctp_pending */
	bool want_pull;		    /* the user may have more */
	struct sctp_block *control; /* answers (control.c) in its first `used` bytes, or NULL */
	/* The duties. */
	struct sctp_path *path; /* the one in use: all DATA goes there, but what joined ones carry */
	struct sctp_outq out;	/* the chunks that are outstanding */
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

/* See struct sctp_paths for the index. */
static inline struct sctp_path *sctp_path_at(const struct sctp_assoc *a, unsigned int i)
{
	return i ? a->paths.other[i - 1] : a->path;
}

/* The path by its id, which it keeps whichever path is in use. */
static inline struct sctp_path *sctp_path_by_id(struct sctp_assoc *a, unsigned int id)
{
	return id ? &a->paths.listed[id - 1] : &a->paths.first;
}

/* The path that a chunk was sent on last. */
static inline struct sctp_path *sctp_path_of(const struct sctp_assoc *a, const struct sctp_out *o)
{
	return sctp_path_by_id((struct sctp_assoc *)(uintptr_t)a, o->path);
}

static inline bool sctp_in_states(const struct sctp_assoc *a, unsigned int states)
{
	return SCTP_IN(a->state) & states;
}

/* Stops the timer. The node in the heap stays too early; sctp_timers() puts it right. */
static inline void sctp_timer_stop(struct sctp_assoc *a, enum sctp_timer t)
{
	a->timers.at[t] = TIME_NEVER;
}

static inline bool sctp_timer_runs(const struct sctp_assoc *a, enum sctp_timer t)
{
	return a->timers.at[t] != TIME_NEVER;
}

/*
 * A new association in SCTP_CLOSED, which the caller takes out of that state at once. mtu: of the
 * interface, bytes of whole IP packets. NULL: no memory, or SCTP_ASSOCS_MAX are there already.
 */
struct sctp_assoc *sctp_assoc_new(struct sctp_endpoint *ep, const struct path_addr *addr,
				  uint16_t remote_port, uint32_t mtu, uint64_t now);
/* Frees an association at once and without an event. */
void sctp_assoc_free(struct sctp_assoc *a);
/*
 * The association whose peer has this address, or NULL. A peer may have several, each with another address of ours (or one
 * that is not known yet), and may list addresses that are another one's. A tag of either side, if the packet has one (else
 * 0), tells them apart better than the address where it arrived, and what is known better than what a peer says.
 */
struct sctp_assoc *sctp_assoc_find(struct sctp_endpoint *ep, const struct path_addr *addr,
				   uint16_t port, uint32_t tag);
/*
 * The association whose peer is known to have one of the n addresses that somebody lists (RFC 9260
 * 5.1.2, 5.4), or NULL.
 */
struct sctp_assoc *sctp_assoc_find_listed(struct sctp_endpoint *ep, const struct ip_addr *local,
					  const struct ip_addr *remote, unsigned int n,
					  uint16_t port);
/*
 * Whether this is the tag of an association with that port of a peer that has several addresses, or has had them. What
 * comes from an address that it has taken back (RFC 5061 4.2.4) was under way meanwhile, and is not out of the blue.
 */
bool sctp_assoc_has_tag(const struct sctp_endpoint *ep, uint16_t port, uint32_t tag);
/* Whether another association of the endpoint has the peer's port and this address, which its peer does not only list. */
bool sctp_assoc_has_rival(const struct sctp_assoc *a, const struct ip_addr *remote);
/* Another path is in use, or its address has changed. */
void sctp_assoc_rehash(struct sctp_assoc *a);
/*
 * Ends the association, unless it has ended: SCTP_EVENT_LOST with error, or _CLOSED if error is 0.
 */
void sctp_assoc_end(struct sctp_assoc *a, int error);
/* Reports an event to the user. */
void sctp_assoc_event(struct sctp_assoc *a, enum sctp_event_type type);
/* Takes an event back that the user has not fetched yet. */
void sctp_assoc_event_cancel(struct sctp_assoc *a, enum sctp_event_type type);
/* Puts the association on the ready list: sctp_output() may find something to send. */
void sctp_assoc_ready(struct sctp_assoc *a);
/* The window to advertise now, bytes. */
uint32_t sctp_assoc_rwnd(const struct sctp_assoc *a);
/* A random tag, not 0. */
uint32_t sctp_assoc_new_tag(struct sctp *s);
/* The header of a packet to the peer, in host order. */
static inline struct wire_sctp_common sctp_assoc_header(const struct sctp_assoc *a)
{
	return (struct wire_sctp_common){ a->ep->port, a->remote_port, a->peer_tag };
}

#endif
