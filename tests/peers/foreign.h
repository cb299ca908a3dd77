/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_FOREIGN_H
#define PEERS_FOREIGN_H
/* What the scenarios of a foreign end share. */
#include "iwarp.h"
#include "talk.h"

#define SESSIONS 64 /* at most */

/* One session, and the memories of its two ends. */
struct peer {
	struct session *s;
	uint8_t *memory; /* MEMORY bytes of this end, which stag and to name for the other */
	uint32_t stag;
	uint64_t to;
	uint64_t addr; /* of the memory of rnic-side */
	uint32_t rkey;
	uint32_t seed;	 /* of the data that was sent or asked for last */
	uint32_t offset; /* where it goes in either memory */
};

extern struct peer peers[SESSIONS];

/* From the command line. */
extern bool listening;	    /* the other end opens the association, and the sessions */
extern bool plain;	    /* sessions are set up in the plain way of RFC 5043, not by RFC 6581 */
extern unsigned int rounds; /* of a scenario */

/* A memory without a range in use (talk.h), to compare with. */
extern uint8_t background[MEMORY];

/*
 * Tells rnic-side what to do (enum talk) with len bytes of p's range, and does not wait. count: as
 * struct command has it.
 */
void tell(struct peer *p, uint32_t what, uint32_t len, uint32_t count);
/* Waits for the answer to that, which must say that all was as it should be. */
struct answer hear(struct peer *p, uint32_t what);
/* Opens all sessions at once, or waits for the other end to do so. Both ends then know the memories. */
void open_sessions(void);
/* Shuts the association down, unless the other end has; it must end so. */
void close_association(void);
/* Returns len bytes of the pattern that belongs to p, until the next call. */
uint8_t *pattern_of(const struct peer *p, uint32_t len);

/* The scenario of errors, in foreign_errors.c: what ends a session or the association. */
void errors(void);
/* The scenario whose other end is rping, in rping.c. */
void rping(void);

#endif
