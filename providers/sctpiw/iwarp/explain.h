/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Every end of a QP says why, in a line for people (iw_rnic_ops.say): at level error what a program
 * got wrong, at level info each Terminate that is sent or received. Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_EXPLAIN_H
#define SCTPIW_IWARP_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

struct iw_failure;
struct iw_qp;
struct iw_session;
struct term_message;

/* This side found the error f, and the session is about to end. */
void iw_explain_sent(const struct iw_session *s, const struct iw_failure *f);
/* The peer's Terminate t has come; f blames the work request that it is about, if there is one. */
void iw_explain_received(const struct iw_session *s, const struct term_message *t,
			 const struct iw_failure *f);
/*
 * Logs a QP connected out of band that may have more Reads outstanding, `ord`, than its peer takes,
 * `ird`; or the reverse, if of_peer. This device lowers `ord` to fit, and other devices do not.
 */
void iw_explain_depths(const struct iw_session *s, uint32_t ord, uint32_t ird, bool of_peer);
/* A work request of a QP without a session is at fault, as f says. */
void iw_explain_fault(const struct iw_qp *qp, const struct iw_failure *f);
/* The association is gone, and f blames the oldest work request. */
void iw_explain_lost(const struct iw_session *s, const struct iw_failure *f, int error);
/* Logs the progress of a session that this side gives up before its beginning. */
void iw_explain_abandoned(const struct iw_session *s);
/* What f says of the end of a QP, in a few words. */
const char *iw_explain_words(const struct iw_failure *f);

/* The QP is of XRC, and the session's peer does not know queue numbers with the number of an SRQ. */
void iw_explain_no_srq_numbers(const struct iw_session *s, const struct iw_qp *qp);

#endif
