/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The guest's end of a probe: a socket to "sctpiw doctor --listen" on HOST. */
#ifndef UTILS_LAUNCHER_DOCTOR_GUEST_H
#define UTILS_LAUNCHER_DOCTOR_GUEST_H

#include "launcher/doctor_guests.h"
#include "util/time.h"

#include <sys/socket.h>

#define DOCTOR_PATIENCE (300 * NSEC_PER_MSEC) /* ns that an answer may take */

struct doctor_probe {
	int fd;
	struct doctor_message mine; /* nonce, cookie, and the sequence number of the last probe */
};

/*
 * Opens a socket to the peer, and gets a cookie. 0, -ETIMEDOUT if nothing answers, or -errno of the network; p->fd is
 * to be closed in any case.
 */
int doctor_guest_greet(struct doctor_probe *p, const struct sockaddr *peer);

/* Sends a probe with the next sequence number in a datagram of len bytes. 0 or -errno. */
int doctor_guest_probe(struct doctor_probe *p, size_t len);

/*
 * Waits for an answer of this type until then. Returns its length, 0 if none has come, or -errno of the network.
 */
int doctor_guest_wait(struct doctor_probe *p, enum doctor_type type, uint64_t until,
		      struct doctor_message *m);

/* Asks how many probes have arrived. False without an answer. */
bool doctor_guest_count(struct doctor_probe *p, struct doctor_message *m);

/* Sends two messages by one call, as the device sends many. 0 or -errno: this route does not take that. */
int doctor_guest_segments(struct doctor_probe *p);

/*
 * Asks the listener by TCP how many datagrams have come from here. Returns that, or -errno: -EPROTO if it is something
 * else that has the port.
 */
int doctor_guest_ask_tcp(const struct sockaddr *peer);

#endif
