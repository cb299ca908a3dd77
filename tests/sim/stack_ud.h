/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* UD queue pairs of simulated nodes, whose receives have guards around them. */
#ifndef TESTS_SIM_STACK_UD_H
#define TESTS_SIM_STACK_UD_H

#include "sim/stack.h"

#define STACK_UD_RECEIVES 64 /* of a QP */
#define STACK_UD_GRH 40
#define STACK_UD_ROOM 4096    /* bytes of payload in a receive */
#define STACK_UD_HEAD 4	      /* the payload begins with the number of the message */
#define STACK_UD_PATTERN 0xa5 /* fills a receive before a message arrives */

struct stack_ud {
	struct stack_node *node;
	struct iw_cq *cq, *send_cq;
	struct iw_qp *qp;
	struct iw_mr *mr, *out_mr;
	uint8_t *mem, *out;
	uint32_t qkey;
};

/* A message of a QP. */
struct stack_ud_message {
	uint32_t number; /* determines its bytes */
	uint32_t len;	 /* STACK_UD_HEAD or more */
	bool with_imm;
	uint32_t imm;
};

/* Makes a QP with that Q_Key, in RTS, with all its receives posted; destroys it. */
void stack_ud_open(struct stack_ud *u, struct stack_node *n, uint32_t qkey);
void stack_ud_close(struct stack_ud *u);
/*
 * Sends the message, and checks that its work request completes. Nothing else may wait at the
 * node's port. Time passes only while the receiver has reported no room, at most as long as
 * conn/pace.h permits.
 */
void stack_ud_send(struct stack_ud *u, const struct iw_ud_dest *dest,
		   const struct stack_ud_message *m);
/*
 * Takes the next completed receive. Returns false if none waits. *at points to its Global Route
 * Header.
 */
bool stack_ud_poll(struct stack_ud *u, struct iw_cqe *cqe, const uint8_t **at);
/* Checks that the receive has only that message. */
void stack_ud_check(const struct iw_cqe *cqe, const uint8_t *at, const struct stack_ud_message *m);
/* Posts the completed receive again. */
void stack_ud_again(struct stack_ud *u, const struct iw_cqe *cqe);
/* Checks that the guards of the receives are unchanged. */
void stack_ud_check_edges(const struct stack_ud *u);
/* Writes the bytes of the message to buf. */
void stack_ud_fill(uint8_t *buf, const struct stack_ud_message *m);

#endif
