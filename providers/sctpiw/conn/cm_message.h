/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the connection managers of two sctpiw devices say to each other beside the program's private data, as
 * InfiniBand's REQ, REP and REJ do. Initiate, Accept and Reject of an id of rdma_cm begin their private data with
 * it, if both sides have said flag C in INIT and INIT ACK (wire/sctp_receipts.h); in network byte order:
 *
 *   0   8 octets: "sctpiwCM"
 *   8   version, 1
 *   9   2 octets: in an Initiate the port that the id shows to its program; in a Reject enum cm_message_reason, and
 *       an octet that is 0, and ignored; else 0
 *  11   type of the id's QPs: enum cm_message_type
 *  12   the counts of the program's parameters (struct cm_counts): in bits 0 to 2 rnr_retry, in 3 to 5 retry, in 6
 *       flow_control, in 7 srq; 0 in a Reject
 *  13   3 octets: QP number that the program has named; 0 in a Reject
 *
 * Encoding and decoding only; no state.
 */
#ifndef SCTPIW_CONN_CM_MESSAGE_H
#define SCTPIW_CONN_CM_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

struct iw_session_param;

#define CM_MESSAGE_LEN 16

/* As enum oob_type, whose UC rdma_cm does not connect. */
enum cm_message_type { CM_MESSAGE_RC = 0, CM_MESSAGE_XRC = 2 };

enum cm_message_reason {
	CM_MESSAGE_BY_PROGRAM = 0, /* the program has rejected the request */
	CM_MESSAGE_OF_TYPE = 1,	   /* the listener is for QPs of the type that the Reject names */
	CM_MESSAGE_OF_ECE = 35,	   /* the program has rejected the request by rdma_reject_ece() */
};

/* Parameters of rdma_connect() and rdma_accept() that iWARP's messages have no place for. */
struct cm_counts {
	uint8_t retry;	   /* 0 to 7; 0 in an Accept, as a REP of InfiniBand has none */
	uint8_t rnr_retry; /* 0 to 7: of the peer's Sends */
	bool flow_control;
	bool srq;
};

struct cm_message {
	uint8_t type;
	uint8_t reason; /* of a Reject */
	uint16_t port;	/* of an Initiate; 0: the SCTP port that it comes from */
	struct cm_counts counts;
	uint32_t qp_num; /* 24 bits */
};

/* Puts the message in front of the private data, which have at most RNIC_PRIVATE_DATA_MAX octets. */
void cm_message_add(const struct cm_message *m, struct iw_session_param *param);
/* Takes the message away from the private data, of any length. false: they do not begin with one, and nothing is changed. */
bool cm_message_take(struct cm_message *m, struct iw_session_param *param);
/* RC, XRC, or what else a peer may say. */
const char *cm_message_type_name(uint8_t type);

#endif
