/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Initiates received before their QP was ready. Their number is limited in total and per QP number.
 * Callers hold the shard's lock.
 */
#ifndef SCTPIW_CONN_OOB_EARLY_H
#define SCTPIW_CONN_OOB_EARLY_H

#include <stdint.h>

#define OOB_EARLY_MAX 1024
#define OOB_EARLY_PER_QP 4

struct conn;
struct iw_session;
struct oob_message;

/* Keeps the Initiate, or rejects it if a limit is reached or memory runs out. */
void oob_early_keep(struct conn *c, struct iw_session *s, const struct oob_message *m);
/*
 * Passes the Initiates kept for this QP number to oob_consider(), once the QP is ready or
 * destroyed.
 */
void oob_early_consider(struct conn *c, uint32_t num);

#endif
