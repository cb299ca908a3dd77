/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The faults of the process (docs/faults.md): its set of rules, and the injectors that perform
 * them.
 *
 * Locks. The set has its own lock, a leaf: any thread may call faults_ask() with any lock held.
 * Injectors perform timed actions with the shard lock, and without the set's lock.
 *
 * Cost. Before the first rule is in force, no path has any extra code. An injector then replaces
 * function pointers of existing tables; docs/decisions/0045-faults.md lists the table for each
 * class.
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
	struct fault_injector *next; /* for faults_register() */
	bool installed;		     /* for faults.c */
	/*
	 * A bit, 1 << FAULT_DO_x, for each action of the injector at sites of this class, for which
	 * it calls faults_ask(). Class TIMER has the actions that time alone triggers. It also has
	 * those that an injector hands on after it called faults_ask() for a packet or a
	 * completion.
	 */
	uint64_t does[FAULT_CLASSES];
	/*
	 * Puts the injector's functions in their tables. Called once in a process, when the first
	 * rule of its classes or actions comes into force. Called again in the child of a fork()
	 * that opens the device anew. The caller has the shard lock.
	 */
	void (*install)(struct fault_injector *self, struct shard *s);
	/*
	 * Performs an action of class TIMER. now is in ns. The caller has the shard lock. NULL: no
	 * such actions.
	 */
	void (*perform)(struct fault_injector *self, struct shard *s, const struct fault_action *a,
			uint64_t now);
	/*
	 * Called when a rule is removed; 0: all rules. Releases everything that the rule held back.
	 * The caller has the shard lock. NULL: this injector holds nothing back.
	 */
	void (*removed)(struct fault_injector *self, struct shard *s, uint32_t rule);
};

/*
 * A later action of an injector, such as the end of an action. It is embedded in the injector's
 * state, so that it needs no allocation, which could fail. It is zero but for `fire` before its
 * first use.
 */
struct fault_timer {
	struct list_node node; /* of faults.timers while it is set; for faults.c */
	uint64_t when;	       /* ns; valid while it is set */
	void (*fire)(struct fault_timer *t, struct shard *s,
		     uint64_t now); /* the caller has the shard lock */
};

struct faults {
	struct shard *shard;  /* NULL before faults_start() */
	pthread_mutex_t lock; /* guards set; a leaf */
	struct fault_set set;
	struct list_node timers; /* fault_timer.node, in ascending order of time; shard lock */
	/* The shard's transport with the timers of faults, and the original. */
	struct transport transport;
	const struct transport *plain;
	bool hooked;		   /* the transport is replaced */
	_Atomic uint32_t removals; /* faults_removals(); written under the shard lock */
};

/*
 * Reads the rules of the settings. *f must be zero. Returns false, with the reason in *err and
 * nothing to undo, if they are invalid.
 */
bool faults_init(struct faults *f, const struct config *config, struct config_error *err);
/*
 * Puts the rules into force. Call this after the start of the shard's conn, before any other thread
 * uses it.
 */
void faults_start(struct faults *f, struct shard *s);
/*
 * Call these around fork(), with the shard lock held. The child has no rules until it opens the
 * device itself.
 */
void faults_fork_prepare(struct faults *f);
void faults_fork_parent(struct faults *f);
void faults_forget(struct faults *f);

/*
 * Registers an injector, at any time. If rules of its classes are in force already, it is installed
 * at once. Takes the shard lock.
 */
void faults_register(struct shard *s, struct fault_injector *injector);

/*
 * Reports an event at a site. Returns true, with the action in *out, if a rule triggers; the fault
 * was then logged, traced and counted. Thread-safe; the caller may hold any lock but the set's.
 * Reads the clock itself.
 */
bool faults_ask(struct faults *f, enum fault_site site, const struct fault_attrs *attrs,
		struct fault_action *out);
/* True if the rule is in force. Thread-safe. */
bool faults_has(struct faults *f, uint32_t rule);
/*
 * Returns the number of removals of rules. Code that holds something back without the shard lock
 * compares this number. Thread-safe.
 */
static inline uint32_t faults_removals(const struct faults *f)
{
	return atomic_load_explicit(&f->removals, memory_order_relaxed);
}
/* True if a rule watches the site, for injectors with expensive attributes. Thread-safe. */
bool faults_watch(struct faults *f, enum fault_site site);

/*
 * Limits of the device (FAULT_NAME(LIMIT)) apply while their rules are in force. faults_limit()
 * returns the lowest limit, or UINT64_MAX without a rule. faults_exceed() returns true if the value
 * is larger; the fault was then logged, traced and counted. Locks as in faults_ask().
 */
uint64_t faults_limit(struct faults *f, uint32_t limit);
bool faults_exceed(struct faults *f, uint32_t limit, uint64_t value);

/*
 * Sets or moves the timer: t->fire() is called at that time, ns, and never during this call. Needs
 * the shard lock.
 */
void faults_timer_set(struct faults *f, struct fault_timer *t, uint64_t when);
void faults_timer_cancel(struct fault_timer *t);
static inline bool faults_timer_is_set(const struct fault_timer *t)
{
	return t->node.next && list_linked(&t->node);
}
/*
 * Makes the injectors perform an action on a->select, as if time alone had triggered it. Needs the
 * shard lock.
 */
void faults_perform(struct faults *f, const struct fault_action *a, uint64_t now);

/* The result of a command. */
struct faults_result {
	bool ok;
	uint32_t first, n;	/* add: number of the first rule, and number of rules; remove: n */
	struct fault_error err; /* the reason if not ok; line 0: it has no place in the text */
};

/* Adds all rules of a text, or none. Takes the shard lock. */
void faults_add(struct faults *f, const char *text, struct faults_result *result);
/*
 * Removes a rule, or all if number is 0, and releases everything that was held back. Takes the
 * shard lock.
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
 * Gets the rule with the lowest number above that one. Returns false if there is none. Thread-safe.
 */
bool faults_next(struct faults *f, uint32_t above, struct faults_info *info);
uint64_t faults_seed(const struct faults *f);

#endif
