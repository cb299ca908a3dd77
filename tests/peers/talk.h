/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_TALK_H
#define PEERS_TALK_H
/*
 * The commands between the two ends, in Sends. The foreign end sends commands; rnic-side executes
 * and answers them. Both ends are on machines of the same byte order.
 *
 * Each end has a memory of MEMORY bytes. All of it is background, pattern(0, i), except the range
 * in use. A byte written outside of the range is thus detected.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LARGEST (2u << 20) /* bytes of a message */
#define MEMORY (LARGEST + 65536)

/* The private data of each side's Initiate, Accept or Reject. */
#define FOREIGN_TEXT "a foreign stack"
#define RNIC_TEXT "sctpiw"

enum talk {
	TALK_HELLO = 1, /* the answer has addr and rkey of rnic-side's memory */
	/*
	 * Expects a Send of this length and pattern. The answer has the rkey if the Send
	 * invalidated it.
	 */
	TALK_EXPECT,
	TALK_SEND,     /* sends length bytes of the pattern, then answers */
	TALK_SEND_INV, /* the same with Invalidate of rkey, solicited */
	TALK_FILL,     /* writes the pattern at offset */
	TALK_CHECK, /* checks the pattern at offset and the background elsewhere, then wipes it */
	TALK_WRITE, /* RDMA Writes the pattern to addr and rkey, then answers */
	TALK_READ,  /* RDMA Reads from there in count pieces, checks, then answers */
	TALK_FLOOD, /* answers, then Writes and Reads there without end */
	TALK_DISCONNECT, /* does not answer, but calls rdma_disconnect() */
};

/* A Send of the foreign end. */
struct command {
	uint32_t what;	 /* enum talk */
	uint32_t seed;	 /* of the pattern */
	uint32_t offset; /* in rnic-side's memory */
	uint32_t length;
	uint64_t addr; /* in the foreign end's memory */
	uint32_t rkey;
	uint32_t count; /* TALK_READ: pieces */
};

/* A Send of rnic-side. */
struct answer {
	uint32_t what;	/* enum talk of the command */
	int32_t status; /* 0: success */
	uint64_t addr;	/* TALK_HELLO: of its memory */
	uint32_t rkey;
	uint32_t size; /* bytes of that memory */
};

/* Returns byte i of the pattern of a seed. */
static inline uint8_t pattern(uint32_t seed, uint32_t i)
{
	uint32_t x = (i + 1) * 2654435761u ^ seed * 2246822519u;

	return (uint8_t)(x >> 24 ^ x >> 11);
}

/* Write len bytes of a pattern to p; return true if p has these bytes. */
static inline void fill(uint8_t *p, uint32_t seed, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		p[i] = pattern(seed, i);
}

static inline bool filled(const uint8_t *p, uint32_t seed, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		if (p[i] != pattern(seed, i))
			return false;
	return true;
}

/* Writes the background to a range of a memory. */
static inline void wipe(uint8_t *memory, const uint8_t *background, uint32_t offset, uint32_t len)
{
	memcpy(memory + offset, background + offset, len);
}

/* True if the pattern is at offset, and the background everywhere else. */
static inline bool intact(const uint8_t *memory, const uint8_t *background, uint32_t seed,
			  uint32_t offset, uint32_t len)
{
	uint32_t behind = offset + len;

	return filled(memory + offset, seed, len) && !memcmp(memory, background, offset) &&
	       !memcmp(memory + behind, background + behind, MEMORY - behind);
}

#endif
