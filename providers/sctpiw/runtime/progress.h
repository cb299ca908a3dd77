/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The progress thread: it sleeps on the sockets and the timer and runs the shard when nobody polls. While
 * polling goes on it parks, which means that it sleeps on its eventfd alone and looks now and then whether
 * polling has stopped.
 */
#ifndef SCTPIW_RUNTIME_PROGRESS_H
#define SCTPIW_RUNTIME_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/net.h"

struct shard;

struct progress {
	_Atomic bool started;
	bool one_cpu; /* there is one processor for all threads of the process */

	/*
	 * What the thread sleeps on: its own descriptors, and the shard's sockets (net.epoll_fd). One set with
	 * the sockets saves time in each wake-up, but takes away what epoll tells only once; then wait_fd is a
	 * set of its own that has net.epoll_fd in it. Entries of the thread point to the watches.
	 */
	int wait_fd;
	int wake_fd;  /* eventfd */
	int timer_fd; /* set to timer_set */
	int port_fd;  /* port_watch_fd(), as far as the thread has seen it */
	struct net_watch wake, timer, port, sockets;
	uint64_t timer_set; /* ns, absolute */

	_Atomic bool parked;
	_Atomic bool doorbell_wake;	/* the thread was woken to send the rest of a burst */
	_Atomic uint64_t last_cm_event; /* when an event of the RDMA CM was posted last, ns */
	uint64_t received;		/* passes that brought something; shard lock */
	uint64_t no_linger_until;	/* the thread's alone, as the next */
	uint64_t no_linger;
};

/* Makes the descriptors. -errno; progress_fini() in any case. */
int progress_init(struct shard *s);
/* Closes them. */
void progress_fini(struct shard *s);
/* Starts the thread if it does not run yet. Shard lock. -errno of pthread_create() or epoll_ctl(). */
int progress_start(struct shard *s);
/* The timer is to end the thread's sleep at that time, ns. Shard lock. */
void progress_set_deadline(struct shard *s, uint64_t when);
/* Has the thread look at its descriptors and the timer again. Without the lock. */
void progress_wake(struct shard *s);
/* The thread's own descriptors do not show up among the sockets any more. */
void progress_unwatch(struct shard *s);

#endif
