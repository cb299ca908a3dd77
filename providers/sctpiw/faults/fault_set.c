/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "faults/fault_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/time.h"

#define GOLDEN 0x9e3779b97f4a7c15u /* constant of splitmix64: 2^64 divided by the golden ratio */

/* ---- random numbers ---- */

/*
 * The generator is splitmix64 by Steele, Lea and Flood. Its state is small, and each seed gives
 * another sequence.
 */
uint64_t fault_random(uint64_t *state)
{
	uint64_t z = *state += GOLDEN;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Returns true with this probability, which is in units of 2^-32. */
static bool dice(struct fault_entry *e, uint64_t probability)
{
	return fault_random(&e->random) >> 32 < probability;
}

/* Advances the Gilbert-Elliott model by one event. True if the event has the fault. */
static bool burst(struct fault_entry *e)
{
	const struct fault_trigger *when = &e->rule.when;

	e->bad ^= dice(e, e->bad ? when->burst_leave : when->burst_enter);
	return e->bad && dice(e, when->burst_loss);
}

/* ---- the set ---- */

void fault_set_init(struct fault_set *s, uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->seed = seed;
}

static void watch(struct fault_set *s, enum fault_site site)
{
	s->sites[site / 64] |= 1ull << site % 64;
}

/* Recomputes s->classes, s->sites and s->actions from all rules. */
static void summarize(struct fault_set *s)
{
	s->classes = 0;
	s->actions = 0;
	memset(s->sites, 0, sizeof(s->sites));
	for (unsigned int i = 0; i < s->n; i++) {
		const struct fault_rule *r = &s->entry[i]->rule;
		const struct fault_site_info *site = &fault_sites[r->site];

		s->classes |= site->class;
		s->actions |= 1ull << r->action.id;
		watch(s, r->site);
		for (unsigned int other = 1; other < FAULT_SITES && site->any; other++) {
			if (fault_sites[other].class & site->class)
				watch(s, (enum fault_site)other);
		}
	}
}

void fault_set_fini(struct fault_set *s)
{
	for (unsigned int i = 0; i < s->n; i++)
		free(s->entry[i]);
	s->n = 0;
	summarize(s);
}

uint32_t fault_set_add(struct fault_set *s, const struct fault_rule *rule, uint64_t now)
{
	struct fault_entry *e;

	if (s->n == FAULT_RULES_MAX || s->last_number == UINT32_MAX)
		return 0;
	e = calloc(1, sizeof(*e));
	if (!e)
		return 0;
	e->rule = *rule;
	e->number = ++s->last_number;
	e->since = now;
	e->random = s->seed;
	e->random = fault_random(&e->random) ^ e->number;
	e->due = TIME_NEVER;
	if (!rule->site)
		e->due = now + rule->when.after_time + rule->when.every_time;
	s->entry[s->n++] = e;
	summarize(s);
	return e->number;
}

static unsigned int index_of(const struct fault_set *s, uint32_t number)
{
	unsigned int i = 0;

	while (i < s->n && s->entry[i]->number != number)
		i++;
	return i;
}

const struct fault_entry *fault_set_find(const struct fault_set *s, uint32_t number)
{
	unsigned int i = index_of(s, number);

	return i < s->n ? s->entry[i] : NULL;
}

bool fault_set_remove(struct fault_set *s, uint32_t number)
{
	unsigned int i = index_of(s, number);

	if (i == s->n)
		return false;
	free(s->entry[i]);
	s->n--;
	memmove(&s->entry[i], &s->entry[i + 1], (s->n - i) * sizeof(s->entry[0]));
	summarize(s);
	return true;
}

/* ---- matching ---- */

static bool same_object(const struct fault_object *rule, const struct fault_object *event)
{
	return rule->nth ? rule->nth == event->nth : rule->number == event->number;
}

/* Compares addresses without their scopes, since rules have none. */
static bool same_address(const struct ip_addr *a, const struct ip_addr *b)
{
	return !memcmp(a->b, b->b, sizeof(a->b));
}

static bool selects(const struct fault_attrs *rule, const struct fault_attrs *event,
		    enum fault_selector which)
{
	switch (which) {
	case FAULT_SELECT_qp:
		return same_object(&rule->qp, &event->qp);
	case FAULT_SELECT_cq:
		return same_object(&rule->cq, &event->cq);
	case FAULT_SELECT_srq:
		return same_object(&rule->srq, &event->srq);
	case FAULT_SELECT_mr:
		return rule->mr == event->mr;
	case FAULT_SELECT_id:
		return rule->id == event->id;
	case FAULT_SELECT_port:
		return rule->port == event->port;
	case FAULT_SELECT_peer_port:
		return rule->peer_port == event->peer_port;
	case FAULT_SELECT_peer:
		return fault_attrs_has_peer(event, &rule->peer);
	case FAULT_SELECT_path:
		return same_address(&rule->path, &event->path) ||
		       same_address(&rule->path, &event->path_remote);
	case FAULT_SELECT_direction:
		return rule->direction == event->direction;
	case FAULT_SELECT_chunk:
		return rule->chunk & event->chunk;
	case FAULT_SELECT_opcode:
		return rule->opcode == event->opcode;
	case FAULT_SELECT_from:
		return rule->from == event->from;
	default:
		return rule->to == event->to;
	}
}

static bool matches(const struct fault_rule *r, enum fault_site site,
		    const struct fault_attrs *attrs)
{
	const struct fault_site_info *watched = &fault_sites[r->site];

	/* Do not count packets within the limit of `limit size`. */
	if (r->action.id == FAULT_DO_limit_size &&
	    attrs->bytes <= r->action.arg[fault_limit_size_size])
		return false;
	/* Do not count completions that cannot have the status of `complete`. */
	if (r->action.id == FAULT_DO_complete &&
	    !fault_status_fits((uint32_t)r->action.arg[fault_complete_status], site))
		return false;
	if (r->site != site && !(watched->any && watched->class & fault_sites[site].class))
		return false;
	if (r->select.known & ~attrs->known)
		return false;
	for (uint32_t i = 0; i < FAULT_SELECTORS; i++) {
		if (r->select.known >> i & 1 && !selects(&r->select, attrs, (enum fault_selector)i))
			return false;
	}
	return true;
}

/* ---- triggers ---- */

/* True if the triggers that count events or bytes select this event. */
static bool is_counted(const struct fault_entry *e)
{
	const struct fault_trigger *when = &e->rule.when;

	if (when->nth && e->seen != when->nth)
		return false;
	if (e->seen <= when->after_count || e->seen_bytes < when->after_bytes)
		return false;
	return !when->every_count || (e->seen - when->after_count) % when->every_count == 0;
}

/*
 * Returns the number of the interval of `every TIME` that contains t. The first interval is 1. t:
 * ns since the rule was added.
 */
static uint64_t span_at(const struct fault_entry *e, uint64_t t)
{
	return t / e->rule.when.every_time + 1;
}

static bool is_in_time(const struct fault_entry *e, uint64_t t)
{
	const struct fault_trigger *when = &e->rule.when;

	if (t < when->after_time)
		return false;
	if (when->between_to && (t < when->between_from || t >= when->between_to))
		return false;
	if (when->every_for)
		return t % when->every_time >= when->every_time - when->every_for;
	return !when->every_time || e->span != span_at(e, t);
}

/* Counts a matching event. True if the rule's triggers select the event. */
static bool is_struck(struct fault_entry *e, const struct fault_attrs *attrs, uint64_t now)
{
	const struct fault_trigger *when = &e->rule.when;
	bool struck;

	e->seen++;
	struck = is_counted(e) && is_in_time(e, now - e->since);
	e->seen_bytes += attrs->bytes;
	if (struck && when->has_probability)
		struck = dice(e, when->probability);
	if (struck && when->has_burst)
		struck = burst(e);
	return struck && (!when->at_most || e->fired < when->at_most);
}

/*
 * Fires the rule. out->random does not advance e->random. Otherwise, the next dice() of this rule
 * would depend on whether another rule fired first for this event.
 */
static void strike(struct fault_entry *e, uint64_t now, struct fault_action *out)
{
	uint64_t state = e->random ^ e->seen << 32;

	e->fired++;
	if (e->rule.when.every_time)
		e->span = span_at(e, now - e->since);
	*out = e->rule.action;
	out->rule = e->number;
	out->random = fault_random(&state);
	out->select = e->rule.select;
}

const struct fault_entry *fault_set_ask(struct fault_set *s, enum fault_site site,
					const struct fault_attrs *attrs, uint64_t now,
					struct fault_action *out)
{
	struct fault_entry *first = NULL;

	if (!fault_set_watches(s, site))
		return NULL;
	for (unsigned int i = 0; i < s->n; i++) {
		struct fault_entry *e = s->entry[i];

		if (matches(&e->rule, site, attrs) && is_struck(e, attrs, now) && !first)
			first = e;
	}
	if (first)
		strike(first, now, out);
	return first;
}

/* ---- rules without a site ---- */

uint64_t fault_set_due(const struct fault_set *s)
{
	uint64_t due = TIME_NEVER;

	for (unsigned int i = 0; i < s->n; i++) {
		if (s->entry[i]->due < due)
			due = s->entry[i]->due;
	}
	return due;
}

static void set_next(struct fault_entry *e, uint64_t now)
{
	uint64_t every = e->rule.when.every_time;

	if (!every)
		e->due = TIME_NEVER;
	else
		e->due += ((now - e->due) / every + 1) * every;
}

const struct fault_entry *fault_set_timer(struct fault_set *s, uint64_t now,
					  struct fault_action *out)
{
	for (unsigned int i = 0; i < s->n; i++) {
		struct fault_entry *e = s->entry[i];
		const struct fault_trigger *when = &e->rule.when;

		while (e->due <= now) {
			e->seen++;
			set_next(e, now);
			if (when->has_probability && !dice(e, when->probability))
				continue;
			if (when->at_most && e->fired + 1 >= when->at_most)
				e->due = TIME_NEVER;
			strike(e, now, out);
			return e;
		}
	}
	return NULL;
}

/* ---- text ---- */

static const char *ordinal(uint64_t n)
{
	if (n % 100 >= 11 && n % 100 <= 13)
		return "th";
	return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

void fault_describe(const struct fault_set *s, const struct fault_entry *e, char *buf, size_t size)
{
	snprintf(buf, size, "fault %u (line %u) fired for the %llu%s time, seed %llu: %s",
		 e->number, e->rule.line, (unsigned long long)e->fired, ordinal(e->fired),
		 (unsigned long long)s->seed, e->rule.text);
}
