/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The control socket's service, on the progress thread (sys/control.h says what is asked). It costs
 * those who send and receive nothing while nobody asks. An asker is served in pieces: each takes
 * the shard's lock for a moment, and a write that would block waits for the next turn.
 */
#ifndef SCTPIW_RUNTIME_CONTROL_H
#define SCTPIW_RUNTIME_CONTROL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/control_socket.h"
#include "net/net.h"
#include "runtime/report.h"

struct shard;

struct control {
	struct control_socket sock;
	struct net_watch watch; /* what the thread's epoll entry points to */
	int client_fd;		/* who is served now; -1: nobody */
	uint64_t since;		/* when a byte of the client's came or went last, ns */
	bool asked;		/* its request has come */
	struct report report;
	char request[CONTROL_REQUEST_MAX];
	size_t request_len;
	char *answer; /* REPORT_ROOM bytes, made for the first client */
	size_t answer_len, answer_sent;
};

/* There is no socket yet. */
void control_init(struct control *c);
/* Makes the socket, if there is a place for it. Before the progress thread is started. */
void control_open(struct control *c);
/*
 * What the thread is to wait for: a descriptor and poll()'s events; that is -1 if there is nothing.
 * It changes with control_serve() alone.
 */
struct pollfd control_wanted(const struct control *c);
/*
 * ready: the descriptor is; does what can be done without waiting. Else time has passed: a client that
 * has done nothing for a second is dropped. now: ns. Takes the shard's lock itself.
 */
void control_serve(struct shard *s, bool ready, uint64_t now);
/* Whether somebody is being served, so that control_serve() wants to be called now and then. */
static inline bool control_is_busy(const struct control *c)
{
	return c->client_fd >= 0;
}

/* At exit: removes the socket's file. Any thread. */
void control_remove(const struct control *c);
/* In the child of a fork(): closes the descriptors, and nothing else. Shard lock. */
void control_forget(struct control *c);

#endif
