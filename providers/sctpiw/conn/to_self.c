/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "conn/to_self.h"

#include <stdbool.h>
#include <stdlib.h>

#include "runtime/private.h"

#define STREAMS 65536
/* It is copied twice, so that it should stay in the cache between; others wait for the lock meanwhile. */
#define MESSAGE 16384
#define MESSAGES_AT_ONCE 32

struct to_self {
	struct iw_assoc *iw;
	bool rung;
	uint8_t message[MESSAGE];
};

static void doorbell(void *llp)
{
	((struct to_self *)llp)->rung = true;
}

struct iw_assoc *to_self_assoc(struct engine *e)
{
	static const struct iw_llp_ops ops = {.doorbell = doorbell}; /* what was pulled has arrived */
	struct to_self *t = e->to_self;

	if (t)
		return t->iw;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->iw = iw_assoc_new(e->rnic, &ops, t, true, STREAMS, sizeof(t->message));
	if (!t->iw) {
		free(t);
		return NULL;
	}
	e->to_self = t;
	return t->iw;
}

void to_self_output(struct engine *e)
{
	struct to_self *t = e->to_self;

	for (int i = 0; i < MESSAGES_AT_ONCE && t->rung; i++) {
		struct iw_msg msg = {.zcopy_window = 0};
		size_t len = iw_assoc_pull(t->iw, t->message, sizeof(t->message), &msg);

		t->rung = msg.more;
		if (len) /* of messages of our own none breaks the association's rules */
			iw_assoc_receive(t->iw, msg.sid, msg.ppid, t->message, len);
	}
}

uint64_t to_self_next_timeout(const struct engine *e)
{
	return e->to_self && e->to_self->rung ? e->now : TIME_NEVER;
}
