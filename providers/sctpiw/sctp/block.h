/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Send blocks: the memory in which packets are built, and from which they are sent. A block is kept
 * until the peer has cumulatively acknowledged all chunks in it. The block that was freed last is
 * reused first. So the blocks of a small window stay in the L2 cache. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_BLOCK_H
#define SCTPIW_SCTP_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#define SCTP_BLOCK_SIZE (128u << 10)
#define SCTP_BLOCKS_KEPT 64u /* maximum length of the free list; further blocks are freed */

struct sctp_block {
	struct sctp_block *next; /* in the free list */
	/* Number of holders: the builder, batches being sent, and outstanding chunks. */
	uint32_t refs;
	uint32_t used; /* bytes of data[] already built */
	_Alignas(64) uint8_t data[SCTP_BLOCK_SIZE];
};

struct sctp_block_pool {
	struct sctp_block *free;
	unsigned int count; /* length of the free list */
};

/* Returns an empty block with one reference, or NULL when out of memory. */
struct sctp_block *sctp_block_get(struct sctp_block_pool *pool);
void sctp_block_pool_fini(struct sctp_block_pool *pool);
/* Takes back a block that has no references. Only sctp_block_unref() calls this. */
void sctp_block_recycle(struct sctp_block_pool *pool, struct sctp_block *b);

static inline void sctp_block_unref(struct sctp_block_pool *pool, struct sctp_block *b)
{
	if (--b->refs == 0)
		sctp_block_recycle(pool, b);
}

#endif
