/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Log lines that explain the end of a QP (iw_rnic_ops.say). Errors of the program have level
 * IW_SAY_ERROR. Sent and received Terminates have level IW_SAY_INFO. Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_EXPLAIN_H
#define SCTPIW_IWARP_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

struct iw_failure;
struct iw_qp;
struct iw_session;
struct term_message;

/* Logs error f, which this side has found. Call before the session ends. */
void iw_explain_sent(const struct iw_session *s, const struct iw_failure *f);
/* Logs the peer's Terminate t. f names the work request at fault, if there is one. */
void iw_explain_received(const struct iw_session *s, const struct term_message *t,
			 const struct iw_failure *f);
/*
 * Logs that one side of a QP connected out of band may send more Reads at once (ord) than its peer
 * accepts (ird). ord is the value of this QP, or of the peer if of_peer. This device lowers ord to
 * ird, but other devices do not.
 */
void iw_explain_depths(const struct iw_session *s, uint32_t ord, uint32_t ird, bool of_peer);
/* Logs the fault f of a work request on a QP without a session. */
void iw_explain_fault(const struct iw_qp *qp, const struct iw_failure *f);
/* Logs the loss of the association; f names the oldest work request. */
void iw_explain_lost(const struct iw_session *s, const struct iw_failure *f, int error);
/* Logs how far the setup of a session came that this side abandons. */
void iw_explain_abandoned(const struct iw_session *s);
/* Returns a few words that describe why f ends a QP. */
const char *iw_explain_words(const struct iw_failure *f);

/* Logs that a QP is XRC, but the peer does not support queue numbers with an SRQ number. */
void iw_explain_no_srq_numbers(const struct iw_session *s, const struct iw_qp *qp);

#endif
