/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The engine from inside: the struct itself, endpoints and associations, and the functions
 * between the files of this directory. Everything needs the engine lock unless said otherwise.
 */
#ifndef SCTPIW_ENGINE_PRIVATE_H
#define SCTPIW_ENGINE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "config/config.h"
#include "runtime/engine.h"
#include "sys/sys.h"
#include "conn/transport.h"
#include "iwarp/iwarp.h"
#include "util/list.h"
#include "util/random.h"
#include "util/time.h"
#include "util/timerq.h"

struct capture;
struct cm_id;
struct carrier;
struct qp_block;
struct to_self;
struct trace_file;

/* A local port, and a socket that holds it. Freed when refs is 0 and the pass ends. */
struct endpoint {
	struct list_node node; /* engine.endpoints */
	struct engine *engine;
	void *state;	   /* the transport's */
	unsigned int refs; /* ids that use it, associations */
	struct list_node assocs;
	struct list_node ids; /* cm_id.bound_node: ids that claim the address */
	struct cm_id *listener;
	struct sockaddr_storage local; /* as bound, with the port */
	bool v6only;
	bool shared; /* for ids that were not bound to a port */
	struct list_node client_node; /* engine.clients, if there is one: shared, and not full */
	uint8_t tos; /* of the IP packets, or their traffic class */
	bool dormant; /* has its port, and nobody looks at what comes there */
	struct qp_block *block; /* of QP numbers that its port is a part of; or NULL */

	int fd;
	int fd4;    /* `ip`: for IPv4 beside IPv6; or -1 */
	int claim;  /* `ip`: has the port; or -1 */
	int out_fd; /* the one that was last sent on */
	int family;
	bool wildcard;
	uint16_t port;

	/* Of the carriers of packets (llp.h). */
	const struct carrier *carrier;
	size_t rcvbuf;
	bool df;     /* as the socket has it now */
	bool no_gso; /* this path of the kernel cannot do UDP_SEGMENT */
};

/* An SCTP association and the iwarp sessions on it: between transport and iwarp, user to both. */
struct conn_assoc {
	struct list_node node; /* endpoint.assocs */
	struct endpoint *ep;
	void *state;	     /* the transport's */
	struct iw_assoc *iw; /* NULL until it is up */
	struct list_node waiting; /* cm_id.wait_node: connect when it is up */
	struct list_node oob;	  /* oob.wait_node: likewise */
	size_t max_msg;		  /* as iwarp knows it */
	bool closing;		  /* shutting down, by us or the peer: takes no new session */
	bool initiator;		  /* this side opened it */
	bool gone;		  /* the transport's part is over: never to be called again */
	struct list_node idle_node; /* engine.idle[]: without a session */
	uint64_t idle_deadline;
};

/* Which of the idle lists: the side that opened it gives up first, so that the peer does not
 * close just when this side wants to use it again. Where no id has the port any more, nobody will. */
enum { IDLE_PASSIVE, IDLE_ACTIVE, IDLE_ABANDONED, IDLE_LISTS };

/* What has passed the lower layer, on all endpoints: SCTP packets, or with `kernel` messages. */
struct engine_traffic {
	uint64_t packets_in, bytes_in;
	uint64_t packets_out, bytes_out;
	uint64_t waits; /* for a socket that takes no more */
};

struct engine {
	pthread_mutex_t lock;
	_Atomic int owner;	     /* thread id of the lock's holder, for the assertion */
	_Atomic unsigned int waiters; /* threads in engine_lock(); pollers keep away */
	/* Set once, under the lock: after fork in the child, or at exit. The sockets are gone. */
	_Atomic bool dead;

	struct config config;
	const struct transport *transport;
	void *transport_state;
	const struct carrier *carrier;	 /* of our own SCTP */
	struct capture *capture; /* NULL: none */
	struct trace_file *trace; /* NULL: none */
	struct iw_rnic *rnic;
	struct random_source random;
	struct engine_traffic traffic;

	struct list_node endpoints;
	unsigned int n_endpoints;
	bool reap; /* an endpoint has no reference left */
	struct list_node clients; /* endpoint.client_node: one of each family and TOS */
	struct list_node idle[IDLE_LISTS];
	struct list_node accepting; /* cm_id.accept_node: an Initiate waits for its answer */
	struct list_node ending;    /* cm_id.accept_node: DISCONNECTED waits for the CQ to be polled */
	uint64_t end_check;	    /* when that is looked at next */

	struct list_node qp_blocks; /* qp_num.c */
	struct list_node dormant;   /* endpoint.node */
	/* oob.c */
	struct timerq oob_timers;
	unsigned int n_oob;
	struct list_node early; /* Initiates that came before their QP */
	unsigned int n_early;
	uint64_t oob_token; /* this process, to itself */
	struct to_self *to_self; /* NULL: no QP was ever oob to itself */

	uint64_t now;

	/* QPs and SRQs with new WRs. */
	_Atomic(struct iw_doorbell *) doorbells;
	/* A burst (poller.c); estimates will do. */
	_Atomic uint64_t last_served; /* when what was posted was last sent */
	_Atomic uint64_t gathered_bytes;
	_Atomic uint32_t gathered; /* calls of engine_doorbell() since */
	_Atomic uint32_t gap_shift;
	_Atomic bool doorbell_wake;	    /* the thread was woken to send the rest of a burst */

	/* The progress thread. */
	_Atomic bool thread_started;
	bool one_cpu; /* there is one processor for all of the process's threads */
	int wake_fd;   /* eventfd */
	int timer_fd;  /* for timer_set */
	int netdev_fd; /* netdev_watch_fd(), as far as the thread has seen it */
	int epoll_fd;  /* the transport's sockets */
	/*
	 * What the thread sleeps on: those three, their entries point to the fields, and the sockets. To
	 * be one set with theirs saves time in each wake-up, but takes what epoll tells only once.
	 */
	int wait_fd;
	uint64_t timer_set;
	uint64_t next_due; /* the earliest deadline, as of the last loop_finish() */
	_Atomic bool parked;
	_Atomic uint64_t last_cm_event; /* when one was posted, ns */
	uint64_t received;	  /* passes that brought something */
	uint64_t no_linger_until; /* the thread's alone, as the next */
	uint64_t no_linger;
	/* Rounds of engine_progress(), and doorbells in a burst; estimates will do. */
	_Alignas(64) _Atomic uint32_t polls;
	_Atomic uint32_t busy_polls; /* another thread was inside */
	_Atomic uint64_t last_poll; /* ns */
	_Atomic bool poller_inside;
	_Alignas(64) _Atomic uint32_t arms;
	_Atomic uint32_t polls_at_arm;
};

/* Is this an entry of the transport, or one of the thread, where the two share a set? */
static inline bool engine_is_socket(const struct engine *e, const void *ptr)
{
	return ptr != &e->wake_fd && ptr != &e->timer_fd && ptr != &e->netdev_fd;
}

/* Of those that tell roughly what other threads do. */
static inline uint32_t engine_load(const _Atomic uint32_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

/* loop.c */
/* Receive, timers, events, output, once; true: there may be more at once. */
bool loop_pass(struct engine *e, enum loop_depth depth);
/* Doorbells, events, output. What every holder of the lock does before letting go. */
void loop_finish(struct engine *e);
/* Sends what SCTP has ready. */
void loop_output(struct engine *e);
/* Doorbells, what they send, and events: the state that a control operation starts from. */
void loop_settle(struct engine *e);
uint64_t loop_next_timeout(struct engine *e);
/* Lock-free: a queue has new WRs. Returns whether it was not known to have some already. */
bool loop_ring_doorbell(struct engine *e, struct iw_doorbell *doorbell);
bool loop_has_doorbells(struct engine *e);
/* Lets go of the lock: nothing that was rung meanwhile is left behind. */
void loop_unlock(struct engine *e);
bool loop_trylock(struct engine *e);
void loop_lock(struct engine *e); /* not counted as a waiter */
void loop_entered(struct engine *e); /* whoever took the mutex by itself */
void loop_read_clock(struct engine *e); /* whoever holds the lock for long */

/* progress.c */
int progress_start(struct engine *e);
/* The thread's own descriptors do not show up among the sockets any more. */
void progress_unwatch(struct engine *e);
/* Have the thread look at its descriptors and the timer again. */
void progress_wake(struct engine *e);

/* endpoint.c */
/*
 * A referenced endpoint bound to addr. May be one that is there already, if nobody but associations
 * claims it, or reuse allows it. -errno as bind() and rdma_bind_addr().
 */
int endpoint_open(struct engine *e, const struct sockaddr *addr, bool v6only, bool reuse,
		  struct endpoint **ep);
/* A referenced endpoint for active connections from any port: that of the family and TOS. */
int endpoint_open_client(struct engine *e, int family, uint8_t tos, struct endpoint **ep);
/*
 * A referenced endpoint bound to addr that costs nothing but its descriptor: what comes is left lying
 * until it wakes. That is once and for all; peers may open associations to the addresses that it was woken for.
 */
int endpoint_open_dormant(struct engine *e, const struct sockaddr *addr, struct endpoint **ep);
int endpoint_wake(struct endpoint *ep, const struct ip_addr *local);
/* A referenced endpoint to share in the place of one where the streams to a peer are used up. */
int endpoint_open_next(struct endpoint *full, struct endpoint **ep);
void endpoint_put(struct endpoint *ep);
void endpoint_set_tos(struct endpoint *ep, uint8_t tos);
/* For a transport: gives a socket the endpoint's TOS. */
void endpoint_mark(const struct endpoint *ep, int fd);
/* An id that has it lets go of it. Without ids it is kept for the sessions on it alone. */
void endpoint_leave(struct cm_id *id);
/* Its port is there for the sessions on it alone: no id has it, nor QP numbers, nor is it for clients. */
bool endpoint_is_abandoned(const struct endpoint *ep);
void endpoint_reap(struct engine *e);

/* assoc.c */
/*
 * The association from ep, and from to->local, to that peer, new or an existing one. It may not be up yet, or closing:
 * then the id waits on it.
 */
int conn_assoc_connect(struct endpoint *ep, const struct path_addr *to, uint16_t port,
		  struct conn_assoc **out);
/* A session of it ended, or it has none yet: starts the clock when there are none left. */
void conn_assoc_check_idle(struct conn_assoc *a);
void conn_assoc_timers(struct engine *e);
uint64_t conn_assoc_next_timeout(const struct engine *e);
/* ABORTs every association. */
void conn_assoc_abort_all(struct engine *e);
/* Is it usable for another session? */
bool conn_assoc_is_up(const struct conn_assoc *a);

/* netdev.c: no lock */
/* Readable when the host's interfaces or addresses may have changed: netdev_changed() then; or -1. */
int netdev_watch_fd(void);
void netdev_changed(void);
/* Around fork(), so that the child finds the lock free. */
void netdev_fork_prepare(void);
void netdev_fork_done(void);
void netdev_fork_child(void); /* its node GUID is another one from then on */
uint32_t netdev_forks(void);  /* rnic_api.h */

/* route.c: no lock */
/*
 * The route from src (family 0 or wildcard: any) to dst: the source address, without port, and the
 * path MTU in bytes. -errno of connect().
 */
int route_lookup(const struct sockaddr *src, const struct sockaddr *dst,
		 struct sockaddr_storage *source, uint32_t *mtu);
/* The path MTU towards to; 1280 when nothing is known. */
uint32_t route_mtu(const struct path_addr *to);

#endif
