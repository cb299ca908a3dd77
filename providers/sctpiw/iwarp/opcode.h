/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RDMAP messages (RFC 5040 4.1, RFC 7306 4.1). One table lists, for each message: path, sender,
 * effect on completions, layer of its access errors, and the functions for placement and delivery.
 * The table generates the switches that call these functions, so no call is indirect.
 */
#ifndef SCTPIW_IWARP_OPCODE_H
#define SCTPIW_IWARP_OPCODE_H

#include <stdint.h>

#include "iwarp/mr.h"
#include "iwarp/receipt.h"
#include "iwarp/terminate.h"
#include "wire/rdmap.h"

/* Destination of a message: a tagged buffer, or the queue with a queue number (QN). */
enum iw_path {
	IW_PATH_NONE, /* no such message */
	IW_PATH_TAGGED,
	IW_PATH_QUEUE_0, /* IW_PATH_QUEUE_0 + QN */
	IW_PATH_QUEUE_1,
	IW_PATH_QUEUE_2,
	IW_PATH_QUEUE_3,
	IW_PATH_QUEUE_4,
};

/* Sender of a message: the side with the work request, or the side that answers. */
enum iw_sender { IW_SENDER_REQUESTER, IW_SENDER_RESPONDER, IW_SENDER_EITHER };

/* Effect of the message's delivery on completion. */
enum iw_completes {
	IW_COMPLETES_NOTHING,
	IW_COMPLETES_RECEIVE,
	IW_COMPLETES_REQUEST, /* the requester's work request */
	IW_COMPLETES_SESSION, /* the session ends */
};

/* Layer whose error codes a Terminate uses for denied memory access. */
enum iw_errors { IW_ERRORS_NONE, IW_ERRORS_DDP, IW_ERRORS_RDMAP };

/*    opcode, path, sender, completes, errors, place, deliver */
#define IW_RDMAP_OPCODES(X)                                                                        \
	X(RDMAP_WRITE, TAGGED, REQUESTER, NOTHING, DDP, iw_write_place, iw_write_deliver)          \
	X(RDMAP_READ_REQUEST, QUEUE_1, REQUESTER, NOTHING, RDMAP, iw_irq_place, iw_irq_deliver)    \
	X(RDMAP_READ_RESPONSE, TAGGED, RESPONDER, REQUEST, DDP, iw_read_place, iw_read_deliver)    \
	X(RDMAP_SEND, QUEUE_0, REQUESTER, RECEIVE, NONE, iw_rc_rx_place, iw_rc_rx_deliver)         \
	X(RDMAP_SEND_INV, QUEUE_0, REQUESTER, RECEIVE, NONE, iw_rc_rx_place, iw_rc_rx_deliver)     \
	X(RDMAP_SEND_SE, QUEUE_0, REQUESTER, RECEIVE, NONE, iw_rc_rx_place, iw_rc_rx_deliver)      \
	X(RDMAP_SEND_SE_INV, QUEUE_0, REQUESTER, RECEIVE, NONE, iw_rc_rx_place, iw_rc_rx_deliver)  \
	X(RDMAP_TERMINATE, QUEUE_2, EITHER, SESSION, NONE, iw_term_place, iw_term_deliver)         \
	X(RDMAP_IMMEDIATE, QUEUE_0, REQUESTER, RECEIVE, NONE, iw_rc_rx_place, iw_rc_rx_deliver)    \
	X(RDMAP_IMMEDIATE_SE, QUEUE_0, REQUESTER, RECEIVE, NONE, iw_rc_rx_place, iw_rc_rx_deliver) \
	X(RDMAP_ATOMIC_REQUEST, QUEUE_1, REQUESTER, NOTHING, RDMAP, iw_irq_place, iw_irq_deliver)  \
	X(RDMAP_ATOMIC_RESPONSE, QUEUE_3, RESPONDER, REQUEST, NONE, iw_atomic_place,               \
	  iw_atomic_deliver)                                                                       \
	X(RDMAP_SEND_IMM, QUEUE_0, REQUESTER, RECEIVE, NONE, iw_rc_rx_place, iw_rc_rx_deliver)     \
	X(RDMAP_SEND_SE_IMM, QUEUE_0, REQUESTER, RECEIVE, NONE, iw_rc_rx_place, iw_rc_rx_deliver)  \
	X(RDMAP_RECEIPT, QUEUE_4, EITHER, NOTHING, NONE, iw_receipt_place, iw_receipt_deliver)

struct iw_rdmap_info {
	uint8_t path;	   /* enum iw_path */
	uint8_t sender;	   /* enum iw_sender */
	uint8_t completes; /* enum iw_completes */
	uint8_t errors;	   /* enum iw_errors */
};

extern const struct iw_rdmap_info iw_rdmap_table[16]; /* indexed by opcode */
/* Table for an XRC_SEND, whose peer only answers. The path of requests is IW_PATH_NONE here. */
extern const struct iw_rdmap_info iw_rdmap_answers[16];

/* Returns the Terminate error (TERM_*) for this opcode and this verdict of iw_mr_remote(). */
uint16_t iw_opcode_error(unsigned int opcode, enum iw_remote verdict);

#endif
