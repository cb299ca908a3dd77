/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "runtime/rnic.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/config_known.h"
#include "conn/user_sctp.h"
#include "log/log.h"
#include "net/arena.h"
#include "net/capture.h"
#include "net/carriers.h"
#include "net/kernel_sctp.h"
#include "net/id_port.h"
#include "net/memory.h"
#include "net/port.h"
#include "net/regions.h"
#include "net/trace_file.h"
#include "runtime/channel.h"
#include "runtime/host.h"
#include "runtime/loop.h"
#include "runtime/tuning.h"
#include "sys/sys.h"
#include "util/alloc.h"

/*
 * bytes. For a shorter payload, a copy is faster than a reference ("Zero-copy payloads" in
 * docs/experiments.md).
 */
#define ZCOPY_MIN 8192
/*
 * bytes. Limit of the received Sends that a QP keeps until the program posts a receive (decision 9
 * in docs/decisions).
 */
#define UNEXPECTED_BYTES (1u << 20)
/* ns. exit() waits at most LIMIT for acknowledgements of sent data, in steps of STEP. */
#define LINGER_LIMIT (2 * NSEC_PER_SEC)
#define LINGER_STEP NSEC_PER_MSEC
/* ns. exit() waits at most LIMIT for another thread that has the lock, in steps of STEP. */
#define EXIT_LOCK_LIMIT NSEC_PER_SEC
#define EXIT_LOCK_STEP (NSEC_PER_MSEC / 4)

/* ns. The offset of the clocks is exact enough if its measurement took no longer than this. */
#define OFFSET_SLACK 1000u
/* maximum number of measurements: the scheduler may interrupt some of them */
#define OFFSET_TRIES 5

static pthread_mutex_t create_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct rnic *) current;
static atomic_bool ending; /* exit() has called the destructor of this library */

static void fill_random(struct random_source *r, void *buf, size_t len)
{
	int err = sys_random(buf, len);

	/* Without random numbers a peer could guess keys, so end the process instead. */
	if (err) {
		log_error("no random numbers: %s", strerror(-err));
		abort();
	}
}

static enum log_level log_level_of(enum iw_say_level level)
{
	return level == IW_SAY_ERROR ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO;
}

static void say(enum iw_say_level level, const char *line)
{
	if (level == IW_SAY_ERROR)
		log_error("%s", line);
	else
		log_info("%s", line);
}

static bool hears(enum iw_say_level level)
{
	return log_enabled(log_level_of(level));
}

static void give_way(void)
{
	sched_yield();
}

static const struct iw_rnic_ops iw_ops = {
	.copy = memory_copy,
	.place = memory_copy,
	.probe = memory_probe,
	.atomic = memory_atomic,
	.is_own = arena_has,
	.yield = give_way,
	.clock = sys_now,
	.say = say,
	.hears = hears,
};

uint64_t rnic_clock(void)
{
	return sys_now();
}

/* A measurement of the time of day minus the clock of sys_now(). */
struct clock_offset {
	uint64_t least; /* ns */
	uint64_t width; /* ns; the true offset is between least and least + width */
};

static struct clock_offset measure_offset(void)
{
	struct timespec ts;
	uint64_t before = sys_now(), after, now;

	clock_gettime(CLOCK_REALTIME, &ts);
	after = sys_now();
	now = (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
	return (struct clock_offset){ .least = now - after, .width = after - before };
}

/*
 * Returns the previous offset if it agrees with a new measurement. With a new offset for each call,
 * the later of two completions could have the earlier time. The true offset changes only when the
 * time of day is set, since NTP slews both clocks alike.
 */
uint64_t rnic_wallclock_offset(void)
{
	static _Atomic uint64_t kept;
	uint64_t known = atomic_load_explicit(&kept, memory_order_relaxed);
	struct clock_offset best = measure_offset();

	for (int i = 1;; i++) {
		struct clock_offset next;

		if (known - (best.least - OFFSET_SLACK) <= best.width + 2 * OFFSET_SLACK)
			return known;
		if (best.width <= OFFSET_SLACK || i == OFFSET_TRIES)
			break;
		next = measure_offset();
		if (next.width < best.width)
			best = next;
	}
	known = best.least + best.width / 2;
	atomic_store_explicit(&kept, known, memory_order_relaxed);
	return known;
}

int rnic_processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : (int)n;
}

/* ---- settings ---- */

/* Logs only the first failure, since some programs try again and again to open the device. */
static void complain(const char *why)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&said))
		log_error("no RDMA device: %s", why);
}

/*
 * Logs environment variables whose names are nearly the names of settings. The launcher warns of
 * them at once. This line, at level info, is for programs that were started without the launcher.
 */
static void name_mistyped(void)
{
	char name[CONFIG_VARIABLE_LEN];
	const char *nearest;

	for (char **entry = environ; entry && *entry; entry++) {
		if (config_known_mistyped(*entry, name, &nearest))
			log_info("there is no variable %s; the nearest is %s", name, nearest);
	}
}

static int configure(struct rnic *r, struct config_error *why)
{
	struct net *net = &r->shard.net;

	if (!config_load(&r->config, NULL, why) || !faults_init(&r->faults, &r->config, why))
		return -EINVAL;
	log_set_level(r->config.log);
	name_mistyped();
	if (*r->config.trace) {
		net->trace = trace_file_open(r->config.trace, why);
		if (!net->trace)
			return -EINVAL;
	}
	return 0;
}

/* ---- the locks of all shards ---- */

static bool is_rung_anywhere(struct rnic *r)
{
	bool rung = false;

	for (unsigned int i = 0; i < r->n_shards; i++)
		rung |= doorbell_is_rung(&rnic_shard(r, i)->doorbells);
	return rung;
}

void rnic_lock(struct rnic *r)
{
	for (unsigned int i = 0; i < r->n_shards; i++)
		shard_lock(rnic_shard(r, i));
	/*
	 * Serves all doorbells. Serving one shard may ring a doorbell of a shard that was served
	 * before it. This happens if a QP has moved, or if an SRQ has receives for other shards.
	 * The rounds matter when the caller frees objects, since no freed object may have a
	 * doorbell on a list.
	 */
	for (unsigned int round = 0; round < TUNING_ROUNDS && is_rung_anywhere(r); round++)
		for (unsigned int i = 0; i < r->n_shards; i++)
			loop_settle(rnic_shard(r, i));
}

void rnic_unlock(struct rnic *r)
{
	for (unsigned int i = 0; i < r->n_shards; i++)
		loop_finish(rnic_shard(r, i));
	rnic_leave(r);
}

void rnic_enter(struct rnic *r)
{
	for (unsigned int i = 0; i < r->n_shards; i++) {
		struct shard *s = rnic_shard(r, i);

		shard_wait_begin(s);
		shard_enter(s);
		shard_wait_end(s);
	}
}

/* Releases the locks of all shards. Returns true if a shard has work that needs all these locks. */
static bool leave_all(struct rnic *r)
{
	bool wanted = false;

	for (unsigned int i = r->n_shards; i-- > 0;)
		wanted |= shard_leave_alone(rnic_shard(r, i));
	return wanted;
}

void rnic_leave(struct rnic *r)
{
	if (leave_all(r))
		rnic_serve_all(r);
}

void rnic_serve_all(struct rnic *r)
{
	do {
		rnic_enter(r);
		/* Do this before the second loop, since it may cause work for another shard. */
		for (unsigned int i = 0; i < r->n_shards; i++) {
			struct conn *c = r->conns[i];

			if (c->wants_all && !c->closed)
				conn_with_all(c);
		}
		for (unsigned int i = 0; i < r->n_shards; i++) {
			struct shard *s = rnic_shard(r, i);

			if (shard_is_dead(s))
				continue;
			iw_shard_with_all(s->conn.iw, true);
			loop_finish(s);
			iw_shard_with_all(s->conn.iw, false);
		}
	} while (leave_all(r));
}

/* ---- making one ---- */

/* Makes the objects that all shards share. */
static int make_rnic(struct rnic *r)
{
	struct iw_config ic = {
		.unexpected_bytes_per_qp = UNEXPECTED_BYTES,
		.in_order = r->config.in_order,
		.zcopy_min = ZCOPY_MIN,
	};
	struct random_source random = { .fill = fill_random, .used = sizeof(random.pool) };

	if (ic.in_order)
		memory_copy_ascending();
	r->ids = cm_id_table_new();
	if (!r->ids)
		return -ENOMEM;
	r->iw = iw_rnic_new(&ic, &iw_ops, &random);
	if (r->iw)
		return 0;
	cm_id_table_free(r->ids, &host_conn_ops.events);
	return -ENOMEM;
}

static int start_conn(struct shard *s, struct config_error *why)
{
	static const struct carrier *const carriers[] = {
		[CONFIG_CARRIER_UDP] = &carrier_udp,
		[CONFIG_CARRIER_IP] = &carrier_ip,
		[CONFIG_CARRIER_KERNEL] = NULL,
	};
	struct rnic *r = s->rnic;
	const struct carrier *carrier = config_is_sealed(&r->config) ? &carrier_dtls :
								       carriers[r->config.carrier];
	const struct conn_param param = {
		.ops = &host_conn_ops,
		.config = &r->config,
		.transport = carrier ? &transport_user_sctp : &transport_kernel_sctp,
		.carrier = carrier,
		.net = &s->net,
		.iw = iw_shard_new(r->iw, &s->random),
		.ids = r->ids,
		.random = &s->random,
		.all = r->conns,
		.n_all = r->config.engines,
		.index = s->index,
	};
	int ret;

	if (!param.iw)
		return -ENOMEM;
	ret = conn_start(&s->conn, &param, why);
	if (ret)
		iw_shard_free(param.iw);
	return ret;
}

/* Returns 0, or -errno with everything undone. Sets *why if the user can repair the cause. */
static int start_shard(struct rnic *r, struct shard *s, struct config_error *why)
{
	int ret;

	s->rnic = r;
	s->index = r->n_shards;
	r->conns[s->index] = &s->conn;
	s->post_notification = channel_post;
	s->random.fill = fill_random;
	s->random.used = sizeof(s->random.pool);
	/*
	 * The shards append to one file, as several processes do. Each shard appends the packets
	 * that it has gathered.
	 */
	if (*r->config.capture) {
		s->net.capture = capture_open(&r->config, why);
		if (!s->net.capture)
			return -EINVAL;
	}
	pthread_mutex_init(&s->lock.mutex, NULL);
	ret = progress_init(s);
	if (!ret)
		ret = start_conn(s, why);
	if (ret) {
		progress_fini(s);
		capture_free(s->net.capture);
	}
	return ret;
}

static void stop_shards(struct rnic *r)
{
	while (r->n_shards) {
		struct shard *s = rnic_shard(r, --r->n_shards);
		struct iw_shard *iw = s->conn.iw;

		conn_stop(&s->conn);
		iw_shard_free(iw);
		progress_fini(s);
		capture_free(s->net.capture);
		if (s != &r->shard)
			free(s);
	}
}

static int start_shards(struct rnic *r, struct config_error *why)
{
	int ret = start_shard(r, &r->shard, why);

	for (r->n_shards = !ret; !ret && r->n_shards < r->config.engines; r->n_shards++) {
		struct shard *s = alloc_lines(sizeof(*s));

		ret = s ? start_shard(r, s, why) : -ENOMEM;
		if (ret) {
			free(s);
			break;
		}
		r->others[r->n_shards - 1] = s;
	}
	if (ret)
		stop_shards(r);
	return ret;
}

/* Returns 0, or -errno. Sets *why if the user can remove the cause of the error. */
static int rnic_new(struct rnic **out, struct config_error *why)
{
	struct rnic *r = alloc_lines(sizeof(*r));
	int ret;

	if (!r)
		return -ENOMEM;
	ret = configure(r, why);
	if (ret)
		goto err_files;
	ret = make_rnic(r);
	if (ret)
		goto err_files;
	ret = start_shards(r, why);
	if (ret)
		goto err_rnic;
	faults_start(&r->faults, &r->shard);
	*out = r;
	return 0;

err_rnic:
	iw_rnic_free(r->iw);
	cm_id_table_free(r->ids, &host_conn_ops.events);
err_files:
	trace_file_free(r->shard.net.trace);
	free(r);
	return ret;
}

/* ---- fork ---- */

static void before_fork(void)
{
	struct rnic *r;

	pthread_mutex_lock(&create_lock);
	r = atomic_load(&current);
	for (unsigned int i = 0; r && i < r->n_shards; i++) {
		struct shard *s = rnic_shard(r, i);

		shard_wait_begin(s);
		pthread_mutex_lock(&s->lock.mutex);
		shard_wait_end(s);
	}
	if (r)
		faults_fork_prepare(&r->faults);
	channel_fork_prepare();
	port_fork_prepare();
	arena_fork_prepare();
	regions_fork_prepare();
}

static void after_fork_parent(void)
{
	struct rnic *r = atomic_load(&current);

	regions_fork_done();
	arena_fork_done();
	port_fork_parent();
	channel_fork_done();
	pthread_mutex_unlock(&create_lock);
	if (!r)
		return;
	faults_fork_parent(&r->faults);
	/* Threads that posted during the fork() rely on the holder of the lock to send. */
	for (unsigned int i = 0; i < r->n_shards; i++)
		shard_entered(rnic_shard(r, i));
	rnic_leave(r);
}

/*
 * In the child of a fork(): marks the shard as dead. The child shares the sockets with the parent,
 * and the epoll set with the parent's progress thread, so it must only close its descriptors. The
 * memory is not freed, since objects of verbs/ point into it.
 */
static void forget_shard(struct shard *s)
{
	atomic_store(&s->dead, true);
	conn_forget(&s->conn);
	iw_shard_forget(s->conn.iw);
	control_forget(&s->control);
	progress_fini(s);
	capture_free(s->net.capture);
	s->net.capture = NULL;
	trace_file_free(s->net.trace);
	s->net.trace = NULL;
}

static void forget(struct rnic *r)
{
	faults_forget(&r->faults);
	for (unsigned int i = 0; i < r->n_shards; i++)
		forget_shard(rnic_shard(r, i));
	cm_id_table_forget(r->ids, &host_conn_ops.events);
	id_port_forget();
	atomic_store(&current, NULL);
	for (unsigned int i = 0; i < r->n_shards; i++) {
		struct shard *s = rnic_shard(r, i);

		atomic_store_explicit(&s->lock.waiters, 0, memory_order_relaxed);
		pthread_mutex_unlock(&s->lock.mutex);
	}
}

static void after_fork_child(void)
{
	struct rnic *r = atomic_load(&current);

	arena_fork_done();
	port_fork_child();
	channel_forget_all();
	channel_fork_done();
	if (r)
		forget(r);
	/*
	 * Until this call, hooks on free() do not wait for the locks of the shards, which this
	 * thread has held. Hooks of GnuTLS may call free().
	 */
	regions_fork_done();
	pthread_mutex_unlock(&create_lock);
}

/* ---- exit ---- */

static bool is_drained(struct rnic *r)
{
	for (unsigned int i = 0; i < r->n_shards; i++) {
		const struct shard *s = rnic_shard(r, i);

		if (!shard_is_dead(s) && !conn_is_drained(&s->conn))
			return false;
	}
	return true;
}

/* Waits until all data posted before exit() is acknowledged, or the time is over. */
static void linger(struct rnic *r)
{
	uint64_t end = sys_now() + LINGER_LIMIT;

	/*
	 * The progress threads wait for the locks, and cannot read their own descriptors. If such a
	 * descriptor was ready, it would end each ppoll() below at once.
	 */
	for (unsigned int i = 0; i < r->n_shards; i++) {
		struct shard *s = rnic_shard(r, i);

		if (shard_is_dead(s))
			continue;
		progress_unwatch(s);
		loop_finish(s);
	}
	while (!is_drained(r) && sys_now() < end) {
		struct pollfd pfd[CONFIG_ENGINES_MAX];

		for (unsigned int i = 0; i < r->n_shards; i++)
			pfd[i] = (struct pollfd){ .fd = shard_is_dead(rnic_shard(r, i)) ?
								-1 :
								rnic_shard(r, i)->net.epoll_fd,
						  .events = POLLIN };
		sys_ppoll(pfd, r->n_shards, LINGER_STEP);
		for (unsigned int i = 0; i < r->n_shards; i++) {
			struct shard *s = rnic_shard(r, i);

			if (shard_is_dead(s))
				continue;
			shard_read_clock(s);
			loop_pass(s, CONN_THOROUGH);
		}
	}
}

static void summarize(struct shard *s)
{
	char text[REPORT_SUMMARY_MAX];

	report_summary(s, text);
	log_error("%s", text);
}

/*
 * Takes the shard's lock, and keeps the caller counted as a waiter. Returns false if another thread
 * keeps the lock for too long. Tries repeatedly; pollers give way to waiters.
 * pthread_mutex_clocklock() is no alternative: ThreadSanitizer does not know it, and would report
 * that no thread holds the lock.
 */
static bool enter_to_exit(struct shard *s)
{
	uint64_t end = sys_now() + EXIT_LOCK_LIMIT;

	shard_wait_begin(s);
	while (!shard_try_enter(s)) {
		if (sys_now() >= end) {
			shard_wait_end(s);
			return false;
		}
		sys_ppoll(NULL, 0, EXIT_LOCK_STEP);
	}
	return true;
}

static void end_shard(struct shard *s)
{
	if (shard_is_dead(s))
		return;
	/* First acknowledge all received data. */
	if (conn_flush_sacks(&s->conn))
		conn_output(&s->conn);
	conn_abort_all(&s->conn);
	loop_finish(s);
	s->conn.closed = true;
	atomic_store(&s->dead, true);
}

/*
 * Sends an ABORT to all peers, since this process ends. Other threads may still run. If one of them
 * keeps a lock forever, exit() is delayed only for a short time.
 */
static __attribute__((destructor)) void rnic_exit(void)
{
	struct rnic *r = atomic_load(&current);
	unsigned int entered = 0;

	atomic_store(&ending, true);
	if (!r || atomic_load(&r->shard.dead))
		return;
	control_remove(&r->shard.control);
	while (entered < r->n_shards && enter_to_exit(rnic_shard(r, entered)))
		entered++;
	if (entered == r->n_shards)
		linger(r);
	for (unsigned int i = 0; i < entered; i++)
		end_shard(rnic_shard(r, i));
	log_end();
	if (entered == r->n_shards && r->config.summary)
		summarize(&r->shard);
	while (entered) {
		shard_wait_end(rnic_shard(r, --entered));
		shard_leave_alone(rnic_shard(r, entered));
	}
}

/* ---- the singleton ---- */

struct rnic *rnic_to_interrupt(void)
{
	struct rnic *r = atomic_load_explicit(&current, memory_order_acquire);

	if (!r || atomic_load_explicit(&ending, memory_order_relaxed))
		return NULL;
	for (unsigned int i = 0; i < r->n_shards; i++)
		if (shard_is_mine(rnic_shard(r, i)))
			return NULL;
	return r;
}

struct rnic *rnic_get(void)
{
	static bool prepared;
	/* Pairs with the release below, so that *r is complete. */
	struct rnic *r = atomic_load_explicit(&current, memory_order_acquire);
	struct config_error why = { "" };
	int err = 0;

	if (r)
		return r;
	pthread_mutex_lock(&create_lock);
	r = atomic_load(&current);
	if (!r) {
		if (!prepared)
			err = -pthread_atfork(before_fork, after_fork_parent, after_fork_child);
		prepared = !err;
		if (!err)
			err = rnic_new(&r, &why);
		if (!err)
			atomic_store_explicit(&current, r, memory_order_release);
	}
	pthread_mutex_unlock(&create_lock);
	if (err) {
		complain(*why.text ? why.text : log_reason(-err));
		errno = -err;
		return NULL;
	}
	return r;
}
