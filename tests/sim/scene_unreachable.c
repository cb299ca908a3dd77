/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ICMP errors about unreachable peers: true, false, or outdated. */
#include <errno.h>

#include "sim/scene.h"
#include "util/bytes.h"
#include "wire/sctp_packet.h"

#define INIT_QUOTED 20 /* bytes of a packet up to the Initiate Tag of its INIT */

/* Makes some works whose ids connect from the first node to the second, at once. */
static void more_works(struct stack_world *w)
{
	for (unsigned int n = 1 + below(w, 6); n; n--) {
		struct stack_work *work = stack_work_new(w->nodes[0], w->nodes[1]);

		work->side[0].link.at = w->now;
		stack_plan(work, w->limit_ops);
	}
}

static void begin(struct stack_world *w)
{
	scene_two_nodes(w);
	w->limit_ops = 5;
	scene_start(w);
	more_works(w);
}

/* Checks that all works connected at the first attempt, and finishes them. */
static void finish(struct stack_world *w)
{
	scene_connected(w);
	for (unsigned int i = 0; i < w->n_works; i++)
		check(!w->works[i]->attempt);
	scene_finish(w, 120 * SEC);
	w->seen++;
}

static bool have_failed(struct stack_world *w)
{
	for (unsigned int i = 0; i < w->n_works; i++)
		if (!w->works[i]->side[0].link.failure)
			return false;
	return true;
}

/* The port is closed, or no route exists: ids soon get the same error as TCP. Later ids connect. */
static void is_true(struct stack_world *w)
{
	bool cut = chance(w, 0.5);

	begin(w);
	scene_all_may_end(w);
	simnet_set_state(w->net, w->nodes[1]->id, cut ? SIMNET_CUT : SIMNET_GONE);
	stack_run(w, SEC, have_failed);
	for (unsigned int i = 0; i < w->n_works; i++) {
		const struct stack_link *l = &w->works[i]->side[0].link;

		check(l->failure == (cut ? CM_EVENT_CONNECT_ERROR : CM_EVENT_REJECTED));
		check(l->status == (cut ? -EHOSTUNREACH : -ECONNREFUSED));
	}
	stack_run_for(w, some_ms(w, 0, 2000));
	simnet_set_state(w->net, w->nodes[1]->id, SIMNET_UP);
	more_works(w);
	scene_finish(w, 120 * SEC);
	w->seen++;
}

/* Forges errors for the first INIT of each tag, immediately or later, in any number. */
static size_t lie(struct stack_world *w, struct stack_node *from, uint8_t *packet, size_t len)
{
	const struct stack_node *to = w->nodes[!from->number];
	const struct path_addr path = { .local = from->addr,
					.remote = to->addr,
					.udp_port = STACK_UDP_PORT };
	static const int errors[] = { -ECONNREFUSED, -EHOSTUNREACH, -ENETUNREACH, -EACCES };
	uint64_t when = w->now + some_ms(w, 0, 30);
	uint32_t *last = w->filter_ctx, tag;

	if (packet[WIRE_SCTP_COMMON_LEN] != WIRE_SCTP_INIT)
		return len;
	tag = get_be32(packet + INIT_QUOTED - 4);
	if (tag == last[from->number])
		return len;
	last[from->number] = tag;
	for (unsigned int n = below(w, 10); n; n--)
		simnet_forge(w->net, from->id, &path, errors[below(w, 4)], packet, INIT_QUOTED,
			     when);
	return len;
}

static void is_forged(struct stack_world *w)
{
	uint32_t last[2] = { 0 };

	w->filter = lie;
	w->filter_ctx = last;
	begin(w);
	finish(w);
	w->filter = NULL;
}

/* The peer's process starts after the first packet, and before the second. */
static void is_over(struct stack_world *w)
{
	begin(w);
	simnet_set_state(w->net, w->nodes[1]->id, SIMNET_GONE);
	stack_run_for(w,
		      w->link[0].delay + MSEC + below(w, (uint32_t)(w->link[1].delay + 8 * MSEC)));
	simnet_set_state(w->net, w->nodes[1]->id, SIMNET_UP);
	finish(w);
}

const struct scene scenes_unreachable[] = {
	{ "unreachable", is_true, 40, .small = true },
	{ "unreachable-forged", is_forged, 40, .small = true },
	{ "unreachable-over", is_over, 40, .small = true },
	{ 0 },
};
