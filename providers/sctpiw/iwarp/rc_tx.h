/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Messages that a reliable connection sends for WQEs, and its responses. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_RC_TX_H
#define SCTPIW_IWARP_RC_TX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct iw_failure;
struct iw_rc;
struct iw_session;
struct term_message;

/* Minimum room, in bytes, for the first segment of a message that does not fit into one segment. */
#define IW_MIN_CUT 128

struct iw_rc_tx {
	uint32_t msn; /* MSN of the next message on QN 0 */
	bool to_srqs; /* XRC: messages contain the number of an SRQ of the peer instead of QN 0 */
	bool imm_due; /* the current WQE's Write is sent, its Immediate Data is next */
	/*
	 * Status of the current WQE if the WQE is at fault, else 0. The WQE fails once all earlier
	 * WQEs are complete.
	 */
	uint32_t fault;
};

/* True if a message can be sent. Looks for new WQEs; if ORD is reached, makes requests wait. */
bool iw_rc_tx_find_work(struct iw_rc *rc);
/*
 * Writes the next segment of the QP's messages, leaving room for the DDP-SSN before it. Returns the
 * length including the DDP-SSN. Returns 0 if no segment is due, or if none fits limit. May end the
 * session.
 */
size_t iw_rc_tx_pull(struct iw_session *s, uint8_t *buf, size_t limit);
/* Writes the RTR indication, the first segment (RFC 6581 9.2). Returns as iw_rc_tx_pull(). */
size_t iw_rc_tx_pull_rtr(struct iw_session *s, uint8_t *buf, size_t limit);
/*
 * Checks whether the current WQE is at fault and all earlier WQEs are complete. If so, ends the
 * session and returns false.
 */
bool iw_rc_tx_go_on(struct iw_rc *rc);
/* Finds the WQE that the peer's Terminate refers to. Sets fault, index and status of f if found. */
void iw_rc_tx_blame(const struct iw_rc *rc, const struct term_message *t, struct iw_failure *f);
/* Makes f name the WQE of the Send or Immediate Data with this MSN, with this status. */
void iw_rc_tx_blame_send(const struct iw_rc *rc, uint32_t msn, uint32_t status,
			 struct iw_failure *f);

/* Returns the status of the WR that a Terminate with this error (TERM_*) refers to. */
uint32_t iw_rc_tx_status(uint16_t error);

#endif
