/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What QPs connected out of band say to each other. Initiate, Accept and Reject carry it as private data
 * (RFC 5043 6.2 leaves that to the ULP), in network byte order:
 *
 *   0   8 octets: "sctpiwQP"
 *   8   version, 1
 *   9   in a Reject: enum oob_reason; else 0
 *  10   rnr_retry of the sender's, 7 while it does not send
 *  11   type of the sender's QP: enum oob_type
 *  12   QP number of the sender of the message
 *  16   QP number that the message is for
 *  20   8 octets: 0, or from a process to itself a number that nobody else knows
 *
 * Encoding and decoding only; no state.
 */
#ifndef SCTPIW_CONN_OOB_MESSAGE_H
#define SCTPIW_CONN_OOB_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OOB_MESSAGE_LEN 28

enum oob_reason {
	OOB_NO_QP = 1, /* there is no QP of that number, or no room to keep the Initiate */
	OOB_STRANGER,  /* the QP is connected to somebody else */
	OOB_CROSSED,   /* the Initiates crossed, and the other one counts */
	OOB_TYPE,      /* the QP is of another type */
};

/* Both QPs have to be of one type. */
enum oob_type {
	OOB_RC, /* also what is said by those who know no other type */
	OOB_UC,
};

struct oob_message {
	uint8_t reason;
	uint8_t rnr_retry;
	uint8_t type;
	uint32_t src, dst; /* QP numbers */
	uint64_t token;
};

/* Writes OOB_MESSAGE_LEN octets to buf, and returns that. */
size_t oob_message_encode(const struct oob_message *m, uint8_t *buf);
/* false: the data is something else. */
bool oob_message_decode(struct oob_message *m, const uint8_t *data, size_t len);

#endif
