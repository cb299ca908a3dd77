/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The faults of the process (docs/faults.md): its set of rules, who asks it, and who does what it says.
 *
 * Locks. The set has a lock of its own, which is a leaf: faults_ask() may be called by any thread with any lock held.
 * Timed actions are performed by injectors with the shard lock held and the set's lock not.
 *
 * Cost. Nothing of it is on any path before the first rule is in force. An injector then replaces function pointers
 * of a table that is there anyway; docs/decisions/0045-faults.md says which one serves which class.
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

/*
 * Who makes faults of some classes happen. One is static, and is never taken away.
 */
struct fault_injector {
	struct fault_injector *next; /* faults_register()'s */
	bool installed;		     /* faults.c's */
	/*
	 * A bit, 1 << FAULT_DO_x, for each action that it does: at sites of this class, at which it asks; of class TIMER
	 * when time alone fires it, or when the injector that has asked at a packet or a completion hands it on.
	 */
	uint64_t does[FAULT_CLASSES];
	/*
	 * Puts its functions in their tables. Called once in a process, when the first rule of its classes or actions
	 * comes into force; in the child of a fork() that opens the device anew once more. Shard lock.
	 */
	void (*install)(struct fault_injector *self, struct shard *s);
	/* Does what a rule of time alone says. now: ns. Shard lock. NULL: it has no such actions. */
	void (*perform)(struct fault_injector *self, struct shard *s, const struct fault_action *a,
			uint64_t now);
	/* A rule is not in force any more; 0: none is. What it holds back is let go. Shard lock. NULL: nothing is. */
	void (*removed)(struct fault_injector *self, struct shard *s, uint32_t rule);
};

/*
 * Something that an injector does later, such as the end of what it has begun. Embedded in the injector's state; zero
 * but for `fire` before it is set for the first time. It takes no memory, so that there is none to be short of in the
 * midst of what others do.
 */
struct fault_timer {
	struct list_node node; /* of faults.timers while it is set; faults.c's */
	uint64_t when;	       /* ns; valid while it is set */
	void (*fire)(struct fault_timer *t, struct shard *s, uint64_t now); /* shard lock */
};

struct faults {
	struct shard *shard;  /* NULL before faults_start() */
	pthread_mutex_t lock; /* of set; a leaf */
	struct fault_set set;
	struct list_node timers; /* fault_timer.node, by ascending time; shard lock */
	/* The shard's transport with our timers in it, and what it was. */
	struct transport transport;
	const struct transport *plain;
	bool hooked;		   /* the transport is replaced */
	_Atomic uint32_t removals; /* faults_removals(); written under the shard lock */
};

/*
 * Reads the rules of the settings. *f is zero. false: err says what is wrong with them, and there is nothing to undo.
 */
bool faults_init(struct faults *f, const struct config *config, struct config_error *err);
/* Puts them into force, once the shard's conn is started, and before any other thread knows of it. */
void faults_start(struct faults *f, struct shard *s);
/*
 * Around fork(), with the shard lock held: the child has no rules until it opens the device itself.
 */
void faults_fork_prepare(struct faults *f);
void faults_fork_parent(struct faults *f);
void faults_forget(struct faults *f);

/*
 * Makes an injector known. It may be called at any time, as by verbs/ when a device is opened for the first time; if
 * rules of its classes are in force already, it is installed at once. Takes the shard lock.
 */
void faults_register(struct shard *s, struct fault_injector *injector);

/*
 * An event happens at a site. True: *out is what is to be done, and it was logged, traced and counted. False:
 * nothing. Any thread, any lock but the set's; it reads the clock itself.
 */
bool faults_ask(struct faults *f, enum fault_site site, const struct fault_attrs *attrs,
		struct fault_action *out);
/* Whether the rule is in force. Any thread. */
bool faults_has(struct faults *f, uint32_t rule);
/*
 * How often rules have been removed: for who holds something back and has no lock of the injector's `removed`. Any
 * thread.
 */
static inline uint32_t faults_removals(const struct faults *f)
{
	return atomic_load_explicit(&f->removals, memory_order_relaxed);
}
/* Whether any rule watches the site: for an injector whose attributes are dear to find. Any thread. */
bool faults_watch(struct faults *f, enum fault_site site);

/*
 * Limits of the device (FAULT_NAME(LIMIT)) hold as long as their rules are in force. What rules say of one, or
 * UINT64_MAX; and whether so much is beyond it: then it was logged, traced and counted. As faults_ask().
 */
uint64_t faults_limit(struct faults *f, uint32_t limit);
bool faults_exceed(struct faults *f, uint32_t limit, uint64_t value);

/* Has t->fire() called at that time, ns, or moves it there; never in this call. Shard lock. */
void faults_timer_set(struct faults *f, struct fault_timer *t, uint64_t when);
void faults_timer_cancel(struct fault_timer *t);
static inline bool faults_timer_is_set(const struct fault_timer *t)
{
	return t->node.next && list_linked(&t->node);
}
/* Has the injectors do what an action says, as if time alone had fired it on a->select. Shard lock. */
void faults_perform(struct faults *f, const struct fault_action *a, uint64_t now);

/* What became of a command. */
struct faults_result {
	bool ok;
	uint32_t first, n;	/* add: number of the first rule, and how many; remove: n */
	struct fault_error err; /* not ok: why; line 0: it is not about a place in the text */
};

/* Adds all rules of a text, or none. Takes the shard lock. */
void faults_add(struct faults *f, const char *text, struct faults_result *result);
/* Removes one rule; number 0: all. What they hold back is let go. Takes the shard lock. */
void faults_remove(struct faults *f, uint32_t number, struct faults_result *result);

/* What there is to say of a rule, for lists and counters. */
struct faults_info {
	uint32_t number;
	unsigned int line;
	uint64_t seen, fired;
	char text[FAULT_TEXT_MAX];
};

/* The rule with the lowest number above that one; false: none. Any thread. */
bool faults_next(struct faults *f, uint32_t above, struct faults_info *info);
/* The seed of the process's faults. */
uint64_t faults_seed(const struct faults *f);

#endif
