/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Associations: the table of streams, and the sessions' turns to send. */
#include <errno.h>
#include <stdlib.h>

#include "iwarp/private.h"

#define MAX_TRIES 8	     /* sessions asked for a message that fits the room that is left */
#define MAX_TRIES_FULL 4096 /* for a packet of its own: who is ready has one, unless it fails */

struct iw_assoc *iw_assoc_new(struct iw_rnic *rnic, const struct iw_llp_ops *ops, void *llp,
			      bool initiator, unsigned int streams, size_t max_msg)
{
	struct iw_assoc *assoc = calloc(1, sizeof(*assoc));

	if (!assoc)
		return NULL;
	assoc->rnic = rnic;
	assoc->ops = *ops;
	assoc->llp = llp;
	iw_assoc_set_initiator(assoc, initiator);
	assoc->streams = streams < 65536 ? streams : 65536;
	list_init(&assoc->ready);
	list_init(&assoc->idle);
	list_init(&assoc->zcopy_qps);
	list_add_tail(&rnic->assocs, &assoc->all);
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

unsigned int iw_assoc_sessions(const struct iw_assoc *assoc)
{
	return assoc->live;
}

void iw_assoc_lost(struct iw_assoc *assoc, int error)
{
	assoc->pulling = true; /* the LLP is not asked any more */
	assoc->ops.acked = NULL;
	for (unsigned int page = 0; page < 65536 / IW_STREAM_PAGE; page++) {
		for (unsigned int i = 0; assoc->pages[page] && i < IW_STREAM_PAGE; i++) {
			struct iw_session *s = assoc->pages[page][i];

			if (!s)
				continue;
			if (s->qp && !s->user.ctx)
				iw_event_raise(s->rnic, &s->qp->priv->event, IW_EVENT_QP_FATAL);
			/* The connection manager may try again with the same QP. */
			if (s->qp && s->user.ctx && s->state == IW_S_INITIATING)
				iw_qp_unbind(s->qp);
			iw_session_end(s, error, true, NULL);
			iw_session_leave(s);
			s->assoc = NULL;
			if (s->user_gone)
				iw_session_bury(s);
		}
		free(assoc->pages[page]);
	}
	list_del(&assoc->all);
	list_del(&assoc->idle);
	free(assoc);
}

void *iw_next_idle(struct iw_rnic *rnic)
{
	struct list_node *node = list_pop(&rnic->idle);

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
			iw_session_settle(s); /* perhaps its last message has arrived by now */
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

static bool has_work(struct iw_session *s)
{
	if (s->tx_control || s->term_pending)
		return true;
	if (s->want_terminate)
		return s->answered || iw_assoc_is_acked(s->assoc, s->first_seq);
	return s->state == IW_S_ESTABLISHED && (s->rtr || iw_sq_has_work(s->qp));
}

void iw_session_wake(struct iw_session *s)
{
	struct iw_assoc *assoc = s->assoc;

	if (s->state == IW_S_OVER || list_linked(&s->ready) || !has_work(s))
		return;
	list_add_tail(&assoc->ready, &s->ready);
	if (!assoc->pulling)
		assoc->ops.doorbell(assoc->llp);
}

/* Without the DDP-SSN. 0: nothing, or nothing that fits. */
static size_t pull_message(struct iw_session *s, uint8_t *buf, size_t limit, uint32_t *ppid)
{
	size_t n = 0;

	*ppid = SESSION_PPID_CONTROL;
	if (s->tx_control)
		return iw_setup_encode(s, buf, limit);
	if (s->state == IW_S_ESTABLISHED) {
		*ppid = SESSION_PPID_DDP;
		n = s->rtr ? iw_rtr_pull(s, buf, limit) : iw_qp_pull(s, buf, limit);
		if (n)
			return n;
	}
	/* Now, or since the message could not be made. */
	if (s->term_pending) {
		*ppid = SESSION_PPID_DDP;
		return iw_term_pull(s, buf, limit);
	}
	if (s->want_terminate && has_work(s)) {
		struct session_control c = { .function = SESSION_TERMINATE };

		*ppid = SESSION_PPID_CONTROL;
		n = session_encode(&c, buf, limit);
		if (n) {
			s->want_terminate = false;
			s->tx_ended = true;
		}
	}
	return n;
}

static void stamp(struct iw_session *s, uint8_t *buf)
{
	struct iw_assoc *assoc = s->assoc;

	if (!s->tx_ssn && !s->answered)
		s->first_seq = assoc->pulled;
	s->last_seq = assoc->pulled++;
	put_be16(buf, s->tx_ssn++);
}

static void count(struct iw_stats *stats, const uint8_t *ddp)
{
	stats->out[rdmap_opcode(ddp[1])] += ddp_is_last(ddp[0]);
}

size_t iw_assoc_pull(struct iw_assoc *assoc, uint8_t *buf, size_t room, struct iw_msg *msg)
{
	size_t limit = room < assoc->max_msg ? room : assoc->max_msg;
	unsigned int max_tries = limit < assoc->max_msg ? MAX_TRIES : MAX_TRIES_FULL;
	unsigned int tries = 0;
	size_t n = 0;

	assoc->pulling = true;
	assoc->msg = msg;
	msg->ref = NULL;
	msg->ref_len = 0;
	while (!n && !list_empty(&assoc->ready) && tries < max_tries) {
		struct iw_session *s = list_entry(assoc->ready.next, struct iw_session, ready);

		list_del(&s->ready);
		n = pull_message(s, buf, limit, &msg->ppid);
		if (n) {
			msg->sid = s->sid;
			stamp(s, buf);
			if (msg->ppid == SESSION_PPID_DDP)
				count(&assoc->rnic->stats, buf + SESSION_SSN_LEN);
		}
		if (!list_linked(&s->ready) && has_work(s)) {
			list_add_tail(&assoc->ready, &s->ready);
			tries++;
		}
		if (s->tx_ended)
			iw_session_settle(s);
	}
	msg->more = !list_empty(&assoc->ready);
	assoc->pulling = false;
	return n;
}

/*
 * Both sides of the session had ended: a new message of the peer's shows that it knows. One that need not
 * answer our Terminate with its own (RFC 5043 6.2) tells by an Initiate alone that it is done.
 */
static bool begins_anew(const struct iw_session *s, uint32_t ppid, const uint8_t *data, size_t len)
{
	struct session_control c;

	if (!s->tx_ended || len < SESSION_SSN_LEN || get_be16(data))
		return false;
	if (s->rx_ended)
		return true;
	return s->rx_loose && ppid == SESSION_PPID_CONTROL && !session_decode(&c, data, len) &&
	       session_is_initiate(c.function);
}

int iw_assoc_receive(struct iw_assoc *assoc, uint16_t sid, uint32_t ppid, const uint8_t *data,
		     size_t len)
{
	struct iw_session *s;

	if (sid >= assoc->streams)
		return -EPROTO;
	if (!list_empty(&assoc->rnic->graveyard))
		iw_rnic_reap(assoc->rnic);
	s = iw_assoc_session(assoc, sid);
	if (s && begins_anew(s, ppid, data, len)) {
		iw_session_leave(s);
		if (s->user_gone)
			iw_session_bury(s);
		s = NULL;
	}
	if (s)
		iw_session_receive(s, ppid, data, len);
	else
		iw_setup_first(assoc, sid, ppid, data, len);
	return 0;
}
