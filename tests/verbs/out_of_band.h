/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* QPs connected out of band: the steps that their tests have in common. */
#ifndef TESTS_VERBS_BY_HAND_H
#define TESTS_VERBS_BY_HAND_H

#include "fixture.h"

#define INIT_MASK (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RTR_MASK                                                                                   \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |            \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK                                                                                   \
	(IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |     \
	 IBV_QP_MAX_QP_RD_ATOMIC)
#define ALL_RIGHTS                                                                                 \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC)
#define LEN 4096

/* Where a peer is. */
struct where {
	union ibv_gid gid;
	uint32_t qp_num;
	uint32_t rkey;
	uint64_t addr;
};

extern struct ibv_context *ctx;
extern uint8_t wire_timeout; /* of what is oob next; at first as short as the device lets it be */
extern int gid_index; /* of what is oob next; at first of an IPv4 address */

/* Opens the device: to be called first. */
void open_by_hand(void);

/* The QP has queues of 64, and is in RESET. */
void open_side(struct side *s);
void close_side(struct side *s);
void open_pair(struct side *a, struct side *b);
void close_pair(struct side *a, struct side *b);
struct ibv_qp *new_qp(struct side *s);
struct where where_is(const struct side *s);

/* 0 or the errno. */
int to_init(struct side *s);
struct ibv_qp_attr rtr_attr(const struct where *to);
int to_rtr(struct side *s, const struct where *to);
int to_rts(struct side *s);
int to_state(struct side *s, enum ibv_qp_state state);
/* All the way. */
void wire(struct side *s, const struct where *to);
void wire_pair(struct side *a, struct side *b);

/* LEN bytes, made of the id, from the beginning of buf, and to the place behind it. */
int send_from(struct side *s, uint64_t id);
void recv_at(struct side *s, uint64_t id);
void expect_received(struct side *s, uint64_t id, unsigned int seed);
void expect_sent(struct side *s, uint64_t id);
/* A Send each way. */
void exchange(struct side *a, struct side *b, uint64_t id);

/* Over a pipe, all of it. */
void put(int fd, const void *p, size_t len);
void get(int fd, void *p, size_t len);
/* Until the other process has come here, too. */
void meet(int in, int out);

#endif
