/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_SOCKET_API_H
#define PEERS_SOCKET_API_H
/*
 * Both stacks have the socket API of RFC 6458, each in its own header. socket_api.c, which is
 * compiled with each of them, has the common part. Each stack defines the functions socket_*().
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#ifdef WITH_USRSCTP
#include <usrsctp.h>
#else
#include <netinet/sctp.h>
#endif

#include "stack.h"

/* ---- functions of a stack, on the socket of its association, or else its listener */

/* True if a socket exists. */
bool socket_is_open(void);
/* Called when the association is up. */
void socket_is_up(void);
/* Like setsockopt() and getsockopt() at level IPPROTO_SCTP. */
int socket_set(int option, const void *value, socklen_t len);
int socket_get(int option, void *value, socklen_t *len);
/*
 * Waits up to ms milliseconds for a connection to accept or data to read. Returns like recvmsg():
 * -1 with EAGAIN without data. *type is SCTP_RECVV_RCVINFO if *info was set.
 */
ssize_t socket_read(void *buf, size_t size, struct sctp_rcvinfo *info, unsigned int *type,
		    int *flags, int ms);

/* ---- functions of socket_api.c for a stack, besides the rest of stack.h */

/* Sets all options of a new socket. */
void api_configure(const struct stack_options *o);
/* socket_set() that must succeed; `what` names the option. */
void api_set(int option, const void *value, socklen_t len, const char *what);
/* Returns the header of a message to send. ppid: in host order. */
struct sctp_sndinfo api_sndinfo(uint16_t stream, uint32_t ppid, bool ordered);

#endif
