/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/assoc.h"

#include <errno.h>
#include <stdlib.h>

#include "iwarp/rc.h"
#include "iwarp/receipt.h"
#include "iwarp/session_rx.h"
#include "iwarp/session_setup.h"
#include "iwarp/trace.h"
#include "util/alloc.h"
#include "util/bytes.h"

/* Number of sessions to try when the message must fit the remaining room of a packet. */
#define MAX_TRIES 8
/*
 * Number of sessions to try when the room fits any message. In this case, each session returns a
 * message unless the session fails.
 */
#define MAX_TRIES_FULL 4096
/*
 * Maximum number of sessions of one peer that were refused or rejected while the peer has not
 * acknowledged the refusal. Each takes half a KiB.
 */
#define TURNED_AWAY_MAX 8192

struct iw_assoc *iw_assoc_new(struct iw_shard *shard, const struct iw_llp_ops *ops, void *llp,
			      bool initiator, unsigned int streams, size_t max_msg)
{
	struct iw_assoc *assoc = alloc_lines(sizeof(*assoc));

	if (!assoc)
		return NULL;
	assoc->shard = shard;
	assoc->ops = *ops;
	assoc->llp = llp;
	iw_assoc_set_initiator(assoc, initiator);
	assoc->streams = streams < 65536 ? streams : 65536;
	list_init(&assoc->ready);
	list_init(&assoc->idle);
	list_init(&assoc->referencing);
	list_add_tail(&shard->assocs, &assoc->all);
	iw_assoc_set_max_msg(assoc, max_msg);
	return assoc;
}

void iw_assoc_set_initiator(struct iw_assoc *assoc, bool initiator)
{
	assoc->initiator = initiator;
	assoc->cursor = initiator ? 0 : 1;
}

bool iw_assoc_is_initiator(const struct iw_assoc *assoc)
{
	return assoc->initiator;
}

void iw_assoc_set_receipts(struct iw_assoc *assoc, uint32_t window)
{
	assoc->receipts = true;
	assoc->send_window = window;
}

void iw_assoc_set_srq_numbers(struct iw_assoc *assoc)
{
	assoc->srq_numbers = true;
}

void *iw_assoc_llp(const struct iw_assoc *assoc)
{
	return assoc->llp;
}

void iw_assoc_set_max_msg(struct iw_assoc *assoc, size_t max_msg)
{
	const size_t floor = SESSION_SSN_LEN + 516; /* RFC 5043 9 */
	const size_t most = SESSION_SSN_LEN + IW_SEGMENT_MAX;

	assoc->max_msg = max_msg < floor ? floor : max_msg > most ? most : max_msg;
}

unsigned int iw_assoc_streams(const struct iw_assoc *assoc)
{
	return assoc->streams;
}

unsigned int iw_assoc_sessions(const struct iw_assoc *assoc)
{
	return assoc->live;
}

unsigned int iw_assoc_wanted(const struct iw_assoc *assoc)
{
	return assoc->wanted;
}

void iw_assoc_lost(struct iw_assoc *assoc, int error)
{
	assoc->pulling = true; /* send no doorbells any more: the LLP is gone */
	assoc->ops.acked = assoc->ops.placed = NULL;
	for (unsigned int page = 0; page < 65536 / IW_STREAM_PAGE; page++) {
		if (!assoc->pages[page])
			continue;
		for (unsigned int i = 0; i < IW_STREAM_PAGE; i++) {
			struct iw_session *s = assoc->pages[page][i];

			if (!s)
				continue;
			if (s->qp && !s->user.ctx)
				iw_event_raise(s->shard, &iw_qp_base(s->qp)->event,
					       IW_EVENT_QP_FATAL);
			/* The connection manager may retry with the same QP. */
			if (s->qp && s->user.ctx && s->state == IW_S_INITIATING)
				iw_setup_release_qp(s);
			iw_session_lost(s, error);
			iw_session_leave(s);
			s->assoc = NULL;
			if (s->ending.user_gone)
				iw_session_bury(s);
		}
		free(assoc->pages[page]);
	}
	list_del(&assoc->all);
	list_del(&assoc->referencing);
	list_del(&assoc->idle);
	timerq_fini(&assoc->unplaced);
	free(assoc);
}

void *iw_next_idle(struct iw_shard *shard)
{
	struct list_node *node = list_pop(&shard->idle);

	return node ? list_entry(node, struct iw_assoc, idle)->llp : NULL;
}

struct iw_session *iw_assoc_session(const struct iw_assoc *assoc, unsigned int sid)
{
	struct iw_session **page = assoc->pages[sid / IW_STREAM_PAGE];

	return page ? page[sid % IW_STREAM_PAGE] : NULL;
}

int iw_assoc_link(struct iw_assoc *assoc, struct iw_session *s, unsigned int sid)
{
	struct iw_session ***page = &assoc->pages[sid / IW_STREAM_PAGE];

	if (!*page)
		*page = calloc(IW_STREAM_PAGE, sizeof(**page));
	if (!*page)
		return -ENOMEM;
	(*page)[sid % IW_STREAM_PAGE] = s;
	s->sid = (uint16_t)sid;
	s->counted = true;
	assoc->live++;
	assoc->wanted++;
	return 0;
}

void iw_assoc_unlink(struct iw_session *s)
{
	struct iw_session **page = s->assoc ? s->assoc->pages[s->sid / IW_STREAM_PAGE] : NULL;

	if (page && page[s->sid % IW_STREAM_PAGE] == s)
		page[s->sid % IW_STREAM_PAGE] = NULL;
}

int iw_assoc_idle_stream(struct iw_assoc *assoc)
{
	unsigned int first = assoc->initiator ? 0 : 1;

	for (unsigned int n = 0; n < assoc->streams; n += 2) {
		unsigned int sid = assoc->cursor < assoc->streams ? assoc->cursor : first;
		struct iw_session *s = sid < assoc->streams ? iw_assoc_session(assoc, sid) : NULL;

		if (sid >= assoc->streams)
			break;
		assoc->cursor = sid + 2;
		if (s)
			iw_session_settle(s); /* the peer may have acknowledged the session's end */
		if (!iw_assoc_session(assoc, sid))
			return (int)sid;
	}
	return -EAGAIN;
}

bool iw_assoc_is_acked(const struct iw_assoc *assoc, uint32_t seq)
{
	if (!assoc->ops.acked)
		return true;
	return (int32_t)(assoc->ops.acked(assoc->llp) - seq) > 0;
}

/* True if the session can send something now. */
static inline bool find_work(struct iw_session *s)
{
	if (s->tx.control || s->tx.term_due || iw_receipt_may_leave(s))
		return true;
	if (s->tx.terminate_due)
		return s->tx.answered || iw_assoc_is_acked(s->assoc, s->tx.first_seq);
	return s->state == IW_S_ESTABLISHED &&
	       (s->tx.rtr_due || iw_rc_tx_find_work(iw_rc_of(s->qp)));
}

void iw_session_wake(struct iw_session *s)
{
	struct iw_assoc *assoc = s->assoc;

	if (s->state == IW_S_OVER || list_linked(&s->ready) || !find_work(s))
		return;
	list_add_tail(&assoc->ready, &s->ready);
	if (!assoc->pulling)
		assoc->ops.doorbell(assoc->llp);
}

/* Writes a message without its DDP-SSN. Returns the length; 0 if none is due or fits limit. */
static size_t pull_message(struct iw_session *s, uint8_t *buf, size_t limit, uint32_t *ppid)
{
	size_t n = 0;

	*ppid = SESSION_PPID_CONTROL;
	if (s->tx.control)
		return iw_setup_encode(s, buf, limit);
	if (s->state == IW_S_ESTABLISHED && !iw_receipt_may_leave(s)) {
		*ppid = SESSION_PPID_DDP;
		s->assoc->msg->voidable = !s->tx.rtr_due;
		n = s->tx.rtr_due ? iw_rc_tx_pull_rtr(s, buf, limit) : iw_rc_tx_pull(s, buf, limit);
		if (n)
			return n;
		s->assoc->msg->voidable = false;
	}
	/*
	 * A receipt and a Terminate may have become due just now, if the session failed above. The
	 * receipt is sent first.
	 */
	if (iw_receipt_may_leave(s)) {
		*ppid = SESSION_PPID_DDP;
		return iw_receipt_pull(s, buf, limit);
	}
	if (s->tx.term_due) {
		*ppid = SESSION_PPID_DDP;
		return iw_term_pull(s, buf, limit);
	}
	if (s->tx.terminate_due && find_work(s)) {
		struct session_control c = { .function = SESSION_TERMINATE };

		*ppid = SESSION_PPID_CONTROL;
		n = session_encode(&c, buf, limit);
		if (n) {
			s->tx.terminate_due = false;
			s->tx.ended = true;
			TRACE(session_sent, s->shard->now, .qp = iw_trace_qp(s), .sid = s->sid,
			      .message = iw_trace_message(c.function));
		}
	}
	return n;
}

/* Assigns the DDP-SSN and the message number. */
static void stamp(struct iw_session *s, uint8_t *buf)
{
	struct iw_assoc *assoc = s->assoc;

	if (!s->tx.ssn && !s->tx.answered)
		s->tx.first_seq = assoc->pulled;
	s->tx.last_seq = assoc->pulled++;
	put_be16(buf, s->tx.ssn++);
}

/* Counts a sent DDP segment. s->qp is NULL if the CQ has lost the completion of the WR. */
static void count(struct iw_session *s, const uint8_t *ddp, size_t len)
{
	size_t header = ddp_is_tagged(ddp[0]) ? DDP_TAGGED_LEN : DDP_UNTAGGED_LEN;
	struct iw_stats *stats = &s->shard->stats;
	uint8_t opcode = rdmap_opcode(ddp[1]);
	bool last = ddp_is_last(ddp[0]);

	stats->out[opcode] += last;
	if (s->qp)
		iw_traffic_add(&iw_qp_base(s->qp)->out, &stats->out_bytes, opcode, last,
			       (uint32_t)(len - header));
}

/* Moves the session to the end of the ready list. */
static void make_last(struct iw_assoc *assoc, struct iw_session *s)
{
	if (assoc->ready.prev == &s->ready)
		return;
	list_del(&s->ready);
	list_add_tail(&assoc->ready, &s->ready);
}

/* True if the search for a message of at most limit bytes has tried enough sessions. */
static inline bool is_enough(const struct iw_assoc *assoc, size_t limit, unsigned int tries)
{
	return tries >= MAX_TRIES && (limit < assoc->max_msg || tries >= MAX_TRIES_FULL);
}

size_t iw_assoc_pull(struct iw_assoc *assoc, uint8_t *buf, size_t room, struct iw_msg *msg)
{
	size_t limit = room < assoc->max_msg ? room : assoc->max_msg;
	unsigned int tries = 0;
	size_t n = 0;

	assoc->pulling = true;
	assoc->msg = msg;
	msg->ref = NULL;
	msg->ref_len = 0;
	msg->awaited = msg->receipt = msg->voidable = false;
	while (!n && !list_empty(&assoc->ready) && !is_enough(assoc, limit, tries)) {
		struct iw_session *s = list_entry(assoc->ready.next, struct iw_session, ready);

		n = pull_message(s, buf, limit, &msg->ppid);
		if (n) {
			/* Mark each message of a session that owes a receipt or Terminate. */
			msg->receipt |= s->tx.owes;
			if (s->tx.owes)
				iw_receipt_count(s);
			msg->sid = s->sid;
			stamp(s, buf);
			if (msg->ppid == SESSION_PPID_DDP)
				count(s, buf + SESSION_SSN_LEN, n - SESSION_SSN_LEN);
		}
		if (find_work(s)) {
			make_last(assoc, s);
			tries++;
		} else {
			list_del(&s->ready);
		}
		if (s->tx.ended)
			iw_session_settle(s);
	}
	msg->more = !list_empty(&assoc->ready);
	assoc->pulling = false;
	return n;
}

/*
 * True if the message begins a new session on the stream of a session that is ending. If both sides
 * have sent their last message, any first message (DDP-SSN 0) begins a new session. A peer need not
 * answer a Terminate with a Terminate (RFC 5043 6.2); then only an Initiate begins a new session.
 */
static bool begins_anew(const struct iw_session *s, uint32_t ppid, const uint8_t *data, size_t len)
{
	struct session_control c;

	if (!s->tx.ended || len < SESSION_SSN_LEN || get_be16(data))
		return false;
	if (s->rx.ended)
		return true;
	return s->rx.loose.on && ppid == SESSION_PPID_CONTROL && !session_decode(&c, data, len) &&
	       session_is_initiate(c.function);
}

/* Removes the sessions whose last messages the peer has acknowledged meanwhile. */
static void settle_all(struct iw_assoc *assoc)
{
	for (unsigned int sid = 0; sid < assoc->streams; sid++) {
		struct iw_session *s = iw_assoc_session(assoc, sid);

		if (s)
			iw_session_settle(s);
	}
}

/*
 * True if the peer keeps requesting sessions but does not acknowledge the refusals. At the limit,
 * removes the sessions that the peer has acknowledged. At least half must have been acknowledged,
 * so that this scan stays rare.
 */
static bool is_flooded(struct iw_assoc *assoc)
{
	if (assoc->turned_away < TURNED_AWAY_MAX)
		return false;
	settle_all(assoc);
	return assoc->turned_away > TURNED_AWAY_MAX / 2;
}

/* Returns the association with the most turned-away sessions. */
static struct iw_assoc *worst(struct iw_shard *shard)
{
	struct iw_assoc *most = NULL;

	list_for_each(node, &shard->assocs) {
		struct iw_assoc *assoc = list_entry(node, struct iw_assoc, all);

		if (!most || assoc->turned_away > most->turned_away)
			most = assoc;
	}
	return most;
}

bool iw_turned_too_many_away(const struct iw_shard *shard)
{
	return shard->turned_away > IW_TURNED_AWAY_ALL;
}

void *iw_worst_asker(struct iw_shard *shard)
{
	while (iw_turned_too_many_away(shard)) {
		struct iw_assoc *most = worst(shard);
		unsigned int before = most->turned_away;

		settle_all(most);
		if (most->turned_away > before / 2)
			return most->llp;
	}
	return NULL;
}

/*
 * Receives the first message of a new session on a stream. old: the stream's former session, which
 * ends here; or NULL.
 */
static int receive_first(struct iw_assoc *assoc, struct iw_session *old, uint16_t sid,
			 uint32_t ppid, const uint8_t *data, size_t len)
{
	if (old) {
		iw_session_leave(old);
		if (old->ending.user_gone)
			iw_session_bury(old);
	}
	iw_shard_reap(assoc->shard);
	if (is_flooded(assoc))
		return -EPROTO;
	iw_setup_first(assoc, sid, ppid, data, len);
	return 0;
}

int iw_assoc_receive(struct iw_assoc *assoc, uint16_t sid, uint32_t ppid, const uint8_t *data,
		     size_t len)
{
	struct iw_session *s;

	if (sid >= assoc->streams)
		return -EPROTO;
	s = iw_assoc_session(assoc, sid);
	if (!s || begins_anew(s, ppid, data, len))
		return receive_first(assoc, s, sid, ppid, data, len);
	iw_session_receive(s, ppid, data, len);
	return 0;
}
