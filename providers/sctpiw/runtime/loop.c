/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One turn of the engine: what came in, what is due, what goes out. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "net/capture.h"
#include "net/trace_file.h"
#include "conn/cm.h"
#include "runtime/object.h"
#include "runtime/private.h"
#include "sys/sys.h"
#include "conn/to_self.h"
#include "conn/oob.h"

/* Receive calls for which one pass holds the lock. */
#define PASS_RECEIVES 4

static __thread int thread_id;

static int self(void)
{
	if (!thread_id)
		thread_id = (int)syscall(SYS_gettid);
	return thread_id;
}

/* ---- the lock ---- */

void loop_read_clock(struct engine *e)
{
	e->now = sys_now();
	iw_set_now(e->rnic, e->now);
}

void loop_entered(struct engine *e)
{
	atomic_store_explicit(&e->owner, self(), memory_order_relaxed);
	loop_read_clock(e);
}

void loop_lock(struct engine *e)
{
	pthread_mutex_lock(&e->lock);
	loop_entered(e);
}

bool loop_trylock(struct engine *e)
{
	if (pthread_mutex_trylock(&e->lock))
		return false;
	loop_entered(e);
	return true;
}

bool loop_has_doorbells(struct engine *e)
{
	return atomic_load_explicit(&e->doorbells, memory_order_relaxed) != NULL;
}

void loop_unlock(struct engine *e)
{
	do {
		if (loop_has_doorbells(e))
			loop_finish(e);
		atomic_store_explicit(&e->owner, 0, memory_order_relaxed);
		pthread_mutex_unlock(&e->lock);
		/*
		 * Who doorbells pushes and then tries the lock; who unlocks lets go and then looks at
		 * the list. With a full fence between the two steps of each, one of them sees the
		 * other.
		 */
		atomic_thread_fence(memory_order_seq_cst);
	} while (loop_has_doorbells(e) && loop_trylock(e));
}

void engine_lock(struct engine *e)
{
	atomic_fetch_add_explicit(&e->waiters, 1, memory_order_relaxed);
	loop_lock(e);
	atomic_fetch_sub_explicit(&e->waiters, 1, memory_order_relaxed);
	loop_settle(e);
}

void engine_unlock(struct engine *e)
{
	loop_finish(e);
	loop_unlock(e);
}

void engine_assert_locked(const struct engine *e)
{
	if (atomic_load_explicit(&e->owner, memory_order_relaxed) != self())
		__builtin_trap();
}

/* ---- doorbells ---- */

bool loop_ring_doorbell(struct engine *e, struct iw_doorbell *doorbell)
{
	struct iw_doorbell *head;

	/* On the list already: whoever serves it sees what was published before. */
	if (atomic_exchange_explicit(&doorbell->pending, true, memory_order_acq_rel))
		return false;
	head = atomic_load_explicit(&e->doorbells, memory_order_relaxed);
	do {
		doorbell->next = head;
	} while (!atomic_compare_exchange_weak_explicit(&e->doorbells, &head, doorbell,
							memory_order_release,
							memory_order_relaxed));
	return true;
}

static bool serve_doorbells(struct engine *e)
{
	struct iw_doorbell *list, *fifo = NULL;

	if (!loop_has_doorbells(e))
		return false;
	list = atomic_exchange_explicit(&e->doorbells, NULL, memory_order_acquire);
	while (list) {
		struct iw_doorbell *next = list->next;

		list->next = fifo;
		fifo = list;
		list = next;
	}
	while (fifo) {
		struct iw_doorbell *doorbell = fifo;

		/* Read first: once pending is false it may be pushed again. */
		fifo = doorbell->next;
		atomic_exchange_explicit(&doorbell->pending, false, memory_order_acq_rel);
		iw_doorbell_serve(doorbell);
		if (!doorbell->is_srq && list_entry(doorbell, struct iw_qp, doorbell)->oob)
			oob_doorbell(list_entry(doorbell, struct iw_qp, doorbell));
	}
	return true;
}

/* ---- events ---- */

static void notify(struct engine *e)
{
	struct iw_cq *cq;

	while ((cq = iw_next_notify(e->rnic))) {
		struct engine_object *obj = cq->ctx;

		if (obj)
			channel_post(&obj->comp, &obj->user_handle, sizeof(obj->user_handle));
	}
}

static void post_async(void *ctx, enum engine_async_type type)
{
	struct engine_object *obj = ctx;
	struct engine_async_event ev;

	if (!obj)
		return;
	ev = (struct engine_async_event){.element = obj->user_handle, .event_type = type};
	channel_post(&obj->async, &ev, sizeof(ev));
}

static bool iw_events(struct engine *e)
{
	struct iw_event ev;
	void *llp;
	bool any = false;

	while ((llp = iw_next_idle(e->rnic))) {
		if (llp != e->to_self)
			conn_assoc_check_idle(llp);
	}
	while (iw_next_event(e->rnic, &ev)) {
		any = true;
		switch (ev.type) {
		case IW_EVENT_QP_COMM_EST:
			post_async(ev.qp->ctx, ENGINE_ASYNC_COMM_EST);
			break;
		case IW_EVENT_QP_FATAL:
			post_async(ev.qp->ctx, ENGINE_ASYNC_QP_FATAL);
			break;
		case IW_EVENT_QP_ACCESS:
			post_async(ev.qp->ctx, ENGINE_ASYNC_QP_ACCESS_ERR);
			break;
		case IW_EVENT_QP_REQUEST:
			post_async(ev.qp->ctx, ENGINE_ASYNC_QP_REQ_ERR);
			break;
		case IW_EVENT_CQ_ERROR:
			post_async(ev.cq->ctx, ENGINE_ASYNC_CQ_ERR);
			break;
		case IW_EVENT_SQ_DRAINED:
			post_async(ev.qp->ctx, ENGINE_ASYNC_SQ_DRAINED);
			break;
		case IW_EVENT_SRQ_LIMIT:
			post_async(ev.srq->ctx, ENGINE_ASYNC_SRQ_LIMIT_REACHED);
			break;
		case IW_EVENT_QP_LAST_WQE:
			post_async(ev.qp->ctx, ENGINE_ASYNC_QP_LAST_WQE_REACHED);
			break;
		default:
			if (!oob_session_event(e, &ev))
				cm_session_event(e, &ev);
			break;
		}
	}
	return any;
}

/* Each may cause more of the other. */
static void run_events(struct engine *e)
{
	bool more;

	do {
		more = e->transport->events(e);
		more |= iw_events(e);
	} while (more);
	notify(e);
}

/* ---- output ---- */

void loop_output(struct engine *e)
{
	e->transport->output(e);
	if (e->to_self)
		to_self_output(e);
}

void loop_settle(struct engine *e)
{
	/* What was posted before a disconnect goes out before it. */
	if (serve_doorbells(e))
		loop_output(e);
	run_events(e);
}

void loop_finish(struct engine *e)
{
	uint64_t next;

	do {
		serve_doorbells(e);
		run_events(e);
		loop_output(e);
		/* Sending completes WRs, and may have found an association lost. */
		run_events(e);
	} while (loop_has_doorbells(e));
	endpoint_reap(e);
	if (e->capture)
		capture_flush(e);
	if (e->trace)
		trace_file_flush(e->trace);
	next = loop_next_timeout(e);
	e->next_due = next;
	if (next < e->timer_set && e->thread_started) {
		e->timer_set = next;
		sys_timerfd_set(e->timer_fd, next);
	}
}

/* ---- passes ---- */

uint64_t loop_next_timeout(struct engine *e)
{
	uint64_t next = e->transport->next_timeout(e), t;

	t = iw_next_timeout(e->rnic);
	next = t < next ? t : next;
	t = conn_assoc_next_timeout(e);
	next = t < next ? t : next;
	t = cm_next_timeout(e);
	next = t < next ? t : next;
	t = oob_next_timeout(e);
	next = t < next ? t : next;
	t = to_self_next_timeout(e);
	return t < next ? t : next;
}

static void timers(struct engine *e)
{
	/* What came in starts deadlines, but none that is over already. */
	if (e->now < e->next_due)
		return;
	e->transport->timers(e);
	iw_timers(e->rnic, e->now);
	conn_assoc_timers(e);
	cm_timers(e);
	oob_timers(e);
}

bool loop_pass(struct engine *e, enum loop_depth depth)
{
	enum loop_received got = e->transport->receive(e, depth);

	/* Most passes of a poller end here. */
	if (got == LOOP_NOTHING && !loop_has_doorbells(e) && e->now < e->next_due)
		return false;
	e->received += got >= LOOP_SOME;
	for (int i = 1; i < PASS_RECEIVES && got == LOOP_MORE; i++) {
		/* Acknowledgements should not wait for all that came. */
		serve_doorbells(e);
		run_events(e);
		loop_output(e);
		if (atomic_load_explicit(&e->waiters, memory_order_relaxed))
			break;
		got = e->transport->receive(e, depth);
	}
	timers(e);
	loop_finish(e);
	return got == LOOP_MORE;
}
