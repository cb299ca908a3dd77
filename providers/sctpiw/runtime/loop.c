/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "runtime/loop.h"

#include "net/capture.h"
#include "net/trace_file.h"
#include "runtime/channel.h"
#include "runtime/object.h"
#include "runtime/rnic.h"
#include "runtime/shard.h"
#include "runtime/tuning.h"

/* ---- events ---- */

/* Posts the completion events of armed CQs. */
static void notify(struct shard *s)
{
	struct iw_cq *cq;

	while ((cq = iw_next_notify(s->conn.iw))) {
		struct object *obj = cq->ctx;

		if (obj)
			s->post_notification(&obj->comp, &obj->user_handle,
					     sizeof(obj->user_handle));
	}
}

static void post_async(void *ctx, enum object_async_type type)
{
	for (struct object *obj = ctx; obj; obj = obj->next) {
		struct object_async_event ev = { .element = obj->user_handle, .event_type = type };

		channel_post(&obj->async, &ev, sizeof(ev));
	}
}

/* Rings the doorbells of all other shards whose QPs wait for receives of this SRQ. */
static void ring_others(struct shard *s, struct iw_srq *srq)
{
	uint32_t awaited = iw_srq_awaited(srq) & ~(1u << s->index);

	for (; awaited; awaited &= awaited - 1) {
		struct shard *other = rnic_shard(s->rnic, (unsigned int)__builtin_ctz(awaited));

		doorbell_ring_at(other, iw_srq_doorbell(srq, other->index));
	}
}

/* Turns an event of a QP, CQ or SRQ into an async event for the application. ctx is the shard. */
static void raise_async(void *ctx, const struct iw_event *ev)
{
	switch (ev->type) {
	case IW_EVENT_QP_COMM_EST:
		post_async(ev->qp->ctx, OBJECT_ASYNC_COMM_EST);
		break;
	case IW_EVENT_QP_PATH_MIG:
		post_async(ev->qp->ctx, OBJECT_ASYNC_PATH_MIG);
		break;
	case IW_EVENT_QP_FATAL:
		post_async(ev->qp->ctx, OBJECT_ASYNC_QP_FATAL);
		break;
	case IW_EVENT_QP_ACCESS:
		post_async(ev->qp->ctx, OBJECT_ASYNC_QP_ACCESS_ERR);
		break;
	case IW_EVENT_QP_REQUEST:
		post_async(ev->qp->ctx, OBJECT_ASYNC_QP_REQ_ERR);
		break;
	case IW_EVENT_CQ_ERROR:
		post_async(ev->cq->ctx, OBJECT_ASYNC_CQ_ERR);
		break;
	case IW_EVENT_SQ_DRAINED:
		post_async(ev->qp->ctx, OBJECT_ASYNC_SQ_DRAINED);
		break;
	case IW_EVENT_SRQ_LIMIT:
		post_async(ev->srq->ctx, OBJECT_ASYNC_SRQ_LIMIT_REACHED);
		break;
	case IW_EVENT_SRQ_OTHERS:
		ring_others(ctx, ev->srq);
		break;
	case IW_EVENT_QP_LAST_WQE:
		post_async(ev->qp->ctx, OBJECT_ASYNC_QP_LAST_WQE_REACHED);
		break;
	default:
		break;
	}
}

static void run_events(struct shard *s)
{
	/* The handling of one event may cause further events. */
	while (conn_events(&s->conn, raise_async, s))
		;
	notify(s);
}

/* ---- parts of a turn ---- */

void loop_settle(struct shard *s)
{
	/*
	 * Send all work requests that were posted before this operation. A disconnect, for example,
	 * must not overtake them.
	 */
	if (doorbell_serve(&s->doorbells, &s->conn))
		conn_output(&s->conn);
	run_events(s);
}

static bool is_anything_left(struct shard *s)
{
	return doorbell_is_rung(&s->doorbells) || conn_is_pending(&s->conn);
}

/* Does the urgent part of loop_finish(): posted work requests, events and output. */
static bool serve(struct shard *s)
{
	unsigned int rounds = 0;
	bool left;

	do {
		doorbell_serve(&s->doorbells, &s->conn);
		run_events(s);
		/* Sending causes events: completions, and perhaps the loss of an association. */
		if (conn_output(&s->conn))
			run_events(s);
		left = is_anything_left(s);
	} while (left && (++rounds < TUNING_ROUNDS || !progress_is_started(&s->progress)));
	if (left)
		progress_wake(s);
	atomic_store_explicit(&s->burst.in_flight, conn_in_flight(&s->conn), memory_order_relaxed);
	return left;
}

/* Does the rest of loop_finish(): work that may be late, or that prepares the next turn. */
static void conclude(struct shard *s)
{
	s->unconcluded = false;
	conn_reap(&s->conn);
	if (s->net.capture)
		capture_flush(&s->net);
	if (s->net.trace)
		trace_file_flush(s->net.trace);
	progress_note_cm_event(&s->progress, s->conn.cm.last_event);
	s->next_due = conn_next_timeout(&s->conn);
	progress_set_deadline(s, s->next_due);
}

bool loop_finish(struct shard *s)
{
	bool left = serve(s);

	conclude(s);
	return left;
}

/*
 * True if the conclude() of this turn may be left to the next turn. This saves a poller a tenth of
 * the time until its completion. A next turn is certain: either the application polls or answers,
 * or the parked thread runs the shard after its nap. Never leaves two successive turns unconcluded.
 * With a capture or a trace, each turn concludes, so that the file contains the last packets of a
 * program that crashes.
 */
static bool may_conclude_later(const struct shard *s, enum conn_depth depth)
{
	return depth == CONN_QUICK && !s->unconcluded && !s->net.capture && !s->net.trace &&
	       atomic_load_explicit(&s->progress.parked, memory_order_relaxed);
}

bool loop_pass(struct shard *s, enum conn_depth depth)
{
	/* Send held acknowledgements: a caller that polls again has no answer to post. */
	bool owed = conn_flush_sacks(&s->conn);
	enum conn_received got;

	/*
	 * The peer waits for these SACKs, so they are sent before the receive call. The waiting
	 * work requests of a burst are sent with them. If a SACK was sent before them, it would
	 * complete a work request of the peer. The peer might then look at its memory, instead of
	 * polling for the next message.
	 */
	if (owed) {
		doorbell_serve(&s->doorbells, &s->conn);
		conn_output(&s->conn);
	}
	got = conn_receive(&s->conn, depth);
	/* Most passes of a poller find nothing to do, and return here. */
	if (got == CONN_NOTHING && !owed && !s->unconcluded && !is_anything_left(s) &&
	    s->conn.now < s->next_due)
		return false;
	s->progress.received += got >= CONN_SOME;
	for (int i = 1; i < TUNING_PASS_RECEIVES && got == CONN_MORE; i++) {
		/* Send acknowledgements now, before the rest of the packets is received. */
		doorbell_serve(&s->doorbells, &s->conn);
		run_events(s);
		conn_output(&s->conn);
		if (shard_is_awaited(s))
			break;
		got = conn_receive(&s->conn, depth);
	}
	/* the unconcluded turn started timers, some of which may have expired */
	if (s->unconcluded)
		s->next_due = conn_next_timeout(&s->conn);
	/* The old next_due is valid: timers that this turn started have not expired yet. */
	if (s->conn.now >= s->next_due)
		conn_timers(&s->conn);
	serve(s);
	s->unconcluded = got != CONN_NOTHING && may_conclude_later(s, depth);
	if (!s->unconcluded)
		conclude(s);
	return got == CONN_MORE;
}
