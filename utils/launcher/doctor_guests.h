/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The messages between "sctpiw doctor HOST" and "sctpiw doctor --listen", and the listener's
 * answers (docs/wire.md). An answer is never longer than its request. Guests that have not proved
 * that they receive the answers get only a cookie. This code uses no sockets and no clock; times
 * are in ns.
 */
#ifndef UTILS_LAUNCHER_DOCTOR_GUESTS_H
#define UTILS_LAUNCHER_DOCTOR_GUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/addr.h"

#define DOCTOR_MESSAGE_LEN 48 /* bytes; probes and echoes may be longer */
#define DOCTOR_COOKIE_LEN 16
#define DOCTOR_SECRET_LEN 32
#define DOCTOR_GUESTS 64
#define DOCTOR_HELLOS_DEAF 3 /* hellos in a row which show that a guest receives no answers */

enum doctor_type {
	DOCTOR_HELLO = 1, /* requests a cookie */
	DOCTOR_COOKIE,	  /* the answer to DOCTOR_HELLO */
	DOCTOR_PROBE,	  /* is counted and sent back */
	DOCTOR_ECHO,	  /* a probe on its way back */
	DOCTOR_COUNT,	  /* requests the number of probes that arrived */
	DOCTOR_COUNTED,	  /* the answer to DOCTOR_COUNT */
};

struct doctor_message {
	uint8_t type;
	uint64_t nonce; /* chosen by the guest, for all its messages */
	uint8_t cookie[DOCTOR_COOKIE_LEN];
	uint32_t sequence;  /* of a probe and its echo */
	uint32_t received;  /* in answers: probes of this nonce */
	uint32_t overtaken; /* in answers: number of these after one with a higher sequence */
};

/* Writes DOCTOR_MESSAGE_LEN bytes. */
void doctor_message_write(const struct doctor_message *m, uint8_t *buf);
/* Returns false if the bytes are no such message. */
bool doctor_message_read(struct doctor_message *m, const uint8_t *buf, size_t len);

/* A guest that has returned its cookie. */
struct doctor_guest {
	struct ip_addr ip;
	uint16_t port;
	uint64_t nonce, heard; /* `heard`: last message; 0: this entry is free */
	uint32_t received, overtaken, highest;
};

/* A source address of messages, not necessarily a true one. */
struct doctor_caller {
	struct ip_addr ip;
	uint64_t heard;		    /* last message; 0: this entry is free */
	uint32_t datagrams, hellos; /* hellos: since the last message with a cookie */
	bool welcomed;		    /* it has returned a cookie */
};

struct doctor_guests {
	uint8_t secret[DOCTOR_SECRET_LEN]; /* random octets, for cookies */
	struct doctor_guest guest[DOCTOR_GUESTS];
	struct doctor_caller caller[DOCTOR_GUESTS];
};

enum doctor_event {
	DOCTOR_NOTHING,
	DOCTOR_WELCOME, /* this address has returned a cookie for the first time */
	DOCTOR_DEAF,	/* it repeats its hello: it does not receive the answers */
};

/*
 * Handles a datagram, and replaces it by the answer. Returns the length of the answer, at most len,
 * or 0. *event: an event to print.
 */
size_t doctor_guests_answer(struct doctor_guests *g, const struct ip_addr *ip, uint16_t port,
			    uint64_t now, uint8_t *buf, size_t len, enum doctor_event *event);

/* Returns the recorded number of datagrams from this address. */
uint32_t doctor_guests_heard(const struct doctor_guests *g, const struct ip_addr *ip);

#endif
