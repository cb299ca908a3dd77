/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each association has one node in the heap. Most timers are moved back again and
 * again before they expire, so moving one back or stopping it does not touch the
 * heap: a node may come up too early and is then put where it belongs.
 */
#include "sctp/internal.h"

static uint64_t earliest(const struct sctp_assoc *a)
{
	uint64_t when = TIME_NEVER;
	unsigned int i;

	for (i = 0; i < SCTP_TIMERS; i++)
		if (a->timers[i] < when)
			when = a->timers[i];
	return when;
}

void sctp_timer_set(struct sctp_assoc *a, enum sctp_timer t, uint64_t when)
{
	a->timers[t] = when;
	if (!a->timer_node.index || when < a->timer_node.when)
		timerq_set(&a->s->timers, &a->timer_node, when);
}

/* The association whose timer comes first, with its node in the right place. */
static struct sctp_assoc *first(struct sctp *s)
{
	struct timerq_node *n;

	while ((n = timerq_first(&s->timers))) {
		struct sctp_assoc *a = (struct sctp_assoc *)(void *)((char *)n -
						offsetof(struct sctp_assoc, timer_node));
		uint64_t when = earliest(a);

		if (when == n->when)
			return a;
		if (when == TIME_NEVER)
			timerq_remove(&s->timers, n);
		else
			timerq_set(&s->timers, n, when);
	}
	return NULL;
}

uint64_t sctp_next_timeout(struct sctp *s)
{
	struct sctp_assoc *a = first(s);

	return a ? a->timer_node.when : TIME_NEVER;
}

static void setup(struct sctp_assoc *a, uint64_t now)
{
	if (sctp_in_states(a, SCTP_IN(SCTP_COOKIE_WAIT) | SCTP_IN(SCTP_COOKIE_ECHOED)))
		sctp_handshake_timeout(a, now);
	else
		sctp_close_timeout(a, now);
}

static void sack(struct sctp_assoc *a, uint64_t now)
{
	a->pending |= SCTP_PEND_SACK;
	sctp_assoc_ready(a);
}

static void (*const expired[SCTP_TIMERS])(struct sctp_assoc *a, uint64_t now) = {
	[SCTP_TIMER_SETUP] = setup,
	[SCTP_TIMER_T3] = sctp_recovery_timeout,
	[SCTP_TIMER_TLP] = sctp_recovery_probe,
	[SCTP_TIMER_REORDER] = sctp_recovery_reorder,
	[SCTP_TIMER_SACK] = sack,
	[SCTP_TIMER_HEARTBEAT] = sctp_path_timeout,
	[SCTP_TIMER_WINDOW] = sctp_recovery_window,
	[SCTP_TIMER_MTU] = sctp_mtu_timeout,
	[SCTP_TIMER_PATHS] = sctp_paths_timeout,
};

void sctp_timers(struct sctp *s, uint64_t now)
{
	struct sctp_assoc *a;
	unsigned int i;

	while ((a = first(s)) && a->timer_node.when <= now) {
		for (i = 0; i < SCTP_TIMERS && a->state != SCTP_CLOSED; i++) {
			if (a->timers[i] > now)
				continue;
			a->timers[i] = TIME_NEVER;
			expired[i](a, now);
		}
	}
}
