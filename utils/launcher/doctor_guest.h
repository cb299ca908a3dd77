/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The guest's side of a measurement: a socket to "sctpiw doctor --listen" on HOST. */
#ifndef UTILS_LAUNCHER_DOCTOR_GUEST_H
#define UTILS_LAUNCHER_DOCTOR_GUEST_H

#include "launcher/doctor_guests.h"
#include "util/time.h"

#include <sys/socket.h>

#define DOCTOR_PATIENCE (300 * NSEC_PER_MSEC) /* maximum time to wait for an answer, ns */

struct doctor_probe {
	int fd;
	/* the nonce, the cookie, and the sequence number of the last probe */
	struct doctor_message mine;
};

/*
 * Opens a socket to the peer, and gets a cookie. Returns 0, -ETIMEDOUT if there is no answer, or
 * -errno of the network. The caller must close p->fd in any case.
 */
int doctor_guest_greet(struct doctor_probe *p, const struct sockaddr *peer);

/* Sends a probe with the next sequence number in a datagram of len bytes. Returns 0 or -errno. */
int doctor_guest_probe(struct doctor_probe *p, size_t len);

/*
 * Waits for an answer of this type until the time `until`. Returns the length of the answer, 0
 * after a timeout, or -errno of the network.
 */
int doctor_guest_wait(struct doctor_probe *p, enum doctor_type type, uint64_t until,
		      struct doctor_message *m);

/* Gets the number of probes that have arrived at the listener. Returns false without an answer. */
bool doctor_guest_count(struct doctor_probe *p, struct doctor_message *m);

/*
 * Sends two messages by one system call, as the device sends many. Returns 0, or -errno if this
 * route does not support this.
 */
int doctor_guest_segments(struct doctor_probe *p);

/*
 * Asks the listener, by TCP, for the number of datagrams that have arrived from this address.
 * Returns this number, or -errno. The errno is EPROTO if another program has the port.
 */
int doctor_guest_ask_tcp(const struct sockaddr *peer);

#endif
