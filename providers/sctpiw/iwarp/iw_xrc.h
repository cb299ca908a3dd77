/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Extended reliable connections (XRC). Each message names the SRQ whose receive it takes, by a
 * number that the program has sent to its peer. XRC_SEND is the sending end. The other end,
 * XRC_RECV, has no queues, PD or CQ. Its messages may name the SRQs of its domain, and a receive
 * completes on its SRQ's CQ. Peers may access the memory of each PD that has an SRQ in the domain.
 * Needs the locks of all shards.
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
 * Creates a domain of the shard's RNIC, with one PD, CQ and SRQ of its own. Returns NULL if out of
 * memory, or at a limit of these.
 */
struct iw_xrcd *iw_xrcd_new(struct iw_shard *shard);
/* Returns 0, or -EBUSY if an SRQ or a QP belongs to the domain. */
int iw_xrcd_free(struct iw_xrcd *xrcd);
/*
 * Creates an SRQ as iw_srq_new(), with a number in iw_srq.num; its receives complete on cq.
 * iw_srq_free() ends the sessions of QPs that hold its receives, or have a message that waits for
 * one.
 */
int iw_xrc_srq_new(struct iw_xrcd *xrcd, struct iw_pd *pd, struct iw_cq *cq, uint32_t max_wr,
		   uint32_t max_sge, void *ctx, struct iw_srq **srq);

#endif
