/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages between the connection managers of two sctpiw devices, with the same purpose as the
 * header fields of InfiniBand's REQ, REP and REJ. The private data of an rdma_cm id's Initiate,
 * Accept and Reject begin with such a message, if both INIT and INIT ACK had flag C
 * (wire/sctp_receipts.h). The program's private data follow. Offsets in octets, and fields in network
 * byte order:
 *
 *   0   8 octets: "sctpiwCM"
 *   8   version, 1
 *   9   2 octets. In an Initiate: port that the id's program sees. In a Reject: enum
 *       cm_message_reason, and an octet that is sent as 0 and ignored. In an Accept: 0
 *  11   type of the id's QPs: enum cm_message_type
 *  12   struct cm_counts: rnr_retry in bits 0 to 2, retry in bits 3 to 5, flow_control in bit 6,
 *       srq in bit 7. 0 in a Reject
 *  13   3 octets: QP number that the program passed; 0 in a Reject
 *
 * This module only encodes and decodes; it has no state.
 */
#ifndef SCTPIW_CONN_CM_MESSAGE_H
#define SCTPIW_CONN_CM_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

struct iw_session_param;

#define CM_MESSAGE_LEN 16

/* Same values as in enum oob_type. rdma_cm does not connect UC QPs. */
enum cm_message_type { CM_MESSAGE_RC = 0, CM_MESSAGE_XRC = 2 };

enum cm_message_reason {
	CM_MESSAGE_BY_PROGRAM = 0, /* rejected by the program */
	CM_MESSAGE_OF_TYPE = 1,	   /* the listener is for QPs of the type in this Reject */
	CM_MESSAGE_OF_ECE = 35,	   /* rejected by the program with rdma_reject_ece() */
};

/* Those parameters of rdma_connect() and rdma_accept() that iWARP's messages cannot carry. */
struct cm_counts {
	uint8_t retry;	   /* 0 to 7; 0 in an Accept, since InfiniBand's REP has none */
	uint8_t rnr_retry; /* 0 to 7, for the peer's Sends */
	bool flow_control;
	bool srq;
};

struct cm_message {
	uint8_t type;
	uint8_t reason; /* only in a Reject */
	uint16_t port;	/* only in an Initiate; 0: the SCTP source port */
	struct cm_counts counts;
	uint32_t qp_num; /* 24 bits */
};

/* Inserts the message before the private data of at most RNIC_PRIVATE_DATA_MAX octets. */
void cm_message_add(const struct cm_message *m, struct iw_session_param *param);
/*
 * Removes the message from the beginning of the private data, which may have any length. Returns
 * false if the private data do not begin with a message.
 */
bool cm_message_take(struct cm_message *m, struct iw_session_param *param);
/* Returns "RC", "XRC" or "unknown". */
const char *cm_message_type_name(uint8_t type);

#endif
