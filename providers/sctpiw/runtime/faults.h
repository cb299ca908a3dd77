/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The faults of the process (docs/faults.md): its set of rules, and injectors that perform faults.
 *
 * Locks. The set of rules has a lock of its own, and a holder of this lock takes no other lock. So
 * any thread may call faults_ask() with any other lock held. Injectors perform timed actions with
 * the shard lock, and without the set's lock.
 *
 * Cost. Until the first rule comes into force, no code of faults runs when messages are sent or
 * received. Then an injector replaces function pointers in existing tables;
 * docs/decisions/0045-faults.md lists the table for each class.
 */
#ifndef SCTPIW_RUNTIME_FAULTS_H
#define SCTPIW_RUNTIME_FAULTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "conn/transport.h"
#include "faults/fault_ask.h"
#include "faults/fault_set.h"
#include "util/list.h"

struct faults;
struct shard;

/* Performs faults of some classes. Each injector is static, and is never unregistered. */
struct fault_injector {
	struct fault_injector *next; /* link of the list of faults_register() */
	bool installed;		     /* the injector is installed; used by faults.c alone */
	/*
	 * One bit, 1 << FAULT_DO_x, for each action that the injector can perform at sites of this
	 * class. The injector calls faults_ask() for these. Two kinds of action belong to class
	 * TIMER: actions that only time triggers, and actions for which another injector has called
	 * faults_ask() for a packet or a completion.
	 */
	uint64_t does[FAULT_CLASSES];
	/*
	 * Puts the injector's functions into their tables. Called once in a process, when the first
	 * rule with the injector's classes or actions comes into force. Called again in a child of
	 * fork() that opens the device itself. The caller has the shard lock.
	 */
	void (*install)(struct fault_injector *self, struct shard *s);
	/*
	 * Performs an action of class TIMER. now is in ns. The caller has the shard lock. NULL: the
	 * injector has no actions of class TIMER.
	 */
	void (*perform)(struct fault_injector *self, struct shard *s, const struct fault_action *a,
			uint64_t now);
	/*
	 * Releases everything that the rule held back. Called when a rule is removed. rule 0: all
	 * rules were removed. The caller has the shard lock. NULL: this injector holds nothing
	 * back.
	 */
	void (*removed)(struct fault_injector *self, struct shard *s, uint32_t rule);
};

/*
 * A timer for a later action of an injector, for example for the end of a fault. The struct is
 * embedded in the injector's state, since an allocation could fail. Before its first use, all
 * fields except `fire` are zero.
 */
struct fault_timer {
	/* node of faults.timers while the timer is set; used by faults.c alone */
	struct list_node node;
	uint64_t when; /* expiry in ns; valid while the timer is set */
	void (*fire)(struct fault_timer *t, struct shard *s,
		     uint64_t now); /* the caller has the shard lock */
};

struct faults {
	struct shard *shard;  /* NULL until faults_start() */
	pthread_mutex_t lock; /* guards `set`; a holder of this lock takes no other lock */
	struct fault_set set;
	/* list of fault_timer.node, ascending by time; guarded by the shard lock */
	struct list_node timers;
	/* `transport` serves the timers of faults, too. It replaces `plain`, the original. */
	struct transport transport;
	const struct transport *plain;
	bool hooked;		   /* `transport` is in use */
	_Atomic uint32_t removals; /* result of faults_removals(); written under the shard lock */
};

/*
 * Reads the rules of the settings. *f must be zero. Returns false, and sets *err to the reason, if
 * the rules are invalid. The caller then has nothing to undo.
 */
bool faults_init(struct faults *f, const struct config *config, struct config_error *err);
/*
 * Puts the rules of the settings into force. Call this after the shard's conn was started, and
 * before any other thread uses the conn.
 */
void faults_start(struct faults *f, struct shard *s);
/*
 * Call these around fork(), with the shard lock held. The child process has no rules until it opens
 * the device itself.
 */
void faults_fork_prepare(struct faults *f);
void faults_fork_parent(struct faults *f);
void faults_forget(struct faults *f);

/*
 * Registers an injector, at any time. If rules with its classes are already in force, also installs
 * the injector. Takes the shard lock.
 */
void faults_register(struct shard *s, struct fault_injector *injector);

/*
 * Reports an event at a site. If a rule triggers, logs, traces and counts the fault, sets *out to
 * the action, and returns true. Reads the clock itself. Thread-safe. The caller may hold any lock
 * but the set's.
 */
bool faults_ask(struct faults *f, enum fault_site site, const struct fault_attrs *attrs,
		struct fault_action *out);
/* True if the rule is in force. Thread-safe. */
bool faults_has(struct faults *f, uint32_t rule);
/*
 * Returns the number of times that rules were removed. Code that holds something back without the
 * shard lock compares this number with an earlier one, to notice a removal. Thread-safe.
 */
static inline uint32_t faults_removals(const struct faults *f)
{
	return atomic_load_explicit(&f->removals, memory_order_relaxed);
}
/* True if a rule watches the site, so that its attributes must be computed. Thread-safe. */
bool faults_watch(struct faults *f, enum fault_site site);

/*
 * A limit of the device (FAULT_NAME(LIMIT)) applies while its rule is in force. faults_limit()
 * returns the lowest limit, or UINT64_MAX if no rule sets one. faults_exceed() returns true if the
 * value is larger than the limit, and then logs, traces and counts the fault. Locks as in
 * faults_ask().
 */
uint64_t faults_limit(struct faults *f, uint32_t limit);
bool faults_exceed(struct faults *f, uint32_t limit, uint64_t value);

/*
 * Sets or moves the timer. t->fire() is called at the time `when`, ns, and never before this call
 * returns. Needs the shard lock.
 */
void faults_timer_set(struct faults *f, struct fault_timer *t, uint64_t when);
void faults_timer_cancel(struct fault_timer *t);
static inline bool faults_timer_is_set(const struct fault_timer *t)
{
	return t->node.next && list_linked(&t->node);
}
/*
 * Makes the injectors perform an action on the objects that a->select selects, as if the action
 * were a timed one. Needs the shard lock.
 */
void faults_perform(struct faults *f, const struct fault_action *a, uint64_t now);

/* The result of a command that changes the rules. */
struct faults_result {
	bool ok;
	/*
	 * after add: number of the first new rule, and number of new rules; after remove: n removed
	 * rules
	 */
	uint32_t first, n;
	/* the reason if not ok; its line is 0 if the error has no place in the text */
	struct fault_error err;
};

/* Adds all rules of a text, or no rule if any of them is invalid. Takes the shard lock. */
void faults_add(struct faults *f, const char *text, struct faults_result *result);
/*
 * Removes a rule, or all rules if number is 0. Releases everything that the removed rules held
 * back. Takes the shard lock.
 */
void faults_remove(struct faults *f, uint32_t number, struct faults_result *result);

/* Describes a rule, for lists and counters. */
struct faults_info {
	uint32_t number;
	unsigned int line;
	uint64_t seen, fired;
	char text[FAULT_TEXT_MAX];
};

/*
 * Gets the rule with the lowest number greater than `above`. Returns false if there is no such
 * rule. Thread-safe.
 */
bool faults_next(struct faults *f, uint32_t above, struct faults_info *info);
uint64_t faults_seed(const struct faults *f);

#endif
