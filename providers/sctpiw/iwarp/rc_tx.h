/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The messages that a reliable connection sends: for WQEs, and responses to the peer. Needs the
 * shard's lock.
 */
#ifndef SCTPIW_IWARP_RC_TX_H
#define SCTPIW_IWARP_RC_TX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct iw_failure;
struct iw_rc;
struct iw_session;
struct term_message;

/* A message is not cut in two if there is less room than this for its first part, bytes. */
#define IW_MIN_CUT 128

struct iw_rc_tx {
	uint32_t msn; /* of the next message on QN 0 */
	bool to_srqs; /* XRC: its messages name an SRQ of the peer in the place of QN 0 */
	bool imm_due; /* the Write of the current WQE is out, its Immediate Data comes next */
	/* The current WQE is at fault, with this status, once all before it are complete; 0: not. */
	uint32_t fault;
};

/* Looks for something to send; takes note of new WQEs and of requests that wait for ORD. */
bool iw_rc_tx_find_work(struct iw_rc *rc);
/*
 * Writes the next segment of the QP's messages behind room for the DDP-SSN: its length with that;
 * 0: there is none, or it does not fit limit. May end the session.
 */
size_t iw_rc_tx_pull(struct iw_session *s, uint8_t *buf, size_t limit);
/* The same for the RTR indication, which is sent before all else (RFC 6581 9.2). */
size_t iw_rc_tx_pull_rtr(struct iw_session *s, uint8_t *buf, size_t limit);
/*
 * Ends the session if the current WQE is at fault and all before it are complete. false: that is so.
 */
bool iw_rc_tx_go_on(struct iw_rc *rc);
/* Finds the WQE that a Terminate is about: fills fault, index and status of f, if there is one. */
void iw_rc_tx_blame(const struct iw_rc *rc, const struct term_message *t, struct iw_failure *f);
/* The same for the Send or Immediate Data with this MSN. */
void iw_rc_tx_blame_send(const struct iw_rc *rc, uint32_t msn, uint32_t status,
			 struct iw_failure *f);

/* The status of the WR that a Terminate with this error (TERM_*) is about. */
uint32_t iw_rc_tx_status(uint16_t error);

#endif
