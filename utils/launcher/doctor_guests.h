/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The messages between "sctpiw doctor HOST" and "sctpiw doctor --listen", and what the listener answers
 * (docs/wire.md). It never sends more bytes than it got, and nothing but a cookie to those that have not shown that
 * they see its answers. No sockets and no clock here; times are ns.
 */
#ifndef UTILS_LAUNCHER_DOCTOR_GUESTS_H
#define UTILS_LAUNCHER_DOCTOR_GUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/addr.h"

#define DOCTOR_MESSAGE_LEN 48 /* bytes; probes and echoes may have more behind them */
#define DOCTOR_COOKIE_LEN 16
#define DOCTOR_SECRET_LEN 32
#define DOCTOR_GUESTS 64
#define DOCTOR_HELLOS_DEAF 3 /* after so many in a row a guest does not see the answers */

enum doctor_type {
	DOCTOR_HELLO = 1, /* asks for a cookie */
	DOCTOR_COOKIE,	  /* answers that */
	DOCTOR_PROBE,	  /* is counted, and sent back */
	DOCTOR_ECHO,	  /* that */
	DOCTOR_COUNT,	  /* asks how many probes have come */
	DOCTOR_COUNTED,	  /* answers that */
};

struct doctor_message {
	uint8_t type;
	uint64_t nonce; /* chosen by the guest, for all that it sends */
	uint8_t cookie[DOCTOR_COOKIE_LEN];
	uint32_t sequence;  /* of a probe and its echo */
	uint32_t received;  /* in answers: how many probes of this nonce have come */
	uint32_t overtaken; /* in answers: how many of them came behind one with a higher sequence */
};

/* Writes DOCTOR_MESSAGE_LEN bytes. */
void doctor_message_write(const struct doctor_message *m, uint8_t *buf);
/* False if it is none. */
bool doctor_message_read(struct doctor_message *m, const uint8_t *buf, size_t len);

/* One that has shown its cookie. */
struct doctor_guest {
	struct ip_addr ip;
	uint16_t port;
	uint64_t nonce, heard; /* heard: when last; 0: this entry is free */
	uint32_t received, overtaken, highest;
};

/* An address from which something has come, by its own account. */
struct doctor_caller {
	struct ip_addr ip;
	uint64_t heard;		    /* when last; 0: this entry is free */
	uint32_t datagrams, hellos; /* hellos: since it last showed a cookie */
	bool welcomed;		    /* it has shown a cookie */
};

struct doctor_guests {
	uint8_t secret[DOCTOR_SECRET_LEN]; /* random octets, for cookies */
	struct doctor_guest guest[DOCTOR_GUESTS];
	struct doctor_caller caller[DOCTOR_GUESTS];
};

enum doctor_event {
	DOCTOR_NOTHING,
	DOCTOR_WELCOME, /* for the first time this address has shown a cookie */
	DOCTOR_DEAF,	/* it asks again and again: it does not see the answers */
};

/*
 * Takes a datagram and makes the answer in its place. Returns how many bytes are to be sent back, len at most, or 0.
 * *event: what is worth a line.
 */
size_t doctor_guests_answer(struct doctor_guests *g, const struct ip_addr *ip, uint16_t port,
			    uint64_t now, uint8_t *buf, size_t len, enum doctor_event *event);

/* How many datagrams have come from this address, as far as that is remembered. */
uint32_t doctor_guests_heard(const struct doctor_guests *g, const struct ip_addr *ip);

#endif
