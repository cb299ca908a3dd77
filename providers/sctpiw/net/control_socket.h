/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The control socket of this process (sys/control.h). Errors are -errno. */
#ifndef SCTPIW_NET_CONTROL_SOCKET_H
#define SCTPIW_NET_CONTROL_SOCKET_H

#include <sys/un.h>

struct control_socket {
	int fd;			 /* listens, non-blocking; -1: none */
	struct sockaddr_un addr; /* valid with fd */
};

/* Creates the socket. A failure, such as the lack of a directory, is logged at level debug. */
void control_socket_open(struct control_socket *s);
/* Removes the socket's file. The descriptor stays, since another thread may use it. */
void control_socket_remove(const struct control_socket *s);
/* Closes the socket in the child of a fork(): the file belongs to the parent. */
void control_socket_forget(struct control_socket *s);
/*
 * Accepts a connection of the same user or of root. Returns a non-blocking descriptor, -EAGAIN if
 * none waits, or -EPERM after closing the connection of another user.
 */
int control_socket_accept(const struct control_socket *s);

#endif
