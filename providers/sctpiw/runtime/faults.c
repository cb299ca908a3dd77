/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "runtime/faults.h"

#include <stdio.h>
#include <string.h>

#include "config/config_faults.h"
#include "log/log.h"
#include "runtime/faults_cm.h"
#include "runtime/faults_placement.h"
#include "runtime/faults_port.h"
#include "runtime/faults_qp.h"
#include "runtime/rnic.h"
#include "runtime/shard.h"
#include "sys/sys.h"
#include "util/list.h"
#include "util/time.h"
#include "util/trace.h"

#define SEED_MAX 999999999u /* maximum random seed: the user should be able to type it easily */
#define LINE_MAX 400

/* All registered injectors. No injector is ever removed. Guarded by the shard lock. */
static struct fault_injector *injectors;

static struct faults *faults_of(const struct conn *c)
{
	return &list_entry(c, struct shard, conn)->rnic->faults;
}

/* ---- messages about faults ---- */

struct note {
	uint32_t rule;
	uint64_t fired, seen, seed;
	char line[LINE_MAX];
	char text[FAULT_TEXT_MAX];
};

/* Copies everything that publish() needs from f and e. Needs the set's lock. */
static void take_note(const struct faults *f, const struct fault_entry *e, struct note *note)
{
	note->rule = e->number;
	note->fired = e->fired;
	note->seen = e->seen;
	note->seed = f->set.seed;
	memcpy(note->text, e->rule.text, sizeof(note->text));
	fault_describe(&f->set, e, note->line, sizeof(note->line));
}

/* Appends the name of the site, if the rule watches all sites of a class. */
static void name_site(const struct fault_entry *e, enum fault_site site, struct note *note)
{
	size_t len = strlen(note->line);

	if (fault_sites[e->rule.site].any)
		snprintf(note->line + len, sizeof(note->line) - len, " [%s]", fault_sites[site].id);
}

/*
 * Logs the first fault of a rule at level error, so that users do not blame the device for the
 * fault. Logs later faults at level info.
 */
static void publish(const struct note *note, uint64_t now)
{
	if (note->fired == 1)
		log_error("%s", note->line);
	else
		log_info("%s", note->line);
	TRACE(fault, now, .rule = note->rule, .fired = note->fired, .seen = note->seen,
	      .seed = note->seed, .text = note->text);
}

/* ---- questions of injectors ---- */

bool faults_ask(struct faults *f, enum fault_site site, const struct fault_attrs *attrs,
		struct fault_action *out)
{
	const struct fault_entry *e;
	struct note note;
	uint64_t now;

	/* Read the clock under the lock: the times that the set sees then never decrease. */
	pthread_mutex_lock(&f->lock);
	now = sys_now();
	e = fault_set_ask(&f->set, site, attrs, now, out);
	if (e) {
		take_note(f, e, &note);
		name_site(e, site, &note);
	}
	pthread_mutex_unlock(&f->lock);
	if (e)
		publish(&note, now);
	return e;
}

bool faults_watch(struct faults *f, enum fault_site site)
{
	bool watches;

	pthread_mutex_lock(&f->lock);
	watches = fault_set_watches(&f->set, site);
	pthread_mutex_unlock(&f->lock);
	return watches;
}

bool faults_has(struct faults *f, uint32_t rule)
{
	bool has;

	pthread_mutex_lock(&f->lock);
	has = fault_set_find(&f->set, rule);
	pthread_mutex_unlock(&f->lock);
	return has;
}

/* Returns the rule with the lowest value of this limit, or NULL. Needs the set's lock. */
static struct fault_entry *find_limit(struct faults *f, uint32_t limit)
{
	struct fault_entry *lowest = NULL;

	for (unsigned int i = 0; i < f->set.n; i++) {
		struct fault_entry *e = f->set.entry[i];
		const struct fault_action *a = &e->rule.action;

		if (a->id == FAULT_DO_limit && a->arg[fault_limit_name] == limit &&
		    (!lowest ||
		     a->arg[fault_limit_value] < lowest->rule.action.arg[fault_limit_value]))
			lowest = e;
	}
	return lowest;
}

uint64_t faults_limit(struct faults *f, uint32_t limit)
{
	const struct fault_entry *e;
	uint64_t value = UINT64_MAX;

	pthread_mutex_lock(&f->lock);
	e = find_limit(f, limit);
	if (e)
		value = e->rule.action.arg[fault_limit_value];
	pthread_mutex_unlock(&f->lock);
	return value;
}

bool faults_exceed(struct faults *f, uint32_t limit, uint64_t value)
{
	struct fault_entry *e;
	struct note note;

	pthread_mutex_lock(&f->lock);
	e = find_limit(f, limit);
	if (e)
		e->seen++;
	if (e && value > e->rule.action.arg[fault_limit_value]) {
		e->fired++;
		take_note(f, e, &note);
	} else {
		e = NULL;
	}
	pthread_mutex_unlock(&f->lock);
	if (e)
		publish(&note, sys_now());
	return e;
}

/* ---- time ---- */

static uint64_t set_due(struct faults *f)
{
	uint64_t due;

	pthread_mutex_lock(&f->lock);
	due = fault_set_due(&f->set);
	pthread_mutex_unlock(&f->lock);
	return due;
}

/* Returns the timer that fires first, or NULL. */
static struct fault_timer *first_timer(const struct faults *f)
{
	return list_empty(&f->timers) ? NULL : list_entry(f->timers.next, struct fault_timer, node);
}

/* Replaces the next_timeout function of the transport. */
static uint64_t next_timeout(const struct conn *c)
{
	struct faults *f = faults_of(c);
	const struct fault_timer *first = first_timer(f);
	uint64_t due = f->plain->next_timeout(c), other = set_due(f);

	if (other < due)
		due = other;
	return first && first->when < due ? first->when : due;
}

static bool take_due(struct faults *f, uint64_t now, struct fault_action *a)
{
	const struct fault_entry *e;
	struct note note;

	pthread_mutex_lock(&f->lock);
	e = fault_set_timer(&f->set, now, a);
	if (e)
		take_note(f, e, &note);
	pthread_mutex_unlock(&f->lock);
	if (e)
		publish(&note, now);
	return e;
}

void faults_perform(struct faults *f, const struct fault_action *a, uint64_t now)
{
	for (struct fault_injector *i = injectors; i; i = i->next) {
		if (i->installed && i->does[FAULT_CLASS_NUMBER_TIMER] >> a->id & 1)
			i->perform(i, f->shard, a, now);
	}
}

/* Replaces the run_timers function of the transport. */
static void run_timers(struct conn *c)
{
	struct faults *f = faults_of(c);
	struct fault_timer *first;
	struct fault_action a;

	f->plain->timers(c);
	while (take_due(f, c->now, &a))
		faults_perform(f, &a, c->now);
	while ((first = first_timer(f)) && first->when <= c->now) {
		list_del(&first->node);
		first->fire(first, f->shard, c->now);
	}
}

void faults_timer_set(struct faults *f, struct fault_timer *t, uint64_t when)
{
	struct list_node *before;

	faults_timer_cancel(t);
	before = f->timers.prev;
	/* Timers of the same time fire in the order in which they were set. */
	while (before != &f->timers && list_entry(before, struct fault_timer, node)->when > when)
		before = before->prev;
	t->when = when;
	list_insert_between(&t->node, before, before->next);
}

void faults_timer_cancel(struct fault_timer *t)
{
	if (faults_timer_is_set(t))
		list_del(&t->node);
}

/*
 * Replaces functions of the shard's transport, so that the shard also serves the timers of faults.
 * Needs the shard lock.
 */
static void hook(struct faults *f)
{
	struct conn *c = &f->shard->conn;

	if (f->hooked)
		return;
	f->hooked = true;
	f->plain = c->transport;
	f->transport = *c->transport;
	f->transport.next_timeout = next_timeout;
	f->transport.timers = run_timers;
	c->transport = &f->transport;
}

/* ---- injectors ---- */

/* True if the injector handles sites of these classes, or performs one of these actions. */
static bool is_needed(const struct fault_injector *i, uint32_t classes, uint64_t actions)
{
	bool needed = i->does[FAULT_CLASS_NUMBER_TIMER] & actions;

	for (unsigned int class = 0; class < FAULT_CLASSES; class ++)
		needed |= class != FAULT_CLASS_NUMBER_TIMER && i->does[class] &&
			  classes >> class & 1;
	return needed;
}

/* Installs all injectors that the current rules need. Needs the shard lock. */
static void install(struct faults *f)
{
	uint32_t classes;
	uint64_t actions;

	pthread_mutex_lock(&f->lock);
	classes = f->set.classes;
	actions = f->set.actions;
	pthread_mutex_unlock(&f->lock);
	if (classes)
		hook(f);
	for (struct fault_injector *i = injectors; i; i = i->next) {
		if (i->installed || !is_needed(i, classes, actions))
			continue;
		i->installed = true;
		i->install(i, f->shard);
	}
}

static void enlist(struct fault_injector *injector)
{
	struct fault_injector **at = &injectors;

	while (*at && *at != injector)
		at = &(*at)->next;
	*at = injector;
}

void faults_register(struct shard *s, struct fault_injector *injector)
{
	shard_lock(s);
	enlist(injector);
	install(&s->rnic->faults);
	shard_unlock(s);
}

/* ---- start and fork ---- */

static uint64_t choose_seed(void)
{
	uint32_t random = 0;

	/* If the system has no random numbers, a seed made from the clock is good enough. */
	if (sys_random(&random, sizeof(random)))
		random = (uint32_t)sys_now();
	return random % SEED_MAX + 1;
}

#define KERNEL_HAS                                                                                 \
	"with llp = kernel the packets are the kernel's, and no fault happens to them: use llp = udp or ip"

/* True if the rule concerns packets, or its action needs them. */
static bool needs_packets(const struct fault_rule *rule)
{
	return fault_class_of(rule->site) == FAULT_CLASS_PACKET ||
	       rule->action.id == FAULT_DO_freeze_qp || rule->action.id == FAULT_DO_freeze_peer ||
	       rule->action.id == FAULT_DO_lose_session;
}

/* State while the rules of the settings are read. */
struct reading {
	struct faults *f;
	bool has_packets;
	unsigned int
		/* 0, or the line of the first rule that needs packets while has_packets is false */
		refused;
};

static bool take_rule(void *ctx, const struct fault_rule *rule)
{
	struct reading *r = ctx;

	if (!r->has_packets && needs_packets(rule) && !r->refused)
		r->refused = rule->line;
	return !r->refused && fault_set_add(&r->f->set, rule, sys_now());
}

bool faults_init(struct faults *f, const struct config *config, struct config_error *err)
{
	struct reading r = { .f = f, .has_packets = config->carrier != CONFIG_CARRIER_KERNEL };

	pthread_mutex_init(&f->lock, NULL);
	list_init(&f->timers);
	fault_set_init(&f->set, config->fault_seed ? config->fault_seed : choose_seed());
	if (config_faults_read(config, take_rule, &r, err) && !r.refused)
		return true;
	if (r.refused)
		snprintf(err->text, sizeof(err->text), "faults:%u: " KERNEL_HAS, r.refused);
	fault_set_fini(&f->set);
	return false;
}

void faults_start(struct faults *f, struct shard *s)
{
	f->shard = s;
	enlist(&faults_qp);
	enlist(&faults_placement);
	enlist(&faults_port);
	enlist(&faults_cm);
	install(f);
}

void faults_fork_prepare(struct faults *f)
{
	pthread_mutex_lock(&f->lock);
}

void faults_fork_parent(struct faults *f)
{
	pthread_mutex_unlock(&f->lock);
}

void faults_forget(struct faults *f)
{
	fault_set_fini(&f->set);
	for (struct fault_injector *i = injectors; i; i = i->next)
		i->installed = false;
	pthread_mutex_unlock(&f->lock);
}

/* ---- changes at run time ---- */

/*
 * Reads all rules of a text. If s is not NULL, also puts the rules into force. If the text is
 * invalid, returns false, and sets result->err to the reason.
 */
static bool read_all(const char *text, bool has_packets, struct fault_set *s, uint64_t now,
		     struct faults_result *result)
{
	struct fault_reader reader;
	struct fault_rule rule;
	uint32_t number = 0;
	int ret;

	result->n = 0;
	fault_reader_init(&reader, text, strlen(text));
	while ((ret = fault_read(&reader, &rule, &result->err)) > 0) {
		if (!has_packets && needs_packets(&rule)) {
			result->err.line = rule.line;
			result->err.column = 1;
			snprintf(result->err.text, sizeof(result->err.text), KERNEL_HAS);
			return false;
		}
		if (s)
			number = fault_set_add(s, &rule, now);
		if (!result->n)
			result->first = number;
		result->n += !s || number;
	}
	return !ret;
}

static bool refuse(struct faults_result *result, const char *why)
{
	result->err.line = 0;
	snprintf(result->err.text, sizeof(result->err.text), "%s", why);
	return false;
}

/* Adds the rules of a text. Needs the set's lock. */
static bool add(struct faults *f, const char *text, struct faults_result *result)
{
	bool has_packets = f->shard->conn.carrier;

	if (f->shard->rnic->config.engines > 1)
		return refuse(result, "rules need a process of one engine: engines = 1");
	if (!read_all(text, has_packets, NULL, 0, result))
		return false;
	if (!result->n)
		return refuse(result, "there is no rule in it");
	if (result->n > FAULT_RULES_MAX - f->set.n)
		return refuse(result, "256 rules may be in force: remove some first");
	return read_all(text, has_packets, &f->set, sys_now(), result);
}

void faults_add(struct faults *f, const char *text, struct faults_result *result)
{
	memset(result, 0, sizeof(*result));
	shard_lock(f->shard);
	pthread_mutex_lock(&f->lock);
	result->ok = add(f, text, result);
	pthread_mutex_unlock(&f->lock);
	install(f);
	shard_unlock(f->shard);
}

void faults_remove(struct faults *f, uint32_t number, struct faults_result *result)
{
	memset(result, 0, sizeof(*result));
	shard_lock(f->shard);
	pthread_mutex_lock(&f->lock);
	if (!number) {
		result->n = f->set.n;
		fault_set_fini(&f->set);
	} else {
		result->n = fault_set_remove(&f->set, number);
	}
	result->ok = !number || result->n;
	pthread_mutex_unlock(&f->lock);
	atomic_fetch_add_explicit(&f->removals, 1, memory_order_relaxed);
	for (struct fault_injector *i = injectors; i; i = i->next) {
		if (i->installed && i->removed)
			i->removed(i, f->shard, number);
	}
	shard_unlock(f->shard);
	if (!result->ok)
		refuse(result,
		       "there is no rule of that number: `sctpiw fault PID list` shows them");
}

bool faults_next(struct faults *f, uint32_t above, struct faults_info *info)
{
	const struct fault_entry *e = NULL;

	pthread_mutex_lock(&f->lock);
	for (unsigned int i = 0; i < f->set.n && !e; i++) {
		if (f->set.entry[i]->number > above)
			e = f->set.entry[i];
	}
	if (e) {
		info->number = e->number;
		info->line = e->rule.line;
		info->seen = e->seen;
		info->fired = e->fired;
		memcpy(info->text, e->rule.text, sizeof(info->text));
	}
	pthread_mutex_unlock(&f->lock);
	return e;
}

uint64_t faults_seed(const struct faults *f)
{
	return f->set.seed;
}
