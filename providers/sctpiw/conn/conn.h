/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections: the modules in conn/ assign associations, sessions and QPs to each other. They
 * manage endpoints (local ports), associations, rdma_cm ids, and QPs connected out of band. They
 * have no sockets, clock or threads. The owner of a struct conn sets the time, conn.now. struct
 * conn_ops has the calls to the host, struct carrier sends packets, and struct transport sends
 * messages.
 *
 * One struct conn belongs to one shard, whose lock guards all modules in conn/. A single-threaded
 * test needs no lock. Errors are -errno. Ports are in host byte order. Times are in ns.
 *
 * After each possible change (packet, timer, work request), the owner makes a pass over the conn:
 *	conn_receive()	receives packets
 *	conn_timers()	if the time of conn_next_timeout() has come
 *	conn_doorbell()	for each QP or SRQ with new work requests
 *	conn_events()	until it returns false
 *	conn_output()	sends packets; if it returns true, conn_events() follows again
 *	conn_reap()	at the end of the pass
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
	 * Starts the thread that calls conn_timers() when a timer is due, and conn_receive() when
	 * packets arrive. Returns 0 or -errno.
	 */
	int (*start_progress)(struct conn *c);
	/*
	 * Finds the route from src (NULL or family 0: any) to dst. Sets *source to the source
	 * address, with port 0. Returns 0, or the -errno of connect().
	 */
	int (*route)(struct conn *c, const struct sockaddr *src, const struct sockaddr *dst,
		     struct sockaddr_storage *source);
	/*
	 * Returns the MTU of the route in bytes, or 1280 if it is unknown. Call known_mtu()
	 * instead, which caches the result.
	 */
	uint32_t (*route_mtu)(struct conn *c, const struct path_addr *to);
	/* True if the address belongs to this host. */
	bool (*is_own_address)(struct conn *c, const struct ip_addr *ip);
	/* True if the setting `paths` permits that peers learn this local address. */
	bool (*may_tell)(struct conn *c, const struct ip_addr *ip);
	/*
	 * Writes at most max local addresses that a peer at to->remote may learn, without
	 * to->local. Returns their number.
	 */
	unsigned int (*addresses)(struct conn *c, const struct path_addr *to, struct ip_addr *addr,
				  unsigned int max);
	/*
	 * Finds the local address from which the host now sends packets to remote. Returns false if
	 * there is no route, or if the address's interface is not running.
	 */
	bool (*source)(struct conn *c, const struct ip_addr *remote, struct ip_addr *local);
	/*
	 * Reserves a port that programs see, but that no endpoint has: the given port, or any free
	 * port of the host if port is 0. Returns the port, or 0 if none is free.
	 */
	uint16_t (*take_port)(struct conn *c, uint16_t port);
	void (*give_port)(struct conn *c, uint16_t port);
	/* True if a process of the host has reserved the port with take_port(). */
	bool (*port_is_taken)(struct conn *c, uint16_t port);
	/* Destination of RDMA CM events. */
	struct conn_events_ops events;
	/*
	 * As in struct sctp_user_ops: compute the checksum of referenced memory, and copy it into a
	 * message.
	 */
	bool (*checksum)(uint32_t *crc, const uint8_t *from, size_t len);
	void (*copy_out)(uint8_t *msg, uint8_t *to, const uint8_t *from, size_t len);
};

/*
 * Traffic of all endpoints. The units are SCTP packets, or messages if the kernel's SCTP is used.
 */
struct conn_traffic {
	uint64_t packets_in, bytes_in;
	uint64_t packets_out, bytes_out;
	uint64_t waits; /* number of times that a socket's send buffer was full */
	/* Number of sockets that net/path_socket.h opened, and of batches sent on these sockets. */
	uint64_t path_sockets, path_sends;
	/* Used if packets are encrypted. */
	struct conn_dtls_traffic {
		uint64_t handshakes; /* completed handshakes */
		uint64_t refused;    /* handshakes without the right key, and unencrypted packets */
		uint64_t bad_records; /* records that no key decrypts */
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
		*all; /* conns of all shards, including this conn; NULL for a single conn */
	unsigned int n_all, index;
	uint64_t now;
	bool closed;	/* the sockets are closed, and no endpoint may be opened */
	bool wants_all; /* conn_with_all() has work */
	struct misplaced misplaced;
	_Atomic bool sacks_asked; /* conn_flush_sacks() has work; may be read without the lock */

	struct conn_traffic traffic;
	struct known_mtus known_mtus;
	struct endpoint_table endpoints;
	struct list_node assocs; /* conn_assoc.all; used only by inspect.c */
	unsigned int n_assocs;	 /* length of `assocs` */
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

/* Arguments of conn_start(). The objects must outlive the conn. */
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
	 * All conns of the RNIC, and the index of this conn. An entry must be valid once its conn
	 * is started. NULL and 0 for a single conn.
	 */
	struct conn *const *all;
	unsigned int n_all, index;
};

/*
 * Starts the transport. *c must be zero. Returns 0 or -errno. Sets why if the user can solve the
 * problem. After an error, conn_stop() must not be called.
 */
int conn_start(struct conn *c, const struct conn_param *param, struct config_error *why);
/*
 * Frees associations, endpoints and QP numbers, and stops the transport. Sends nothing. To inform
 * the peers, call conn_abort_all() and conn_output() before. Free all QPs and ids before.
 */
void conn_stop(struct conn *c);

enum conn_received conn_receive(struct conn *c, enum conn_depth depth);
/*
 * Handles events of associations and sessions. Calls raise with ctx for each event of a QP, CQ or
 * SRQ. Returns true if there were events; the caller then calls again.
 */
bool conn_events(struct conn *c, void (*raise)(void *ctx, const struct iw_event *ev), void *ctx);
/*
 * Handles new work requests of a QP or SRQ. Returns false without any action if the QP belongs to
 * another shard.
 */
bool conn_doorbell(struct conn *c, struct iw_doorbell *doorbell);
/*
 * Makes conn_output() send acknowledgements that were delayed to travel with a message. Call this
 * after the application has had time to post a message. Returns false if there are no such
 * acknowledgements.
 */
static inline bool conn_flush_sacks(struct conn *c)
{
	if (!atomic_load_explicit(&c->sacks_asked, memory_order_relaxed))
		return false;
	c->transport->flush_sacks(c);
	atomic_store_explicit(&c->sacks_asked, false, memory_order_relaxed);
	return true;
}
/*
 * Sends all packets that congestion control and the sockets admit now. Returns true if
 * conn_events() may have new events.
 */
bool conn_output(struct conn *c);
/*
 * Returns the number of bytes in flight, including packet overhead, or UINT32_MAX if it is unknown.
 */
uint32_t conn_in_flight(const struct conn *c);
/* True if conn_output() would send more when called again. */
static inline bool conn_is_pending(const struct conn *c)
{
	return c->datagrams.out && datagram_is_pending(c);
}
/*
 * Returns the time at which to call conn_timers(), or TIME_NEVER. The time may be a little early
 * (sctp_next_timeout()).
 */
uint64_t conn_next_timeout(const struct conn *c);
void conn_timers(struct conn *c);
/*
 * Call this after local addresses or routes change, so that associations choose their paths again.
 */
void conn_readdress(struct conn *c);
/* Does the work that conn.wants_all requests. The caller holds the locks of all shards. */
void conn_with_all(struct conn *c);
/* Frees unused endpoints. Do not call this while an event is handled. */
void conn_reap(struct conn *c);

/* True if the peers have acknowledged all messages of the sessions. */
bool conn_is_drained(const struct conn *c);
/* Sends an ABORT on every association, so that peers notice the end of this process at once. */
void conn_abort_all(struct conn *c);
/* For the child of a fork(): only closes the descriptors of all endpoints. */
void conn_forget(struct conn *c);

/* Returns the shard's QP with this number, or NULL. */
static inline struct iw_qp *conn_qp(const struct conn *c, uint32_t num)
{
	return iw_qp_by_num(c->iw, num);
}

/* Fills *stats with SCTP's counters, or zeros if the transport has none. */
void conn_sctp_stats(const struct conn *c, struct sctp_stats *stats);

#endif
