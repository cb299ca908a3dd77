/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stand-ins: QPs for connections to which programs assign no connectable QP. On InfiniBand, the
 * connection manager only carries QP numbers from one side to the other. UCX names a UD QP that it
 * uses for nothing else, and connects other QPs with the exchanged data. In sctpiw, a session
 * belongs to a QP. So such a connection gets a stand-in, which takes no work requests, and has no
 * memory for its peer. Shard lock.
 */
#ifndef SCTPIW_CONN_STAND_IN_H
#define SCTPIW_CONN_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>

struct conn;
struct iw_cq;
struct iw_pd;
struct iw_qp;

/*
 * The PD and CQ that all stand-ins share. They live while any stand-in does. Part of struct conn.
 */
struct stand_ins {
	unsigned int n;
	struct iw_pd *pd;
	struct iw_cq *cq;
};

/* True if a connection with this number gets a stand-in: no QP for connections has the number. */
bool stand_in_is_meant(const struct conn *c, uint32_t qp_num);
/* Returns a QP in INIT, or NULL when out of memory or QP numbers. */
struct iw_qp *stand_in_new(struct conn *c);
/* Frees the QP, and ends its session if any. */
void stand_in_free(struct conn *c, struct iw_qp *qp);

#endif
