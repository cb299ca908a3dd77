/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sending: builds batches of packets in place, in a send block. A block stays pinned until the
 * peer's cumulative TSN has passed all chunks in the block.
 *
 * Departure from RFC 9260 6.1 D: Max.Burst (4 packets) is not used. A batch of up to 64 packets
 * leaves with one system call, and causes at most one SACK. So only cwnd limits bursts.
 */
#include "sctp/tx.h"

#include "sctp/control.h"
#include "sctp/mtu.h"
#include "sctp/spread.h"
#include "sctp/tx_build.h"

/*
 * A block with less room than this gets no more packets. So any packet, and any complete batch,
 * fits into the block in use. At most half of the pinned memory is wasted.
 */
#define BLOCK_WORTH (SCTP_BLOCK_SIZE / 2)

_Static_assert(BLOCK_WORTH > UINT16_MAX, "a COOKIE ECHO may fill a datagram");

void sctp_tx_start(struct sctp_assoc *a, uint32_t initial_tsn)
{
	sctp_inflight_start(a, initial_tsn);
}

void sctp_tx_idle(struct sctp_assoc *a)
{
	if (!a->tx.block || sctp_outq_count(&a->out))
		return;
	sctp_block_unref(&a->s->blocks, a->tx.block);
	a->tx.block = NULL;
}

void sctp_tx_reset(struct sctp_assoc *a)
{
	sctp_outq_clear(&a->out, &a->s->blocks);
	sctp_tx_idle(a);
	a->tx = (struct sctp_sender){ 0 };
	a->s->in_flight -= a->window.rwnd_outstanding;
	a->window = (struct sctp_window){ 0 };
	sctp_inflight_start(a, a->out.next);
	a->recovery = (struct sctp_recovery){ 0 };
	for (unsigned int i = 0; i <= a->paths.others; i++) {
		sctp_path_at(a, i)->flight = 0;
		sctp_recovery_clear(&sctp_path_at(a, i)->recovery);
	}
}

/* Returns a block with room for any packet, or NULL when out of memory. */
static struct sctp_block *build_block(struct sctp_assoc *a)
{
	struct sctp_block *b = a->tx.block;

	if (b && SCTP_BLOCK_SIZE - b->used >= BLOCK_WORTH)
		return b;
	b = sctp_block_get(&a->s->blocks);
	if (!b)
		return NULL;
	if (a->tx.block)
		sctp_block_unref(&a->s->blocks, a->tx.block);
	a->tx.block = b;
	return b;
}

static bool anything(const struct sctp_assoc *a)
{
	return a->state != SCTP_CLOSED &&
	       (a->pending || a->inflight.lost || a->want_pull || a->control);
}

/* True if a batch may have this many packets of `total` bytes, with the carrier's overhead. */
static bool fits_batch(const struct sctp_assoc *a, unsigned int packets, size_t total)
{
	return packets <= SCTP_BATCH_PACKETS &&
	       total + (size_t)packets * a->s->config.overhead <= SCTP_BATCH_BYTES;
}

/*
 * Fills the rest of a packet with a PAD chunk (RFC 4820), so that the batch can continue: a packet
 * that is shorter than the others would end the batch. This is done only if the rest is small,
 * because no message fits into it, and if another packet will follow. total: bytes of the packets
 * before this one. Returns the length of the packet.
 */
static size_t pad(const struct sctp_tx *tx, size_t len, size_t total)
{
	const struct sctp_tx_packet *pkt = &tx->pkt;
	size_t gap = pkt->limit - len;

	if (!gap || !pkt->more || pkt->alone || gap > pkt->limit / 8 ||
	    !fits_batch(tx->a, tx->built + 2, total + 2 * pkt->limit) ||
	    !sctp_window_open(tx->a, tx->path))
		return len;
	memset(pkt->p + len, 0, gap);
	wire_sctp_chunk_put(pkt->p + len, WIRE_SCTP_PAD, 0, gap);
	return pkt->limit;
}

/* Builds packets in the block, and fills in the batch. Returns the number of packets. */
static unsigned int build_packets(struct sctp_assoc *a, struct sctp_path *path, uint64_t now,
				  struct sctp_block *b, struct sctp_batch *batch)
{
	struct sctp_tx tx = { .a = a, .path = path, .now = now, .block = b };
	size_t total = 0, segment = 0, limit = path->mtu.max_packet, len;
	unsigned int first_ref;

	a->s->refs.count = 0;
	batch->df = true;
	while (!tx.built || fits_batch(a, tx.built + 1, total + limit)) {
		first_ref = a->s->refs.count;
		len = sctp_tx_build(&tx, b->data + b->used + total, limit);
		if (!len)
			break;
		batch->df = !tx.pkt.oversize && !sctp_mtu_at_floor(path);
		len = pad(&tx, len, total);
		sctp_zcopy_checksum(&tx, len, first_ref);
		total += len;
		if (!tx.built++)
			segment = len;
		if (tx.pkt.alone || len < segment || !anything(a))
			break;
		/* All packets but the last have one length. A longer packet starts a new batch. */
		limit = segment;
	}
	batch->len = total;
	batch->segment = segment;
	batch->n_refs = a->s->refs.count;
	batch->hops = 0;
	batch->to = path->addr;
	sctp_tx_build_done(&tx);
	return tx.built;
}

/* Makes a batch of one packet. The packet is at the end of the block. */
static void single(struct sctp_assoc *a, struct sctp_block *b, size_t len,
		   const struct path_addr *to, struct sctp_batch *batch)
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
}

/* Sends a path MTU probe, if there is nothing else to send, so that it delays nothing. */
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
	single(a, b, len, &path->addr, batch);
	return 1;
}

/* Sends the packet of sctp_paths_packet(), if there is one. */
static int output_other(struct sctp_assoc *a, uint64_t now, struct sctp_block *b,
			struct sctp_batch *batch)
{
	uint8_t *p = b->data + b->used;
	struct path_addr to;
	size_t len = sctp_paths_packet(a, p, SCTP_BLOCK_SIZE - b->used, now, &to);

	if (!len)
		return 0;
	wire_sctp_checksum_put(p, len);
	single(a, b, len, &to, batch);
	batch->df = !sctp_mtu_at_floor(sctp_paths_find(a, &to.remote));
	return 1;
}

/*
 * Builds packets for the path whose turn it is. If the path has nothing to send although its window
 * is open, a slower path may block the association.
 */
static bool output_packets(struct sctp_assoc *a, uint64_t now, struct sctp_block *b,
			   struct sctp_batch *batch)
{
	struct sctp_path *path = a->paths.joined ? sctp_spread_choose(a) : a->path;

	while (path) {
		if (build_packets(a, path, now, b, batch))
			return true;
		if (!a->paths.joined || !sctp_spread_unblock(a, path, now))
			path = NULL;
	}
	return false;
}

/*
 * Requests a SACK in a packet without other chunks, on the path of the newest DATA. The last packet
 * with DATA has not requested a SACK, because more DATA was to follow. But no more DATA can leave
 * now.
 */
static int output_ask(struct sctp_assoc *a, uint64_t now, struct sctp_block *b,
		      struct sctp_batch *batch)
{
	const struct wire_sctp_common h = sctp_assoc_header(a);
	uint8_t *p = b->data + b->used;
	struct sctp_path *path;
	size_t len;

	a->tx.must_ask = false;
	if (!sctp_outq_count(&a->out) || !sctp_in_states(a, SCTP_STATES_SEND))
		return 0;
	wire_sctp_common_put(p, &h);
	len = WIRE_SCTP_COMMON_LEN + sctp_receipts_ask_put(p + WIRE_SCTP_COMMON_LEN);
	wire_sctp_checksum_put(p, len);
	path = sctp_path_of(a, sctp_outq_at(&a->out, a->out.next - 1));
	if (!path->joined) /* the path may have failed since */
		path = a->path;
	single(a, b, len, &path->addr, batch);
	path->recovery.unasked = a->tx.unasked = 0;
	path->recovery.sack_requested = true;
	sctp_recovery_arm_probe(a, path, now);
	return 1;
}

int sctp_output(struct sctp_assoc *a, uint64_t now, struct sctp_batch *batch)
{
	struct sctp_block *b;

	batch->seen = false;
	if (!anything(a) && !a->tx.must_ask) {
		sctp_tx_idle(a);
		return 0;
	}
	b = build_block(a);
	if (!b)
		return 0;
	if ((a->paths.others || a->pending & SCTP_PEND_ASCONF || sctp_path_in_doubt(a)) &&
	    output_other(a, now, b, batch))
		return 1;
	if (sctp_path_in_doubt(a)) {
		sctp_tx_idle(a);
		return 0;
	}
	if (!output_packets(a, now, b, batch)) {
		if (a->tx.must_ask && output_ask(a, now, b, batch))
			return 1;
		return output_probe(a, now, b, batch);
	}
	batch->endpoint = a->ep;
	batch->data = b->data + b->used;
	batch->block = b;
	batch->refs = a->s->refs.ref;
	b->used += (uint32_t)batch->len;
	b->refs++;
	return 1;
}
