/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the lower layers have in common: options, control data and error queues of sockets. */
#ifndef SCTPIW_ENGINE_LLP_SOCKET_H
#define SCTPIW_ENGINE_LLP_SOCKET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "engine/llp.h"

/* Where a message goes, and control data that come with it, as sendmsg() wants them. */
struct llp_outgoing {
	struct msghdr msg; /* the iov is the caller's */
	struct sockaddr_storage to;
	union {
		struct cmsghdr align;
		uint8_t bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) +
			      CMSG_SPACE(sizeof(uint16_t))];
	} control;
};

/* Room for the control data of a received message. */
#define LLP_CONTROL 128

/* Buffers as large as may be; returns what the receiving one really holds. */
size_t llp_raise_buffers(int fd);
/*
 * Which of the two kinds of options a socket gets: one for IPv6 that takes IPv4 as well has both.
 * The error queue; wildcard: each message also tells its destination.
 */
void llp_report(int fd, bool v4, bool v6, bool wildcard);
void llp_set_df(int fd, bool v4, bool v6, bool df);

/*
 * Of a received message: its destination, if it tells it, to d->from.local. false: it was not for
 * this host alone (broadcast, multicast), which SCTP does not take.
 */
bool llp_read_pktinfo(const struct cmsghdr *c, struct llp_datagram *d);

/* To `to` on a socket of this family, with UDP port port, from to->local if from_local. */
void llp_prepare(struct llp_outgoing *out, int family, const struct path_addr *to, uint16_t port,
		 bool from_local);
void llp_add_control(struct llp_outgoing *out, int level, int type, const void *data, size_t len);

struct sock_extended_err;
/* The next entry of fd's error queue; false: none. ee is zeroed where there is none in it. */
bool llp_read_error(int fd, struct llp_error *err, struct sock_extended_err *ee);

#endif
