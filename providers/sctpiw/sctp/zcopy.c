/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages whose end is still the user's memory: a copy less of each byte. The image of such a chunk
 * in the send block has room for all of it, and a gap where the referenced bytes belong, which says at its end where
 * they are. They are copied there only if the chunk has to be sent again, or the user wants its memory back.
 *
 * Memory that changes between checksum and send is a packet that the peer drops. So after a loss the next
 * messages are copied, twice as many each time.
 */
#include <assert.h>
#include <string.h>

#include "sctp/internal.h"
#include "util/crc32c.h"

#define COPIES_FIRST 1024u
#define COPIES_MOST (1u << 20)

/* At the end of the gap. */
struct note {
	const uint8_t *from;
	uint32_t len;
};

_Static_assert(sizeof(struct note) <= SCTP_ZCOPY_MIN, "");

uint32_t sctp_zcopy_window(const struct sctp_assoc *a)
{
	if (!a->s->ops.checksum || a->s->n_refs == SCTP_BATCH_REFS)
		return 0;
	return a->copies ? 0 : a->path.cc.cwnd;
}

void sctp_zcopy_add(struct sctp_tx *tx, struct sctp_out *o, const struct sctp_msg *msg)
{
	const struct note note = {msg->ref, msg->ref_len};
	struct sctp_assoc *a = tx->a;
	uint8_t *end = wire_sctp_data_end(o->chunk);

	assert(a->s->n_refs < SCTP_BATCH_REFS && note.len >= SCTP_ZCOPY_MIN && end - note.len >= o->chunk + WIRE_SCTP_DATA_LEN);
	memcpy(end - sizeof(note), &note, sizeof(note));
	o->flags |= SCTP_OUT_REFERENCED;
	a->ref++;
	a->s->ref[a->s->n_refs++] = (struct sctp_ref){end - note.len, note.from, note.len};
	if (a->copies_next > COPIES_FIRST && ++a->referenced_since == a->copies_next) {
		a->copies_next /= 2;
		a->referenced_since = 0;
	}
}

void sctp_zcopy_checksum(struct sctp_tx *tx, size_t len, unsigned int first)
{
	struct sctp *s = tx->a->s;
	const uint8_t *p = tx->p;
	uint32_t crc = 0;

	for (unsigned int i = first; i < s->n_refs; i++) {
		const struct sctp_ref *ref = &s->ref[i];

		crc = crc32c_add(crc, p, (size_t)(ref->at - p));
		if (!s->ops.checksum(&crc, ref->from, ref->len)) {
			sctp_assoc_copy_out(tx->a, -1);
			s->n_refs = 0;
			wire_sctp_checksum_put(tx->p, len);
			return;
		}
		p = ref->at + ref->len;
	}
	wire_sctp_checksum_set(tx->p, crc32c_add(crc, p, (size_t)(tx->p + len - p)));
}

void sctp_zcopy_copy_out(struct sctp_assoc *a, struct sctp_out *o)
{
	struct sctp *s = a->s;
	struct note note;
	uint8_t *at;

	if (!(o->flags & SCTP_OUT_REFERENCED))
		return;
	at = wire_sctp_data_end(o->chunk);
	memcpy(&note, at - sizeof(note), sizeof(note));
	at -= note.len;
	s->ops.fill(o->chunk + WIRE_SCTP_DATA_LEN, at, note.from, note.len);
	/* It may be in a batch that is still being built: no gap is left there either. */
	for (unsigned int i = 0; i < s->n_refs; i++)
		if (s->ref[i].at == at)
			s->ref[i].from = at;
	o->flags &= (uint8_t)~SCTP_OUT_REFERENCED;
	a->ref--;
}

void sctp_zcopy_lost(struct sctp_assoc *a)
{
	a->referenced_since = 0;
	if (a->copies)
		return;
	if (!a->copies_next)
		a->copies_next = COPIES_FIRST;
	a->copies = a->copies_next;
	if (a->copies_next < COPIES_MOST)
		a->copies_next *= 2;
}

void sctp_assoc_copy_out(struct sctp_assoc *a, int sid)
{
	for (uint32_t tsn = a->out.cum + 1; a->ref && tsn != a->out.next; tsn++) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (sid < 0 || wire_sctp_data_sid(o->chunk) == sid)
			sctp_zcopy_copy_out(a, o);
	}
}

void sctp_batch_keep(struct sctp_assoc *a, struct sctp_batch *batch)
{
	/* They are the newest. */
	for (uint32_t tsn = a->out.next - 1; batch->n_refs && a->ref && tsn != a->out.cum; tsn--) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (!(o->flags & SCTP_OUT_REFERENCED))
			continue;
		sctp_zcopy_copy_out(a, o);
		batch->n_refs--;
	}
	batch->n_refs = 0;
}
