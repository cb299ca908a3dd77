/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/qp_modify.h"

#include <errno.h>
#include <stdio.h>

#include "conn/oob_second.h"
#include "iwarp/iw_qp.h"
#include "iwarp/iw_ud.h"
#include "log/log.h"
#include "net/port.h"
#include "runtime/rnic.h"
#include "util/sockaddr.h"
#include "verbs/ah.h"
#include "verbs/context.h"
#include "verbs/qp.h"
#include "verbs/qp_attr.h"

#define RNR_RETRY_FOR_EVER 7
/* ns; InfiniBand waits for an answer at least TIMEOUT_UNIT x 2^timeout */
#define TIMEOUT_UNIT 4096ull
/*
 * ns. Minimum time to wait for a peer. The attributes are meant for lost packets, and are too short
 * for a peer whose process has not started yet.
 */
#define LIMIT_MIN (5 * 1000000000ull)
/* ns. Maximum time to wait after the peer has ended its session. */
#define GONE_MAX (500 * 1000000ull)

/* Returns the time, ns, for which InfiniBand retransmits a work request. */
static uint64_t tries(const struct ibv_qp_attr *attr)
{
	return (TIMEOUT_UNIT << attr->timeout) * (attr->retry_cnt + 1u);
}

/* Returns the time, ns, to wait for a peer that does not answer. 0 means without limit. */
static uint64_t patience(const struct ibv_qp_attr *attr, bool timeout_is_set)
{
	if (!attr->timeout && timeout_is_set)
		return 0;
	return tries(attr) > LIMIT_MIN ? tries(attr) : LIMIT_MIN;
}

/* Returns the time, ns, to wait after the peer has ended its session. */
static uint64_t patience_behind(const struct ibv_qp_attr *attr)
{
	return attr->timeout && tries(attr) < GONE_MAX ? tries(attr) : GONE_MAX;
}

/*
 * Passes the QP's attributes to its out-of-band connection. A program sets rnr_retry and timeout
 * only when it moves the QP from RTR to RTS. Until then, Sends are retried without limit, and the
 * minimum time to wait for the peer is used.
 */
static void set_oob(struct sctpiw_qp *qp)
{
	int lacked = sctpiw_attr_lacked(qp->vqp.qp.qp_type);
	bool in_rtr = atomic_load_explicit(&qp->iw->state, memory_order_relaxed) == IW_QPS_RTR;
	struct oob_attr oob = {
		.ord = qp->attr.max_rd_atomic,
		.rnr_retry = in_rtr || lacked & IBV_QP_RNR_RETRY ? RNR_RETRY_FOR_EVER :
								   qp->attr.rnr_retry,
		.limit = lacked & IBV_QP_TIMEOUT ? LIMIT_MIN : patience(&qp->attr, !in_rtr),
		.gone = patience_behind(&qp->attr),
	};

	if (qp->iw->oob)
		oob_set_attr(qp->iw, &oob);
}

/*
 * Connects a QP out of band to the peer that attr names. mask: the attributes that are valid.
 * Returns 0 or an errno.
 */
static int connect_oob(struct sctpiw_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	struct oob_peer peer = {
		.dest_qp_num = attr->dest_qp_num,
		.ird = mask & IBV_QP_MAX_DEST_RD_ATOMIC ? attr->max_dest_rd_atomic : 0,
	};
	struct port_gid gid;
	int err = sctpiw_ah_resolve(&attr->ah_attr, &gid, &peer.remote);

	if (err)
		return err;
	peer.local = sockaddr_ip((const struct sockaddr *)&gid.addr);
	peer.ifindex = gid.ifindex;
	/*
	 * The QP was moved to another shard for rdma_cm. An out-of-band connection uses the port
	 * that belongs to the QP's number, and the QP's home shard owns this port.
	 */
	if (object_shard(&qp->obj) != qp->home)
		err = -rnic_move_qp(qp->iw, qp->home);
	if (err)
		return err;
	return -oob_connect(&object_shard(&qp->obj)->conn, qp->iw, &peer);
}

/* Moves the QP to another state, which the checks have allowed. Returns 0 or an errno. */
static int enter(struct sctpiw_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	bool by_cm = sctpiw_is_by_cm(qp->vqp.qp.qp_type,
				     object_shard(&qp->obj)->rnic->config.personality, attr, mask);
	bool was_rts = atomic_load_explicit(&qp->iw->state, memory_order_relaxed) == IW_QPS_RTS;
	int err;

	if (attr->qp_state == IBV_QPS_RTR && mask & IBV_QP_AV && !by_cm)
		return connect_oob(qp, attr, mask);
	if (attr->qp_state == IBV_QPS_RTR && qp->iw->type == IW_QPT_UD) {
		err = datagram_start(&object_shard(&qp->obj)->conn, qp->iw);
		if (err)
			return -err;
	}
	err = iw_qp_modify(qp->iw, (enum iw_qp_state)attr->qp_state);
	if (err)
		return -err;
	if (attr->qp_state == IBV_QPS_RESET) {
		oob_disconnect(qp->iw);
		qp->iw->by_cm = false;
		qp->by_cm = false;
		qp->attr = (struct ibv_qp_attr){ .port_num = 1 };
	} else if (attr->qp_state == IBV_QPS_INIT || attr->qp_state == IBV_QPS_RTR) {
		qp->by_cm = by_cm;
	} else if (attr->qp_state == IBV_QPS_SQD && was_rts &&
		   (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) && attr->en_sqd_async_notify) {
		iw_qp_notify_drained(qp->iw);
	}
	return 0;
}

/*
 * True if the attributes contain the true QP number of a peer to which the connection manager
 * connects the QP. The peer is the sender of a connection request that is not accepted yet, or the
 * peer of the QP's connection.
 */
static bool names_peer_of_cm(const struct sctpiw_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	const struct conn *c = &object_shard(&qp->obj)->conn;
	struct ip_addr remote;

	if (!(mask & IBV_QP_AV) || !(mask & IBV_QP_DEST_QPN) || !attr->dest_qp_num)
		return false;
	if (qp->iw->by_cm &&
	    atomic_load_explicit(&qp->iw->state, memory_order_relaxed) >= IW_QPS_RTR)
		return true;
	return cm_undecided(c) && sctpiw_ah_is_valid(&attr->ah_attr, c->config->personality) &&
	       !sctpiw_ah_remote(&attr->ah_attr, &remote) &&
	       cm_is_asked_by(c, attr->dest_qp_num, &remote);
}

/* ---- the second path ---- */

_Static_assert((int)OOB_MIGRATED == IBV_MIG_MIGRATED, "");
_Static_assert((int)OOB_REARM == IBV_MIG_REARM, "");
_Static_assert((int)OOB_ARMED == IBV_MIG_ARMED, "");

bool sctpiw_has_second_paths(const struct shard *s)
{
	return s->rnic->config.personality != CONFIG_IWARP && oob_second_is_served(&s->conn);
}

void sctpiw_settle_paths(struct sctpiw_qp *qp)
{
	if (qp->attr.path_mig_state == IBV_MIG_MIGRATED || oob_second_state(qp->iw) != OOB_MIGRATED)
		return;
	sctpiw_swap_paths(&qp->attr);
	qp->attr.path_mig_state = IBV_MIG_MIGRATED;
}

/* Resolves the second path that is set by attr, or was set earlier. Returns 0 or an errno. */
static int resolve_second(const struct sctpiw_qp *qp, const struct ibv_qp_attr *attr, int mask,
			  struct path_addr *to)
{
	const struct ibv_ah_attr *ah = mask & IBV_QP_ALT_PATH ? &attr->alt_ah_attr :
								&qp->attr.alt_ah_attr;
	bool rearm = mask & IBV_QP_PATH_MIG_STATE && attr->path_mig_state == IBV_MIG_REARM;
	struct port_gid gid;
	int err;

	if (!rearm && !(mask & IBV_QP_ALT_PATH))
		return 0;
	if (!sctpiw_has_second_paths(object_shard(&qp->obj)))
		return EOPNOTSUPP;
	if (!ah->port_num)
		return EINVAL;
	err = sctpiw_ah_resolve(ah, &gid, &to->remote);
	if (err)
		return err;
	to->local = sockaddr_ip((const struct sockaddr *)&gid.addr);
	if (ip_addr_is_link_local(&to->remote))
		to->remote.scope_id = gid.ifindex;
	return 0;
}

static void set_migration(struct sctpiw_qp *qp, enum ibv_mig_state state,
			  const struct path_addr *second)
{
	struct ip_addr first;

	if (state == IBV_MIG_REARM) {
		oob_second_want(qp->iw, second,
				!sctpiw_ah_remote(&qp->attr.ah_attr, &first) &&
					!ip_addr_equal(&first, &second->remote));
		qp->attr.path_mig_state = state;
		return;
	}
	oob_second_migrate(qp->iw);
	/* During a migration, sctpiw_settle_paths() changes the attributes later. */
	if (oob_second_state(qp->iw) == OOB_MIGRATED)
		qp->attr.path_mig_state = state;
}

/*
 * Does the work of sctpiw_modify_qp() under the shard lock. Returns 0. On failure, changes nothing
 * and returns an errno.
 */
static int modify_locked(struct sctpiw_qp *qp, const struct ibv_qp_attr *given, int mask)
{
	const struct ibv_qp_attr *attr = given;
	struct ibv_qp_attr by_name;
	enum ibv_qp_state cur = atomic_load_explicit(&qp->iw->state, memory_order_relaxed);
	bool by_cm = qp->by_cm || qp->iw->by_cm;
	enum config_personality personality = object_shard(&qp->obj)->rnic->config.personality;
	struct path_addr second = { 0 };
	int err;

	sctpiw_settle_paths(qp);
	if (names_peer_of_cm(qp, given, mask)) {
		by_name = *given;
		by_name.dest_qp_num = CM_DEST_QP_NUM;
		attr = &by_name;
	}
	if (qp->iw->type == IW_QPT_UD)
		err = sctpiw_check_ud_attr(cur, attr, mask);
	else
		err = sctpiw_check_qp_attr(qp->vqp.qp.qp_type, cur, by_cm, personality, attr, mask);
	if (!err)
		err = resolve_second(qp, attr, mask, &second);
	if (err)
		return err;
	if ((mask & IBV_QP_STATE) && !sctpiw_stays(cur, by_cm, personality, attr->qp_state)) {
		err = enter(qp, attr, mask);
		if (err)
			return err;
	}
	if (mask & IBV_QP_ACCESS_FLAGS)
		iw_qp_set_access(qp->iw, attr->qp_access_flags & IW_ACCESS_REMOTE);
	if (mask & IBV_QP_QKEY)
		iw_ud_set_qkey(qp->iw, attr->qkey);
	sctpiw_merge_qp_attr(&qp->attr, given, mask);
	set_oob(qp);
	if (mask & IBV_QP_PATH_MIG_STATE)
		set_migration(qp, attr->path_mig_state, &second);
	return 0;
}

/*
 * Logs why a QP was not modified. The usual reason is a program without a GID index, which passes a
 * peer's address without a GID, as on InfiniBand.
 */
static void log_refusal(const struct sctpiw_qp *qp, const struct ibv_qp_attr *attr, int mask,
			int err)
{
	char whose[32];

	snprintf(whose, sizeof(whose), "the peer of QP 0x%06x", qp->iw->num);
	if (mask & IBV_QP_AV)
		sctpiw_ah_complain(whose, &attr->ah_attr);
	log_debug("QP 0x%06x: modify from state %u with mask 0x%x refused, errno %d", qp->iw->num,
		  atomic_load_explicit(&qp->iw->state, memory_order_relaxed), mask, err);
}

/*
 * Takes the locks of all shards if the attributes name a peer. An rdma_cm id of any shard may have
 * this peer, and the QP may have to move to another shard.
 */
static void lock_for(struct sctpiw_qp *qp, int mask)
{
	if (mask & IBV_QP_DEST_QPN)
		object_lock_all(&qp->obj);
	else
		object_lock(&qp->obj);
}

static void unlock_for(struct sctpiw_qp *qp, int mask)
{
	if (mask & IBV_QP_DEST_QPN)
		object_unlock_all(&qp->obj);
	else
		object_unlock(&qp->obj);
}

int sctpiw_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct sctpiw_qp *qp = real_qp(ibqp);
	int err;

	if (qp->generation != sctpiw_generation)
		return sctpiw_inherited();
	attr_mask = sctpiw_attr_named(ibqp->qp_type, attr_mask);
	lock_for(qp, attr_mask);
	err = modify_locked(qp, attr, attr_mask);
	if (err)
		log_refusal(qp, attr, attr_mask, err);
	unlock_for(qp, attr_mask);
	/*
	 * Adapters remove the completions, too. A program that uses the QP again would otherwise
	 * take old completions for new ones.
	 */
	if (!err && attr_mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		sctpiw_qp_purge(qp, ibqp->send_cq, ibqp->recv_cq);
	return err;
}
