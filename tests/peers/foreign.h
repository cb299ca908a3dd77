/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_FOREIGN_H
#define PEERS_FOREIGN_H
/* What the scenarios of a foreign end share. */
#include "iwarp.h"

#define SESSIONS 64

/* One session, and the memories of its two ends. */
struct peer {
	struct session *s;
	uint8_t *memory;
	uint32_t stag;
	uint64_t to;
	uint64_t addr; /* theirs */
	uint32_t rkey;
	uint32_t seed;	 /* of the data that was sent or asked for last */
	uint32_t offset; /* where it goes in either memory */
};

extern struct peer peers[SESSIONS];

/* From the command line. */
extern bool listening, plain;
extern unsigned int rounds;

/* The other end is rping. */
void rping(void);

#endif
