/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * QPs connected out of band: each side knows the other's address and QP number, and nothing else. The upper 16
 * bits of the number are the port of the owner's endpoint (qp_num.c), so that one association between
 * these two ports carries the sessions of all QPs of the two blocks. Engine lock.
 *
 * Who Initiates: the side with the larger port; of equal ports the larger address; within a process
 * the larger QP number. It begins as soon as it is in RTR, and again with pauses that double, 10 ms to 1 s,
 * when nobody is there or the peer says that it has no such QP. The other side waits for it, half a second
 * at first, and then begins by itself: the two may see their addresses differently. When Initiates do cross,
 * that of the larger QP number counts (of equal ones that of the association's initiator) and the other one
 * is rejected. A QP that is oob to itself is both sides at once, and has its session at once (to_self.h).
 *
 * Initiate, Accept and Reject carry as private data (RFC 5043 6.2 leaves it to the ULP), in network byte
 * order:
 *
 *   0   8 octets: "sctpiwQP"
 *   8   version, 1
 *   9   in a Reject: enum oob_reason; else 0
 *  10   rnr_retry of the sender's, 7 while it does not send
 *  11   0
 *  12   QP number of the sender of the message
 *  16   QP number that it is for
 *  20   8 octets: 0, or from a process to itself a number that nobody else knows
 *
 * An Initiate is for a QP that has named the sender: its number, its address as that of the association,
 * and its port. One that comes while its QP is not in RTR yet is early until that is decided, and one that comes
 * while the QP still has, or had, another session as well: it may be for the next one.
 */
#ifndef SCTPIW_ENGINE_WIRED_H
#define SCTPIW_ENGINE_WIRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/private.h"

#define OOB_MESSAGE_LEN 28
#define OOB_EARLY_MAX 1024	/* Initiates */
#define OOB_EARLY_PER_QP 4

enum oob_reason {
	OOB_NO_QP = 1,  /* there is no QP of that number, or no room to hold the Initiate */
	OOB_STRANGER,	  /* the QP is oob to somebody else */
	OOB_CROSSED,	  /* our own Initiate counts */
};

struct oob_message {
	uint8_t reason;
	uint8_t rnr_retry;
	uint32_t src, dst;
	uint64_t token;
};

/* Returns OOB_MESSAGE_LEN. */
size_t oob_encode(const struct oob_message *m, uint8_t *buf);
/* false: it is something else. */
bool oob_decode(struct oob_message *m, const uint8_t *data, size_t len);

/* The association is up, or is gone before or after that. */
void oob_assoc_up(struct conn_assoc *a);
void oob_assoc_failed(struct conn_assoc *a, int error);
/* true: the event was about QPs connected out of band. */
bool oob_session_event(struct engine *e, const struct iw_event *ev);
/* The QP has new WRs. */
void oob_doorbell(struct iw_qp *qp);
/* There is no QP of that number any more. */
void oob_qp_gone(struct engine *e, uint32_t num);
uint64_t oob_next_timeout(const struct engine *e);
void oob_timers(struct engine *e);

/* qp_num.c: the endpoint whose port that number has in it; NULL: none of this process's. */
struct endpoint *qp_num_endpoint(const struct engine *e, uint32_t num);

static inline uint16_t qp_num_port(uint32_t num)
{
	return (uint16_t)(num >> 8);
}

#endif
