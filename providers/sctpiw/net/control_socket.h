/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The control socket of this process (sys/control.h). Errors are -errno. */
#ifndef SCTPIW_NET_CONTROL_SOCKET_H
#define SCTPIW_NET_CONTROL_SOCKET_H

#include <sys/un.h>

struct control_socket {
	int fd;			 /* it listens, non-blocking; -1: there is none */
	struct sockaddr_un addr; /* valid with fd */
};

/*
 * Makes the socket. If it cannot be made, for lack of a directory for one, a line at level debug
 * says why.
 */
void control_socket_open(struct control_socket *s);
/* Removes its file. The descriptor stays, as another thread may use it. */
void control_socket_remove(const struct control_socket *s);
/* In the child of a fork(): the file is the parent's. */
void control_socket_forget(struct control_socket *s);
/*
 * Takes a connection of somebody who may ask: a non-blocking descriptor. -EAGAIN: there is none;
 * -EPERM: it was somebody else, and is gone.
 */
int control_socket_accept(const struct control_socket *s);

#endif
