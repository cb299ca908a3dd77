/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * QPs that stand in for none. On InfiniBand the connection manager carries the number of a QP from one side to
 * the other, and does not care what it stands for: UCX names a UD QP that it uses for nothing else, and connects
 * QPs of its own by what both sides have told each other. Here a session belongs to a QP, so such a connection
 * has one that takes no work requests, and has no memory for its peer. Shard lock.
 */
#ifndef SCTPIW_CONN_STAND_IN_H
#define SCTPIW_CONN_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>

struct conn;
struct iw_cq;
struct iw_pd;
struct iw_qp;

/* Part of struct conn. What all stand-ins use is there while there is one. */
struct stand_ins {
	unsigned int n;
	struct iw_pd *pd;
	struct iw_cq *cq;
};

/* Whether a connection may be asked for with this number, which is that of no QP for connections. */
bool stand_in_is_meant(const struct conn *c, uint32_t qp_num);
/* A QP in INIT. NULL: out of memory, or of QP numbers. */
struct iw_qp *stand_in_new(struct conn *c);
/* Ends its session, if it has one. */
void stand_in_free(struct conn *c, struct iw_qp *qp);

#endif
