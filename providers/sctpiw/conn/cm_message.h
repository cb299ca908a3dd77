/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages between the connection managers of two sctpiw devices, besides the program's private
 * data, with the same purpose as InfiniBand's REQ, REP and REJ. The private data of an rdma_cm id's
 * Initiate, Accept and Reject begin with this message, if INIT and INIT ACK both had flag C
 * (wire/sctp_receipts.h). In network byte order:
 *
 *   0   8 octets: "sctpiwCM"
 *   8   version, 1
 *   9   2 octets. Initiate: port that the id shows to its program. Reject: enum cm_message_reason,
 *       and an octet that is 0, and ignored. Accept: 0
 *  11   type of the id's QPs: enum cm_message_type
 *  12   counts of the program's parameters (struct cm_counts). Bits 0 to 2: rnr_retry, 3 to 5:
 *       retry, 6: flow_control, 7: srq. 0 in a Reject
 *  13   3 octets: QP number named by the program; 0 in a Reject
 *
 * This module only encodes and decodes; it has no state.
 */
#ifndef SCTPIW_CONN_CM_MESSAGE_H
#define SCTPIW_CONN_CM_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

struct iw_session_param;

#define CM_MESSAGE_LEN 16

/* Values of enum oob_type; rdma_cm does not connect UC QPs. */
enum cm_message_type { CM_MESSAGE_RC = 0, CM_MESSAGE_XRC = 2 };

enum cm_message_reason {
	CM_MESSAGE_BY_PROGRAM = 0, /* rejected by the program */
	CM_MESSAGE_OF_TYPE = 1,	   /* the listener is for QPs of the type in this Reject */
	CM_MESSAGE_OF_ECE = 35,	   /* rejected by the program with rdma_reject_ece() */
};

/* Parameters of rdma_connect() and rdma_accept() without a field in iWARP's messages. */
struct cm_counts {
	uint8_t retry;	   /* 0 to 7; 0 in an Accept, since InfiniBand's REP has none */
	uint8_t rnr_retry; /* 0 to 7, for the peer's Sends */
	bool flow_control;
	bool srq;
};

struct cm_message {
	uint8_t type;
	uint8_t reason; /* only in a Reject */
	uint16_t port;	/* only in an Initiate; 0: its SCTP source port */
	struct cm_counts counts;
	uint32_t qp_num; /* 24 bits */
};

/* Inserts the message before the private data of at most RNIC_PRIVATE_DATA_MAX octets. */
void cm_message_add(const struct cm_message *m, struct iw_session_param *param);
/*
 * Removes the message from the private data, of any length. Returns false, without a change, if
 * they do not begin with a message.
 */
bool cm_message_take(struct cm_message *m, struct iw_session_param *param);
/* Returns "RC", "XRC" or "unknown". */
const char *cm_message_type_name(uint8_t type);

#endif
