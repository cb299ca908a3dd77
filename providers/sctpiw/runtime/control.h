/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The service of the control socket, on the progress thread (sys/control.h describes the requests).
 * While there is no client, the service costs senders and receivers no time. An answer is made in
 * pieces, and each piece takes the shard's lock only for a moment. If a write would block, the
 * thread tries again in its next turn.
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
	struct net_watch watch; /* identifies the socket in the thread's epoll set */
	int client_fd;		/* the current client; -1: none */
	/* time of the last byte received from the client or sent to it, ns */
	uint64_t since;
	bool asked; /* the client's request has been received completely */
	struct report report;
	char request[CONTROL_REQUEST_MAX];
	size_t request_len;
	char *answer; /* buffer of REPORT_ROOM bytes, allocated for the first client */
	size_t answer_len, answer_sent;
};

/* Initialises the struct. Makes no socket. */
void control_init(struct control *c);
/* Makes the socket, if its directory exists. Call this before the progress thread starts. */
void control_open(struct control *c);
/*
 * Returns the descriptor and poll() events that the thread must wait for; the descriptor is -1 if
 * there is no socket. Only control_serve() changes them.
 */
struct pollfd control_wanted(const struct control *c);
/*
 * Serves the client without waiting, if the descriptor is `ready`. Otherwise, disconnects a client
 * that has been idle for a second. now is in ns. Takes the shard's lock itself.
 */
void control_serve(struct shard *s, bool ready, uint64_t now);
/*
 * True while a client is being served. The thread must then call control_serve() at intervals, even
 * if the descriptor is not ready.
 */
static inline bool control_is_busy(const struct control *c)
{
	return c->client_fd >= 0;
}

/* At exit: removes the socket's file. Thread-safe. */
void control_remove(const struct control *c);
/* In the child of a fork(): only closes the descriptors. Needs the shard's lock. */
void control_forget(struct control *c);

#endif
