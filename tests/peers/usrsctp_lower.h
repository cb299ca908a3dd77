/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_USRSCTP_LOWER_H
#define PEERS_USRSCTP_LOWER_H
/*
 * The layer below usrsctp: its own UDP (usrsctp_udp.c), or DTLS in UDP (usrsctp_dtls.c). If an
 * internal call fails, the program ends with a line that names the call.
 */
#include <stdbool.h>
#include <sys/socket.h>

#include "stack.h"

/*
 * Starts usrsctp over this layer. `listens`: this side waits for the peer. The program calls it
 * once, before the other functions.
 */
void lower_start(const struct stack_options *o, bool listens);
/*
 * Returns the address that usrsctp must connect or bind to, of the socket's family. It stays valid.
 */
const struct sockaddr *lower_address(socklen_t *len);
/* Sets the required options of a socket, by socket_set(). */
void lower_configure(void);
/*
 * Call this after the associations. Ends lower_start()'s session with the peer, as the options
 * specify.
 */
void lower_end(void);

#endif
