/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Initiates received before their QP was ready. Limited in total and per QP number. Shard lock. */
#ifndef SCTPIW_CONN_OOB_EARLY_H
#define SCTPIW_CONN_OOB_EARLY_H

#include <stdint.h>

#define OOB_EARLY_MAX 1024
#define OOB_EARLY_PER_QP 4

struct conn;
struct iw_session;
struct oob_message;

/* Keeps the Initiate, or rejects it if there is no room. */
void oob_early_keep(struct conn *c, struct iw_session *s, const struct oob_message *m);
/* Considers the Initiates kept for this QP number again, once the QP is ready or destroyed. */
void oob_early_consider(struct conn *c, uint32_t num);

#endif
