/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PEERS_TALK_H
#define PEERS_TALK_H
/*
 * What the two ends say to each other in Sends: the foreign end tells what is to be done, rnic-side
 * does it and answers. Both are on machines of the same byte order.
 *
 * Both ends have a memory of MEMORY bytes that is all background, i.e. pattern(0, i), but for the
 * range at hand: so a byte that lands beside it is found.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LARGEST (2u << 20)
#define MEMORY  (LARGEST + 65536)

/* Private data of each side's Initiate, Accept or Reject. */
#define FOREIGN_TEXT "a foreign stack"
#define RNIC_TEXT    "sctpiw"

enum talk {
	TALK_HELLO = 1, /* the answer tells addr and rkey of rnic-side's memory */
	TALK_EXPECT, /* the next Send is to be of this length and pattern; the answer tells rkey if
	                it invalidated */
	TALK_SEND,   /* Send length bytes of pattern, then the answer */
	TALK_SEND_INV,   /* ... with Invalidate of rkey, solicited */
	TALK_FILL,       /* put the pattern at offset */
	TALK_CHECK,      /* is it at offset, and nothing beside it? Then wipe it */
	TALK_WRITE,      /* RDMA Write the pattern to addr and rkey, then the answer */
	TALK_READ,       /* RDMA Read from there in count pieces, check, then the answer */
	TALK_FLOOD,      /* after the answer: Write and Read there without end */
	TALK_DISCONNECT, /* instead of an answer: rdma_disconnect() */
};

struct command {
	uint32_t what;
	uint32_t seed;
	uint32_t offset; /* in rnic-side's memory */
	uint32_t length;
	uint64_t addr; /* the foreign end's memory */
	uint32_t rkey;
	uint32_t count;
};

struct answer {
	uint32_t what;
	int32_t status; /* 0 when it was as it should be */
	uint64_t addr;
	uint32_t rkey;
	uint32_t size;
};

static inline uint8_t pattern(uint32_t seed, uint32_t i)
{
	uint32_t x = (i + 1) * 2654435761u ^ seed * 2246822519u;

	return (uint8_t)(x >> 24 ^ x >> 11);
}

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

/* Puts the background back into a range of a memory. */
static inline void wipe(uint8_t *memory, const uint8_t *background, uint32_t offset, uint32_t len)
{
	memcpy(memory + offset, background + offset, len);
}

/* Is the pattern at offset and the background everywhere else? */
static inline bool intact(const uint8_t *memory, const uint8_t *background, uint32_t seed,
                          uint32_t offset, uint32_t len)
{
	uint32_t behind = offset + len;

	return filled(memory + offset, seed, len) && !memcmp(memory, background, offset) &&
	       !memcmp(memory + behind, background + behind, MEMORY - behind);
}

#endif
