/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections: this directory assigns associations, sessions and QPs to each other. It manages
 * endpoints (local ports), associations, RDMA CM ids and QPs connected out of band. It has no
 * socket, no clock and no thread. The owner sets the time, conn.now. Requests to the host go
 * through struct conn_ops, packets through struct carrier, messages through struct transport.
 *
 * One struct conn belongs to one shard, whose lock guards all of this directory. A single-threaded
 * test needs no lock. Errors are -errno, ports are in host order, times in ns.
 *
 * The owner's pass, after any possible change:
 *	conn_receive()	receives packets
 *	conn_timers()	after conn_next_timeout()
 *	conn_doorbell()	for each QP or SRQ with new work requests
 *	conn_events()	until it returns false
 *	conn_output()	sends; if it returns true, call conn_events() again
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

/* Callbacks to the layers above, or to a test. None is NULL. */
struct conn_ops {
	/*
	 * After this, conn_timers() is called in time, and conn_receive() for packets. 0 or -errno.
	 */
	int (*start_progress)(struct conn *c);
	/*
	 * Finds the route from src (NULL or family 0: any) to dst. *source: source address, with
	 * port 0. Returns 0, or the -errno of connect().
	 */
	int (*route)(struct conn *c, const struct sockaddr *src, const struct sockaddr *dst,
		     struct sockaddr_storage *source);
	/*
	 * Returns the MTU of the route in bytes, 1280 if unknown. Callers use known_mtu() instead.
	 */
	uint32_t (*route_mtu)(struct conn *c, const struct path_addr *to);
	/* True if the address belongs to this host. */
	bool (*is_own_address)(struct conn *c, const struct ip_addr *ip);
	/* True if peers may learn this local address, by the setting `paths`. */
	bool (*may_tell)(struct conn *c, const struct ip_addr *ip);
	/*
	 * Writes at most max local addresses, besides to->local, that a peer at to->remote may
	 * learn. Returns their number.
	 */
	unsigned int (*addresses)(struct conn *c, const struct path_addr *to, struct ip_addr *addr,
				  unsigned int max);
	/*
	 * Finds the local address from which packets to remote leave now, if its interface is
	 * running. Returns false if there is no such route.
	 */
	bool (*source)(struct conn *c, const struct ip_addr *remote, struct ip_addr *local);
	/*
	 * Reserves a port to show to programs besides those of endpoints: the given port, or for 0
	 * a free port of the host. Returns the port, or 0 if there is none.
	 */
	uint16_t (*take_port)(struct conn *c, uint16_t port);
	void (*give_port)(struct conn *c, uint16_t port);
	/* True if a process of the host has taken the port. */
	bool (*port_is_taken)(struct conn *c, uint16_t port);
	/* Destination of RDMA CM events. */
	struct conn_events_ops events;
	/*
	 * As in struct sctp_user_ops: checksum of referenced memory, and its copy into a message.
	 */
	bool (*checksum)(uint32_t *crc, const uint8_t *from, size_t len);
	void (*copy_out)(uint8_t *msg, uint8_t *to, const uint8_t *from, size_t len);
};

/*
 * Traffic through the carrier on all endpoints: SCTP packets, or messages with the kernel's SCTP.
 */
struct conn_traffic {
	uint64_t packets_in, bytes_in;
	uint64_t packets_out, bytes_out;
	uint64_t waits; /* number of times that a socket was full */
	/* udp: sockets opened for one path each, and batches sent on them */
	uint64_t path_sockets, path_sends;
	/* dtls */
	struct conn_dtls_traffic {
		uint64_t handshakes; /* completed handshakes */
		uint64_t refused; /* handshakes without the right key, and packets in the clear */
		uint64_t bad_records; /* records that no key opens */
		uint64_t replays;     /* records that arrived again, or too late */
	} dtls;
};

struct conn {
	const struct conn_ops *ops;
	const struct config *config;
	const struct transport *transport;
	void *transport_state;	       /* private to the transport */
	const struct carrier *carrier; /* carrier for user_sctp; NULL with the kernel's SCTP */
	struct net *net;	       /* private to the carrier: sockets, or a simulated network */
	struct iw_shard *iw;
	struct random_source *random;
	struct conn *const
		*all; /* the conns of all shards, including this one; NULL for a single conn */
	unsigned int n_all, index;
	uint64_t now;
	bool closed;	/* the sockets are closed: no new endpoint is opened */
	bool wants_all; /* conn_with_all() has work */
	struct misplaced misplaced;
	_Atomic bool sacks_asked; /* conn_flush_sacks() has work; may be read without the lock */

	struct conn_traffic traffic;
	struct known_mtus known_mtus;
	struct endpoint_table endpoints;
	struct list_node assocs; /* conn_assoc.all; only for conn/inspect.h */
	unsigned int n_assocs;	 /* number of these */
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

/* Parts of a conn. All must outlive the conn. */
struct conn_param {
	const struct conn_ops *ops;
	const struct config *config;
	const struct transport *transport;
	const struct carrier *carrier; /* NULL with the kernel's SCTP */
	struct net *net;
	struct iw_shard *iw;
	struct cm_id_table *ids;
	struct random_source *random;
	/*
	 * All conns of the RNIC, valid once they are started, and the index of this one. NULL and
	 * 0: a single conn.
	 */
	struct conn *const *all;
	unsigned int n_all, index;
};

/*
 * Starts the transport. *c must be zero. Returns 0 or -errno. After an error, there is nothing to
 * stop, and why is set if the user can solve the problem.
 */
int conn_start(struct conn *c, const struct conn_param *param, struct config_error *why);
/*
 * Frees associations, endpoints and QP numbers, and stops the transport. Sends nothing: call
 * conn_abort_all() and conn_output() before, to inform peers. QPs and ids must be freed before.
 */
void conn_stop(struct conn *c);

/* Receives packets. The return value shows whether another call is worthwhile. */
enum conn_received conn_receive(struct conn *c, enum conn_depth depth);
/*
 * Reports events of associations and sessions. Calls raise with ctx for each event of a QP, CQ or
 * SRQ. Returns true if anything happened; there may be more then.
 */
bool conn_events(struct conn *c, void (*raise)(void *ctx, const struct iw_event *ev), void *ctx);
/*
 * Handles new work requests of a QP or SRQ. Returns false, and does nothing, if the QP is another
 * shard's.
 */
bool conn_doorbell(struct conn *c, struct iw_doorbell *doorbell);
/*
 * Makes conn_output() send the requested acknowledgements that wait for a message. Call this after
 * the application had the chance to post a message. Returns false if there are none.
 */
static inline bool conn_flush_sacks(struct conn *c)
{
	if (!atomic_load_explicit(&c->sacks_asked, memory_order_relaxed))
		return false;
	c->transport->flush_sacks(c);
	atomic_store_explicit(&c->sacks_asked, false, memory_order_relaxed);
	return true;
}
/* Sends all that may leave now. Returns true if conn_events() may have new events. */
bool conn_output(struct conn *c);
/* Returns the bytes in flight, with packet overhead; UINT32_MAX if unknown. */
uint32_t conn_in_flight(const struct conn *c);
/* True if conn_output() would send more when called again. */
static inline bool conn_is_pending(const struct conn *c)
{
	return c->datagrams.out && datagram_is_pending(c);
}
/* Returns when conn_timers() is due, or a little earlier (sctp_next_timeout()); or TIME_NEVER. */
uint64_t conn_next_timeout(const struct conn *c);
/* Runs all timers that are due at conn.now. */
void conn_timers(struct conn *c);
/* Call this after local addresses or routes changed: associations may leave on other paths. */
void conn_readdress(struct conn *c);
/* Does the work that needs the locks of all shards, which the caller has (conn.wants_all). */
void conn_with_all(struct conn *c);
/* Frees unused endpoints. Not from within an event. */
void conn_reap(struct conn *c);

/* True if all messages from the sessions are acknowledged. */
bool conn_is_drained(const struct conn *c);
/* Sends an ABORT on every association, so that peers notice the end of this process at once. */
void conn_abort_all(struct conn *c);
/* In the child of a fork(): only closes the descriptors of all endpoints. */
void conn_forget(struct conn *c);

/* Returns the shard's QP with this number, or NULL. */
static inline struct iw_qp *conn_qp(const struct conn *c, uint32_t num)
{
	return iw_qp_by_num(c->iw, num);
}

/* Returns SCTP's counters; all zero if the transport has none. */
void conn_sctp_stats(const struct conn *c, struct sctp_stats *stats);

#endif
