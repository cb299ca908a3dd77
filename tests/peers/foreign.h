/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_FOREIGN_H
#define PEERS_FOREIGN_H
/* What the scenarios of a foreign end share. */
#include "iwarp.h"
#include "talk.h"

#define SESSIONS 64

/* One session, and the memories of its two ends. */
struct peer {
	struct session *s;
	uint8_t *memory; /* of this end, which stag and to name for the other */
	uint32_t stag;
	uint64_t to;
	uint64_t addr; /* of the memory of rnic-side */
	uint32_t rkey;
	uint32_t seed;	 /* of the data that was sent or asked for last */
	uint32_t offset; /* where it goes in either memory */
};

extern struct peer peers[SESSIONS];

/* From the command line. */
extern bool listening, plain;
extern unsigned int rounds;

/* All background, and never changed. */
extern uint8_t background[MEMORY];

/* Tells rnic-side what to do (enum talk) with len bytes of p's range; waits for the answer. */
void tell(struct peer *p, uint32_t what, uint32_t len, uint32_t count);
struct answer hear(struct peer *p, uint32_t what);
/* Opens all sessions at once; shuts the association down, which must end so. */
void open_sessions(void);
void close_association(void);
/* Returns len bytes of the pattern that belongs to p, until the next call. */
uint8_t *pattern_of(const struct peer *p, uint32_t len);

/* The scenario of errors, in foreign_errors.c. */
void errors(void);
/* The scenario whose other end is rping, in rping.c. */
void rping(void);

#endif
