/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The process's one engine: how it comes to be, what fork() leaves of it, how it ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "net/capture.h"
#include "runtime/channel.h"
#include "conn/cm.h"
#include "log/log.h"
#include "net/memory.h"
#include "net/trace_file.h"
#include "runtime/private.h"
#include "sys/sys.h"
#include "util/alloc.h"

#define ZCOPY_MIN 8192 /* bytes: less is copied sooner */
/*
 * At exit: how long unsent and unacknowledged data may hold up the process, and how long the
 * lock.
 */
#define LINGER_LIMIT (2 * NSEC_PER_SEC)
#define LINGER_STEP (NSEC_PER_SEC / 1000)
#define EXIT_LOCK_SECONDS 1

static pthread_mutex_t create_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct engine *) current;

static void fill_random(struct random_source *r, void *buf, size_t len)
{
	int err = sys_random(buf, len);

	/* Keys that a peer could guess would be worse than no service. */
	if (err) {
		log_error("no random numbers: %s", strerror(-err));
		abort();
	}
}

static const struct iw_rnic_ops rnic_ops = {
	.copy = memory_copy, .probe = memory_probe, .atomic = memory_atomic, .clock = sys_now
};

uint64_t engine_clock(void)
{
	return sys_now();
}

uint64_t engine_wallclock(uint64_t stamp)
{
	struct timespec ts;
	uint64_t ago = sys_now() - stamp;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec - ago;
}

int engine_processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : (int)n;
}

static int open_descriptors(struct engine *e)
{
	e->netdev_fd = e->wait_fd = -1;
	e->wake_fd = sys_keep(sys_eventfd());
	e->timer_fd = sys_keep(sys_timerfd());
	e->epoll_fd = sys_keep(sys_epoll_create());
	if (e->wake_fd < 0)
		return e->wake_fd;
	if (e->timer_fd < 0)
		return e->timer_fd;
	return e->epoll_fd < 0 ? e->epoll_fd : 0;
}

static void close_descriptors(struct engine *e)
{
	sys_close(e->wake_fd);
	sys_close(e->timer_fd);
	sys_close(e->epoll_fd);
	if (e->wait_fd != e->epoll_fd)
		sys_close(e->wait_fd);
	e->wake_fd = e->timer_fd = e->netdev_fd = e->epoll_fd = e->wait_fd = -1;
}

static int make_layers(struct engine *e, struct config_error *why)
{
	struct iw_config ic = {
		.unexpected_bytes_per_qp = 1 << 20,
		.in_order = e->config.in_order,
		.zcopy_min = ZCOPY_MIN,
	};
	int ret;

	if (ic.in_order)
		memory_copy_ascending();
	e->transport = e->config.carrier == CONFIG_CARRIER_KERNEL ? &transport_kernel_sctp : &transport_user_sctp;
	ret = e->transport->start(e, why);
	if (ret)
		return ret;
	e->rnic = iw_rnic_new(&ic, &rnic_ops, &e->random);
	if (!e->rnic) {
		e->transport->stop(e);
		return -ENOMEM;
	}
	return 0;
}

static void init_fields(struct engine *e)
{
	e->random.fill = fill_random;
	e->random.used = sizeof(e->random.pool);
	e->timer_set = TIME_NEVER;
	list_init(&e->endpoints);
	list_init(&e->dormant);
	list_init(&e->qp_blocks);
	list_init(&e->early);
	list_init(&e->accepting);
	list_init(&e->ending);
	list_init(&e->clients);
	for (int i = 0; i < IDLE_LISTS; i++)
		list_init(&e->idle[i]);
	pthread_mutex_init(&e->lock, NULL);
}

/* The first refusal is told: a program asks for the device again and again. */
static void complain(const char *why)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&said))
		log_error("no RDMA device: %s", why);
}

static int configure(struct engine *e, struct config_error *why)
{
	if (!config_load(&e->config, why))
		return -EINVAL;
	log_set_level(e->config.log);
	if (*e->config.capture) {
		e->capture = capture_open(e->config.capture, why);
		if (!e->capture)
			return -EINVAL;
	}
	if (*e->config.trace) {
		e->trace = trace_file_open(e->config.trace, why);
		if (!e->trace)
			return -EINVAL;
	}
	return 0;
}

/* why: set where a user can do something about it. */
static int engine_new(struct engine **out, struct config_error *why)
{
	struct engine *e = alloc_lines(sizeof(*e));
	int ret;

	if (!e)
		return -ENOMEM;
	ret = configure(e, why);
	if (ret)
		goto err_files;
	init_fields(e);
	ret = open_descriptors(e);
	if (ret)
		goto err_fds;
	ret = make_layers(e, why);
	if (ret)
		goto err_fds;
	*out = e;
	return 0;

err_fds:
	close_descriptors(e);
err_files:
	trace_file_free(e->trace);
	capture_free(e->capture);
	free(e);
	return ret;
}

/* ---- fork ---- */

static void before_fork(void)
{
	struct engine *e;

	pthread_mutex_lock(&create_lock);
	e = atomic_load(&current);
	if (e) {
		atomic_fetch_add_explicit(&e->waiters, 1, memory_order_relaxed);
		pthread_mutex_lock(&e->lock);
		atomic_fetch_sub_explicit(&e->waiters, 1, memory_order_relaxed);
	}
	channel_fork_prepare();
	netdev_fork_prepare();
}

static void after_fork_parent(void)
{
	struct engine *e = atomic_load(&current);

	netdev_fork_done();
	channel_fork_done();
	pthread_mutex_unlock(&create_lock);
	if (e) {
		/* Other threads posted meanwhile, and rely on who has the lock. */
		loop_entered(e);
		loop_unlock(e);
	}
}

static void forget_all(struct engine *e, const struct list_node *endpoints)
{
	list_for_each(node, endpoints)
		e->transport->forget(list_entry(node, struct endpoint, node));
}

/*
 * The sockets are shared with the parent, and their epoll set with its thread: all that may be
 * done here is to close our descriptors. The memory stays: objects of verbs point into it.
 */
static void after_fork_child(void)
{
	struct engine *e = atomic_load(&current);

	netdev_fork_child();
	channel_forget_all();
	channel_fork_done();
	if (e) {
		atomic_store(&e->dead, true);
		forget_all(e, &e->endpoints);
		forget_all(e, &e->dormant);
		e->thread_started = false;
		close_descriptors(e);
		capture_free(e->capture);
		e->capture = NULL;
		trace_file_free(e->trace);
		e->trace = NULL;
		cm_forget_all();
		atomic_store(&current, NULL);
		atomic_store_explicit(&e->waiters, 0, memory_order_relaxed);
		pthread_mutex_unlock(&e->lock);
	}
	pthread_mutex_unlock(&create_lock);
}

/* ---- exit ---- */

static bool is_drained(struct engine *e)
{
	list_for_each(node, &e->endpoints) {
		struct endpoint *ep = list_entry(node, struct endpoint, node);

		list_for_each(anode, &ep->assocs) {
			struct conn_assoc *a = list_entry(anode, struct conn_assoc, node);

			if (!a->gone && !e->transport->is_drained(a))
				return false;
		}
	}
	return true;
}

/* What was handed over before exit() still arrives, if the peer takes it. */
static void linger(struct engine *e)
{
	uint64_t end = sys_now() + LINGER_LIMIT;

	/* The thread waits for the lock, and takes nothing from its descriptors. */
	progress_unwatch(e);
	loop_finish(e);
	while (!is_drained(e) && sys_now() < end) {
		struct pollfd pfd = {.fd = e->epoll_fd, .events = POLLIN};

		sys_ppoll(&pfd, 1, LINGER_STEP);
		loop_read_clock(e);
		loop_pass(e, LOOP_THOROUGH);
	}
}

/*
 * Peers are told at once, by an ABORT. Other threads may still run, or have been stopped with the
 * lock in their hands: then exit() is not early up for long.
 */
static __attribute__((destructor)) void engine_exit(void)
{
	struct engine *e = atomic_load(&current);
	struct timespec until;

	if (!e || atomic_load(&e->dead))
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += EXIT_LOCK_SECONDS;
	atomic_fetch_add(&e->waiters, 1);
	if (pthread_mutex_clocklock(&e->lock, CLOCK_MONOTONIC, &until)) {
		atomic_fetch_sub(&e->waiters, 1);
		return;
	}
	loop_entered(e);
	linger(e);
	conn_assoc_abort_all(e);
	loop_finish(e);
	atomic_store(&e->dead, true);
	atomic_fetch_sub(&e->waiters, 1);
	loop_unlock(e);
}

/* ---- the singleton ---- */

struct engine *engine_get(void)
{
	static bool prepared;
	struct engine *e = atomic_load_explicit(&current, memory_order_acquire);
	struct config_error why = {""};
	int err = 0;

	if (e)
		return e;
	pthread_mutex_lock(&create_lock);
	e = atomic_load(&current);
	if (!e) {
		if (!prepared)
			err = -pthread_atfork(before_fork, after_fork_parent, after_fork_child);
		prepared = !err;
		if (!err)
			err = engine_new(&e, &why);
		if (!err)
			atomic_store_explicit(&current, e, memory_order_release);
	}
	pthread_mutex_unlock(&create_lock);
	if (err) {
		complain(*why.text ? why.text : strerror(-err));
		errno = -err;
		return NULL;
	}
	return e;
}

bool engine_in_order(const struct engine *e)
{
	return e->config.in_order;
}

struct iw_rnic *engine_rnic(struct engine *e)
{
	return e->rnic;
}
