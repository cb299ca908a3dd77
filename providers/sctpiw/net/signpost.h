/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A signpost is a UDP socket that refuses peers with another setting llp. A process whose llp is
 * not udp opens a signpost on each of its port numbers. A peer with llp = udp may connect there by
 * mistake. The signpost answers the peer's INIT with an ABORT, which contains the llp of this
 * process (docs/wire.md). Other programs cannot use that UDP port then. Shard lock.
 */
#ifndef SCTPIW_NET_SIGNPOST_H
#define SCTPIW_NET_SIGNPOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct endpoint;

/*
 * Opens a UDP socket bound to addr; port 0 selects any free port. A filter passes only INITs whose
 * SCTP destination port equals the UDP port. Returns the descriptor, or -errno of bind().
 */
int signpost_open(const struct sockaddr *addr, bool v6only);
/* Answers the INITs that wait in fd, the signpost of ep. */
void signpost_answer(struct endpoint *ep, int fd);

#endif
