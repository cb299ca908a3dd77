/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The listening socket on which this process takes control commands (sys/control.h). */
#ifndef SCTPIW_NET_CONTROL_SOCKET_H
#define SCTPIW_NET_CONTROL_SOCKET_H

#include <sys/un.h>

struct control_socket {
	int fd;			 /* non-blocking listening socket; -1: none */
	struct sockaddr_un addr; /* set if fd is not -1 */
};

/* Creates the socket. A failure, such as a missing directory, is only logged, at level debug. */
void control_socket_open(struct control_socket *s);
/* Removes the socket's file. Leaves the descriptor open, since another thread may use it. */
void control_socket_remove(const struct control_socket *s);
/* Closes the socket in the child of a fork(). The file stays, since it belongs to the parent. */
void control_socket_forget(struct control_socket *s);
/*
 * Accepts a connection, but only from the same user or from root. Returns a non-blocking
 * descriptor, -EAGAIN if no connection waits, -EPERM after closing a connection of another user, or
 * another -errno.
 */
int control_socket_accept(const struct control_socket *s);

#endif
