/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Send blocks: the memory that packets are built in, sent from and kept in until
 * the peer has acknowledged them for good. Freed blocks are used again last in,
 * first out, so that a small window stays in the L2 cache. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_BLOCK_H
#define SCTPIW_SCTP_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#define SCTP_BLOCK_SIZE (128u << 10)
#define SCTP_BLOCKS_KEPT 64u /* free blocks; more go back to the system */

struct sctp_block {
	struct sctp_block *next; /* in the free list */
	/* of the one who builds in it, of batches being sent, of chunks outstanding */
	uint32_t refs;
	uint32_t used; /* bytes of data[] that are built */
	_Alignas(64) uint8_t data[SCTP_BLOCK_SIZE];
};

struct sctp_block_pool {
	struct sctp_block *free;
	unsigned int count; /* in the free list */
};

/* Returns an empty block with one reference, or NULL when out of memory. */
struct sctp_block *sctp_block_get(struct sctp_block_pool *pool);
/* Frees the free blocks. */
void sctp_block_pool_fini(struct sctp_block_pool *pool);
/* Takes back a block without references; only sctp_block_unref() calls it. */
void sctp_block_recycle(struct sctp_block_pool *pool, struct sctp_block *b);

/* Gives up one reference. */
static inline void sctp_block_unref(struct sctp_block_pool *pool, struct sctp_block *b)
{
	if (--b->refs == 0)
		sctp_block_recycle(pool, b);
}

#endif
