/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A port of a process whose llp is not udp is a UDP port all the same, which nobody else can have then. A peer
 * with llp = udp that asks there is refused, and told why: its INIT is answered with an ABORT that names the llp
 * of this process (docs/wire.md). Shard lock.
 */
#ifndef SCTPIW_NET_SIGNPOST_H
#define SCTPIW_NET_SIGNPOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct endpoint;

/*
 * A UDP socket bound to that address, with port 0 to any port. It takes INITs in UDP to its own number, and no
 * other packet. Returns the descriptor, or -errno of bind().
 */
int signpost_open(const struct sockaddr *addr, bool v6only);
/* Answers the INITs that have come to fd, the signpost of ep. */
void signpost_answer(struct endpoint *ep, int fd);

#endif
