/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whole stacks, RDMAP down to SCTP packets, on a simulated network with a virtual clock. A node is a
 * process: one SCTP instance with one endpoint, and one RNIC. A work is a pair of QPs of two nodes with a
 * programme of Sends, RDMA Writes, RDMA Reads, atomics and immediate data in both directions. An ordered,
 * perfect model is fed the same programme: the memory of both ends and the completions of each queue have to come out as it says.
 *
 * Of a work that is said to end early (stack_ends()) every request still completes or is flushed, what
 * completed is right, and no byte of the sinks is other than untouched or as the model has it.
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

#include "iwarp/assoc.h"
#include "iwarp/iwarp.h"
#include "iwarp/rc.h"
#include "iwarp/session.h"
#include "iwarp/srq.h"
#include "sctp/assoc.h"
#include "sim/reno.h"
#include "sim/simnet.h"
#include "wire/sctp_init.h"

#define SEC 1000000000ull
#define MSEC SIMNET_MSEC
#define STACK_NODES 4
#define STACK_WORKS 64
#define STACK_ASSOCS 8
#define STACK_UDP_PORT 5000
#define STACK_SOURCE 65536u
#define STACK_SINK 262144u /* the front half for the peer's writes, the back half for our reads */
#define STACK_RECV 9000u
#define STACK_WORDS 4u /* for the peer's atomics */
#define STACK_SRQ 64u /* receives of an SRQ at most */
#define STACK_BULK 16384u /* bytes of a write of a bulk flow */

struct stack_world;
struct stack_node;
struct stack_work;

struct stack_op {
	uint8_t opcode; /* enum iw_wr_opcode */
	bool back;	/* a read of what an earlier write of ours has put into the peer's sink */
	bool fence;
	bool bad; /* with an STag that the peer does not know */
	uint32_t len;
	uint32_t local;	 /* in our source; reads: in our sink */
	uint32_t remote; /* writes: in the peer's sink; reads: in its source, or sink; atomics: in its words */
	uint32_t imm;	 /* *_WITH_IMM */
	uint64_t compare_add, swap;
};

/* One end of a work. */
struct stack_side {
	struct stack_work *work;
	struct stack_node *node; /* NULL: its process is gone */
	struct iw_cq *cq;
	struct iw_qp *qp;
	struct iw_session *session; /* NULL: none yet, or over */
	uint8_t *source, *sink, *recv;
	uint64_t words[STACK_WORDS], model_words[STACK_WORDS];
	struct iw_mr *source_mr, *sink_mr, *recv_mr, *words_mr;
	uint32_t source_stag, sink_stag, words_stag; /* known to the peer, also once the MR is gone */
	uint64_t source_iova;
	struct stack_op *ops;
	unsigned int n_ops, posted, completed;
	unsigned int *send_op; /* ops that are Sends, or end in immediate data: what takes a receive */
	unsigned int sends;
	unsigned int recv_slots, recvs_posted, recvs_done;
	uint32_t written, read_to;
	bool hold;	 /* posts no Sends, Writes, Reads for now */
	bool hold_recvs; /* posts no receives */
	bool shares;	 /* its receives are in the SRQ of its node, and come into recv when they complete */
	bool up;
	bool sq_failed, rq_failed, closed;
	bool blamed; /* a request has completed with an error of its own */
	unsigned int version; /* of the source, where it changes while it is sent */
	uint8_t *model_sink, *model_recv;
};

struct stack_work {
	struct stack_world *w;
	unsigned int number;
	struct stack_side side[2]; /* 0 opens the session */
	bool initiated;
	bool ends;	/* its session may end before everything is done */
	bool overlap;	/* its writes overlap: only where they are placed in order */
	bool mutating; /* its sources change */
	bool bulk;	/* side 0 writes without end */
};

struct stack_assoc {
	struct stack_node *node;
	struct stack_node *peer;
	struct sctp_assoc *sctp; /* NULL: over */
	struct iw_assoc *iw;
	bool closing, over;
	int error; /* 0: closed in order */
	unsigned int ups, restarts;
	uint64_t bytes_in;
};

struct stack_node {
	struct stack_world *w;
	unsigned int number;
	int id, second; /* in the network; second: its other address, which INIT and INIT ACK list, or -1 */
	struct ip_addr addr, second_addr;
	struct sctp_config config;
	struct iw_config iw_config;
	uint32_t zcopy_window; /* iw_msg.zcopy_window; 0: nothing is referenced */
	uint32_t mtu;
	struct sim_random random;
	struct sctp *sctp; /* NULL: the process is dead */
	struct sctp_endpoint *ep;
	struct sctp_rx *rx;
	struct iw_rnic *rnic;
	struct iw_pd *pd;
	/* With receives, which most of its QPs then share. To be set before works are made. */
	unsigned int srq_slots;
	struct iw_srq *srq;
	struct iw_mr *srq_mr;
	uint8_t *srq_recv;
	unsigned int srq_free[STACK_SRQ], n_srq_free; /* slots that are not posted */
	struct stack_assoc *assocs[STACK_ASSOCS];
	unsigned int n_assocs;
	uint64_t bad_crc;
};

struct stack_world {
	const char *scenario;
	unsigned long long seed;
	uint64_t now;
	unsigned long long steps;
	struct simnet *net;
	struct sim_random random;
	struct stack_node *nodes[STACK_NODES];
	unsigned int n_nodes;
	struct simnet_link link[2]; /* node 0 to node 1, and back */
	struct stack_work *works[STACK_WORKS];
	unsigned int n_works;
	struct reno *reno;
	/*
	 * Sees each packet that leaves a node, in a buffer of 65,536 bytes that it may write to. Returns
	 * its new length; 0: it is lost.
	 */
	size_t (*filter)(struct stack_world *w, struct stack_node *from, uint8_t *packet, size_t len);
	void *filter_ctx;
	unsigned int limit_ops; /* of a random programme */
	unsigned long long ref; /* messages that left with memory that was referenced */
	/* How often what the scenario is about has happened. */
	unsigned int seen;
};

/* The one that runs, for messages of the last resort. */
extern struct stack_world *stack_current;

/* Says how to replay the run, on top of cmocka's own words. */
#define check(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			fail_msg("at %.3f ms: %s\nreplay: test_stack_sim --scenario %s %llu",      \
				 (double)stack_current->now / 1e6, #cond, stack_current->scenario, \
				 stack_current->seed);                                             \
	} while (0)

struct stack_world *stack_world_new(const char *scenario, unsigned long long seed);
void stack_world_free(struct stack_world *w);
/* Its config, iw_config and mtu are to be changed before stack_node_start(). */
struct stack_node *stack_node_new(struct stack_world *w);
/* Gives it another address, second_addr, which the caller routes to. */
void stack_node_second(struct stack_node *n, uint8_t number);
void stack_node_start(struct stack_node *n);
/* As by SIGKILL. */
void stack_node_kill(struct stack_node *n);
void stack_connect(struct stack_node *from, struct stack_node *to);
/* The newest between the two that is not over, or NULL. */
struct stack_assoc *stack_assoc_of(const struct stack_node *n, const struct stack_node *peer);

/* A pair of QPs without requests; its session is opened as soon as there is an association. */
struct stack_work *stack_work_new(struct stack_node *active, struct stack_node *passive);
/* Adds a request to the programme of a side; false: no room in the sinks. */
bool stack_op_add(struct stack_side *s, uint8_t opcode, uint32_t len);
/* At most so many random requests for both sides; the last is a Send. */
void stack_plan(struct stack_work *work, unsigned int max);
/* The application closes the session of this side. */
void stack_side_close(struct stack_side *s);
static inline struct stack_side *stack_peer(const struct stack_side *s)
{
	return &s->work->side[s == &s->work->side[0]];
}

/* All requests of the programme and the receives for the peer's Sends have completed. */
bool stack_work_done(const struct stack_work *work);
bool stack_all_done(struct stack_world *w);
/* Both ends are in error, and every request has completed or was flushed. */
bool stack_work_over(const struct stack_work *work);
bool stack_works_over(struct stack_world *w);
/* The memory of a work that is done is the model's; of one that is over, nothing else is in it. */
void stack_work_check(struct stack_work *work);
/* No receive of the node's SRQ got lost. For when no message is in process. */
void stack_srq_check(const struct stack_node *n);

/* Until done(), at most for so long: a failure. */
void stack_run(struct stack_world *w, uint64_t limit, bool (*done)(struct stack_world *));
void stack_run_for(struct stack_world *w, uint64_t ns);
/* What this node draws at random, as its first TSN, is near the end of the numbers. */
void stack_near_wrap(struct stack_node *n, bool on);

#endif
