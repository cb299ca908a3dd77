/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rules in force, and the counts of their triggers. Faults depend only on the rules, the seed,
 * and the caller's events and times: the same input gives the same faults. The caller locks.
 */
#ifndef SCTPIW_FAULTS_FAULT_SET_H
#define SCTPIW_FAULTS_FAULT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faults/fault_parse.h"
#include "faults/fault_rule.h"

#define FAULT_RULES_MAX 256 /* maximum of rules in force */

/* A rule in force. */
struct fault_entry {
	struct fault_rule rule;
	uint32_t number;     /* from 1; never reused */
	uint64_t since;	     /* when it was added, ns */
	uint64_t seen;	     /* events that matched the rule's site and selectors */
	uint64_t seen_bytes; /* bytes of these events */
	uint64_t fired;	     /* number of times that the rule fired */
	uint64_t random;     /* state of the rule's generator */
	uint64_t span;	     /* `every TIME`: interval of the last firing, from 1; 0: none */
	uint64_t due;	     /* rule without a site: next time to fire; TIME_NEVER: none */
	bool bad;	     /* `burst`: in the bad state */
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
 * Adds a rule at time now, ns. Returns its number, or 0 if there are FAULT_RULES_MAX, or no memory.
 */
uint32_t fault_set_add(struct fault_set *s, const struct fault_rule *rule, uint64_t now);
/* Removes a rule. Returns false if there is no rule with that number. */
bool fault_set_remove(struct fault_set *s, uint32_t number);
/* Returns the rule with that number, or NULL. */
const struct fault_entry *fault_set_find(const struct fault_set *s, uint32_t number);

/* True if a rule watches this site, so that fault_set_ask() is worthwhile. */
static inline bool fault_set_watches(const struct fault_set *s, enum fault_site site)
{
	return s->sites[site / 64] >> site % 64 & 1;
}

/*
 * Handles an event at a site: counts it for all matching rules. Returns the first rule that fires,
 * and sets *out to its action; or returns NULL. attrs->known: the known attributes. now: ns, never
 * decreases.
 */
const struct fault_entry *fault_set_ask(struct fault_set *s, enum fault_site site,
					const struct fault_attrs *attrs, uint64_t now,
					struct fault_action *out);

/* Returns when the next rule without a site is due, ns; or TIME_NEVER. */
uint64_t fault_set_due(const struct fault_set *s);
/*
 * Returns a due rule without a site, and sets *out to its action; or returns NULL. Repeat until
 * NULL.
 */
const struct fault_entry *fault_set_timer(struct fault_set *s, uint64_t now,
					  struct fault_action *out);

/* Returns the next number of the rule's generator, if fault_action.random is not enough. */
uint64_t fault_random(uint64_t *state);

/*
 * Writes a text about a fault, with a final zero, such as "fault 3 (line 2) fired for the 5th time,
 * seed 1234: packets out: drop".
 */
void fault_describe(const struct fault_set *s, const struct fault_entry *e, char *buf, size_t size);

#endif
