/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sending: batches of packets, each built in place in a send block, which stays
 * pinned until the peer's cumulative TSN has passed all chunks in it.
 *
 * Departure from RFC 9260 6.1 D: there is no Max.Burst of 4 packets. A batch of
 * up to 64 leaves with one system call and comes back with one SACK, so bursts
 * are bounded by cwnd alone.
 */
#include "sctp/internal.h"

/*
 * What is left of a block takes any packet, and a whole batch, or nothing more. At most one half of the memory that is
 * pinned is for nothing.
 */
#define BLOCK_WORTH (SCTP_BLOCK_SIZE / 2)
#define WINDOW_WORTH 512u /* a window smaller than this is not worth a message */

_Static_assert(BLOCK_WORTH > UINT16_MAX, ""); /* what fills a datagram, as a COOKIE ECHO may */

size_t sctp_tx_rwnd_room(const struct sctp_assoc *a)
{
	size_t full = a->path.max_packet - WIRE_SCTP_COMMON_LEN;
	size_t want = full + SCTP_PACKET_OVERHEAD;
	size_t avail = a->peer_rwnd > a->charged ? a->peer_rwnd - a->charged : 0;

	if (avail >= want)
		return full;
	if (!a->charged) {
		if (a->window_probe)
			return full;
		/* The whole window is less than a packet: use it as it is. */
		return avail < WINDOW_WORTH ? 0 : (avail < full ? avail : full) & ~(size_t)3;
	}
	/* No silly windows: wait until half of it is open, or a full packet. */
	if (avail < a->peer_rwnd / 2 || avail < SCTP_PACKET_OVERHEAD + WINDOW_WORTH)
		return 0;
	return (avail - SCTP_PACKET_OVERHEAD) & ~(size_t)3;
}

bool sctp_tx_cwnd_full(const struct sctp_assoc *a)
{
	return a->path.flight >= a->path.cc.cwnd || (a->timeouts && a->path.flight);
}

bool sctp_tx_defers(const struct sctp_assoc *a)
{
	const struct sctp_cc *cc = &a->path.cc;
	uint32_t worth = cc->cwnd / 8 < SCTP_BATCH_BYTES ? cc->cwnd / 8 : SCTP_BATCH_BYTES;

	return a->filled && worth >= cc->pmdcs && a->path.flight + worth > cc->cwnd;
}

bool sctp_tx_window_open(const struct sctp_assoc *a)
{
	return !sctp_tx_cwnd_full(a) && !a->lost &&
	       sctp_outq_count(&a->out) < a->s->config.max_tsn_distance && sctp_tx_rwnd_room(a);
}

void sctp_tx_idle(struct sctp_assoc *a)
{
	if (!a->block || sctp_outq_count(&a->out))
		return;
	sctp_block_unref(&a->s->blocks, a->block);
	a->block = NULL;
}

void sctp_tx_start(struct sctp_assoc *a, uint32_t initial_tsn)
{
	sctp_outq_init(&a->out, initial_tsn);
	a->gap_end = a->out.cum;
	a->lost_from = initial_tsn;
}

void sctp_tx_reset(struct sctp_assoc *a)
{
	sctp_outq_clear(&a->out, &a->s->blocks);
	sctp_tx_idle(a);
	a->path.flight = 0;
	a->charged = 0;
	a->lost = 0;
	a->ref = 0;
	a->gap_acked = 0;
	a->recovering = false;
	a->rtt_running = false;
	a->rack_valid = false;
	a->tlp_doubt = false;
	a->tlp_count = 0;
	a->rescue = 0;
	a->timeouts = 0;
	a->stalled = 0;
	a->window_probe = false;
	a->window_tries = 0;
}

/* The block to build in, with room for any packet. */
static struct sctp_block *build_block(struct sctp_assoc *a)
{
	struct sctp_block *b = a->block;

	if (b && SCTP_BLOCK_SIZE - b->used >= BLOCK_WORTH)
		return b;
	b = sctp_block_get(&a->s->blocks);
	if (!b)
		return NULL;
	if (a->block)
		sctp_block_unref(&a->s->blocks, a->block);
	a->block = b;
	return b;
}

static bool anything(const struct sctp_assoc *a)
{
	return a->state != SCTP_CLOSED && (a->pending || a->lost || a->want_pull || a->control);
}

/*
 * A packet with a little room that no message was cut for ends a batch, unless PAD (RFC 4820) fills it: then the
 * next message goes on behind it. Whether it is worth that, and there is more, behind n packets of total bytes: the
 * packet's new length.
 */
static size_t pad(const struct sctp_tx *tx, size_t len, unsigned int n, size_t total)
{
	size_t gap = tx->limit - len;

	if (!gap || !tx->more || tx->alone || gap > tx->limit / 8 ||
	    n + 1 == SCTP_BATCH_PACKETS || total + 2 * tx->limit > SCTP_BATCH_BYTES ||
	    !sctp_tx_window_open(tx->a))
		return len;
	memset(tx->p + len, 0, gap);
	wire_sctp_chunk_put(tx->p + len, WIRE_SCTP_PAD, 0, gap);
	return tx->limit;
}

/* Packets into the block, and what the batch has to know of them; returns their number. */
static unsigned int build_packets(struct sctp_assoc *a, uint64_t now, struct sctp_block *b,
				  struct sctp_batch *batch)
{
	struct sctp_tx tx = {
		.a = a,
		.now = now,
		.block = b,
		.p = b->data + b->used,
		.limit = a->path.max_packet,
		.first = true,
	};
	size_t total = 0, segment = 0, len;
	unsigned int n = 0, ref;

	a->s->n_refs = 0;
	while (n < SCTP_BATCH_PACKETS && (!n || total + tx.limit <= SCTP_BATCH_BYTES)) {
		ref = a->s->n_refs;
		len = sctp_tx_build(&tx);
		if (!len)
			break;
		len = pad(&tx, len, n, total);
		sctp_zcopy_checksum(&tx, len, ref);
		total += len;
		if (!n++)
			segment = len;
		if (tx.alone || len < segment || !anything(a))
			break;
		/* All segments but the last are equal; what is larger starts a new batch. */
		tx.limit = segment;
		tx.first = false;
		tx.p += len;
	}
	batch->len = total;
	batch->segment = segment;
	batch->df = !tx.oversize;
	batch->n_refs = a->s->n_refs;
	sctp_tx_arm(&tx);
	return n;
}

/* What was built at the end of block b, one packet. */
static int single(struct sctp_assoc *a, struct sctp_block *b, size_t len, const struct path_addr *to,
		  struct sctp_batch *batch)
{
	*batch = (struct sctp_batch){
		.endpoint = a->ep,
		.data = b->data + b->used,
		.len = len,
		.segment = len,
		.to = *to,
		.df = true,
		.block = b,
	};
	b->used += (uint32_t)len;
	b->refs++;
	return 1;
}

/* A path MTU probe, behind all else that may leave: it holds nothing up. */
static int output_probe(struct sctp_assoc *a, uint64_t now, struct sctp_block *b,
			struct sctp_batch *batch)
{
	struct sctp_path *path;
	size_t len;

	path = sctp_mtu_probe_path(a, &len);
	if (!path) {
		sctp_tx_idle(a);
		return 0;
	}
	sctp_mtu_probe_put(a, path, b->data + b->used, len, now);
	return single(a, b, len, &path->addr, batch);
}

/* What goes to another of the peer's addresses than the one in use. */
static int output_other(struct sctp_assoc *a, uint64_t now, struct sctp_block *b,
			struct sctp_batch *batch)
{
	uint8_t *p = b->data + b->used;
	struct path_addr to;
	size_t len = sctp_paths_packet(a, p, SCTP_BLOCK_SIZE - b->used, now, &to);

	if (!len)
		return 0;
	wire_sctp_checksum_put(p, len);
	return single(a, b, len, &to, batch);
}

int sctp_output(struct sctp_assoc *a, uint64_t now, struct sctp_batch *batch)
{
	struct sctp_block *b;

	if (!anything(a)) {
		sctp_tx_idle(a);
		return 0;
	}
	b = build_block(a);
	if (!b)
		return 0;
	if (a->others && output_other(a, now, b, batch))
		return 1;
	if (!build_packets(a, now, b, batch))
		return output_probe(a, now, b, batch);
	batch->endpoint = a->ep;
	batch->data = b->data + b->used;
	batch->to = a->path.addr;
	batch->block = b;
	batch->ref = a->s->ref;
	b->used += (uint32_t)batch->len;
	b->refs++;
	return 1;
}
