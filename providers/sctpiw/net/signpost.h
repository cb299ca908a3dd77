/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A port of a process whose llp is not udp is also a UDP port, which no other program can have
 * then. A peer with llp = udp that connects there gets a refusal. Its INIT is answered with an
 * ABORT that names the llp of this process (docs/wire.md). Shard lock.
 */
#ifndef SCTPIW_NET_SIGNPOST_H
#define SCTPIW_NET_SIGNPOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct endpoint;

/*
 * Opens a UDP socket bound to that address; port 0: any port. It takes only INITs in UDP to its own
 * number. Returns the descriptor, or -errno of bind().
 */
int signpost_open(const struct sockaddr *addr, bool v6only);
/* Answers the INITs that have come to fd, the signpost of ep. */
void signpost_answer(struct endpoint *ep, int fd);

#endif
