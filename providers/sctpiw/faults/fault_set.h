/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rules that are in force, with what their triggers count. All that happens follows from the rules, the seed, the
 * events and the times that the caller gives: the same again is the same faults again. The caller locks.
 */
#ifndef SCTPIW_FAULTS_FAULT_SET_H
#define SCTPIW_FAULTS_FAULT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faults/fault_parse.h"
#include "faults/fault_rule.h"

#define FAULT_RULES_MAX 256 /* in force at once */

/* A rule that is in force. */
struct fault_entry {
	struct fault_rule rule;
	uint32_t number;     /* from 1; never used again by another rule */
	uint64_t since;	     /* when it was added, ns */
	uint64_t seen;	     /* events that matched its site and selectors */
	uint64_t seen_bytes; /* theirs */
	uint64_t fired;	     /* how often it had its way */
	uint64_t random;     /* state of its generator */
	uint64_t span;	     /* `every TIME`: the number of the span that has fired last, plus 1 */
	uint64_t due; /* a rule of time alone: when it fires next; TIME_NEVER: not any more */
	bool bad;     /* `burst`: the bad state */
};

struct fault_set {
	struct fault_entry *entry[FAULT_RULES_MAX]; /* by ascending number */
	unsigned int n;
	uint32_t last_number;
	uint64_t seed;
	/* Of all rules that are in force: */
	uint32_t classes;			 /* enum fault_class, of what is watched */
	uint64_t actions;			 /* a bit, 1 << FAULT_DO_x, for each action */
	uint64_t sites[(FAULT_SITES + 63) / 64]; /* a bit for each site that a rule watches */
};

void fault_set_init(struct fault_set *s, uint64_t seed);
/* Removes all rules. */
void fault_set_fini(struct fault_set *s);

/* Puts a rule into force at this time, ns; its number, or 0: there are FAULT_RULES_MAX, or no memory. */
uint32_t fault_set_add(struct fault_set *s, const struct fault_rule *rule, uint64_t now);
/* False: there is no such rule. */
bool fault_set_remove(struct fault_set *s, uint32_t number);
/* The rule of that number, or NULL. */
const struct fault_entry *fault_set_find(const struct fault_set *s, uint32_t number);

/* Whether any rule watches this site, so that it is worth while to ask. */
static inline bool fault_set_watches(const struct fault_set *s, enum fault_site site)
{
	return s->sites[site / 64] >> site % 64 & 1;
}

/*
 * An event happens at a site: counts it for all rules that match, and returns the first of them that fires, with
 * *out as what to do; NULL: nothing. attrs->known says what is known of it. now: ns, never smaller than before.
 */
const struct fault_entry *fault_set_ask(struct fault_set *s, enum fault_site site,
					const struct fault_attrs *attrs, uint64_t now,
					struct fault_action *out);

/* When the next rule of time alone is due, ns; TIME_NEVER: none. */
uint64_t fault_set_due(const struct fault_set *s);
/* The next of those that are due, with *out as what to do; NULL: none. To be repeated until then. */
const struct fault_entry *fault_set_timer(struct fault_set *s, uint64_t now,
					  struct fault_action *out);

/* The next number of the rule's generator: for an injector that needs more than fault_action.random. */
uint64_t fault_random(uint64_t *state);

/*
 * What is said of a fault, as "fault 3 (line 2) fired for the 5th time, seed 1234: packets out: drop". Always with a
 * final zero.
 */
void fault_describe(const struct fault_set *s, const struct fault_entry *e, char *buf, size_t size);

#endif
