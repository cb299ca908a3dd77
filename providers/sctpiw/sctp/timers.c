/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each association has one node in the heap of timers. Most timers are moved back many times before
 * they expire. So moving a timer back, or stopping it, does not change the heap. The node of an
 * association may then become the first one too early. It is moved to its right place only at that
 * time.
 */
#include "sctp/timers.h"

#include "sctp/assoc.h"
#include "sctp/mtu.h"
#include "sctp/trace.h"

static uint64_t earliest(const struct sctp_assoc *a)
{
	uint64_t when = TIME_NEVER;
	unsigned int i;

	for (i = 0; i < SCTP_TIMERS; i++)
		if (a->timers.at[i] < when)
			when = a->timers.at[i];
	return when;
}

void sctp_timer_set(struct sctp_assoc *a, enum sctp_timer t, uint64_t when)
{
	a->timers.at[t] = when;
	if (!a->timers.node.index || when < a->timers.node.when)
		timerq_set(&a->s->timers, &a->timers.node, when);
}

void sctp_timer_stop_all(struct sctp_assoc *a)
{
	unsigned int i;

	for (i = 0; i < SCTP_TIMERS; i++)
		sctp_timer_stop(a, i);
}

/* Returns the association with the earliest timer, after correcting its node's time; or NULL. */
static struct sctp_assoc *first(struct sctp *s)
{
	struct timerq_node *n;

	while ((n = timerq_first(&s->timers))) {
		struct sctp_assoc *a = list_entry(n, struct sctp_assoc, timers.node);
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

uint64_t sctp_next_timeout(const struct sctp *s)
{
	const struct timerq_node *n = timerq_first(&s->timers);

	return n ? n->when : TIME_NEVER;
}

static void setup(struct sctp_assoc *a, uint64_t now)
{
	if (sctp_in_states(a, SCTP_STATES_SETUP))
		sctp_handshake_timeout(a, now);
	else
		sctp_close_timeout(a, now);
}

static void sack(struct sctp_assoc *a, uint64_t now)
{
	a->pending |= SCTP_PEND_SACK;
	sctp_assoc_ready(a);
}

/* The handlers of the timers. Each of them may end the association. */
static void (*const expired[SCTP_TIMERS])(struct sctp_assoc *a, uint64_t now) = {
	[SCTP_TIMER_SETUP] = setup,
	[SCTP_TIMER_T3] = sctp_recovery_timeout,
	[SCTP_TIMER_TLP] = sctp_recovery_probe,
	[SCTP_TIMER_REORDER] = sctp_recovery_reorder,
	[SCTP_TIMER_SACK] = sack,
	[SCTP_TIMER_HEARTBEAT] = sctp_path_timeout,
	[SCTP_TIMER_WINDOW] = sctp_window_timeout,
	[SCTP_TIMER_MTU] = sctp_mtu_timeout,
	[SCTP_TIMER_PATHS] = sctp_paths_timeout,
	[SCTP_TIMER_RECEIPTS] = sctp_receipts_timeout,
	[SCTP_TIMER_ASCONF] = sctp_asconf_timeout,
};

void sctp_timers(struct sctp *s, uint64_t now)
{
	struct sctp_assoc *a;
	unsigned int i;

	while ((a = first(s)) && a->timers.node.when <= now) {
		for (i = 0; i < SCTP_TIMERS && a->state != SCTP_CLOSED; i++) {
			if (a->timers.at[i] > now)
				continue;
			a->timers.at[i] = TIME_NEVER;
			sctp_trace_expired(a, i, now);
			expired[i](a, now);
		}
	}
}
