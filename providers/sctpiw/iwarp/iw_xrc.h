/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Extended reliable connections (XRC): each message names the SRQ whose receive it takes, by a number
 * that the program has told its peer. XRC_SEND is the end that sends; the other end, XRC_RECV, has no
 * queues, no PD and no CQ. The SRQs that its messages may name are those of its domain, and a receive
 * completes on the CQ of its SRQ. Peers may read and write the memory of each PD that has an SRQ in the
 * domain. Needs the locks of all shards.
 */
#ifndef SCTPIW_IWARP_IW_XRC_H
#define SCTPIW_IWARP_IW_XRC_H

#include <stdint.h>

struct iw_cq;
struct iw_pd;
struct iw_shard;
struct iw_srq;
struct iw_xrcd;

/* A domain of the shard's RNIC. NULL: out of memory, or of PDs, CQs or SRQs, of which it takes one each. */
struct iw_xrcd *iw_xrcd_new(struct iw_shard *shard);
/* -EBUSY: an SRQ or a QP belongs to it. */
int iw_xrcd_free(struct iw_xrcd *xrcd);
/*
 * As iw_srq_new(); iw_srq.num is set, and the receives complete on cq. iw_srq_free() ends the sessions
 * of QPs that hold one of its receives, or have a message for it that waits for one.
 */
int iw_xrc_srq_new(struct iw_xrcd *xrcd, struct iw_pd *pd, struct iw_cq *cq, uint32_t max_wr,
		   uint32_t max_sge, void *ctx, struct iw_srq **srq);

#endif
