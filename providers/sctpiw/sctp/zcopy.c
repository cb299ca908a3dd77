/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * If a chunk references the user's memory, the send block has a gap in place of the referenced
 * bytes. A note at the end of the gap has the address of these bytes. The bytes are copied into the
 * gap only if the chunk must be sent again, or if the user needs its memory. A chunk that becomes
 * void is copied only if its first packet was not sent yet.
 *
 * If the memory changes between checksum and transmission, the peer drops the packet. So after a
 * loss, the next messages are copied. After each further loss, twice as many messages are copied.
 */
#include "sctp/zcopy.h"

#include <assert.h>
#include <string.h>

#include "sctp/tx_build.h"
#include "util/crc32c.h"

/* Number of messages copied after the first loss, and its maximum after more losses. */
#define COPIES_FIRST 1024u
#define COPIES_MOST (1u << 20)

/* The note at the end of the gap. */
struct note {
	const uint8_t *from;
	uint32_t len;
};

_Static_assert(sizeof(struct note) <= SCTP_ZCOPY_MIN, "the gap holds the note");

void sctp_zcopy_add(struct sctp_tx *tx, struct sctp_out *o, const struct sctp_msg *msg)
{
	const struct note note = { msg->zcopy, msg->zcopy_len };
	struct sctp_assoc *a = tx->a;
	uint8_t *end = wire_sctp_data_end(o->chunk);

	assert(a->s->refs.count < SCTP_BATCH_REFS && note.len >= SCTP_ZCOPY_MIN &&
	       end - note.len >= o->chunk + WIRE_SCTP_DATA_LEN);
	memcpy(end - sizeof(note), &note, sizeof(note));
	o->flags |= SCTP_OUT_REFERENCED;
	a->inflight.referenced++;
	a->s->refs.ref[a->s->refs.count++] =
		(struct sctp_ref){ end - note.len, note.from, note.len };
	if (a->zcopy.copies_next > COPIES_FIRST && ++a->zcopy.lossless == a->zcopy.copies_next) {
		a->zcopy.copies_next /= 2;
		a->zcopy.lossless = 0;
	}
}

void sctp_zcopy_checksum(struct sctp_tx *tx, size_t len, unsigned int first)
{
	struct sctp *s = tx->a->s;
	const uint8_t *p = tx->pkt.p;
	uint32_t crc = 0;

	for (unsigned int i = first; i < s->refs.count; i++) {
		const struct sctp_ref *ref = &s->refs.ref[i];

		crc = crc32c_add(crc, p, (size_t)(ref->at - p));
		if (!s->ops.checksum(&crc, ref->from, ref->len)) {
			sctp_assoc_copy_out(tx->a);
			s->refs.count = 0;
			wire_sctp_checksum_put(tx->pkt.p, len);
			return;
		}
		p = ref->at + ref->len;
	}
	wire_sctp_checksum_set(tx->pkt.p, crc32c_add(crc, p, (size_t)(tx->pkt.p + len - p)));
}

/* Returns the gap of a chunk that references memory. *note is the note at the end of the gap. */
static uint8_t *find_gap(struct sctp_out *o, struct note *note)
{
	uint8_t *end = wire_sctp_data_end(o->chunk);

	memcpy(note, end - sizeof(*note), sizeof(*note));
	return end - note->len;
}

void sctp_zcopy_copy_out(struct sctp_assoc *a, struct sctp_out *o)
{
	struct sctp *s = a->s;
	struct note note;
	uint8_t *at;

	if (!(o->flags & SCTP_OUT_REFERENCED))
		return;
	at = find_gap(o, &note);
	s->ops.copy_out(o->chunk + WIRE_SCTP_DATA_LEN, at, note.from, note.len);
	/* The chunk may be in a batch under construction. Let the batch use the copy, too. */
	for (unsigned int i = 0; i < s->refs.count; i++)
		if (s->refs.ref[i].at == at)
			s->refs.ref[i].from = at;
	o->flags &= (uint8_t)~SCTP_OUT_REFERENCED;
	a->inflight.referenced--;
}

void sctp_zcopy_release(struct sctp_assoc *a, struct sctp_out *o)
{
	const struct sctp *s = a->s;
	struct note note;
	const uint8_t *at;

	if (!(o->flags & SCTP_OUT_REFERENCED))
		return;
	at = find_gap(o, &note);
	for (unsigned int i = 0; i < s->refs.count; i++) {
		if (s->refs.ref[i].at == at) { /* its batch was not sent yet */
			sctp_zcopy_copy_out(a, o);
			return;
		}
	}
	o->flags &= (uint8_t)~SCTP_OUT_REFERENCED;
	a->inflight.referenced--;
}

void sctp_zcopy_lost(struct sctp_assoc *a)
{
	a->zcopy.lossless = 0;
	if (a->zcopy.copies)
		return;
	if (!a->zcopy.copies_next)
		a->zcopy.copies_next = COPIES_FIRST;
	a->zcopy.copies = a->zcopy.copies_next;
	if (a->zcopy.copies_next < COPIES_MOST)
		a->zcopy.copies_next *= 2;
}

void sctp_assoc_copy_out(struct sctp_assoc *a)
{
	for (uint32_t tsn = a->out.cum + 1; a->inflight.referenced && tsn != a->out.next; tsn++)
		sctp_zcopy_copy_out(a, sctp_outq_at(&a->out, tsn));
}

void sctp_batch_keep(struct sctp_assoc *a, struct sctp_batch *batch)
{
	/* In the batch, the newest chunks are those that reference memory. */
	for (uint32_t tsn = a->out.next - 1;
	     batch->n_refs && a->inflight.referenced && tsn != a->out.cum; tsn--) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (!(o->flags & SCTP_OUT_REFERENCED))
			continue;
		sctp_zcopy_copy_out(a, o);
		batch->n_refs--;
	}
	batch->n_refs = 0;
}
