/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/iw_ud.h"

#include <stdlib.h>
#include <string.h>

#include "iwarp/cq.h"
#include "iwarp/explain.h"
#include "iwarp/qp.h"
#include "iwarp/recv.h"
#include "iwarp/shard.h"
#include "iwarp/sq.h"
#include "iwarp/srq.h"
#include "iwarp/terminate.h"
#include "util/alloc.h"
#include "util/trace.h"
#include "wire/datagram.h"

/* an IPv4 header fills the last 20 bytes; the first 20 bytes are not written */
#define GRH_V4_AT 20u
#define NEXT_HEADER_UDP 17
/* Receives per round. A QP that takes fewer does not run out of receives within a round. */
#define FEW 8u

struct iw_ud {
	struct iw_qp_base base;
	uint32_t qkey;
	uint32_t round;		/* value of iw_shard.ud_round when the QP last took a receive */
	uint32_t taken;		/* number of receives taken in that round */
	uint64_t bursts_until;	/* ns; see IW_UD_BURSTS */
	uint32_t mark;		/* number of posted receives that suffices: IW_UD_ENOUGH, or less */
	struct list_node ready; /* iw_shard.ud_ready */
};

static struct iw_ud *ud_of(const struct iw_qp *qp)
{
	return (struct iw_ud *)(uintptr_t)qp;
}

struct iw_ud_stats *iw_ud_stats(struct iw_shard *shard)
{
	return &shard->ud_stats;
}

void iw_ud_set_qkey(struct iw_qp *qp, uint32_t qkey)
{
	ud_of(qp)->qkey = qkey;
}

uint32_t iw_ud_qkey(const struct iw_qp *qp)
{
	return ud_of(qp)->qkey;
}

/* ---- QP operations ---- */

static struct iw_qp *ud_alloc(void)
{
	struct iw_ud *ud = alloc_lines(sizeof(*ud));

	if (!ud)
		return NULL;
	list_init(&ud->ready);
	ud->mark = IW_UD_ENOUGH;
	return &ud->base.qp;
}

static void ud_free(struct iw_qp *qp)
{
	free(ud_of(qp));
}

static enum iw_qp_move ud_move(const struct iw_qp *qp, enum iw_qp_state next)
{
	enum iw_qp_state now = iw_qp_state(qp);
	bool may;

	switch (next) {
	case IW_QPS_INIT:
		may = now == IW_QPS_RESET;
		break;
	case IW_QPS_RTR:
		may = now == IW_QPS_INIT;
		break;
	case IW_QPS_RTS:
		may = now == IW_QPS_RTR || now == IW_QPS_SQD || now == IW_QPS_SQE;
		break;
	case IW_QPS_SQD:
		may = now == IW_QPS_RTS;
		break;
	default:
		may = false;
	}
	return may ? IW_QP_MOVES : IW_QP_REFUSED;
}

static void ud_disconnect(struct iw_qp *qp)
{
	list_del(&ud_of(qp)->ready);
	list_init(&ud_of(qp)->ready);
}

static void ud_doorbell(struct iw_qp *qp)
{
	struct iw_ud *ud = ud_of(qp);

	if (iw_qp_state(qp) == IW_QPS_RTS && !list_linked(&ud->ready))
		list_add_tail(&qp->shard->ud_ready, &ud->ready);
}

/*
 * The following operations do nothing: datagrams hold no receives, peers do not read memory, and
 * ORD does not exist.
 */
static void nothing_to_end(struct iw_qp *qp)
{
}

static void no_ord(struct iw_qp *qp, uint32_t ord)
{
}

static void no_receives_held(struct iw_qp *qp, const struct iw_failure *f)
{
}

/* A UD QP stays in its shard: the QP number contains the port that receives its datagrams. */
static bool stays(const struct iw_qp *qp)
{
	return false;
}

const struct iw_qp_ops iw_ud_ops = {
	.wr_opcodes = 1u << IW_WR_SEND | 1u << IW_WR_SEND_WITH_IMM,
	.max_msg = IW_UD_MAX_MSG,
	.slot_tail = sizeof(struct iw_ud_dest),
	.alloc = ud_alloc,
	.free = ud_free,
	.move = ud_move,
	.disconnect = ud_disconnect,
	.end_remote_read = nothing_to_end,
	.set_ord = no_ord,
	.doorbell = ud_doorbell,
	.flush_receives = no_receives_held,
	.drop_receives = nothing_to_end,
	.may_leave = stays,
};

static void note_use(struct iw_shard *shard)
{
	if (!shard->stats.first_use)
		shard->stats.first_use = shard->now;
	shard->stats.last_use = shard->now;
}

/* ---- sending ---- */

struct iw_qp *iw_ud_next_ready(struct iw_shard *shard)
{
	struct list_node *ready = &shard->ud_ready;

	return list_empty(ready) ? NULL : &list_entry(ready->next, struct iw_ud, ready)->base.qp;
}

void iw_ud_end_turn(struct iw_qp *qp)
{
	struct iw_ud *ud = ud_of(qp);

	if (!list_linked(&ud->ready))
		return;
	list_del(&ud->ready);
	list_add_tail(&qp->shard->ud_ready, &ud->ready);
}

const struct iw_ud_dest *iw_ud_peek(struct iw_qp *qp, uint32_t *len)
{
	struct iw_ud *ud = ud_of(qp);
	struct iw_send_wqe *wqe = NULL;

	if (iw_qp_state(qp) == IW_QPS_RTS)
		wqe = iw_sq_peek(qp, &ud->base.send);
	if (!wqe) {
		ud_disconnect(qp);
		return NULL;
	}
	*len = wqe->length;
	return iw_ud_dest(qp, wqe);
}

/* Copies the WQE's payload to `to`. Returns 0 or a completion status. */
static uint32_t gather(struct iw_qp *qp, const struct iw_send_wqe *wqe, uint8_t *to)
{
	struct iw_sq *sq = &iw_qp_base(qp)->send;
	uint32_t left = wqe->length;

	sq->offset = sq->sge = sq->sge_offset = 0;
	if (left > IW_UD_MAX_MSG)
		return IW_WC_LOC_LEN_ERR;
	if (wqe->flags & IW_SEND_INLINE)
		return iw_sq_copy_inline(qp, wqe, to, left);
	while (left) {
		const uint8_t *from;
		uint32_t part, status = iw_sq_next_part(qp, sq, wqe, left, &from, &part);

		if (status)
			return status;
		if (qp->shard->rnic->ops.copy(to, from, part))
			return IW_WC_LOC_PROT_ERR;
		to += part;
		left -= part;
	}
	return IW_WC_SUCCESS;
}

/* Fails the next WQE and moves the QP to SQE, where the QP continues to receive. */
static void fail_wqe(struct iw_qp *qp, uint32_t status)
{
	struct iw_failure f;

	iw_fail_local(&f, IW_FAULT_SQ, iw_qp_base(qp)->send.next, status);
	ud_disconnect(qp);
	iw_explain_fault(qp, &f);
	iw_qp_enter_sq_error(qp, &f);
}

size_t iw_ud_pull(struct iw_qp *qp, uint8_t *buf)
{
	struct iw_ud *ud = ud_of(qp);
	struct iw_send_wqe *wqe = iw_sq_at(qp, ud->base.send.next);
	const struct iw_ud_dest *dest = iw_ud_dest(qp, wqe);
	struct wire_ud u = {
		.flags = wqe->flags & IW_SEND_SOLICITED ? WIRE_UD_SOLICITED : 0,
		.dst_qp = dest->qp_num,
		.src_qp = qp->num,
		.qkey = dest->qkey & IW_QKEY_OWN ? ud->qkey : dest->qkey,
		.class_flow = dest->class_flow,
		.hop_limit = dest->hop_limit,
		.len = wqe->length,
	};
	uint32_t status = gather(qp, wqe, buf + WIRE_UD_LEN);

	if (status) {
		fail_wqe(qp, status);
		return 0;
	}
	if (wqe->opcode == IW_WR_SEND_WITH_IMM) {
		u.flags |= WIRE_UD_WITH_IMM;
		u.imm = get_be32((const uint8_t *)&wqe->imm_data);
	}
	wire_ud_put(buf, &u);
	ud->base.out.messages++;
	ud->base.out.bytes += u.len;
	qp->shard->stats.out_bytes += u.len;
	qp->shard->ud_stats.sent++;
	note_use(qp->shard);
	wqe->progress = IW_WQE_DONE;
	ud->base.send.next++;
	if (!iw_sq_complete(qp))
		iw_qp_enter_error(qp, NULL);
	return WIRE_UD_LEN + u.len;
}

/* ---- low receives ---- */

/* Returns the number of posted receives, modulo 2^32. */
static uint32_t posted(const struct iw_qp *qp)
{
	return qp->srq ? atomic_load_explicit(&qp->srq->posted_tail, memory_order_relaxed) :
			 iw_ring_tail(&qp->rq);
}

static uint32_t receives_left(const struct iw_qp *qp)
{
	return qp->srq ? iw_srq_left(qp->srq) : iw_ring_tail(&qp->rq) - qp->rq.head;
}

static uint32_t enough(const struct iw_qp *qp)
{
	uint32_t half = (qp->srq ? qp->srq->max_wr : qp->rq.mask + 1) / 2;
	uint32_t mark = ud_of(qp)->mark;

	return half < mark ? half : mark;
}

static bool receives(const struct iw_qp *qp)
{
	return iw_qp_state(qp) >= IW_QPS_RTR && iw_qp_state(qp) <= IW_QPS_SQE;
}

/* Returns the part of IW_UD_LOW_SHARED that earlier waits of associations still use up, ns. */
static uint64_t owed(const struct iw_ud_low *low, uint64_t now)
{
	return low->paid > now ? low->paid - now : 0;
}

/* Counts a receive taken in this round. If too few receives are left, makes the QP the low QP. */
static void note_taken(struct iw_qp *qp)
{
	struct iw_shard *shard = qp->shard;
	struct iw_ud_low *low = &shard->ud_low;
	struct iw_ud *ud = ud_of(qp);

	if (ud->round != shard->ud_round) {
		ud->round = shard->ud_round;
		ud->taken = 0;
	}
	if (++ud->taken >= FEW)
		ud->bursts_until = shard->now + IW_UD_BURSTS;
	if (shard->now >= ud->bursts_until || receives_left(qp) >= enough(qp))
		return;
	if (owed(low, shard->now) > IW_UD_LOW_SHARED / 2)
		return;
	if (low->in_vain && low->qp == qp->num && low->tail == posted(qp))
		return;
	*low = (struct iw_ud_low){
		.is = true,
		.qp = qp->num,
		.want = enough(qp),
		.tail = posted(qp),
		.since = shard->now,
		.moved = shard->now,
		.paid = low->paid,
	};
}

void iw_ud_begin_round(struct iw_shard *shard)
{
	shard->ud_round++;
	shard->ud_low.is = false;
}

bool iw_ud_is_low(const struct iw_shard *shard)
{
	return shard->ud_low.is;
}

/* True if the low QP is given more time. over: the associations have waited long enough. */
static bool awaits(struct iw_ud_low *low, struct iw_qp *qp, bool over, uint64_t now)
{
	if (!qp || qp->type != IW_QPT_UD || !receives(qp) || receives_left(qp) >= low->want)
		return false;
	if (posted(qp) != low->tail) {
		low->tail = posted(qp);
		low->moved = now;
	}
	if (!over && now - low->moved < IW_UD_LOW_QUIET && now - low->since < IW_UD_LOW_MAX)
		return true;
	low->in_vain = true;
	/* The program has posted nothing, so it probably posts only at a lower level. */
	if (low->moved == low->since)
		ud_of(qp)->mark = receives_left(qp) / 2;
	return false;
}

bool iw_ud_awaits_receives(struct iw_shard *shard, bool shared)
{
	struct iw_ud_low *low = &shard->ud_low;
	uint64_t now = shard->now, before = owed(low, low->since), waited;

	if (!low->is)
		return false;
	if (shared && !low->shared)
		low->shared = now;
	waited = low->shared ? now - low->shared : 0;
	/* By now, the QP number may belong to another QP; awaits() checks the QP. */
	low->is =
		awaits(low, iw_qp_by_num(shard, low->qp), before + waited >= IW_UD_LOW_SHARED, now);
	if (!low->is && waited)
		low->paid = now + before + waited;
	return low->is;
}

/* ---- receiving ---- */

/* Writes the IPv4 header of a RoCE v2 packet. Programs recognise the header by its checksum. */
static void put_v4(uint8_t *p, const struct wire_ud *u, const struct ip_addr *local,
		   const struct ip_addr *remote)
{
	uint32_t sum = 0;
	uint16_t word;

	memset(p, 0, 20);
	p[0] = 0x45;
	p[1] = (uint8_t)(u->class_flow >> 20);
	put_be16(p + 2, (uint16_t)(20 + u->len));
	p[8] = u->hop_limit;
	p[9] = NEXT_HEADER_UDP;
	memcpy(p + 12, remote->b + 12, 4);
	memcpy(p + 16, local->b + 12, 4);
	for (unsigned int i = 0; i < 20; i += 2) {
		memcpy(&word, p + i, 2); /* the sum is independent of byte order */
		sum += word;
	}
	/*
	 * When libibverbs checks the sum, it adds the carry only once. If that addition carries
	 * again, libibverbs does not recognise the IPv4 header. A value in the identification
	 * field, which is otherwise unused, avoids the second carry.
	 */
	if ((sum & 0xffff) + (sum >> 16) > 0xffff) {
		word = 0x1010;
		memcpy(p + 4, &word, 2);
		sum += word;
	}
	word = (uint16_t) ~((sum & 0xffff) + (sum >> 16));
	memcpy(p + 10, &word, 2);
}

static void put_v6(uint8_t *p, const struct wire_ud *u, const struct ip_addr *local,
		   const struct ip_addr *remote)
{
	put_be32(p, 6u << 28 | u->class_flow);
	put_be16(p + 4, (uint16_t)u->len);
	p[6] = NEXT_HEADER_UDP;
	p[7] = u->hop_limit;
	memcpy(p + 8, remote->b, 16);
	memcpy(p + 24, local->b, 16);
}

/* Places the Global Route Header and the payload. Returns 0, or the status of the receive. */
static uint32_t place(struct iw_qp *qp, struct iw_recv r, const struct wire_ud *u,
		      const struct ip_addr *local, const struct ip_addr *remote)
{
	bool v4 = ip_addr_is_v4(local);
	uint8_t grh[IW_UD_GRH];
	uint32_t at = v4 ? GRH_V4_AT : 0, status;

	if (v4)
		put_v4(grh + at, u, local, remote);
	else
		put_v6(grh, u, local, remote);
	status = iw_recv_place(qp, r, at, grh + at, IW_UD_GRH - at);
	return status ? status : iw_recv_place(qp, r, IW_UD_GRH, u->payload, (uint32_t)u->len);
}

/* Takes the receive for the next datagram. Returns false if none is posted. */
static bool take(struct iw_qp *qp, struct iw_recv *r)
{
	if (qp->srq)
		return iw_recv_take(qp, qp->srq, 0, r);
	*r = iw_recv_own(qp->rq.head);
	return qp->rq.head != iw_ring_tail(&qp->rq);
}

/* Fails the receive and the QP, because the receive's memory is wrong. Any device does so. */
static void fail_receive(struct iw_qp *qp, struct iw_recv r, uint32_t status)
{
	struct iw_cqe cqe = { .status = status, .opcode = IW_WC_RECV };
	struct iw_failure f;

	iw_recv_complete(qp, r, &cqe, true);
	iw_fail_local(&f, IW_FAULT_NONE, 0, 0);
	ud_disconnect(qp);
	iw_qp_enter_error(qp, &f);
}

static void receive(struct iw_qp *qp, const struct wire_ud *u, const struct ip_addr *local,
		    const struct ip_addr *remote)
{
	struct iw_ud_stats *stats = iw_ud_stats(qp->shard);
	struct iw_cqe cqe = {
		.opcode = IW_WC_RECV,
		.byte_len = (uint32_t)(IW_UD_GRH + u->len),
		.src_qp = u->src_qp,
		.flags = IW_WC_GRH | (ip_addr_is_v4(local) ? IW_WC_GRH_V4 : 0),
	};
	struct iw_recv r;
	uint32_t status;

	if (!take(qp, &r)) {
		stats->no_receive++;
		return;
	}
	if (cqe.byte_len > iw_recv_wqe(qp, r)->length) {
		stats->too_long++;
		if (qp->srq)
			iw_recv_return(r);
		return;
	}
	status = place(qp, r, u, local, remote);
	if (status) {
		fail_receive(qp, r, status);
		return;
	}
	if (u->flags & WIRE_UD_WITH_IMM) {
		cqe.flags |= IW_WC_WITH_IMM;
		put_be32((uint8_t *)&cqe.imm_data, u->imm);
	}
	stats->received++;
	note_use(qp->shard);
	iw_qp_base(qp)->in.messages++;
	iw_qp_base(qp)->in.bytes += u->len;
	qp->shard->stats.in_bytes += u->len;
	if (!iw_recv_complete(qp, r, &cqe, u->flags & WIRE_UD_SOLICITED))
		iw_qp_enter_error(qp, NULL);
	else
		note_taken(qp);
}

void iw_ud_offer(struct iw_qp *qp, const struct wire_ud *u, const struct ip_addr *local,
		 const struct ip_addr *remote)
{
	if (!receives(qp))
		iw_ud_stats(qp->shard)->no_qp++;
	else if (u->qkey != ud_of(qp)->qkey)
		iw_ud_stats(qp->shard)->bad_qkey++;
	else
		receive(qp, u, local, remote);
}

void iw_ud_receive(struct iw_shard *shard, const struct wire_ud *u, const struct ip_addr *local,
		   const struct ip_addr *remote)
{
	struct iw_qp *qp = iw_qp_by_num(shard, u->dst_qp);

	if (!qp || qp->type != IW_QPT_UD)
		shard->ud_stats.no_qp++;
	else
		iw_ud_offer(qp, u, local, remote);
}
