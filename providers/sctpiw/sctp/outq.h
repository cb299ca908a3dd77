/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The outstanding DATA chunks: those sent and not yet cumulatively acknowledged. They are kept in a
 * ring that is indexed by TSN and grows on demand. inflight.h explains what the flags mean for the
 * accounts. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_OUTQ_H
#define SCTPIW_SCTP_OUTQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sctp/block.h"

#define SCTP_OUT_ACKED 0x01  /* in a gap block of the last SACK; the peer may still renege */
#define SCTP_OUT_LOST 0x02   /* waits for retransmission; not in flight */
#define SCTP_OUT_RESENT 0x04 /* was sent more than once */
/* first DATA chunk of its packet: counted with the packet's overhead */
#define SCTP_OUT_FIRST 0x08
#define SCTP_OUT_REFERENCED 0x10 /* the end of the image is still in the user's memory (zcopy.c) */
#define SCTP_OUT_VOIDABLE 0x20	 /* the user may cancel it (void.h) */
#define SCTP_OUT_VOID 0x40	 /* the user has cancelled it: its image is not sent again */
/*
 * The chunk was sent on another path before. An acknowledgement may belong to that transmission,
 * and so proves nothing about the present path.
 */
#define SCTP_OUT_MOVED 0x80

struct sctp_out {
	struct sctp_block *block; /* block with the image; the chunk holds one reference */
	uint8_t *chunk;		  /* image of the chunk, from the chunk header on */
	uint64_t sent;		  /* time of the last transmission */
	uint32_t xmit_seq;	  /* number of the packet of the last transmission */
	uint16_t len;		  /* bytes of the chunk with header and padding */
	uint8_t flags;		  /* SCTP_OUT_* */
	uint8_t miss : 4;	  /* miss indications since the last transmission (7.2.4) */
	uint8_t path : 4;	  /* sctp_path.id of the last transmission */
};

struct sctp_outq {
	struct sctp_out *ring;
	uint32_t size; /* a power of two, or 0 */
	uint32_t cum;  /* highest cumulatively acknowledged TSN */
	uint32_t next; /* TSN of the next new chunk */
};

/* Starts with no outstanding chunk. Keeps the memory of the ring. */
void sctp_outq_init(struct sctp_outq *q, uint32_t initial_tsn);
/* Enlarges the ring. Returns false when out of memory. */
bool sctp_outq_grow(struct sctp_outq *q);
/*
 * Releases the blocks of all chunks, and frees the ring. No chunk is outstanding afterwards; `next`
 * stays unchanged.
 */
void sctp_outq_clear(struct sctp_outq *q, struct sctp_block_pool *pool);

static inline uint32_t sctp_outq_count(const struct sctp_outq *q)
{
	return q->next - 1 - q->cum;
}

/* Makes room for one more chunk. Returns false when out of memory. */
static inline bool sctp_outq_reserve(struct sctp_outq *q)
{
	return sctp_outq_count(q) < q->size || sctp_outq_grow(q);
}

/* Returns the chunk with an outstanding TSN: cum < tsn < next. */
static inline struct sctp_out *sctp_outq_at(const struct sctp_outq *q, uint32_t tsn)
{
	return &q->ring[tsn & (q->size - 1)];
}

static inline bool sctp_outq_has(const struct sctp_outq *q, uint32_t tsn)
{
	return tsn - q->cum - 1 < sctp_outq_count(q);
}

#endif
