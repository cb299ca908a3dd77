/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/block.h"

#include <stdlib.h>

struct sctp_block *sctp_block_get(struct sctp_block_pool *pool)
{
	struct sctp_block *b = pool->free;

	if (b) {
		pool->free = b->next;
		pool->count--;
	} else {
		b = aligned_alloc(_Alignof(struct sctp_block), sizeof(*b));
		if (!b)
			return NULL;
	}
	b->next = NULL;
	b->refs = 1;
	b->used = 0;
	return b;
}

void sctp_block_recycle(struct sctp_block_pool *pool, struct sctp_block *b)
{
	if (pool->count >= SCTP_BLOCKS_KEPT) {
		free(b);
		return;
	}
	b->next = pool->free;
	pool->free = b;
	pool->count++;
}

void sctp_block_pool_fini(struct sctp_block_pool *pool)
{
	while (pool->free) {
		struct sctp_block *b = pool->free;

		pool->free = b->next;
		free(b);
	}
	pool->count = 0;
}
