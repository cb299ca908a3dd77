/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* XRC inside the RNIC (iw_xrc.h): the SRQ of a message. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_XRC_H
#define SCTPIW_IWARP_XRC_H

#include "iwarp/iw_qp.h"
#include "iwarp/iw_xrc.h"
#include "iwarp/session.h"
#include "wire/ddp.h"
#include "wire/rdmap.h"

/* True if the QP is an XRC_RECV. Its SRQ has no receives: iw_xrcd_new() created it. */
static inline bool iw_xrc_is_recv(const struct iw_qp *qp)
{
	return qp->srq && qp->srq->xrcd;
}

/* True if the session's messages may use this queue number, which RDMAP does not define. */
bool iw_xrc_has_queue(const struct iw_session *s, uint32_t qn);
/* Returns the result of iw_xrc_find() for an XRC_RECV. */
struct iw_srq *iw_xrc_lookup(const struct iw_qp *qp, uint32_t qn);
/* True if the XRC_RECV's peer may access the memory of this PD. */
bool iw_xrc_shares(const struct iw_qp *qp, const struct iw_pd *pd);

/*
 * For a QP that uses SRQs: returns the SRQ for messages with this queue number, or NULL if no such
 * SRQ exists.
 */
static inline struct iw_srq *iw_xrc_find(const struct iw_qp *qp, uint32_t qn)
{
	return iw_xrc_is_recv(qp) ? iw_xrc_lookup(qp, qn) : qp->srq;
}

/* True if messages to the QP may access the memory of this PD, which is not the QP's own PD. */
static inline bool iw_xrc_reaches(const struct iw_qp *qp, const struct iw_pd *pd)
{
	return iw_xrc_is_recv(qp) && iw_xrc_shares(qp, pd);
}

/* Writes the number of the WQE's SRQ into the DDP header. */
static inline void iw_xrc_name_srq(const struct iw_send_wqe *wqe, uint8_t *ddp)
{
	ddp_put_qn(ddp, RDMAP_QN_SRQ | wqe->srq_num);
}

/* Returns a copy of attr for an XRC_RECV: with the PD, CQ and SRQ of its domain. */
struct iw_qp_attr iw_xrcd_qp_attr(const struct iw_qp_attr *attr);
/* Removes all references to the SRQ from its domain. Call before the SRQ is freed. */
void iw_xrc_srq_leave(struct iw_srq *srq);

#endif
