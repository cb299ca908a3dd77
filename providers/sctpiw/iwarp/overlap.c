/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/overlap.h"

#include <string.h>

#include "iwarp/mr.h"
#include "iwarp/session_rx.h"
#include "util/serial.h"

/* A bit map of the payload. A byte's bit is set if a later message has placed the byte. */
#define WORD_BITS 64u
#define WORDS (IW_SEGMENT_MAX / WORD_BITS + 1)

static uint32_t word_end(uint32_t at)
{
	return (at | (WORD_BITS - 1)) + 1;
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void mark(uint64_t *bits, uint32_t from, uint32_t to)
{
	for (; from < to; from = word_end(from)) {
		uint32_t n = lesser(to, word_end(from)) - from;

		bits[from / WORD_BITS] |= (UINT64_MAX >> (WORD_BITS - n)) << from % WORD_BITS;
	}
}

/* Returns the first byte in [from, len) whose bit equals marked; len if no byte does. */
static uint32_t find(const uint64_t *bits, uint32_t from, uint32_t len, bool marked)
{
	for (; from < len; from = word_end(from)) {
		uint64_t word = bits[from / WORD_BITS];
		uint64_t rest = (marked ? word : ~word) >> from % WORD_BITS;

		if (rest)
			return lesser(len, from + (uint32_t)__builtin_ctzll(rest));
	}
	return len;
}

/*
 * Returns the memory of a placed message's payload. Returns NULL if the message has no payload in
 * tagged memory, or if its STag is invalid. Also returns NULL for the STag of a read into several
 * SGEs; no other message uses that read's sink.
 */
static const uint8_t *placed_at(const struct iw_session *s, const struct iw_rx_rec *rec)
{
	const struct iw_mr *mr;

	if (!ddp_is_tagged(rec->control) || !rec->len)
		return NULL;
	mr = iw_mr_find(s->shard->rnic, rec->stag);
	return mr && iw_mr_covers(mr, iw_rec_to(rec), rec->len) ? iw_mr_at(mr, iw_rec_to(rec)) :
								  NULL;
}

/*
 * Finds the bytes that later messages have placed, among the segment's len bytes at `to`. Sets the
 * bits of these bytes. Returns false, without changing the bits, if later messages have placed none
 * of the bytes.
 */
static bool mark_placed(const struct iw_session *s, uint16_t ssn, const uint8_t *to, uint32_t len,
			uint64_t *bits)
{
	const struct iw_rx_order *o = &s->rx.order;
	uintptr_t begin = (uintptr_t)to, end = begin + len;
	bool any = false;

	while (serial16_lt(ssn, o->last)) {
		const struct iw_rx_rec *rec = iw_rx_order_at(o, ++ssn);
		uintptr_t first = (uintptr_t)placed_at(s, rec), behind = first + rec->len;

		if (!first || first >= end || behind <= begin)
			continue;
		if (!any)
			memset(bits, 0, (len / WORD_BITS + 1) * sizeof(*bits));
		any = true;
		mark(bits, first > begin ? (uint32_t)(first - begin) : 0,
		     behind < end ? (uint32_t)(behind - begin) : len);
	}
	return any;
}

int iw_overlap_copy(struct iw_session *s, uint8_t *to, const struct iw_segment *seg)
{
	uint32_t len = seg->payload_len, from, end;
	uint64_t bits[WORDS];
	int err = 0;

	if (!mark_placed(s, seg->ssn, to, len, bits))
		return s->shard->rnic->ops.place(to, seg->payload, len);
	for (from = find(bits, 0, len, false); from < len && !err;
	     from = find(bits, end, len, false)) {
		end = find(bits, from, len, true);
		err = s->shard->rnic->ops.place(to + from, seg->payload + from, end - from);
	}
	return err;
}
