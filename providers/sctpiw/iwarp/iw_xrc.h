/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Extended reliable connections (XRC). Each message contains the number of an SRQ, and takes a
 * receive of that SRQ. The receiving program sends its SRQ numbers to the sending program
 * beforehand. A QP of type XRC_SEND sends the messages. A QP of type XRC_RECV receives them, and
 * has no queues, PD or CQ. An XRC_RECV belongs to an XRC domain. Its messages may name any SRQ of
 * that domain. A receive completes on the CQ of its SRQ. The peer may access the memory of each PD
 * that has an SRQ in the domain. Needs the locks of all shards.
 */
#ifndef SCTPIW_IWARP_IW_XRC_H
#define SCTPIW_IWARP_IW_XRC_H

#include <stdint.h>

struct iw_cq;
struct iw_pd;
struct iw_shard;
struct iw_srq;
struct iw_xrcd;

/*
 * Creates an XRC domain of the shard's RNIC. The domain has a PD, a CQ and an SRQ of its own.
 * Returns NULL if out of memory, or if the limit for PDs, CQs or SRQs is reached.
 */
struct iw_xrcd *iw_xrcd_new(struct iw_shard *shard);
/* Returns 0, or -EBUSY if an SRQ or a QP belongs to the domain. */
int iw_xrcd_free(struct iw_xrcd *xrcd);
/*
 * Creates an SRQ as iw_srq_new() does, with a number in iw_srq.num. The SRQ's receives complete on
 * cq. iw_srq_free() on this SRQ ends the sessions of QPs that hold a receive of the SRQ, or that
 * wait for one.
 */
int iw_xrc_srq_new(struct iw_xrcd *xrcd, struct iw_pd *pd, struct iw_cq *cq, uint32_t max_wr,
		   uint32_t max_sge, void *ctx, struct iw_srq **srq);

#endif
