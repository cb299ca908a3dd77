/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* XRC from the RNIC's side (iw_xrc.h): which SRQ a message is for. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_XRC_H
#define SCTPIW_IWARP_XRC_H

#include "iwarp/iw_qp.h"
#include "iwarp/iw_xrc.h"
#include "iwarp/session.h"
#include "wire/ddp.h"
#include "wire/rdmap.h"

/* Is the QP an XRC_RECV? Its SRQ is the one of its domain that has no receives. */
static inline bool iw_xrc_is_recv(const struct iw_qp *qp)
{
	return qp->srq && qp->srq->xrcd;
}

/* May messages of the session travel to the queue with this number, which is above all that RDMAP has? */
bool iw_xrc_has_queue(const struct iw_session *s, uint32_t qn);
/* See iw_xrc_find(); of an XRC_RECV. */
struct iw_srq *iw_xrc_lookup(const struct iw_qp *qp, uint32_t qn);
/* May the XRC_RECV's peer use the memory of this PD? */
bool iw_xrc_shares(const struct iw_qp *qp, const struct iw_pd *pd);

/*
 * The SRQ of a QP with receives in SRQs whose receive a message takes that travels to this queue number;
 * NULL: there is none.
 */
static inline struct iw_srq *iw_xrc_find(const struct iw_qp *qp, uint32_t qn)
{
	return iw_xrc_is_recv(qp) ? iw_xrc_lookup(qp, qn) : qp->srq;
}

/* May the QP use the memory of this PD, which is not its own? */
static inline bool iw_xrc_reaches(const struct iw_qp *qp, const struct iw_pd *pd)
{
	return iw_xrc_is_recv(qp) && iw_xrc_shares(qp, pd);
}

/* Writes the number of the SRQ that the WQE names into the DDP header. */
static inline void iw_xrc_name_srq(const struct iw_send_wqe *wqe, uint8_t *ddp)
{
	ddp_put_qn(ddp, RDMAP_QN_SRQ | wqe->srq_num);
}

/* attr of an XRC_RECV with what its domain has in the place of a PD, CQs and an SRQ. */
struct iw_qp_attr iw_xrcd_qp_attr(const struct iw_qp_attr *attr);
/* The SRQ is about to be freed: nothing of its domain refers to it any more. */
void iw_xrc_srq_leave(struct iw_srq *srq);

#endif
