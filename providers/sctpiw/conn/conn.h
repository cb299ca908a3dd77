/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections: which association, which session, which QP. This room knows endpoints (local ports),
 * associations, RDMA CM ids and QPs connected out of band; it has no socket, no clock and no thread. The
 * time is conn.now, which the owner sets. What needs the host goes through struct conn_ops, packets go
 * through struct carrier, messages through struct transport.
 *
 * One struct conn belongs to one shard. The shard's lock guards all of this room; a test that drives it
 * from one thread needs none. Errors are -errno, ports are in host order, times in ns.
 *
 * The owner's round, after anything that may have changed something:
 *	conn_receive()	takes what has come in
 *	conn_timers()	when conn_next_timeout() is over
 *	conn_doorbell()	for each QP or SRQ with new work requests
 *	conn_events()	until it returns false
 *	conn_output()	sends what may leave now; if it returns true, conn_events() again
 *	conn_reap()	at the end
 */
#ifndef SCTPIW_CONN_CONN_H
#define SCTPIW_CONN_CONN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "conn/assoc.h"
#include "conn/cm.h"
#include "conn/datagram.h"
#include "conn/endpoint.h"
#include "conn/endpoint_group.h"
#include "conn/events.h"
#include "conn/known_mtu.h"
#include "conn/misplaced.h"
#include "conn/multicast.h"
#include "conn/oob.h"
#include "conn/qp_num.h"
#include "conn/sidr.h"
#include "conn/stand_in.h"
#include "conn/transport.h"
#include "conn/unanswered.h"
#include "iwarp/iwarp.h"
#include "util/addr.h"
#include "util/random.h"
#include "util/time.h"

struct config;
struct config_error;
struct conn;
struct net;
struct to_self;

/* What the rooms to the right, or a test, do for this one. None of it is NULL. */
struct conn_ops {
	/* From now on somebody calls conn_timers() in time and conn_receive() when packets come. -errno. */
	int (*start_progress)(struct conn *c);
	/*
	 * The route from src (NULL, or of family 0: any) to dst: the source address in *source, with port 0.
	 * -errno as of connect().
	 */
	int (*route)(struct conn *c, const struct sockaddr *src, const struct sockaddr *dst,
		     struct sockaddr_storage *source);
	/* The MTU of the route to that address, bytes; 1280 if nothing is known. Callers use known_mtu(). */
	uint32_t (*route_mtu)(struct conn *c, const struct path_addr *to);
	/* Whether the address belongs to this host. */
	bool (*is_own_address)(struct conn *c, const struct ip_addr *ip);
	/* Whether peers may be told of this address of ours, as the setting `paths` says. */
	bool (*may_tell)(struct conn *c, const struct ip_addr *ip);
	/*
	 * Addresses of ours, besides to->local, that a peer at to->remote may be told of: max at most, and how many.
	 */
	unsigned int (*addresses)(struct conn *c, const struct path_addr *to, struct ip_addr *addr,
				  unsigned int max);
	/*
	 * Which address of ours packets to that one leave from now, if its interface is running. false: there is no
	 * such way.
	 */
	bool (*source)(struct conn *c, const struct ip_addr *remote, struct ip_addr *local);
	/*
	 * Takes a port to show to programs beside those of endpoints: the given port, or with 0 a
	 * port that is free on the host. Returns the port, or 0 if there is none.
	 */
	uint16_t (*take_port)(struct conn *c, uint16_t port);
	void (*give_port)(struct conn *c, uint16_t port);
	/* Whether a process of the host has taken the port. */
	bool (*port_is_taken)(struct conn *c, uint16_t port);
	/* Where RDMA CM events go. */
	struct conn_events_ops events;
	/* As in struct sctp_user_ops: the checksum over referenced memory, and its copy into a message. */
	bool (*checksum)(uint32_t *crc, const uint8_t *from, size_t len);
	void (*copy_out)(uint8_t *msg, uint8_t *to, const uint8_t *from, size_t len);
};

/* What has passed the carrier, on all endpoints: SCTP packets; with the kernel's SCTP messages. */
struct conn_traffic {
	uint64_t packets_in, bytes_in;
	uint64_t packets_out, bytes_out;
	uint64_t waits; /* how often a socket could take no more */
	/* udp: sockets that were opened for one path each, and batches that were sent on them */
	uint64_t path_sockets, path_sends;
	/* dtls */
	struct conn_dtls_traffic {
		uint64_t handshakes; /* that are done */
		uint64_t refused; /* that failed for want of the right key, and packets in the clear */
		uint64_t bad_records; /* that no key opens */
		uint64_t replays;     /* records that came again, or too late */
	} dtls;
};

struct conn {
	const struct conn_ops *ops;
	const struct config *config;
	const struct transport *transport;
	void *transport_state;	       /* the transport's own */
	const struct carrier *carrier; /* of the packets of user_sctp; NULL with the kernel's SCTP */
	struct net *net;	       /* the carrier's own: sockets, or a simulated network */
	struct iw_shard *iw;
	struct random_source *random;
	struct conn *const
		*all; /* the conns of the RNIC's shards, this one among them; of one alone, NULL */
	unsigned int n_all, index;
	uint64_t now;
	bool closed;	/* the sockets are gone: no new endpoint is opened */
	bool wants_all; /* conn_with_all() has something to do */
	struct misplaced misplaced;
	_Atomic bool
		sacks_asked; /* conn_flush_sacks() has something to do; may be read without the lock */

	struct conn_traffic traffic;
	struct known_mtus known_mtus;
	struct endpoint_table endpoints;
	struct list_node assocs; /* conn_assoc.all; conn/inspect.h goes through it, and nobody else */
	unsigned int n_assocs;	 /* on it */
	struct conn_idle idle;
	struct conn_strangers strangers;
	struct conn_unanswered unanswered;
	struct cm cm;
	struct sidr sidr;
	struct stand_ins stand_ins;
	struct qp_num_table qp_nums;
	struct oob_table oob;
	struct datagrams datagrams;
	struct multicast multicast;
	struct to_self *to_self; /* NULL until a QP is connected to itself */
};

/* What a conn is made of. All of it must outlive the conn. */
struct conn_param {
	const struct conn_ops *ops;
	const struct config *config;
	const struct transport *transport;
	const struct carrier *carrier; /* NULL with the kernel's SCTP */
	struct net *net;
	struct iw_shard *iw;
	struct cm_id_table *ids;
	struct random_source *random;
	/* All conns of the RNIC, once they are started, and this one's place there. NULL and 0: it stands alone. */
	struct conn *const *all;
	unsigned int n_all, index;
};

/*
 * Starts the transport. *c must be zero. -errno; then why says what a user can do about it, if anything,
 * and there is nothing to stop.
 */
int conn_start(struct conn *c, const struct conn_param *param, struct config_error *why);
/*
 * Frees associations, endpoints and QP numbers, and stops the transport. Nothing is sent: who wants peers
 * to know calls conn_abort_all() and conn_output() before. QPs and ids must have been freed.
 */
void conn_stop(struct conn *c);

/* Takes what came in. How much there was says whether another call is worth while. */
enum conn_received conn_receive(struct conn *c, enum conn_depth depth);
/*
 * Reports what happened to associations and sessions. raise: called for each event that concerns a QP, CQ
 * or SRQ instead of a session, with ctx. Returns whether anything happened; then there may be more.
 */
bool conn_events(struct conn *c, void (*raise)(void *ctx, const struct iw_event *ev), void *ctx);
/* The QP or SRQ of this doorbell has new work requests. false: the QP is another shard's, and nothing was done. */
bool conn_doorbell(struct conn *c, struct iw_doorbell *doorbell);
/*
 * Has conn_output() send the acknowledgements that peers have asked for and that wait for a message to ride
 * on: the application has had its chance to post one. Returns whether there are any.
 */
static inline bool conn_flush_sacks(struct conn *c)
{
	if (!atomic_load_explicit(&c->sacks_asked, memory_order_relaxed))
		return false;
	c->transport->flush_sacks(c);
	atomic_store_explicit(&c->sacks_asked, false, memory_order_relaxed);
	return true;
}
/* Sends what may leave now. Returns whether conn_events() may have something to tell of it. */
bool conn_output(struct conn *c);
/* bytes in flight, with the packets' overhead; UINT32_MAX if nobody knows */
uint32_t conn_in_flight(const struct conn *c);
/* Whether conn_output() has left something that it would send if it were called again. */
static inline bool conn_is_pending(const struct conn *c)
{
	return c->datagrams.out && datagram_is_pending(c);
}
/* When conn_timers() is due, or a little earlier (sctp_next_timeout()); TIME_NEVER: never. */
uint64_t conn_next_timeout(const struct conn *c);
/* Runs all timers whose time has come at conn.now. */
void conn_timers(struct conn *c);
/* Our addresses or routes have changed: associations may leave by other ways now. */
void conn_readdress(struct conn *c);
/* Does what needs the locks of all shards, which the caller has, as conn.wants_all asks. */
void conn_with_all(struct conn *c);
/* Frees endpoints that nobody uses any more. Not from within an event. */
void conn_reap(struct conn *c);

/* Whether everything that was pulled from the sessions is acknowledged. */
bool conn_is_drained(const struct conn *c);
/* ABORTs every association, so that peers know at once that this process is gone. */
void conn_abort_all(struct conn *c);
/* In the child of a fork(): closes the descriptors of all endpoints and does nothing else. */
void conn_forget(struct conn *c);

/* The shard's QP of this number; NULL: there is none. */
static inline struct iw_qp *conn_qp(const struct conn *c, uint32_t num)
{
	return iw_qp_by_num(c->iw, num);
}

/* What SCTP has counted; all zero if the transport does not count. */
void conn_sctp_stats(const struct conn *c, struct sctp_stats *stats);

#endif
