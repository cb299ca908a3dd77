/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The messages between "sctpiw doctor HOST", the guest, and "sctpiw doctor --listen", the listener.
 * The functions make the listener's answers (docs/wire.md). An answer is never longer than its
 * request. A guest that has not proved that it receives the answers gets only a cookie. This code
 * uses no sockets and no clock; times are in ns.
 */
#ifndef UTILS_LAUNCHER_DOCTOR_GUESTS_H
#define UTILS_LAUNCHER_DOCTOR_GUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/addr.h"

#define DOCTOR_MESSAGE_LEN 48 /* bytes of a message; probes and echoes may be longer */
#define DOCTOR_COOKIE_LEN 16
#define DOCTOR_SECRET_LEN 32
#define DOCTOR_GUESTS 64
/* number of consecutive hellos that shows that a guest does not receive the answers */
#define DOCTOR_HELLOS_DEAF 3

enum doctor_type {
	DOCTOR_HELLO = 1, /* requests a cookie */
	DOCTOR_COOKIE,	  /* the answer to DOCTOR_HELLO */
	DOCTOR_PROBE,	  /* a probe, which the listener counts and sends back */
	DOCTOR_ECHO,	  /* a probe that the listener sends back */
	DOCTOR_COUNT,	  /* requests the number of probes that have arrived */
	DOCTOR_COUNTED,	  /* the answer to DOCTOR_COUNT */
};

struct doctor_message {
	uint8_t type;
	uint64_t nonce; /* a number that the guest chooses for all its messages */
	uint8_t cookie[DOCTOR_COOKIE_LEN];
	uint32_t sequence; /* sequence number of a probe, and of its echo */
	uint32_t received; /* in answers: number of probes that have arrived with this nonce */
	/* in answers: number of these probes that a later probe has overtaken */
	uint32_t overtaken;
};

/* Writes the message to buf, which has DOCTOR_MESSAGE_LEN bytes. */
void doctor_message_write(const struct doctor_message *m, uint8_t *buf);
/* Parses a message. Returns false if the bytes are no message of this protocol. */
bool doctor_message_read(struct doctor_message *m, const uint8_t *buf, size_t len);

/* A guest that has returned its cookie. */
struct doctor_guest {
	struct ip_addr ip;
	uint16_t port;
	uint64_t nonce, heard; /* `heard` is the time of its last message; 0: this entry is free */
	uint32_t received, overtaken, highest;
};

/* A source address of messages. The address may be forged. */
struct doctor_caller {
	struct ip_addr ip;
	uint64_t heard;		    /* time of its last message; 0: this entry is free */
	uint32_t datagrams, hellos; /* hellos: number since the last message with a cookie */
	bool welcomed;		    /* a guest with this address has returned a cookie */
};

struct doctor_guests {
	uint8_t secret[DOCTOR_SECRET_LEN]; /* random bytes from which cookies are made */
	struct doctor_guest guest[DOCTOR_GUESTS];
	struct doctor_caller caller[DOCTOR_GUESTS];
};

enum doctor_event {
	DOCTOR_NOTHING,
	DOCTOR_WELCOME, /* a guest with this address has returned a cookie for the first time */
	DOCTOR_DEAF,	/* a guest repeats its hello, so it does not receive the answers */
};

/*
 * Handles a datagram, and writes the answer over it. Returns the length of the answer, at most len,
 * or 0 if there is no answer. Sets *event to an event that the caller prints.
 */
size_t doctor_guests_answer(struct doctor_guests *g, const struct ip_addr *ip, uint16_t port,
			    uint64_t now, uint8_t *buf, size_t len, enum doctor_event *event);

/* Returns the number of datagrams that have come from this address. */
uint32_t doctor_guests_heard(const struct doctor_guests *g, const struct ip_addr *ip);

#endif
