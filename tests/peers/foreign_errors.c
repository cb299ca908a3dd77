/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The foreign end makes each error that DDP and RDMAP define, and checks the Terminate that
 * follows.
 */
#include <string.h>

#include "foreign.h"
#include "report.h"

static void bad_stag(struct peer *p)
{
	write_to(p->s, p->rkey ^ 0x5500, p->addr, background, 64);
}

static void out_of_bounds(struct peer *p)
{
	write_to(p->s, p->rkey, p->addr + MEMORY - 10, background, 11);
}

static void wrap(struct peer *p)
{
	write_to(p->s, p->rkey, UINT64_MAX - 9, background, 64);
}

static void bad_read(struct peer *p)
{
	read_from(p->s, p->rkey ^ 0x5500, p->addr, 0, 64);
}

static void read_out_of_bounds(struct peer *p)
{
	read_from(p->s, p->rkey, p->addr - 1, 0, 64);
}

static void bad_queue(struct peer *p)
{
	send_untagged(p->s, 7, 1, SEND, background, 64);
}

static void bad_opcode(struct peer *p)
{
	send_untagged(p->s, 0, 3, READ_REQUEST, background, 28);
}

static void bad_invalidate(struct peer *p)
{
	send_message(p->s, SEND_INV, p->rkey ^ 0x5500, background, 64);
}

static void invalidated_stag(struct peer *p)
{
	tell(p, TALK_EXPECT, 100, 0);
	send_message(p->s, SEND_INV, p->rkey, pattern_of(p, 100), 100);
	hear(p, TALK_EXPECT);
	write_to(p->s, p->rkey, p->addr, background, 64);
}

/* Each error with the required RDMAP Terminate (RFC 5040 4.8, 7; RFC 5041 7). */
static const struct mistake {
	const char *name;
	void (*make)(struct peer *p);
	unsigned int layer, type, code, length;
	bool has_rdmap;
} mistakes[] = {
	{ "a Write to an STag that is none", bad_stag, 1, 1, 0x00, 14 + 64, false },
	{ "a Write beyond the end", out_of_bounds, 1, 1, 0x01, 14 + 11, false },
	{ "a Write around the end of all", wrap, 1, 1, 0x03, 14 + 64, false },
	{ "a Read from an STag that is none", bad_read, 0, 1, 0x00, 18 + 28, true },
	{ "a Read before the start", read_out_of_bounds, 0, 1, 0x01, 18 + 28, true },
	{ "a queue that is none", bad_queue, 1, 2, 0x01, 18 + 64, false },
	{ "an opcode on the wrong queue", bad_opcode, 0, 2, 0x06, 18 + 28, false },
	{ "a Write to an STag that was invalidated", invalidated_stag, 1, 1, 0x00, 14 + 64, false },
	{ "an invalidation of an STag that is none", bad_invalidate, 0, 1, 0x09, 18 + 64, false },
};

static void make_mistake(const struct mistake *m, struct peer *p)
{
	const struct end *e;
	uint8_t header[18];

	m->make(p);
	memcpy(header, latest_header(), sizeof(header));
	e = await_terminate(p->s);
	say("%s: %u/%u/%02x", m->name, e->layer, e->type, e->code);
	if (e->layer != m->layer || e->type != m->type || e->code != m->code)
		fail("not %u/%u/%02x", m->layer, m->type, m->code);
	if (!e->has_ddp || e->length != m->length ||
	    memcmp(e->ddp, header, header[0] & 0x80 ? 14 : 18))
		fail("the terminated DDP header is not that of what was sent");
	if (m->has_rdmap && !e->has_rdmap)
		fail("the terminated Read Request is missing");
	await_end(p->s);
	forget(p->s);
}

void errors(void)
{
	await_association();
	for (unsigned int i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
		open_sessions();
		make_mistake(&mistakes[i], &peers[0]);
	}
	close_association();
	say("all answered");
}
