/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/faults_cq.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "iwarp/iw_cq.h"
#include "iwarp/iw_qp.h"
#include "iwarp/iw_srq.h"
#include "net/faults_peer.h"
#include "runtime/faults.h"
#include "runtime/rnic.h"
#include "sys/sys.h"
#include "util/time.h"
#include "verbs/context.h"
#include "verbs/cq.h"
#include "verbs/poll.h"

#define GATHER_TIME NSEC_PER_SEC /* default value of the argument `within` */

/* The effects of rules on one completion that waits in the ring. */
struct verdict {
	uint64_t due;  /* time before which polls do not return the completion, ns */
	bool alone;    /* a poll that returns this completion returns no other one */
	uint32_t rule; /* the rule that causes the effects */
};

/* Completions of the ring that are held back until there are more of them. */
struct gathering {
	bool on;
	uint32_t rule;	/* the rule that holds them back */
	uint32_t from;	/* position of the first of these completions, counted as iw_cq.head */
	uint32_t count; /* they are released once this number of completions waits, */
	uint64_t until; /* or at this time, ns */
};

/*
 * Faults of a CQ that was polled while rules were in force. Guarded by the CQ's consumer lock, and
 * by the shard lock where noted.
 */
struct cq_faults {
	struct sctpiw_cq *cq;
	/* array with one element per slot of the ring; NULL: no completion is held back */
	struct verdict *verdict;
	struct gathering gathering;
	bool alone;	   /* the current completion of start_poll is returned alone */
	uint32_t removals; /* faults_removals() at the last check of the fields above */
	_Atomic bool
		/* All present and future completions are lost. Written under the shard lock. */
		overrun;
	_Atomic uint64_t
		/*
		 * The time at which the timer `look` expires; 0: the timer is not set. Written
		 * under the shard lock.
		 */
		look_at;
	/* The following fields are guarded by the shard lock: */
	struct fault_timer
		/* Notifies a program that waits for an event, when held completions may be due. */
		look;
	struct fault_timer post;     /* timer that posts the delayed notifications */
	unsigned int notifications;  /* number of delayed notifications */
	uint32_t notifications_rule; /* the rule that delays the first of these notifications */
};

static void fire_look(struct fault_timer *t, struct shard *s, uint64_t now)
{
	struct cq_faults *f = list_entry(t, struct cq_faults, look);

	atomic_store_explicit(&f->look_at, 0, memory_order_relaxed);
	iw_cq_notify(f->cq->iw);
}

static void post_all(struct cq_faults *f)
{
	struct object *obj = &f->cq->obj;

	for (; f->notifications; f->notifications--)
		channel_post(&obj->comp, &obj->user_handle, sizeof(obj->user_handle));
}

static void fire_post(struct fault_timer *t, struct shard *s, uint64_t now)
{
	post_all(list_entry(t, struct cq_faults, post));
}

/*
 * Returns the CQ's state, or NULL without faults. Thread-safe: pairs with the release in
 * state_locked().
 */
static struct cq_faults *faults_of(struct sctpiw_cq *cq)
{
	return atomic_load_explicit(&cq->faults, memory_order_acquire);
}

/*
 * Returns the CQ's state, which it allocates if necessary. Returns NULL if out of memory; the CQ
 * then has no faults. Needs the shard lock.
 */
static struct cq_faults *state_locked(struct sctpiw_cq *cq)
{
	struct cq_faults *f = faults_of(cq);

	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->cq = cq;
	f->look.fire = fire_look;
	f->post.fire = fire_post;
	atomic_store_explicit(&cq->faults, f, memory_order_release);
	return f;
}

static struct cq_faults *state(struct sctpiw_cq *cq)
{
	struct cq_faults *f = faults_of(cq);

	if (f)
		return f;
	shard_lock(object_shard(&cq->obj));
	f = state_locked(cq);
	shard_unlock(object_shard(&cq->obj));
	return f;
}

void faults_cq_release(struct sctpiw_cq *cq, uint32_t rule)
{
	struct cq_faults *f = faults_of(cq);

	if (!f)
		return;
	if (f->notifications && (!rule || f->notifications_rule == rule)) {
		faults_timer_cancel(&f->post);
		post_all(f);
	}
	/*
	 * The next poll locks the ring and finds the released completions. Notify a program that
	 * waits for an event instead.
	 */
	if (atomic_load_explicit(&f->look_at, memory_order_relaxed)) {
		faults_timer_cancel(&f->look);
		fire_look(&f->look, object_shard(&cq->obj), object_shard(&cq->obj)->conn.now);
	}
}

void faults_cq_end(struct sctpiw_cq *cq)
{
	struct cq_faults *f = faults_of(cq);

	if (!f)
		return;
	faults_timer_cancel(&f->look);
	faults_timer_cancel(&f->post);
}

void faults_cq_purge(struct sctpiw_cq *cq, uint32_t qp_num)
{
	struct cq_faults *f = faults_of(cq);
	struct iw_cq *iw = cq->iw;
	uint32_t to = iw_cq_count(iw);

	if (!f)
		return;
	f->gathering.on = false;
	for (uint32_t i = to; f->verdict && i--;)
		if (iw->ring[iw_cq_slot(iw, i)].qp_num != qp_num)
			f->verdict[iw_cq_slot(iw, --to)] = f->verdict[iw_cq_slot(iw, i)];
	/* The remaining completions may have waited for those that were removed. */
	if (atomic_load_explicit(&f->look_at, memory_order_relaxed))
		iw_cq_notify(iw);
}

void faults_cq_resized(struct sctpiw_cq *cq, uint32_t mask)
{
	struct cq_faults *f = faults_of(cq);
	struct iw_cq *iw = cq->iw;
	struct verdict *old = f ? f->verdict : NULL;
	uint32_t head = atomic_load_explicit(&iw->head, memory_order_relaxed);

	if (!old)
		return;
	f->verdict = calloc((size_t)iw->mask + 1, sizeof(*old));
	for (uint32_t i = head; f->verdict && i != head + iw_cq_count(iw); i++)
		f->verdict[i & iw->mask] = old[i & mask];
	if (!f->verdict) /* out of memory: no completion is held back */
		iw_cq_notify(iw);
	free(old);
}

void faults_cq_forget(struct sctpiw_cq *cq)
{
	struct cq_faults *f = faults_of(cq);

	if (f)
		free(f->verdict);
	free(f);
}

void faults_cq_overrun(struct sctpiw_cq *cq)
{
	struct cq_faults *f = state_locked(cq);

	if (f)
		f->overrun = true;
	iw_cq_overrun(cq->iw);
}

/* ---- effects of rules on a completion ---- */

static enum fault_site site_of(uint16_t opcode)
{
	switch ((enum ibv_wc_opcode)opcode) {
	case IBV_WC_SEND:
		return FAULT_SITE_send;
	case IBV_WC_RDMA_WRITE:
		return FAULT_SITE_write;
	case IBV_WC_RDMA_READ:
		return FAULT_SITE_read;
	case IBV_WC_COMP_SWAP:
	case IBV_WC_FETCH_ADD:
		return FAULT_SITE_atomic;
	case IBV_WC_BIND_MW:
	case IBV_WC_LOCAL_INV:
		return FAULT_SITE_bind;
	case IBV_WC_RECV:
	case IBV_WC_RECV_RDMA_WITH_IMM:
		return FAULT_SITE_receive;
	default:
		return FAULT_SITE_any_completion;
	}
}

/*
 * Sets the attributes of a completion. If the QP has been destroyed, only its number is known.
 * Needs the shard lock.
 */
static void fill_attrs(struct sctpiw_cq *cq, const struct iw_cqe *e, struct fault_attrs *attrs)
{
	const struct iw_qp *qp = conn_qp(&object_shard(&cq->obj)->conn, e->qp_num);

	*attrs = (struct fault_attrs){
		.known = 1u << FAULT_SELECT_qp | 1u << FAULT_SELECT_cq,
		.qp = { .number = e->qp_num, .nth = qp ? qp->nth : 0 },
		.cq = { .number = cq->vcq.cq.handle, .nth = cq->iw->nth },
		.bytes = e->byte_len,
	};
	if (qp && qp->srq) {
		attrs->known |= 1u << FAULT_SELECT_srq;
		attrs->srq.nth = qp->srq->nth;
	}
	faults_peer_set(attrs, qp ? iw_qp_llp(qp) : NULL);
}

static bool is_receive(const struct iw_cqe *e)
{
	return e->opcode & IBV_WC_RECV;
}

/*
 * Sets the status of the i-th completion in the ring. After a completion with an error, later
 * completions of the same queue have the status IBV_WC_WR_FLUSH_ERR. Needs the shard lock, under
 * which the QP flushes its work requests.
 */
static void complete(struct sctpiw_cq *cq, uint32_t i, const struct fault_action *a)
{
	struct iw_cq *iw = cq->iw;
	struct iw_cqe *e = &iw->ring[iw_cq_slot(iw, i)];
	struct iw_qp *qp = conn_qp(&object_shard(&cq->obj)->conn, e->qp_num);

	e->status = (uint16_t)a->arg[fault_complete_status];
	e->vendor_err = (uint16_t)a->arg[fault_complete_vendor];
	if (e->status == IBV_WC_SUCCESS)
		return;
	for (uint32_t next = i + 1; next < iw_cq_count(iw); next++) {
		struct iw_cqe *behind = &iw->ring[iw_cq_slot(iw, next)];

		if (behind->qp_num == e->qp_num && is_receive(behind) == is_receive(e) &&
		    behind->status == IBV_WC_SUCCESS)
			behind->status = IBV_WC_WR_FLUSH_ERR;
	}
	if (qp && is_receive(e))
		iw_qp_modify(qp, IW_QPS_ERR);
	else if (qp)
		iw_qp_fail_sends(qp, e->status);
}

static struct verdict *verdicts(struct cq_faults *f)
{
	if (!f->verdict)
		f->verdict = calloc((size_t)f->cq->iw->mask + 1, sizeof(*f->verdict));
	return f->verdict;
}

/* Returns `now` plus the delay of the action, plus a random part of its jitter, in ns. */
static uint64_t later(uint64_t now, const struct fault_action *a)
{
	uint64_t jitter = a->arg[fault_delay_jitter];

	return now + a->arg[fault_delay_time] + (jitter ? a->random % jitter : 0);
}

static void gather(struct cq_faults *f, uint32_t i, const struct fault_action *a)
{
	if (f->gathering.on)
		return;
	f->gathering = (struct gathering){
		.on = true,
		.rule = a->rule,
		.from = atomic_load_explicit(&f->cq->iw->head, memory_order_relaxed) + i,
		.count = (uint32_t)a->arg[fault_gather_count],
		.until = sys_now() + (fault_given(a, fault_gather_time) ?
					      a->arg[fault_gather_time] :
					      GATHER_TIME),
	};
}

/* Applies the rules to the i-th completion in the ring, which is new. Needs the shard lock. */
static void judge(struct cq_faults *f, uint32_t i)
{
	struct sctpiw_cq *cq = f->cq;
	uint32_t slot = iw_cq_slot(cq->iw, i);
	struct iw_cqe *e = &cq->iw->ring[slot];
	struct verdict v = { 0 };
	struct fault_attrs attrs;
	struct fault_action a = { 0 };

	e->flags |= IW_WC_SEEN;
	/* A completion that already has an error is not changed. */
	if (e->status == IBV_WC_SUCCESS) {
		fill_attrs(cq, e, &attrs);
		if (faults_ask(&object_shard(&cq->obj)->rnic->faults, site_of(e->opcode), &attrs,
			       &a))
			switch (a.id) {
			case FAULT_DO_complete:
				complete(cq, i, &a);
				break;
			case FAULT_DO_delay:
				v.due = later(sys_now(), &a);
				break;
			case FAULT_DO_single:
				v.alone = true;
				break;
			case FAULT_DO_gather:
				gather(f, i, &a);
				break;
			default: /* the action is one on the QP or the CQ */
				a.select = attrs;
				faults_perform(&object_shard(&cq->obj)->rnic->faults, &a,
					       object_shard(&cq->obj)->conn.now);
				break;
			}
	}
	v.rule = a.rule;
	if (f->verdict || v.due || v.alone)
		if (verdicts(f))
			f->verdict[slot] = v;
}

/* Clears the effects of removed rules on the completions in the ring. */
static void drop_removed(struct cq_faults *f)
{
	struct faults *faults = &object_shard(&f->cq->obj)->rnic->faults;
	uint32_t removals = faults_removals(faults), count = iw_cq_count(f->cq->iw);

	if (removals == f->removals)
		return;
	f->removals = removals;
	f->gathering.on &= faults_has(faults, f->gathering.rule);
	for (uint32_t i = 0; f->verdict && i < count; i++) {
		struct verdict *v = &f->verdict[iw_cq_slot(f->cq->iw, i)];

		if (v->rule && !faults_has(faults, v->rule))
			*v = (struct verdict){ 0 };
	}
}

/*
 * Applies the rules to all new completions. An action may add further completions, for example
 * flushed ones; applies the rules to these as well. Returns the number of completions that were
 * checked.
 */
static uint32_t judge_new(struct cq_faults *f)
{
	struct iw_cq *iw = f->cq->iw;
	uint32_t count = iw_cq_count(iw), i = count;

	while (i && !(iw->ring[iw_cq_slot(iw, i - 1)].flags & IW_WC_SEEN))
		i--;
	if (i == count)
		return count;
	shard_lock(object_shard(&f->cq->obj));
	for (; i < iw_cq_count(iw) && !f->overrun; i++)
		judge(f, i);
	/* read the count again under the lock, since a completion may have been added */
	count = iw_cq_count(iw);
	shard_unlock(object_shard(&f->cq->obj));
	return count;
}

/* ---- completions that may be polled ---- */

static void look_later(struct cq_faults *f, uint64_t when)
{
	uint64_t set = atomic_load_explicit(&f->look_at, memory_order_relaxed);

	if (set && set <= when)
		return;
	shard_lock(object_shard(&f->cq->obj));
	atomic_store_explicit(&f->look_at, when, memory_order_relaxed);
	faults_timer_set(&object_shard(&f->cq->obj)->rnic->faults, &f->look, when);
	shard_unlock(object_shard(&f->cq->obj));
}

/* Returns the time at which the i-th of `count` completions may be polled, ns. */
static uint64_t due(struct cq_faults *f, uint32_t i, uint32_t count, uint64_t now)
{
	struct gathering *g = &f->gathering;
	struct iw_cq *iw = f->cq->iw;
	uint32_t head = atomic_load_explicit(&iw->head, memory_order_relaxed);
	uint64_t at = f->verdict ? f->verdict[iw_cq_slot(iw, i)].due : 0;

	if (!g->on || (int32_t)(head + i - g->from) < 0)
		return at;
	if (g->until > now && head + count - g->from < g->count)
		return g->until > at ? g->until : at;
	g->on = false;
	return at;
}

/*
 * Returns the number of completions, at most max, that one poll may return now. `behind`: true if the
 * poll has already returned another completion.
 */
static uint32_t ready(struct cq_faults *f, uint32_t max, bool behind)
{
	struct iw_cq *iw = f->cq->iw;
	uint32_t n, count;
	uint64_t now;

	if (!iw_cq_count(iw))
		return 0;
	drop_removed(f);
	count = judge_new(f);
	if (f->overrun) {
		iw_cq_consume(iw, iw_cq_count(iw));
		return 0;
	}
	now = sys_now();
	for (n = 0; n < count && n < max; n++) {
		uint64_t at = due(f, n, count, now);
		bool alone = f->verdict && f->verdict[iw_cq_slot(iw, n)].alone;

		if (at > now) {
			look_later(f, at);
			break;
		}
		if (!alone)
			continue;
		n += !n && !behind;
		/*
		 * A poll that returns fewer completions than requested shows the program an empty
		 * CQ. So the remaining completions need an event later.
		 */
		if (n < count)
			look_later(f, now);
		break;
	}
	return n;
}

/* ---- polling ---- */

static int poll_once(struct cq_faults *f, int num_entries, struct ibv_wc *wc)
{
	struct sctpiw_cq *cq = f->cq;
	int n;

	sctpiw_cq_lock(cq);
	n = sctpiw_cq_take(cq, ready(f, (uint32_t)num_entries, false), wc);
	sctpiw_cq_unlock(cq);
	return n;
}

int faults_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct sctpiw_cq *cq = to_cq(ibcq);
	struct cq_faults *f = NULL;
	int n;

	if (cq->generation == sctpiw_generation && num_entries > 0)
		f = state(cq);
	if (!f)
		return sctpiw_poll_cq(ibcq, num_entries, wc);
	n = poll_once(f, num_entries, wc);
	if (n)
		return n;
	sctpiw_cq_progress(cq);
	return poll_once(f, num_entries, wc);
}

/* Makes the next completion the current one, if it may be polled now. Returns 0 or ENOENT. */
static int take_current(struct cq_faults *f, bool behind)
{
	struct iw_cq *iw = f->cq->iw;

	if (!ready(f, 1, behind))
		return ENOENT;
	f->alone = f->verdict && f->verdict[iw_cq_slot(iw, 0)].alone;
	return sctpiw_cq_take_current(f->cq);
}

static int start_poll(struct ibv_cq_ex *cq_ex, struct ibv_poll_cq_attr *attr)
{
	struct sctpiw_cq *cq = to_cq(ibv_cq_ex_to_cq(cq_ex));
	struct cq_faults *f;
	int err;

	if (attr->comp_mask)
		return EINVAL;
	if (cq->generation != sctpiw_generation)
		return sctpiw_inherited();
	f = state(cq);
	if (!f)
		return ENOENT;
	sctpiw_cq_lock(cq);
	err = take_current(f, false);
	if (err) {
		sctpiw_cq_unlock(cq);
		sctpiw_cq_progress(cq);
		sctpiw_cq_lock(cq);
		err = take_current(f, false);
	}
	if (err)
		sctpiw_cq_unlock(cq);
	else if (cq_ex->read_completion_wallclock_ns)
		cq->wallclock_offset = rnic_wallclock_offset();
	return err;
}

static int next_poll(struct ibv_cq_ex *cq_ex)
{
	struct cq_faults *f = faults_of(to_cq(ibv_cq_ex_to_cq(cq_ex)));

	/*
	 * f is NULL if the first rule came into force after start_poll. The rules then apply from
	 * the next start_poll on.
	 */
	return !f || f->alone ? ENOENT : take_current(f, true);
}

void faults_cq_set_ops(struct sctpiw_cq *cq)
{
	if (!cq->vcq.cq_ex.start_poll)
		return;
	cq->vcq.cq_ex.start_poll = start_poll;
	cq->vcq.cq_ex.next_poll = next_poll;
}

/* ---- notifications ---- */

static void hold_back(struct sctpiw_cq *cq, const struct fault_action *a)
{
	struct cq_faults *f = state_locked(cq);

	if (!f) {
		channel_post(&cq->obj.comp, &cq->obj.user_handle, sizeof(cq->obj.user_handle));
		return;
	}
	/*
	 * If a notification is already delayed, the new one is posted together with it. If each new
	 * notification started a new delay, a program that arms the CQ often would never receive
	 * one.
	 */
	if (f->notifications++)
		return;
	f->notifications_rule = a->rule;
	faults_timer_set(&object_shard(&cq->obj)->rnic->faults, &f->post, later(sys_now(), a));
}

int faults_post_notification(struct event_source *src, const void *event, size_t len)
{
	struct sctpiw_cq *cq =
		list_entry(list_entry(src, struct object, comp), struct sctpiw_cq, obj);
	struct fault_attrs attrs = {
		.known = 1u << FAULT_SELECT_cq,
		.cq = { .number = cq->vcq.cq.handle, .nth = cq->iw->nth },
	};
	struct fault_action a;
	uint64_t times = 1;

	if (!faults_ask(&object_shard(&cq->obj)->rnic->faults, FAULT_SITE_notification, &attrs, &a))
		return channel_post(src, event, len);
	switch (a.id) {
	case FAULT_DO_delay:
		hold_back(cq, &a);
		return 0;
	case FAULT_DO_duplicate:
		times += fault_given(&a, fault_duplicate_times) ? a.arg[fault_duplicate_times] : 1;
		break;
	default:
		break;
	}
	for (; times > 1; times--)
		channel_post(src, event, len);
	return channel_post(src, event, len);
}
