/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whole stacks on a simulated network with a virtual clock: the real conn/, from RDMA CM ids and
 * QPs connected out of band, down to SCTP packets. A node is a process with one RNIC and one struct
 * conn. A work is a pair of QPs of two nodes. Its programme has Sends, RDMA Writes, RDMA Reads,
 * atomics and immediate data in both directions. An ordered, perfect model executes the same
 * programme. The memory of both ends and the completions of each queue must agree with the model.
 *
 * If a work may end early (work->ends), every request still completes or is flushed, and completed
 * requests are correct. Each byte of the sinks is either untouched or the model's.
 *
 * Files: stack.c has the world, the nodes and the loop; stack_carrier.c the simulated carrier;
 * stack_host.c the host of conn/ and the RNIC. stack_connect.c has the applications while they
 * connect and disconnect; stack_plan.c the programmes; stack_work.c the applications that post and
 * poll, and the model. stack_srq.c has receives that several QPs share. stack_late.c checks that no
 * flushed message leaves; stack_inside.c uses internals of sctp/ and iwarp/.
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
#define STACK_NODES 4 /* maximum of a world; likewise below */
#define STACK_WORKS 64
#define STACK_UDP_PORT 5000 /* shared by all endpoints of a node */
#define STACK_IFINDEX 1	    /* of a node's interface */
#define STACK_CM_PORT                                                                              \
	7000 /* listening port of nodes, and source port of ids that share an association */
/* The memory of a side, bytes: a source, a sink, and receives. */
#define STACK_SOURCE 65536u
#define STACK_SINK 262144u /* first half: the peer's writes; second half: local reads */
#define STACK_RECV 9000u   /* of each receive */
#define STACK_WORDS 4u	   /* words of 64 bits for the peer's atomics */
#define STACK_SRQ 64u	   /* maximum number of shared receives */
#define STACK_XRC_SRQS 2u  /* of a node; they own the slots in turn */
#define STACK_BULK 16384u  /* bytes of a write of a bulk flow */
#define STACK_HEARD 16u	   /* maximum RDMA CM events of one id */

struct stack_world;
struct stack_node;
struct stack_work;

/* One request of a programme. */
struct stack_op {
	uint8_t opcode; /* enum iw_wr_opcode */
	bool back;	/* reads an earlier local write back from the peer's sink */
	bool fence;
	bool bad;     /* with an STag unknown to the peer */
	uint32_t len; /* bytes */
	/* Offsets of its bytes; for words, the number of the word. */
	uint32_t local;	 /* in the local source; reads: in the local sink */
	uint32_t remote; /* writes: peer sink; reads: peer source or sink; atomics: peer words */
	uint32_t imm;	 /* *_WITH_IMM */
	uint64_t compare_add, swap; /* atomics */
};

/* The progress of a side's connection. */
enum stack_phase {
	STACK_IDLE,	  /* has not begun, or begins again */
	STACK_ADDRESS,	  /* waits for ADDR_RESOLVED */
	STACK_ROUTE,	  /* waits for ROUTE_RESOLVED */
	STACK_CONNECTING, /* waits for ESTABLISHED, or an error */
	STACK_REQUESTED,  /* has a request to answer */
	STACK_ACCEPTED,	  /* has accepted, and waits for ESTABLISHED */
	STACK_CONNECTED,
	STACK_DISCONNECTED, /* has received DISCONNECTED */
	STACK_FAILED,	    /* has received an error, or was rejected */
	STACK_LEAVING,	    /* out of band: stays for a while, and then begins again */
};

/* A side's connection, as its application sees it. */
struct stack_link {
	enum stack_phase phase;
	uint32_t id;		    /* the RDMA CM id; 0: none */
	uint64_t at;		    /* time to begin, or to answer a request */
	uint32_t failure;	    /* the event of the failure; 0: none */
	int status;		    /* status of that event */
	uint8_t heard[STACK_HEARD]; /* events of this id, in their order */
	unsigned int n_heard;
	uint8_t said[RNIC_PRIVATE_DATA_MAX]; /* the local private data */
	uint8_t said_len;
};

/* One end of a work. */
struct stack_side {
	struct stack_work *work;
	struct stack_node *node; /* NULL: its process is gone */
	struct iw_cq *cq;
	struct iw_cq *recv_cq; /* CQ of its receives: cq, or the one of its node's XRC SRQs */
	struct iw_qp *qp;
	struct stack_link link;
	const struct stack_side
		*names;	 /* out of band: the side it connects to instead of its peer, or NULL */
	uint8_t *source; /* data of requests, and of the peer's reads */
	uint8_t *sink;	 /* data of the peer's writes, and of local reads and atomics */
	uint8_t *recv;	 /* recv_slots receives */
	uint64_t words[STACK_WORDS], model_words[STACK_WORDS];
	struct iw_mr *source_mr, *sink_mr, *recv_mr, *words_mr;
	uint32_t source_stag, sink_stag, words_stag; /* known to the peer, even after the MR */
	uint64_t source_iova; /* the source's address for the peer; the others begin at 0 */
	struct stack_op *ops; /* the programme */
	unsigned int n_ops;
	unsigned int posted, completed; /* of the programme; bulk flow: writes */
	unsigned int *
		send_op; /* indexes of Sends, and of ops with immediate data, which use a receive */
	unsigned int sends;
	unsigned int recv_slots; /* receives posted at a time */
	unsigned int recvs_posted, recvs_done;
	unsigned int writes_seen; /* the peer's operations before this one are in the sink */
	uint32_t written;	  /* bytes of the peer's sink that the programme's writes use */
	uint32_t read_to;	  /* local bytes that its reads and atomics use, from the end */
	bool hold;		  /* does not post Sends, Writes, Reads for now */
	bool hold_recvs;	  /* posts no receives */
	bool shares; /* its receives are in a node's SRQ; completion copies them to recv */
	bool up;     /* connected; out of band: after the first completion */
	bool sq_failed, rq_failed;	  /* a completion of that queue failed */
	bool closed;			  /* the application knows that its connection is over */
	bool blamed;			  /* a request has completed with its own error */
	unsigned int version;		  /* of a source that changes while it is sent */
	uint8_t *model_sink, *model_recv; /* expected sink and recv */
};

/* A pair of QPs, and the plans of their applications. */
struct stack_work {
	struct stack_world *w;
	unsigned int number;	    /* its index in the world */
	struct stack_side side[2];  /* 0 connects, 1 accepts; out of band: no difference */
	struct stack_node *home[2]; /* nodes of the sides, even after they ended */
	bool oob;		    /* the QPs are connected out of band */
	bool self;		    /* side 0 is connected to itself, and side 1 is unused */
	bool xrc;    /* side 0 is an XRC_SEND, side 1 an XRC_RECV without a programme */
	bool reject; /* the application of side 1 rejects */
	/*
	 * Out of band: the work was torn down before it was done. An earlier Initiate may then
	 * start a session that ends immediately. The application notices this, or begins again
	 * after a while.
	 */
	bool breaks;
	bool ends;	      /* its session may end before everything is done */
	bool overlap;	      /* its writes overlap, and replace each other */
	bool mutating;	      /* its sources change */
	bool bulk;	      /* side 0 writes without end */
	uint64_t retry_at;    /* time to begin again; 0: no */
	unsigned int attempt; /* number of restarts */
};

/* A channel of RDMA CM events, for conn/. */
struct rnic_channel {
	struct list_node events; /* struct queued of stack_host.c */
	unsigned int n;		 /* waiting events */
	unsigned int refs;	 /* references of conn/ */
};

struct sim_port;

/* The simulated carrier's own part of a conn. */
struct net {
	struct list_node ports;	   /* sim_port.node */
	struct list_node arrived;  /* packets and ICMP errors for receive() */
	struct list_node datagram; /* packets of the datagram being delivered */
	double join; /* probability that a packet joins the previous one's datagram, if possible */
	struct sim_random random; /* for join only */
	uint16_t next_port;	  /* for bind() to any port */
	double full;		  /* probability that a port has no room to send */
	bool links;		  /* packets need a link to the peer, which a handshake sets up */
};

/* A layer between the packets of all nodes and the network. */
struct stack_layer {
	uint32_t overhead, packet_max; /* as in struct carrier */
	/*
	 * Start and stop a node's process, with or without a farewell to its peers. stop() may be
	 * called again.
	 */
	void (*start)(struct stack_node *n);
	void (*stop)(struct stack_node *n, bool farewell);
	/* Takes a packet to send, and calls stack_transmit(). */
	void (*send)(struct stack_node *n, const struct path_addr *to, bool df,
		     const uint8_t *packet, size_t len);
	/* Takes a packet of the network, and calls stack_arrive(). */
	void (*input)(struct stack_node *n, const struct path_addr *path, const uint8_t *data,
		      size_t len);
	/*
	 * Handles a packet quoted by ICMP. Returns true if begin and *len now contain the start of
	 * the packet inside. size: of the room at begin. unreachable: -errno, or 0.
	 */
	bool (*quoted)(struct stack_node *n, const struct path_addr *to, int unreachable,
		       uint8_t *begin, size_t *len, size_t size);
	uint64_t (*next_timeout)(const struct stack_node *n);
	void (*timers)(struct stack_node *n);
};

/* A host with one process, which may die and be restarted; or another process of a host. */
struct stack_node {
	struct stack_world *w;
	unsigned int number;  /* its index in the world */
	unsigned int process; /* its number among those of its host */
	int id, second;	      /* in the network; second: its other address, known to peers, or -1 */
	struct ip_addr addr, second_addr;
	const struct stack_node *twin; /* the host connected to its second address; or NULL */
	/* Settings; change them before stack_node_start(). */
	struct config config;
	struct sctp_config sctp_config; /* conn/ sets only silent_limit and spread */
	struct iw_config iw_config;
	bool zcopy;	      /* its messages reference memory */
	bool receipts;	      /* knows receipts (sctp/receipts.h) */
	uint32_t mtu;	      /* MTU of its routes, bytes */
	unsigned int backlog; /* of its listener */

	/* The process. */
	bool alive;
	struct sim_random random;
	struct net net;
	struct carrier carrier; /* stack_carrier, with the values of the layer */
	void *layer_ctx;	/* the layer's own */
	struct conn conn;
	struct sctp *sctp; /* conn/'s */
	struct cm_id_table *ids;
	struct rnic_channel chan;
	uint32_t listener; /* an id; 0: none */
	bool refuses;	   /* may have refused requests: backlog full, or no listener */
	bool deaf;	   /* the application does not read its events */
	struct iw_rnic *rnic;
	struct iw_shard *iw;
	struct iw_pd *pd;
	/*
	 * Number of shared receives, which most of the node's QPs use. With XRC in the world, XRC
	 * SRQs have them, and only XRC_RECVs use them. Set this before works are made.
	 */
	unsigned int srq_slots;
	struct iw_srq *srq; /* NULL before the first work, or with XRC */
	struct iw_xrcd *xrcd;
	struct iw_srq *xrc_srq[STACK_XRC_SRQS]; /* of that domain */
	struct iw_cq *xrc_cq;			/* CQ of their receives */
	struct iw_mr *srq_mr;
	uint8_t *srq_recv; /* the memory of the slots, STACK_RECV bytes each */
	unsigned int srq_free[STACK_SRQ], n_srq_free; /* slots that are not posted */
	uint64_t bad_crc;			      /* received packets with a wrong checksum */
	unsigned int stale;			      /* requests for attempts that were over */
};

/* The state of one run of a scenario. */
struct stack_world {
	const char *scenario;
	unsigned long long seed;
	uint64_t now;		  /* ns; it begins at 1,000 s */
	unsigned long long steps; /* of the loop; too many are a failure */
	struct simnet *net;
	const struct stack_layer *layer; /* set before nodes start; NULL: none */
	struct sim_random random;
	struct stack_node *nodes[STACK_NODES];
	unsigned int n_nodes;
	struct simnet_link nowhere; /* loses everything */
	struct simnet_link link[2]; /* node 0 to node 1, and back */
	struct stack_work *works[STACK_WORKS];
	unsigned int n_works;
	struct reno *reno; /* a flow besides the works, or NULL */
	/*
	 * Gets each packet that leaves a node, in a buffer of 65,536 bytes that it may change.
	 * Returns its new length; 0: the packet is lost.
	 */
	size_t (*filter)(struct stack_world *w, struct stack_node *from, uint8_t *packet,
			 size_t len);
	void *filter_ctx;	/* the filter's own */
	unsigned int limit_ops; /* maximum requests of one side of a random programme */
	bool one_assoc; /* ids connect from their node's listening port, so that all share one */
	double oob;	/* share of works connected out of band */
	double xrc;	/* share of works with XRC */
	unsigned long long ref;	      /* messages that left with references to memory */
	unsigned long long joined;    /* packets that arrived in the previous packet's datagram */
	struct stack_stream *streams; /* stack_late.c */
	unsigned int n_streams;
	unsigned long long voids; /* messages sent again as void ones */
	/* Number of effects of the scenario. */
	unsigned int seen;
};

/* The running world, for messages of a crash. */
extern struct stack_world *stack_current;

/* Checks a condition. On failure, also prints how to replay the run. */
#define check(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			fail_msg("at %.3f ms: %s\nreplay: test_stack_sim --scenario %s %llu",      \
				 (double)stack_current->now / 1e6, #cond, stack_current->scenario, \
				 stack_current->seed);                                             \
	} while (0)

/* ---- stack.c: worlds, nodes, the loop ---- */

/*
 * Makes an empty world for a seed of a scenario, and makes it the current one; frees it, with all
 * its contents.
 */
struct stack_world *stack_world_new(const char *scenario, unsigned long long seed);
void stack_world_free(struct stack_world *w);
/*
 * Adds a node with default settings and the address 10.0.0.(number + 1). The caller routes, may
 * change the settings, and starts it.
 */
struct stack_node *stack_node_new(struct stack_world *w);
/*
 * Adds another process to n's host, with its own UDP port. Only groups have the same port in both.
 */
struct stack_node *stack_node_beside(struct stack_node *n);
/* Gives a node another address, second_addr, which the caller routes to. */
void stack_node_second(struct stack_node *n, uint8_t number);
/* Gives both nodes another address, number and the next, connected only by separate links. */
void stack_second_link(struct stack_node *a, struct stack_node *b, uint8_t number,
		       struct simnet_link *link);
/* Starts the process of a node, which listens. */
void stack_node_start(struct stack_node *n);
/* Ends a process like SIGKILL, with its sides. Packets to it are lost silently. */
void stack_node_kill(struct stack_node *n);
/* Ends a process like exit(): its peers are informed. */
void stack_node_exit(struct stack_node *n);
/* Make and destroy the node's listener. */
void stack_listen(struct stack_node *n);
void stack_unlisten(struct stack_node *n);
/* Returns the number of the node's associations, or of those to a peer. */
unsigned int stack_assocs(const struct stack_node *n, const struct stack_node *peer);
/* Returns one of these associations, or NULL. */
struct conn_assoc *stack_assoc_of(const struct stack_node *n, const struct stack_node *peer);
/* Run until done() is true, which must happen within `limit` ns; run for ns. */
void stack_run(struct stack_world *w, uint64_t limit, bool (*done)(struct stack_world *));
void stack_run_for(struct stack_world *w, uint64_t ns);
/*
 * With on, the node draws random numbers near their maximum from now on, for example its initial
 * TSN.
 */
void stack_near_wrap(struct stack_node *n, bool on);

/* Returns the node of a conn/. */
static inline struct stack_node *stack_node_of(struct conn *c)
{
	return list_entry(c, struct stack_node, conn);
}

/* ---- stack_srq.c ---- */

/* Makes the resources that the node's QPs share, if they do and it has none yet; frees them. */
void stack_srq_init(struct stack_node *n);
void stack_srq_free(struct stack_node *n);
/* Posts all shared receives that the application has, in random order. */
void stack_srq_post(struct stack_node *n);
/*
 * Returns the side of the node's XRC_RECV with that number, if its application polls completions;
 * otherwise NULL.
 */
struct stack_side *stack_xrc_side(const struct stack_node *n, uint32_t qp_num);

/* ---- stack_carrier.c ---- */

/* The carrier of all nodes, and the network's callbacks. */
extern const struct carrier stack_carrier;
extern const struct simnet_ops stack_net_ops;
/*
 * For layers: the network takes a datagram of the node; its stack takes a packet, or an error for a
 * packet.
 */
void stack_transmit(struct stack_node *n, const struct path_addr *to, bool df, const uint8_t *data,
		    size_t len);
void stack_arrive(struct stack_node *n, const struct path_addr *path, const uint8_t *packet,
		  size_t len);
void stack_unreachable(struct stack_node *n, const struct path_addr *to, int error,
		       const uint8_t *packet, size_t len);
/* Drops packets that have arrived at the node but were not delivered. */
void stack_carrier_clear(struct stack_node *n);

/* ---- stack_host.c ---- */

/* Callbacks of conn/ and the RNIC of all nodes. */
extern const struct conn_ops stack_conn_ops;
extern const struct iw_rnic_ops stack_rnic_ops;
/* Takes the channel's next event, like an application of the node. Returns false if none waits. */
bool stack_channel_read(struct stack_node *n, struct rnic_channel *chan, struct rnic_cm_event *ev);

/* ---- stack_inside.c ---- */

/* Checks the limits of a node's state for its peers. */
void stack_check_bounds(const struct stack_node *n);
/*
 * Checks that no shared receive of the node is lost. Call this while no message is being processed.
 */
void stack_srq_check(const struct stack_node *n);
/* Sets the next DDP-SSN of all sessions, which must not have sent anything. */
void stack_set_ssn(struct stack_world *w, uint16_t ssn);
/*
 * Return the local initial TSN of the association, and the last TSN that the peer has acknowledged.
 */
uint32_t stack_init_tsn(const struct conn_assoc *a);
uint32_t stack_acked_tsn(const struct conn_assoc *a);
/* True if iwarp/ considers this side the initiator of the association. */
bool stack_iw_is_initiator(const struct conn_assoc *a);
/* Shuts the association down, like its idle timer. */
void stack_shutdown(struct conn_assoc *a);

/* ---- stack_late.c ---- */

/* Records that a message of this stream was pulled. */
void stack_late_note(const struct iw_assoc *assoc, uint16_t sid);

/* ---- stack_connect.c ---- */

/* Makes the application of the node read its events. */
void stack_read_events(struct stack_node *n);
/* Makes the application of the side take the next step to its connection, if due. */
void stack_side_connect(struct stack_side *s);
/* Makes the application end the connection of this side. The work may then end early. */
void stack_side_close(struct stack_side *s);
/* Destroys the side's RDMA CM id, if any. */
void stack_side_destroy_id(struct stack_side *s);
/* Restarts the work after a pause in ns, on new ids and with the same QPs. */
void stack_work_again(struct stack_work *work, uint64_t pause);
/*
 * Restarts a work that is connected out of band, with the same QP numbers. Each side is reset and
 * connects after its pause, ns. If all was done, one side may stay in its old session until then.
 */
void stack_oob_again(struct stack_work *work, const uint64_t pause[2]);
/* Takes an event of a QP, CQ or SRQ of the node ctx, and checks that it has a reason. */
void stack_raised(void *ctx, const struct iw_event *ev);
/* Returns the other side of the work, or the same side if its QP is connected to itself. */
static inline struct stack_side *stack_peer(const struct stack_side *s)
{
	return s->work->self ? (struct stack_side *)(uintptr_t)s :
			       &s->work->side[s == &s->work->side[0]];
}

/* ---- stack_plan.c ---- */

/*
 * Adds a request of `len` bytes, at random offsets, to the programme of a side. An atomic has 8
 * bytes. Returns false without room in the sinks.
 */
bool stack_op_add(struct stack_side *s, uint8_t opcode, uint32_t len);
/* Gives both sides a programme of at most `max` random requests each; the last is a Send. */
void stack_plan(struct stack_work *work, unsigned int max);

/* Return the kind of a request. */
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

/* Makes a pair of QPs without requests, which connect as soon as possible. */
struct stack_work *stack_work_new(struct stack_node *active, struct stack_node *passive);
/* Makes a QP that is connected to itself. */
struct stack_work *stack_self_new(struct stack_node *n);
/* Makes the application of a side post and poll, until nothing more can be posted. */
void stack_application(struct stack_side *s);
/* Clears the memory of a side, and of its model. */
void stack_side_clear(struct stack_side *s);
/* Empties the queues of a side, whose programme begins again. The QP is in INIT. */
void stack_side_reset(struct stack_side *s);
/* Frees the parts of a side that end with its process. s->node is then NULL. */
void stack_side_free(struct stack_side *s);
/*
 * Return true if all requests of the programme have completed, and so have the receives for the
 * peer's Sends. The second function checks all works that neither end early nor write without end.
 */
bool stack_work_done(const struct stack_work *work);
bool stack_all_done(struct stack_world *w);
/*
 * Return true if both ends are in error, and every request has completed or was flushed: of a work,
 * or of all works that end early.
 */
bool stack_work_over(const struct stack_work *work);
bool stack_works_over(struct stack_world *w);
/*
 * Checks that the memory of a work equals the model's, and that the work is done. If it may end
 * early, each byte of its sinks must be the model's or untouched.
 */
void stack_work_check(struct stack_work *work);
/* Call this after a read of the memory at `at`: a source may then change. */
void stack_mutate(const void *at);

/* Returns the state of the side's QP, which another part of the stack may have changed. */
static inline enum iw_qp_state stack_qp_state(const struct stack_side *s)
{
	return (enum iw_qp_state)atomic_load_explicit(&s->qp->state, memory_order_relaxed);
}

#endif
