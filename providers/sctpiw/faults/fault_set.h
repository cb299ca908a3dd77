/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rules in force, and the counters for their triggers. Faults depend only on the rules, the
 * seed, and the events and times that the caller passes, so that they can be reproduced. The caller
 * must hold a lock.
 */
#ifndef SCTPIW_FAULTS_FAULT_SET_H
#define SCTPIW_FAULTS_FAULT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faults/fault_parse.h"
#include "faults/fault_rule.h"

#define FAULT_RULES_MAX 256 /* maximum number of rules in force */

/* A rule in force. */
struct fault_entry {
	struct fault_rule rule;
	uint32_t number;     /* from 1; never reused */
	uint64_t since;	     /* ns; time at which the rule was added */
	uint64_t seen;	     /* number of events that matched the site and selectors */
	uint64_t seen_bytes; /* bytes of these events */
	uint64_t fired;	     /* number of times that the rule fired */
	uint64_t random;     /* state of the rule's generator */
	uint64_t span;	     /* for `every TIME`: span_at() of the last firing; 0: none */
	uint64_t due;	     /* for a rule without a site: ns, next time to fire, or TIME_NEVER */
	bool bad;	     /* for `burst`: the model is in the bad state */
};

struct fault_set {
	struct fault_entry *entry[FAULT_RULES_MAX]; /* sorted by number */
	unsigned int n;
	uint32_t last_number;
	uint64_t seed;
	/* Summary of all rules in force: */
	uint32_t classes;			 /* enum fault_class of the watched sites */
	uint64_t actions;			 /* bit 1 << FAULT_DO_x for each action */
	uint64_t sites[(FAULT_SITES + 63) / 64]; /* a bit for each watched site */
};

void fault_set_init(struct fault_set *s, uint64_t seed);
void fault_set_fini(struct fault_set *s);

/*
 * Adds a rule at the time now, in ns. Returns its number, or 0 if there are already FAULT_RULES_MAX
 * rules, or if memory runs out.
 */
uint32_t fault_set_add(struct fault_set *s, const struct fault_rule *rule, uint64_t now);
/* Removes a rule. Returns false if no rule has this number. */
bool fault_set_remove(struct fault_set *s, uint32_t number);
/* Returns the rule with this number, or NULL. */
const struct fault_entry *fault_set_find(const struct fault_set *s, uint32_t number);

/* True if a rule watches this site. If not, fault_set_ask() would return NULL. */
static inline bool fault_set_watches(const struct fault_set *s, enum fault_site site)
{
	return s->sites[site / 64] >> site % 64 & 1;
}

/*
 * Handles an event at a site. Counts the event for all matching rules. Returns the first rule that
 * fires, and sets *out to its action. Returns NULL if no rule fires. now: time in ns, which must
 * not decrease from call to call.
 */
const struct fault_entry *fault_set_ask(struct fault_set *s, enum fault_site site,
					const struct fault_attrs *attrs, uint64_t now,
					struct fault_action *out);

/* Returns the time in ns at which the next rule without a site is due, or TIME_NEVER. */
uint64_t fault_set_due(const struct fault_set *s);
/*
 * Returns a rule without a site that fires now, and sets *out to its action. Returns NULL if there
 * is none. Call this again until it returns NULL.
 */
const struct fault_entry *fault_set_timer(struct fault_set *s, uint64_t now,
					  struct fault_action *out);

/*
 * Returns the next random number of a generator with this state. An injector that needs several
 * numbers uses fault_action.random as the first state.
 */
uint64_t fault_random(uint64_t *state);

/*
 * Writes a text about a rule that fired, such as "fault 3 (line 2) fired for the 5th time, seed
 * 1234: packets out: drop".
 */
void fault_describe(const struct fault_set *s, const struct fault_entry *e, char *buf, size_t size);

#endif
