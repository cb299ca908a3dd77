/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_USRSCTP_LOWER_H
#define PEERS_USRSCTP_LOWER_H
/*
 * What carries the packets of usrsctp: its own UDP (usrsctp_udp.c), or DTLS in UDP (usrsctp_dtls.c). A call that fails
 * inside ends the program with a line that says what failed.
 */
#include <stdbool.h>
#include <sys/socket.h>

#include "stack.h"

/* Starts usrsctp over it. `listens`: this side waits for the peer. The program calls it once, before the others. */
void lower_start(const struct stack_options *o, bool listens);
/* What usrsctp has to connect to or to bind to, valid for ever; its family is that of the socket. */
const struct sockaddr *lower_address(socklen_t *len);
/* Sets the options that a socket needs for it; socket_set() reaches that socket. */
void lower_configure(void);
/* The associations are over. Ends what lower_start() has begun with the peer, as the options say. */
void lower_end(void);

#endif
