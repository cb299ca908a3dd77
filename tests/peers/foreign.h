/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_FOREIGN_H
#define PEERS_FOREIGN_H
/* Shared by the scenarios of a foreign end. */
#include "iwarp.h"
#include "talk.h"

#define SESSIONS 64 /* maximum */

/* One session, and the memories of its two ends. */
struct peer {
	struct session *s;
	uint8_t *memory; /* MEMORY bytes of this end, with this stag and to for the other end */
	uint32_t stag;
	uint64_t to;
	uint64_t addr; /* of the memory of rnic-side */
	uint32_t rkey;
	uint32_t seed;	 /* of the last data sent or requested */
	uint32_t offset; /* position of the data in either memory */
};

extern struct peer peers[SESSIONS];

/* From the command line. */
extern bool listening;	    /* the other end opens the association, and the sessions */
extern bool plain;	    /* sessions are set up as in RFC 5043, without RFC 6581 */
extern unsigned int rounds; /* of a scenario */

/* A memory without a range in use (talk.h), for comparison. */
extern uint8_t background[MEMORY];

/*
 * Sends a command (enum talk) to rnic-side for len bytes of p's range, without waiting. count: see
 * struct command.
 */
void tell(struct peer *p, uint32_t what, uint32_t len, uint32_t count);
/* Waits for the answer, which must report success. */
struct answer hear(struct peer *p, uint32_t what);
/*
 * Opens all sessions at once, or waits until the other end does. Afterwards both ends know the
 * memories.
 */
void open_sessions(void);
/* Shuts the association down, unless the other end has. The association must end by SHUTDOWN. */
void close_association(void);
/* Returns len bytes of p's pattern, valid until the next call. */
uint8_t *pattern_of(const struct peer *p, uint32_t len);

/* The scenario of errors, in foreign_errors.c: errors that end a session or the association. */
void errors(void);
/* The scenario with rping at the other end, in rping.c. */
void rping(void);

#endif
