/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/outq.h"

#include <stdlib.h>

#include "util/alloc.h"

#define MIN_SIZE 16u

void sctp_outq_init(struct sctp_outq *q, uint32_t initial_tsn)
{
	q->cum = initial_tsn - 1;
	q->next = initial_tsn;
}

bool sctp_outq_grow(struct sctp_outq *q)
{
	struct sctp_outq bigger = *q;
	uint32_t tsn;

	bigger.size = q->size ? 2 * q->size : MIN_SIZE;
	bigger.ring = alloc_lines_unset(bigger.size * sizeof(*bigger.ring));
	if (!bigger.ring)
		return false;
	for (tsn = q->cum + 1; tsn != q->next; tsn++)
		*sctp_outq_at(&bigger, tsn) = *sctp_outq_at(q, tsn);
	free(q->ring);
	*q = bigger;
	return true;
}

void sctp_outq_clear(struct sctp_outq *q, struct sctp_block_pool *pool)
{
	uint32_t tsn;

	for (tsn = q->cum + 1; tsn != q->next; tsn++)
		sctp_block_unref(pool, sctp_outq_at(q, tsn)->block);
	free(q->ring);
	q->ring = NULL;
	q->size = 0;
	q->cum = q->next - 1;
}
