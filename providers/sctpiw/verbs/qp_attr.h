/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The attributes that modify_qp accepts in each state. For a QP that the connection manager moves,
 * these are the attributes that the kernel's iWARP connection manager sets. For all other QPs, they
 * are those of InfiniBand.
 */
#ifndef SCTPIW_VERBS_QP_ATTR_H
#define SCTPIW_VERBS_QP_ATTR_H

#include <stdbool.h>

#include "config/config.h"
#include "verbs/pabi.h"

/*
 * Checks the attributes for a QP in state cur. by_cm: sctpiw_is_by_cm() was true when the QP
 * entered INIT or RTR, or the QP has a connection of RDMA CM. personality: the personality of the
 * device. Returns 0, EINVAL, or EOPNOTSUPP for a change of the peer's address in RTR or a later
 * state.
 */
int sctpiw_check_qp_attr(enum ibv_qp_type type, enum ibv_qp_state cur, bool by_cm,
			 enum config_personality personality, const struct ibv_qp_attr *attr,
			 int mask);
/* Does the same for a UD QP, which always has InfiniBand's masks. */
int sctpiw_check_ud_attr(enum ibv_qp_state cur, const struct ibv_qp_attr *attr, int mask);

/*
 * Returns the attributes that a QP of this type lacks. A UC QP lacks the attributes of a reliable
 * connection, an XRC_SEND those of a responder, and an XRC_RECV those of a requester.
 */
int sctpiw_attr_lacked(enum ibv_qp_type type);
/*
 * Returns the part of mask that applies to a QP of this type. An XRC QP ignores the attributes that
 * it lacks. The kernel also removes them from the mask, since some programs set the same attributes
 * for both ends (perftest). QPs of other types refuse attributes that they lack.
 */
int sctpiw_attr_named(enum ibv_qp_type type, int mask);

/*
 * True if these attributes show that the connection manager moves the QP to INIT or RTR. They have
 * its own mask, or InfiniBand's mask with CM_DEST_QP_NUM as the peer's number. On an iWARP device,
 * only its own mask counts.
 */
bool sctpiw_is_by_cm(enum ibv_qp_type type, enum config_personality personality,
		     const struct ibv_qp_attr *attr, int mask);

/*
 * True if a request for the state `next` succeeds, but leaves a QP of the connection manager in its
 * state. There are two cases. First, the QP has passed that state already. A program that moves its
 * QP step by step (rping -q) requests INIT and RTR while the QP is in RTS. rdma_disconnect()
 * requests SQD after the peer has ended the connection. Second, the connection will move the QP to
 * that state later. With InfiniBand's masks, the passive side requests RTS before it accepts.
 */
bool sctpiw_stays(enum ibv_qp_state cur, bool by_cm, enum config_personality personality,
		  unsigned int next);

/* Exchanges the first path and the second path (alt_*), as a migration does. */
void sctpiw_swap_paths(struct ibv_qp_attr *attr);
/* Copies the attributes that mask names. */
void sctpiw_merge_qp_attr(struct ibv_qp_attr *to, const struct ibv_qp_attr *from, int mask);

#endif
