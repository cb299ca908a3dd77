/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_SOCKET_API_H
#define PEERS_SOCKET_API_H
/*
 * Both stacks have the socket API of RFC 6458, each in a header of its own. socket_api.c, which is
 * compiled with each of them, does what is the same in both; socket_*() are what each stack has to
 * give it.
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

/* ---- what a stack gives: the socket of its association or, until there is one, its listener */

/* Returns whether there is a socket at all. */
bool socket_is_open(void);
/* Its association is up. */
void socket_is_up(void);
/* Do and return what setsockopt() and getsockopt() at level IPPROTO_SCTP do. */
int socket_set(int option, const void *value, socklen_t len);
int socket_get(int option, void *value, socklen_t *len);
/*
 * Waits up to ms milliseconds for a connection to accept or something to read. Returns as
 * recvmsg(): -1 with EAGAIN if there was nothing to read. *type is SCTP_RECVV_RCVINFO if *info was
 * given.
 */
ssize_t socket_read(void *buf, size_t size, struct sctp_rcvinfo *info, unsigned int *type,
		    int *flags, int ms);

/* ---- what socket_api.c gives a stack, besides the rest of stack.h */

/* Sets all options of a socket that was just made. */
void api_configure(const struct stack_options *o);
/* socket_set() that must not fail; `what` names the option. */
void api_set(int option, const void *value, socklen_t len, const char *what);
/* Returns the header of a message to send. ppid: in host order. */
struct sctp_sndinfo api_sndinfo(uint16_t stream, uint32_t ppid, bool ordered);

#endif
