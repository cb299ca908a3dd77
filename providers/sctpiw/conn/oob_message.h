/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages between QPs connected out of band. A message is the whole private data of an Initiate,
 * Accept or Reject, whose contents RFC 5043 6.2 leaves to the ULP. Offsets in octets, and fields in
 * network byte order:
 *
 *   0   8 octets: "sctpiwQP"
 *   8   version, 1
 *   9   enum oob_reason in a Reject; else 0
 *  10   the sender's rnr_retry; 7 before its QP can send
 *  11   type of the sender's QP: enum oob_type
 *  12   QP number of the sender
 *  16   QP number of the receiver
 *  20   8 octets: oob_table.token if both QPs are in one process; else 0
 *
 * This module only encodes and decodes; it has no state.
 */
#ifndef SCTPIW_CONN_OOB_MESSAGE_H
#define SCTPIW_CONN_OOB_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OOB_MESSAGE_LEN 28

enum oob_reason {
	OOB_NO_QP = 1, /* no QP with that number, or no room to keep the Initiate */
	OOB_STRANGER,  /* the QP is connected to another peer */
	OOB_CROSSED,   /* two Initiates crossed, and the other Initiate won */
	OOB_TYPE,      /* the QP is of another type */
};

/* Both QPs must have the same type. */
enum oob_type {
	OOB_RC, /* also sent by versions that support no other type */
	OOB_UC,
};

struct oob_message {
	uint8_t reason;
	uint8_t rnr_retry;
	uint8_t type;
	uint32_t src, dst; /* QP numbers */
	uint64_t token;
};

/* Writes OOB_MESSAGE_LEN octets to buf. Returns OOB_MESSAGE_LEN. */
size_t oob_message_encode(const struct oob_message *m, uint8_t *buf);
/* Returns false if the data are something else. */
bool oob_message_decode(struct oob_message *m, const uint8_t *data, size_t len);

#endif
