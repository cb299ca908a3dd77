/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A stand-in is a QP for an rdma_cm connection whose program names no QP that can be connected. On
 * InfiniBand, the connection manager only carries QP numbers from one side to the other. UCX, for
 * example, names a UD QP that it uses for nothing else, and connects other QPs with the exchanged
 * data. But in sctpiw, each session needs a QP. Therefore such a connection gets a stand-in, which
 * accepts no work requests and gives the peer no access to memory. Callers hold the shard's lock.
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
 * The PD and CQ that all stand-ins share. They exist while there is any stand-in. Part of struct
 * conn.
 */
struct stand_ins {
	unsigned int n;
	struct iw_pd *pd;
	struct iw_cq *cq;
};

/*
 * True if a connection with this QP number gets a stand-in: the device is a channel adapter, and no
 * connectable QP has the number. False if qp_num is 0.
 */
bool stand_in_is_meant(const struct conn *c, uint32_t qp_num);
/* Returns a stand-in in state INIT, or NULL if memory or QP numbers run out. */
struct iw_qp *stand_in_new(struct conn *c);
/* Frees the QP, and ends its session if any. */
void stand_in_free(struct conn *c, struct iw_qp *qp);

#endif
