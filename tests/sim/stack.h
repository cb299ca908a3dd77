/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whole stacks, the real conn/ from RDMA CM ids and QPs connected out of band down to SCTP packets, on a
 * simulated network with a virtual clock. A node is a process with one RNIC and one struct conn. A work is a
 * pair of QPs of two nodes with a programme of Sends, RDMA Writes, RDMA Reads, atomics and immediate data in
 * both directions. An ordered, perfect model is fed the same programme: the memory of both ends and the
 * completions of each queue have to come out as it says.
 *
 * If a work is said to end early (work->ends), every request still completes or is flushed, what completed
 * is right, and each byte of the sinks is either untouched or as the model has it.
 *
 * Files: stack.c has the world, the nodes and the loop; stack_carrier.c the simulated carrier; stack_host.c
 * what conn/ and the RNIC ask of the host; stack_connect.c the applications while they connect and
 * disconnect; stack_plan.c the programmes; stack_work.c the applications that post and poll, and the model;
 * stack_srq.c receives that several QPs share;
 * stack_late.c checks that nothing leaves of what was flushed; stack_inside.c looks into sctp/ and iwarp/.
 */
#ifndef TESTS_SIM_STACK_H
#define TESTS_SIM_STACK_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "conn/conn.h"
#include "conn/user_sctp.h"
#include "sctp/sctp.h"
#include "sim/reno.h"
#include "sim/simnet.h"

#define SEC 1000000000ull
#define MSEC SIMNET_MSEC
#define STACK_NODES 4 /* of a world at most; likewise below */
#define STACK_WORKS 64
#define STACK_UDP_PORT 5000 /* all endpoints of a node are behind it */
#define STACK_IFINDEX 1	    /* of the interface that a node has */
#define STACK_CM_PORT                                                                              \
	7000 /* nodes listen here, and ids that share an association connect from here */
/* The memory of a side, bytes: a source, a sink, and receives. */
#define STACK_SOURCE 65536u
#define STACK_SINK 262144u /* the front half for the peer's writes, the back half for our reads */
#define STACK_RECV 9000u   /* of each receive */
#define STACK_WORDS 4u	   /* words of 64 bits for the peer's atomics */
#define STACK_SRQ 64u	   /* receives that are shared, at most */
#define STACK_XRC_SRQS 2u  /* of a node; the slots of receives are theirs in turn */
#define STACK_BULK 16384u  /* bytes of a write of a bulk flow */
#define STACK_HEARD 16u	   /* RDMA CM events of one id, at most */

struct stack_world;
struct stack_node;
struct stack_work;

/* One request of a programme. */
struct stack_op {
	uint8_t opcode; /* enum iw_wr_opcode */
	bool back;	/* a read of what an earlier write of ours has put into the peer's sink */
	bool fence;
	bool bad;     /* with an STag that the peer does not know */
	uint32_t len; /* bytes */
	/* Where its bytes are, as offsets; in the words, the number of the word. */
	uint32_t local; /* in our source; reads: in our sink */
	uint32_t remote; /* writes: in the peer's sink; reads: in its source, or sink; atomics: in its words */
	uint32_t imm;		    /* *_WITH_IMM */
	uint64_t compare_add, swap; /* atomics */
};

/* How far the application of a side has come with its connection. */
enum stack_phase {
	STACK_IDLE,	  /* has not begun, or begins anew */
	STACK_ADDRESS,	  /* waits for ADDR_RESOLVED */
	STACK_ROUTE,	  /* waits for ROUTE_RESOLVED */
	STACK_CONNECTING, /* waits for ESTABLISHED, or why not */
	STACK_REQUESTED,  /* has a request that it will answer */
	STACK_ACCEPTED,	  /* has accepted, and waits for ESTABLISHED */
	STACK_CONNECTED,
	STACK_DISCONNECTED, /* has heard DISCONNECTED */
	STACK_FAILED,	    /* has heard that it is not to be */
	STACK_LEAVING,	    /* out of band: stays as it is for a while, and then begins anew */
};

/* What the application of a side does and hears about its connection. */
struct stack_link {
	enum stack_phase phase;
	uint32_t id;	  /* the RDMA CM id; 0: none */
	uint64_t at;	  /* when the application begins, or answers a request */
	uint32_t failure; /* the event that said that the connection is not to be; 0: none did */
	int status;	  /* of it */
	uint8_t heard[STACK_HEARD]; /* events of this id, in their order */
	unsigned int n_heard;
	uint8_t said[RNIC_PRIVATE_DATA_MAX]; /* our private data */
	uint8_t said_len;
};

/* One end of a work. */
struct stack_side {
	struct stack_work *work;
	struct stack_node *node; /* NULL: its process is gone */
	struct iw_cq *cq;
	struct iw_cq *recv_cq; /* where its receives complete: cq, or that of its node's XRC SRQs */
	struct iw_qp *qp;
	struct stack_link link;
	const struct stack_side
		*names;	 /* out of band: whom it connects to in place of its peer, or NULL */
	uint8_t *source; /* what requests send and the peer reads */
	uint8_t *sink;	 /* what the peer writes, and our reads and atomics bring */
	uint8_t *recv;	 /* recv_slots receives */
	uint64_t words[STACK_WORDS], model_words[STACK_WORDS];
	struct iw_mr *source_mr, *sink_mr, *recv_mr, *words_mr;
	uint32_t source_stag, sink_stag,
		words_stag;   /* known to the peer, also once the MR is gone */
	uint64_t source_iova; /* the address of the source to the peer; the others begin at 0 */
	struct stack_op *ops; /* the programme */
	unsigned int n_ops;
	unsigned int posted, completed; /* of it; a bulk flow: writes */
	unsigned int
		*send_op; /* ops that are Sends, or end in immediate data: what takes a receive */
	unsigned int sends;
	unsigned int recv_slots; /* receives that are posted at once */
	unsigned int recvs_posted, recvs_done;
	unsigned int writes_seen; /* of the peer's operations: those before it are in the sink */
	uint32_t written;	  /* bytes of the peer's sink that writes of the programme take */
	uint32_t read_to; /* bytes of our own that its reads and atomics take, from the end */
	bool hold;	  /* posts no Sends, Writes, Reads for now */
	bool hold_recvs;  /* posts no receives */
	bool shares; /* its receives are in an SRQ of its node, and come into recv when they complete */
	bool up;     /* connected; out of band: something has completed */
	bool sq_failed, rq_failed;	  /* a completion of that queue was none of success */
	bool closed;			  /* the application knows that its connection is over */
	bool blamed;			  /* a request has completed with an error of its own */
	unsigned int version;		  /* of the source, where it changes while it is sent */
	uint8_t *model_sink, *model_recv; /* what sink and recv have to become */
};

/* A pair of QPs, and what their applications are to do. */
struct stack_work {
	struct stack_world *w;
	unsigned int number;	    /* its index in the world */
	struct stack_side side[2];  /* 0 connects, 1 accepts; out of band: no difference */
	struct stack_node *home[2]; /* where the sides are, or were */
	bool oob;		    /* the QPs are connected out of band */
	bool self;		    /* side 0 is connected to itself, and there is no side 1 */
	bool xrc;    /* side 0 is an XRC_SEND, and side 1 an XRC_RECV, which has no programme */
	bool reject; /* the application of side 1 rejects */
	/*
	 * Out of band: it was torn down before it was done. An Initiate of the time before may be taken for one
	 * of now, and what it begins ends at once; the application notices, or has to after a while.
	 */
	bool breaks;
	bool ends;	      /* its session may end before everything is done */
	bool overlap;	      /* its writes overlap, so that none is there for long */
	bool mutating;	      /* its sources change */
	bool bulk;	      /* side 0 writes without end */
	uint64_t retry_at;    /* all of it begins anew then; 0: no */
	unsigned int attempt; /* how often it has begun anew */
};

/* A channel of RDMA CM events, as conn/ sees it. */
struct rnic_channel {
	struct list_node events; /* struct queued of stack_host.c */
	unsigned int n;		 /* events that wait */
	unsigned int refs;	 /* what conn/ holds of it */
};

struct sim_port;

/* The simulated carrier's own part of a conn. */
struct net {
	struct list_node ports;	  /* sim_port.node */
	struct list_node arrived; /* packets and ICMP errors that receive() has not handed over yet */
	struct list_node datagram; /* packets of the datagram that is handed over just now */
	double join; /* how often a packet is in one datagram with the one before it, if it can be */
	struct sim_random random; /* for join alone */
	uint16_t next_port;	  /* for bind() to any port */
	double full;		  /* how often a port has no room for what is sent */
	bool links; /* packets pass only once a handshake has set up the link to the peer */
};

/* What lies between the packets of all nodes and the network. */
struct stack_layer {
	uint32_t overhead, packet_max; /* as in struct carrier */
	/* The node's process starts, and ends: with a word to its peers, or without. It may have ended already. */
	void (*start)(struct stack_node *n);
	void (*stop)(struct stack_node *n, bool farewell);
	/* Takes a packet that leaves, and calls stack_transmit(). */
	void (*send)(struct stack_node *n, const struct path_addr *to, bool df,
		     const uint8_t *packet, size_t len);
	/* Takes what the network brings, and calls stack_arrive(). */
	void (*input)(struct stack_node *n, const struct path_addr *path, const uint8_t *data,
		      size_t len);
	/*
	 * ICMP quotes what has left. True: begin and *len are now how the packet in it begins. size: of the room at
	 * begin. unreachable: -errno, or 0.
	 */
	bool (*quoted)(struct stack_node *n, const struct path_addr *to, int unreachable,
		       uint8_t *begin, size_t *len, size_t size);
	uint64_t (*next_timeout)(const struct stack_node *n);
	void (*timers)(struct stack_node *n);
};

/* A host with one process, which may die and be started again; or another process of a host. */
struct stack_node {
	struct stack_world *w;
	unsigned int number;  /* its index in the world */
	unsigned int process; /* its number among those of its host */
	int id, second; /* in the network; second: its other address, of which peers are told, or -1 */
	struct ip_addr addr, second_addr;
	const struct stack_node *twin; /* whose second address is reached from that one; or NULL */
	/* Settings, to be changed before stack_node_start(). */
	struct config config;
	struct sctp_config sctp_config; /* of which conn/ sets silent_limit and spread only */
	struct iw_config iw_config;
	bool zcopy;	      /* its messages reference memory */
	bool receipts;	      /* it knows them (sctp/receipts.h) */
	uint32_t mtu;	      /* bytes that its routes take */
	unsigned int backlog; /* of its listener */

	/* The process. */
	bool alive;
	struct sim_random random;
	struct net net;
	struct carrier carrier; /* stack_carrier, with what the layer adds */
	void *layer_ctx;	/* the layer's own */
	struct conn conn;
	struct sctp *sctp; /* conn/'s */
	struct cm_id_table *ids;
	struct rnic_channel chan;
	uint32_t listener; /* an id; 0: none */
	bool refuses; /* requests may have been refused: by its backlog, or while it had no listener */
	bool deaf;    /* the application does not read its events */
	struct iw_rnic *rnic;
	struct iw_shard *iw;
	struct iw_pd *pd;
	/*
	 * With receives, which most of its QPs then share; if the world has XRC, XRC SRQs share them, and XRC_RECVs
	 * alone take them. To be set before works are made.
	 */
	unsigned int srq_slots;
	struct iw_srq *srq; /* NULL until the first work is made, or there is XRC */
	struct iw_xrcd *xrcd;
	struct iw_srq *xrc_srq[STACK_XRC_SRQS]; /* of that domain */
	struct iw_cq *xrc_cq;			/* where their receives complete */
	struct iw_mr *srq_mr;
	uint8_t *srq_recv; /* the memory of the slots, STACK_RECV bytes each */
	unsigned int srq_free[STACK_SRQ], n_srq_free; /* slots that are not posted */
	uint64_t bad_crc;			      /* packets that came with a wrong checksum */
	unsigned int stale; /* requests that came for attempts that were over */
};

/* All there is in one run of a scenario. */
struct stack_world {
	const char *scenario;
	unsigned long long seed;
	uint64_t now;		  /* ns; it begins at 1,000 s */
	unsigned long long steps; /* of the loop; too many are a failure */
	struct simnet *net;
	const struct stack_layer *layer; /* to be set before nodes start; NULL: there is none */
	struct sim_random random;
	struct stack_node *nodes[STACK_NODES];
	unsigned int n_nodes;
	struct simnet_link nowhere; /* loses everything */
	struct simnet_link link[2]; /* node 0 to node 1, and back */
	struct stack_work *works[STACK_WORKS];
	unsigned int n_works;
	struct reno *reno; /* a flow beside the works, or NULL */
	/*
	 * Sees each packet that leaves a node, in a buffer of 65,536 bytes that it may write to. Returns
	 * its new length; 0: it is lost.
	 */
	size_t (*filter)(struct stack_world *w, struct stack_node *from, uint8_t *packet,
			 size_t len);
	void *filter_ctx;	/* the filter's own */
	unsigned int limit_ops; /* requests of one side of a random programme, at most */
	bool one_assoc; /* ids connect from the port on which their node listens, so that all share one */
	double oob;		   /* how many of the works are connected out of band */
	double xrc;		   /* how many of the works are of XRC */
	unsigned long long ref;	   /* messages that left with memory that was referenced */
	unsigned long long joined; /* packets that came in one datagram with the one before them */
	struct stack_stream *streams; /* stack_late.c */
	unsigned int n_streams;
	unsigned long long voids; /* messages that were sent again as void ones */
	/* How often what the scenario is about has happened. */
	unsigned int seen;
};

/* The one that runs, for messages of the last resort. */
extern struct stack_world *stack_current;

/* Checks a condition. If it fails, it says how to replay the run, on top of cmocka's own words. */
#define check(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			fail_msg("at %.3f ms: %s\nreplay: test_stack_sim --scenario %s %llu",      \
				 (double)stack_current->now / 1e6, #cond, stack_current->scenario, \
				 stack_current->seed);                                             \
	} while (0)

/* ---- stack.c: worlds, nodes, the loop ---- */

/* Makes an empty world for a seed of a scenario, which is the current one; frees it, with all in it. */
struct stack_world *stack_world_new(const char *scenario, unsigned long long seed);
void stack_world_free(struct stack_world *w);
/*
 * Adds a node with default settings. Its address is 10.0.0.(number + 1); the caller routes, may change the
 * settings, and starts it.
 */
struct stack_node *stack_node_new(struct stack_world *w);
/* Adds another process of the host of n, behind a UDP port of its own. Only groups have the same port in both. */
struct stack_node *stack_node_beside(struct stack_node *n);
/* Gives it another address, second_addr, which the caller routes to. */
void stack_node_second(struct stack_node *n, uint8_t number);
/* Gives both another one, number and the next, which links of their own join, and nothing else. */
void stack_second_link(struct stack_node *a, struct stack_node *b, uint8_t number,
		       struct simnet_link *link);
/* Starts its process, which listens. */
void stack_node_start(struct stack_node *n);
/* Ends its process as SIGKILL does, with its sides. Packets to it are lost without a word. */
void stack_node_kill(struct stack_node *n);
/* Ends it as exit() does: its peers hear of it. */
void stack_node_exit(struct stack_node *n);
/* Makes the node's listener, or destroys it. */
void stack_listen(struct stack_node *n);
void stack_unlisten(struct stack_node *n);
/* Returns how many associations the node has; with peer: to that node. */
unsigned int stack_assocs(const struct stack_node *n, const struct stack_node *peer);
/* Returns one of them, or NULL. */
struct conn_assoc *stack_assoc_of(const struct stack_node *n, const struct stack_node *peer);
/* Run until done(), which must be so within `limit` ns, and for so long. */
void stack_run(struct stack_world *w, uint64_t limit, bool (*done)(struct stack_world *));
void stack_run_for(struct stack_world *w, uint64_t ns);
/* on: what this node draws at random from now on, as its first TSN, is near the end of the numbers. */
void stack_near_wrap(struct stack_node *n, bool on);

/* Returns the node whose conn/ that is. */
static inline struct stack_node *stack_node_of(struct conn *c)
{
	return list_entry(c, struct stack_node, conn);
}

/* ---- stack_srq.c ---- */

/* Makes what the node's QPs share, if they do and it is not made yet; frees it. */
void stack_srq_init(struct stack_node *n);
void stack_srq_free(struct stack_node *n);
/* Posts all shared receives that the application has, in an order at random. */
void stack_srq_post(struct stack_node *n);
/* The side whose XRC_RECV of the node has that number, if its application looks at completions; else NULL. */
struct stack_side *stack_xrc_side(const struct stack_node *n, uint32_t qp_num);

/* ---- stack_carrier.c ---- */

/* The carrier of all nodes, and what the network calls when something comes for one. */
extern const struct carrier stack_carrier;
extern const struct simnet_ops stack_net_ops;
/* For layers: the network takes a datagram of the node; its stack takes a packet, or hears that one did not arrive. */
void stack_transmit(struct stack_node *n, const struct path_addr *to, bool df, const uint8_t *data,
		    size_t len);
void stack_arrive(struct stack_node *n, const struct path_addr *path, const uint8_t *packet,
		  size_t len);
void stack_unreachable(struct stack_node *n, const struct path_addr *to, int error,
		       const uint8_t *packet, size_t len);
/* Forgets what has arrived at the node and was not handed over yet. */
void stack_carrier_clear(struct stack_node *n);

/* ---- stack_host.c ---- */

/* What conn/ and the RNIC of all nodes call. */
extern const struct conn_ops stack_conn_ops;
extern const struct iw_rnic_ops stack_rnic_ops;
/* Takes the channel's next event, as an application of the node reads it. False: none waits. */
bool stack_channel_read(struct stack_node *n, struct rnic_channel *chan, struct rnic_cm_event *ev);

/* ---- stack_inside.c ---- */

/* Checks that what a node keeps for its peers is within its bounds. */
void stack_check_bounds(const struct stack_node *n);
/* Checks that no shared receive of the node got lost. For when no message is in process. */
void stack_srq_check(const struct stack_node *n);
/* Lets the DDP-SSNs of all sessions, on which nothing was sent yet, go on with this number. */
void stack_set_ssn(struct stack_world *w, uint16_t ssn);
/* Return our first TSN of the association, and the last one that the peer has acknowledged. */
uint32_t stack_init_tsn(const struct conn_assoc *a);
uint32_t stack_acked_tsn(const struct conn_assoc *a);
/* Returns whether iwarp/ takes this side for the one that has opened the association. */
bool stack_iw_is_initiator(const struct conn_assoc *a);
/* Shuts the association down, as its idle timer does. */
void stack_shutdown(struct conn_assoc *a);

/* ---- stack_late.c ---- */

/* A message of this stream was pulled. */
void stack_late_note(const struct iw_assoc *assoc, uint16_t sid);

/* ---- stack_connect.c ---- */

/* Lets the application of the node read its events. */
void stack_read_events(struct stack_node *n);
/* Lets the application of the side take the next step to its connection, if that is due. */
void stack_side_connect(struct stack_side *s);
/* Lets the application end the connection of this side; the work may end early then. */
void stack_side_close(struct stack_side *s);
/* Destroys the side's RDMA CM id, if it has one. */
void stack_side_destroy_id(struct stack_side *s);
/* Lets the work begin anew, on new ids and with the same QPs, after a pause of so many ns. */
void stack_work_again(struct stack_work *work, uint64_t pause);
/*
 * Lets a work that is connected out of band begin anew, with the same QP numbers: each side is reset and
 * connects after its pause, ns. If all was done, one side may stay in its old session until then.
 */
void stack_oob_again(struct stack_work *work, const uint64_t pause[2]);
/* Takes an event of a QP, CQ or SRQ of the node ctx, which there must be a reason for. */
void stack_raised(void *ctx, const struct iw_event *ev);
/* Returns the other side of the work; itself, if its QP is connected to itself. */
static inline struct stack_side *stack_peer(const struct stack_side *s)
{
	return s->work->self ? (struct stack_side *)(uintptr_t)s :
			       &s->work->side[s == &s->work->side[0]];
}

/* ---- stack_plan.c ---- */

/*
 * Adds a request of `len` bytes to the programme of a side; where they are is drawn at random. An atomic
 * has 8 bytes. False: no room in the sinks.
 */
bool stack_op_add(struct stack_side *s, uint8_t opcode, uint32_t len);
/* Gives both sides a programme of at most `max` random requests each; the last is a Send. */
void stack_plan(struct stack_work *work, unsigned int max);

/* Return what kind of request it is. */
static inline bool stack_op_is_write(const struct stack_op *op)
{
	return op->opcode == IW_WR_RDMA_WRITE || op->opcode == IW_WR_RDMA_WRITE_WITH_IMM;
}

static inline bool stack_op_is_atomic(const struct stack_op *op)
{
	return op->opcode == IW_WR_ATOMIC_CMP_AND_SWP || op->opcode == IW_WR_ATOMIC_FETCH_AND_ADD;
}

static inline bool stack_op_takes_receive(const struct stack_op *op)
{
	return op->opcode == IW_WR_SEND || op->opcode == IW_WR_SEND_WITH_IMM ||
	       op->opcode == IW_WR_RDMA_WRITE_WITH_IMM;
}

/* ---- stack_work.c ---- */

/* Makes a pair of QPs without requests, which connect as soon as they can. */
struct stack_work *stack_work_new(struct stack_node *active, struct stack_node *passive);
/* Makes a QP that is connected to itself. */
struct stack_work *stack_self_new(struct stack_node *n);
/* Lets the application of a side post and poll, until nothing more can be posted. */
void stack_application(struct stack_side *s);
/* Empties the memory of a side, and that of its model. */
void stack_side_clear(struct stack_side *s);
/* Empties the queues of a side, whose programme begins anew. The QP is in INIT. */
void stack_side_reset(struct stack_side *s);
/* Frees what goes with the process of a side; s->node is NULL then. */
void stack_side_free(struct stack_side *s);
/*
 * Return whether all requests of the programme and the receives for the peer's Sends have completed: of a
 * work; of all works that are not to end early and have an end.
 */
bool stack_work_done(const struct stack_work *work);
bool stack_all_done(struct stack_world *w);
/*
 * Return whether both ends are in error, and every request has completed or was flushed: of a work; of all
 * that are to end early.
 */
bool stack_work_over(const struct stack_work *work);
bool stack_works_over(struct stack_world *w);
/*
 * Checks that the memory of a work is the model's, and that it is done. If it is to end early: that each
 * byte of its sinks is the model's or untouched.
 */
void stack_work_check(struct stack_work *work);
/* To be told that the memory at `at` has been read: right behind that a source may change. */
void stack_mutate(const void *at);

/* Returns the state of the side's QP, which another end of the stack may have changed. */
static inline enum iw_qp_state stack_qp_state(const struct stack_side *s)
{
	return (enum iw_qp_state)atomic_load_explicit(&s->qp->state, memory_order_relaxed);
}

#endif
