/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rules are data: each table has one row per transition between two states. A row lists the
 * attributes that the transition requires and accepts, as a mask. by_cm_table has the masks of the
 * kernel's iWARP connection manager: INIT and RTR have state, access flags and port; RTS has only
 * the port. oob_table, for QPs that are connected out of band, has the masks of InfiniBand's RC
 * (IBTA 11.2.5.2, table 96; the kernel's ib_modify_qp_is_ok()). For other types of QP, the
 * attributes that they lack are removed from these masks.
 */
#include "verbs/qp_attr.h"

#include <errno.h>

#include "conn/cm.h"
#include "iwarp/iw_types.h"
#include "verbs/ah.h"
#include "verbs/mr.h"

_Static_assert((int)IW_QPS_RESET == IBV_QPS_RESET, "");
_Static_assert((int)IW_QPS_INIT == IBV_QPS_INIT, "");
_Static_assert((int)IW_QPS_RTR == IBV_QPS_RTR, "");
_Static_assert((int)IW_QPS_RTS == IBV_QPS_RTS, "");
_Static_assert((int)IW_QPS_SQD == IBV_QPS_SQD, "");
_Static_assert((int)IW_QPS_SQE == IBV_QPS_SQE, "");
_Static_assert((int)IW_QPS_ERR == IBV_QPS_ERR, "");

#define CM_MASK (IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT)
#define RATES                                                                                      \
	(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MIN_RNR_TIMER |             \
	 IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC)
/* Further attributes that InfiniBand's masks have for RTR and RTS. */
#define PEER (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_SQ_PSN)
/* IBV_QP_PKEY_INDEX is included, since librdmacm sets it for a QP of a channel adapter. */
#define RUNNING (IBV_QP_PORT | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | RATES | PEER)

#define SECOND_PATH (IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)
#define INIT_ATTRS (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RTR_ATTRS                                                                                  \
	(IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |                           \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_ATTRS                                                                                  \
	(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |                    \
	 IBV_QP_MAX_QP_RD_ATOMIC)
#define RTS_OPTIONAL (IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | SECOND_PATH)

/*
 * The masks of a transition. Every transition also accepts IBV_QP_STATE. Transitions by the
 * connection manager also accept IBV_QP_CUR_STATE.
 */
struct transition {
	bool valid;
	int required;
	int optional;
};

#define STATES (IBV_QPS_ERR + 1)
#define MAX_24_BITS 0xffffffu

/* Transitions from any state to RESET and to ERR. The tables do not contain them. */
static const struct transition to_the_end = { .valid = true };
/*
 * Transitions after the connection has ended. The connection may end before librdmacm receives the
 * peer's answer and moves the QP. The event that reports the end follows.
 */
static const struct transition behind_the_end = { .valid = true,
						  .optional = IBV_QP_STATE | RUNNING };

static const struct transition by_cm_table[STATES][STATES] = {
	[IBV_QPS_RESET] = {
		[IBV_QPS_INIT] = { true, IBV_QP_ACCESS_FLAGS | IBV_QP_PORT, 0 },
	},
	[IBV_QPS_INIT] = {
		[IBV_QPS_INIT] = { true, 0, IBV_QP_ACCESS_FLAGS | IBV_QP_PORT | IBV_QP_PKEY_INDEX },
		[IBV_QPS_RTR] = { true, IBV_QP_ACCESS_FLAGS | IBV_QP_PORT, RATES },
	},
	[IBV_QPS_RTR] = {
		[IBV_QPS_RTR] = { true, 0, RUNNING },
		[IBV_QPS_RTS] = { true, 0, RUNNING },
	},
	[IBV_QPS_RTS] = {
		[IBV_QPS_RTS] = { true, 0, RUNNING },
		[IBV_QPS_SQD] = { true, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	},
	[IBV_QPS_SQD] = {
		[IBV_QPS_RTS] = { true, 0, RUNNING },
		[IBV_QPS_SQD] = { true, 0, RUNNING },
	},
};

static const struct transition oob_table[STATES][STATES] = {
	[IBV_QPS_RESET] = {
		[IBV_QPS_INIT] = { true, INIT_ATTRS, 0 },
	},
	[IBV_QPS_INIT] = {
		[IBV_QPS_INIT] = { true, 0, INIT_ATTRS },
		[IBV_QPS_RTR] = { true, RTR_ATTRS,
				  IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_ALT_PATH },
	},
	[IBV_QPS_RTR] = {
		[IBV_QPS_RTS] = { true, RTS_ATTRS, RTS_OPTIONAL },
	},
	[IBV_QPS_RTS] = {
		[IBV_QPS_RTS] = { true, 0, RTS_OPTIONAL },
		[IBV_QPS_SQD] = { true, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	},
	[IBV_QPS_SQD] = {
		[IBV_QPS_RTS] = { true, 0, RTS_OPTIONAL },
		[IBV_QPS_SQD] = { true, 0,
				  INIT_ATTRS | RATES | IBV_QP_AV | SECOND_PATH },
	},
	/* Of these QPs, only UC QPs enter the state SQE. */
	[IBV_QPS_SQE] = {
		[IBV_QPS_RTS] = { true, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS },
	},
};

#define UD_ATTRS (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY)

static const struct transition ud_table[STATES][STATES] = {
	[IBV_QPS_RESET] = {
		[IBV_QPS_INIT] = { true, UD_ATTRS, 0 },
	},
	[IBV_QPS_INIT] = {
		[IBV_QPS_INIT] = { true, 0, UD_ATTRS },
		[IBV_QPS_RTR] = { true, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
	},
	[IBV_QPS_RTR] = {
		[IBV_QPS_RTS] = { true, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY },
	},
	[IBV_QPS_RTS] = {
		[IBV_QPS_RTS] = { true, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY },
		[IBV_QPS_SQD] = { true, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	},
	[IBV_QPS_SQD] = {
		[IBV_QPS_RTS] = { true, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY },
		[IBV_QPS_SQD] = { true, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
	},
	[IBV_QPS_SQE] = {
		[IBV_QPS_RTS] = { true, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY },
	},
};

static bool names_peer_of_cm(enum ibv_qp_type type, enum config_personality personality,
			     const struct ibv_qp_attr *attr, int mask)
{
	return personality != CONFIG_IWARP && type != IBV_QPT_UC && mask & IBV_QP_AV &&
	       mask & IBV_QP_DEST_QPN && attr->dest_qp_num == CM_DEST_QP_NUM;
}

bool sctpiw_is_by_cm(enum ibv_qp_type type, enum config_personality personality,
		     const struct ibv_qp_attr *attr, int mask)
{
	return mask == CM_MASK || names_peer_of_cm(type, personality, attr, mask);
}

bool sctpiw_stays(enum ibv_qp_state cur, bool by_cm, enum config_personality personality,
		  unsigned int next)
{
	bool to_rts = next == IBV_QPS_RTS && personality != CONFIG_IWARP;
	bool to_begin = next == IBV_QPS_INIT || next == IBV_QPS_RTR;

	if (!by_cm)
		return false;
	switch (cur) {
	case IBV_QPS_RTR:
		return to_rts;
	case IBV_QPS_RTS:
		return to_begin;
	case IBV_QPS_ERR:
		return to_begin || to_rts || next == IBV_QPS_SQD;
	default:
		return false;
	}
}

static bool values_are_valid(const struct ibv_qp_attr *attr, int mask)
{
	return !((mask & IBV_QP_PORT && attr->port_num != 1) ||
		 (mask & IBV_QP_PKEY_INDEX && attr->pkey_index != 0) ||
		 (mask & IBV_QP_ACCESS_FLAGS && attr->qp_access_flags & ~SCTPIW_KNOWN_ACCESS) ||
		 (mask & IBV_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > IW_MAX_ORD) ||
		 (mask & IBV_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > IW_MAX_IRD) ||
		 (mask & IBV_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31) ||
		 (mask & IBV_QP_TIMEOUT && attr->timeout > 31) ||
		 (mask & IBV_QP_ALT_PATH && (attr->alt_port_num != 1 || attr->alt_pkey_index != 0 ||
					     attr->alt_timeout > 31)) ||
		 (mask & IBV_QP_PATH_MIG_STATE && attr->path_mig_state != IBV_MIG_MIGRATED &&
		  attr->path_mig_state != IBV_MIG_REARM) ||
		 (mask & IBV_QP_RETRY_CNT && attr->retry_cnt > 7) ||
		 (mask & IBV_QP_RNR_RETRY && attr->rnr_retry > 7) ||
		 (mask & IBV_QP_PATH_MTU &&
		  (attr->path_mtu < IBV_MTU_256 || attr->path_mtu > IBV_MTU_4096)) ||
		 (mask & IBV_QP_DEST_QPN && attr->dest_qp_num > MAX_24_BITS));
}

int sctpiw_attr_lacked(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_UC:
		return RATES;
	case IBV_QPT_XRC_SEND:
		return IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	case IBV_QPT_XRC_RECV:
		return IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	default:
		return 0;
	}
}

int sctpiw_attr_named(enum ibv_qp_type type, int mask)
{
	bool xrc = type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV;

	return xrc ? mask & ~sctpiw_attr_lacked(type) : mask;
}

int sctpiw_check_qp_attr(enum ibv_qp_type type, enum ibv_qp_state cur, bool by_cm,
			 enum config_personality personality, const struct ibv_qp_attr *attr,
			 int mask)
{
	const int lacks = sctpiw_attr_lacked(type);
	const int rest = mask & ~IBV_QP_STATE;
	const bool names_peer = names_peer_of_cm(type, personality, attr, mask);
	unsigned int next = mask & IBV_QP_STATE ? attr->qp_state : cur;
	const struct transition *t;
	enum ibv_qp_state first;
	int required, allowed;

	if (next >= STATES || ((mask & IBV_QP_CUR_STATE) && attr->cur_qp_state != cur))
		return EINVAL;
	/* The CM of a channel adapter leaves RESET with InfiniBand's mask. */
	first = personality == CONFIG_IWARP ? IBV_QPS_RESET : IBV_QPS_INIT;
	if (cur >= first && cur <= IBV_QPS_INIT && sctpiw_is_by_cm(type, personality, attr, mask))
		by_cm = true;
	if (sctpiw_stays(cur, by_cm, personality, next))
		next = cur;
	if (by_cm && cur == IBV_QPS_ERR && next == cur)
		t = &behind_the_end;
	else if (next == IBV_QPS_RESET || next == IBV_QPS_ERR)
		t = &to_the_end;
	else
		t = by_cm && !(names_peer && cur == IBV_QPS_INIT) ? &by_cm_table[cur][next] :
								    &oob_table[cur][next];
	required = t->required & ~lacks;
	allowed = (required | t->optional | (by_cm ? IBV_QP_CUR_STATE : 0)) & ~lacks;
	if (!t->valid || (rest & required) != required || (rest & ~allowed))
		return EINVAL;
	if (!values_are_valid(attr, mask) ||
	    (mask & IBV_QP_AV && !sctpiw_ah_is_valid(&attr->ah_attr, personality)) ||
	    (mask & IBV_QP_ALT_PATH && !sctpiw_ah_is_valid(&attr->alt_ah_attr, personality)))
		return EINVAL;
	return !names_peer && cur >= IBV_QPS_RTR && rest & IBV_QP_AV ? EOPNOTSUPP : 0;
}

int sctpiw_check_ud_attr(enum ibv_qp_state cur, const struct ibv_qp_attr *attr, int mask)
{
	const int rest = mask & ~IBV_QP_STATE;
	unsigned int next = mask & IBV_QP_STATE ? attr->qp_state : cur;
	const struct transition *t;

	if (next >= STATES || ((mask & IBV_QP_CUR_STATE) && attr->cur_qp_state != cur))
		return EINVAL;
	t = next == IBV_QPS_RESET || next == IBV_QPS_ERR ? &to_the_end : &ud_table[cur][next];
	if (!t->valid || (rest & t->required) != t->required ||
	    (rest & ~(t->required | t->optional)))
		return EINVAL;
	return values_are_valid(attr, mask) ? 0 : EINVAL;
}

void sctpiw_swap_paths(struct ibv_qp_attr *attr)
{
	const struct ibv_qp_attr before = *attr;

	attr->ah_attr = before.alt_ah_attr;
	attr->pkey_index = before.alt_pkey_index;
	attr->port_num = before.alt_port_num;
	attr->timeout = before.alt_timeout;
	attr->alt_ah_attr = before.ah_attr;
	attr->alt_pkey_index = before.pkey_index;
	attr->alt_port_num = before.port_num;
	attr->alt_timeout = before.timeout;
}

void sctpiw_merge_qp_attr(struct ibv_qp_attr *to, const struct ibv_qp_attr *from, int mask)
{
	if (mask & IBV_QP_ACCESS_FLAGS)
		to->qp_access_flags = from->qp_access_flags;
	if (mask & IBV_QP_PKEY_INDEX)
		to->pkey_index = from->pkey_index;
	if (mask & IBV_QP_PORT)
		to->port_num = from->port_num;
	if (mask & IBV_QP_TIMEOUT)
		to->timeout = from->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		to->retry_cnt = from->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		to->rnr_retry = from->rnr_retry;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = from->min_rnr_timer;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = from->max_rd_atomic;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	if (mask & IBV_QP_QKEY)
		to->qkey = from->qkey;
	if (mask & IBV_QP_AV)
		to->ah_attr = from->ah_attr;
	if (mask & IBV_QP_ALT_PATH) {
		to->alt_ah_attr = from->alt_ah_attr;
		to->alt_pkey_index = from->alt_pkey_index;
		to->alt_port_num = from->alt_port_num;
		to->alt_timeout = from->alt_timeout;
	}
	if (mask & IBV_QP_PATH_MTU)
		to->path_mtu = from->path_mtu;
	if (mask & IBV_QP_DEST_QPN)
		to->dest_qp_num = from->dest_qp_num;
	if (mask & IBV_QP_RQ_PSN)
		to->rq_psn = from->rq_psn & MAX_24_BITS;
	if (mask & IBV_QP_SQ_PSN)
		to->sq_psn = from->sq_psn & MAX_24_BITS;
	if (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY)
		to->en_sqd_async_notify = from->en_sqd_async_notify;
}
