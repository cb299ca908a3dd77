/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which attributes modify_qp takes in which state. A QP that the connection manager moves has masks
 * of its own, those of the kernel's iWARP connection manager; all others have the masks of
 * InfiniBand.
 */
#ifndef SCTPIW_VERBS_QP_ATTR_H
#define SCTPIW_VERBS_QP_ATTR_H

#include <stdbool.h>

#include "config/config.h"
#include "verbs/pabi.h"

/*
 * Whether a QP in state cur may be given these attributes. by_cm: sctpiw_is_by_cm() brought it to
 * INIT or RTR, or it has a connection of RDMA CM. personality: that of the device. 0; EINVAL; or EOPNOTSUPP for a second path, of
 * which there is none.
 */
int sctpiw_check_qp_attr(enum ibv_qp_type type, enum ibv_qp_state cur, bool by_cm,
			 enum config_personality personality, const struct ibv_qp_attr *attr,
			 int mask);
/* The same for a UD QP, whose masks are InfiniBand's however it is moved. */
int sctpiw_check_ud_attr(enum ibv_qp_state cur, const struct ibv_qp_attr *attr, int mask);

/*
 * The attributes that a QP of this type does not have: a UC QP none of a reliable connection, an XRC_SEND none of a
 * responder, and an XRC_RECV none of a requester.
 */
int sctpiw_attr_lacked(enum ibv_qp_type type);
/*
 * What mask means to a QP of this type: an XRC QP ignores the attributes that it lacks, and what their values are.
 * The kernel takes them out of the mask as well; programs that treat both ends alike name them (perftest). Other types
 * are refused what they lack.
 */
int sctpiw_attr_named(enum ibv_qp_type type, int mask);

/*
 * Whether the connection manager brings a QP to INIT or to RTR with these attributes: by a mask of its own, or by
 * InfiniBand's with a peer that it has named, which it does not on an iWARP device.
 */
bool sctpiw_is_by_cm(enum ibv_qp_type type, enum config_personality personality,
		     const struct ibv_qp_attr *attr, int mask);

/*
 * Whether a QP that the connection manager moves stays where it is when it is asked for state `next`; the call
 * succeeds. That state lies behind it: a program that moves its QP step by step (rping -q) asks for INIT and RTR when
 * the QP is in RTS already, and rdma_disconnect() for SQD when the peer has ended the connection. Or the connection
 * brings it there: with the masks of InfiniBand the passive side asks for RTS before it accepts.
 */
bool sctpiw_stays(enum ibv_qp_state cur, bool by_cm, enum config_personality personality,
		  unsigned int next);

/* The second path (alt_*) becomes the first one, and the other way round, as when a QP has migrated. */
void sctpiw_swap_paths(struct ibv_qp_attr *attr);
/* Copies the attributes that mask names from one to the other. */
void sctpiw_merge_qp_attr(struct ibv_qp_attr *to, const struct ibv_qp_attr *from, int mask);

#endif
