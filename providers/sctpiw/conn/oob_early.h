/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Initiates that came before their QP was ready for them. Bounded in all and for each QP number. Shard lock.
 */
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
/* The QP of this number is ready now, or gone: what is kept for it is considered again (oob_consider()). */
void oob_early_consider(struct conn *c, uint32_t num);

#endif
