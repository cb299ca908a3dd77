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
 * Whether a QP in state cur may be given these attributes. by_cm: sctpiw_is_cm_mask() brought it to
 * INIT or RTR, or it has a connection of RDMA CM. personality: that of the device. 0; EINVAL; or EOPNOTSUPP for a second path, of
 * which there is none.
 */
int sctpiw_check_qp_attr(enum ibv_qp_type type, enum ibv_qp_state cur, bool by_cm,
			 enum config_personality personality, const struct ibv_qp_attr *attr,
			 int mask);
/* The same for a UD QP, whose masks are InfiniBand's however it is moved. */
int sctpiw_check_ud_attr(enum ibv_qp_state cur, const struct ibv_qp_attr *attr, int mask);

/*
 * An end of XRC that sends nothing, or receives nothing, need not name the attributes of that: fills in
 * those that are missing, and returns the mask with them.
 */
int sctpiw_fill_xrc_attr(enum ibv_qp_type type, struct ibv_qp_attr *attr, int mask);

/* Whether it is the mask with which the connection manager brings a QP to INIT and to RTR. */
bool sctpiw_is_cm_mask(int mask);

/*
 * Whether state `next` lies behind a QP that the connection manager has moved on meanwhile. A
 * program that moves its QP step by step (rping -q) asks for INIT and RTR when the QP is in RTS
 * already, and rdma_disconnect() for SQD when the peer has ended the connection. The call succeeds
 * then, and the state stays.
 */
bool sctpiw_is_behind(enum ibv_qp_state cur, bool by_cm, unsigned int next);

/* Copies the attributes that mask names from one to the other. */
void sctpiw_merge_qp_attr(struct ibv_qp_attr *to, const struct ibv_qp_attr *from, int mask);

#endif
