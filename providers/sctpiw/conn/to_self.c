/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "conn/to_self.h"

#include <errno.h>
#include <stdlib.h>

#include "conn/conn.h"
#include "util/alloc.h"

#define STREAMS 65536
/*
 * Maximum length of a message in bytes. Each message is copied twice, so it should fit the cache.
 */
#define MESSAGE 16384
#define MESSAGES_AT_ONCE 32

struct to_self {
	struct iw_assoc *iw;
	bool rung;	  /* the sessions have messages to send */
	uint32_t arrived; /* number of received messages */
	uint8_t message[MESSAGE];
};

static void doorbell(void *llp)
{
	((struct to_self *)llp)->rung = true;
}

static uint32_t arrived(void *llp)
{
	return ((struct to_self *)llp)->arrived;
}

struct iw_assoc *to_self_assoc(struct conn *c)
{
	/* Without acked(), iwarp regards pulled messages as received. */
	static const struct iw_llp_ops ops = { .doorbell = doorbell, .placed = arrived };
	struct to_self *t = c->to_self;

	if (t)
		return t->iw;
	t = alloc_lines(sizeof(*t));
	if (!t)
		return NULL;
	t->iw = iw_assoc_new(c->iw, &ops, t, true, STREAMS, sizeof(t->message));
	if (!t->iw) {
		free(t);
		return NULL;
	}
	iw_assoc_set_receipts(t->iw, iw_rnic_send_window(iw_shard_rnic(c->iw)));
	iw_assoc_set_srq_numbers(t->iw);
	c->to_self = t;
	return t->iw;
}

void to_self_free(struct conn *c)
{
	if (!c->to_self)
		return;
	iw_assoc_lost(c->to_self->iw, -ECONNABORTED);
	free(c->to_self);
	c->to_self = NULL;
}

bool to_self_is_llp(const struct conn *c, const void *llp)
{
	return llp == c->to_self;
}

void to_self_output(struct conn *c)
{
	struct to_self *t = c->to_self;

	for (int i = 0; t && i < MESSAGES_AT_ONCE && t->rung; i++) {
		struct iw_msg msg = { .may_reference = false };
		size_t len = iw_assoc_pull(t->iw, t->message, sizeof(t->message), &msg);

		t->rung = msg.more;
		/* iw_assoc_receive() cannot fail, since iwarp itself made the message. */
		if (len) {
			iw_assoc_receive(t->iw, msg.sid, msg.ppid, t->message, len);
			t->arrived++;
		}
		/*
		 * If a session owes a receipt, a later message carries it, and this call is
		 * repeated after that message.
		 */
		if (!iw_assoc_owes_receipt(t->iw))
			iw_assoc_placed(t->iw);
	}
}

uint64_t to_self_next_timeout(const struct conn *c)
{
	return c->to_self && c->to_self->rung ? c->now : TIME_NEVER;
}
