// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages whose end is still the user's memory: a copy less of each byte. The image of such a chunk
 * in the send block has room for all of it, and a gap where the lent bytes belong, which says at its end where
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

_Static_assert(sizeof(struct note) <= SCTP_LEND_MIN, "");

uint32_t sctp_lent_window(const struct sctp_assoc *a)
{
	if (!a->s->ops.checksum || a->s->n_lent == SCTP_BATCH_LENT)
		return 0;
	return a->copies ? 0 : a->path.cc.cwnd;
}

void sctp_lent_add(struct sctp_tx *tx, struct sctp_out *o, const struct sctp_msg *msg)
{
	const struct note note = {msg->lent, msg->lent_len};
	struct sctp_assoc *a = tx->a;
	uint8_t *end = wire_sctp_data_end(o->chunk);

	assert(a->s->n_lent < SCTP_BATCH_LENT && note.len >= SCTP_LEND_MIN && end - note.len >= o->chunk + WIRE_SCTP_DATA_LEN);
	memcpy(end - sizeof(note), &note, sizeof(note));
	o->flags |= SCTP_OUT_LENT;
	a->lent++;
	a->s->lent[a->s->n_lent++] = (struct sctp_lent){end - note.len, note.from, note.len};
	if (a->copies_next > COPIES_FIRST && ++a->lent_since == a->copies_next) {
		a->copies_next /= 2;
		a->lent_since = 0;
	}
}

void sctp_lent_checksum(struct sctp_tx *tx, size_t len, unsigned int first)
{
	struct sctp *s = tx->a->s;
	const uint8_t *p = tx->p;
	uint32_t crc = 0;

	for (unsigned int i = first; i < s->n_lent; i++) {
		const struct sctp_lent *lent = &s->lent[i];

		crc = crc32c_add(crc, p, (size_t)(lent->at - p));
		if (!s->ops.checksum(&crc, lent->from, lent->len)) {
			sctp_assoc_recall(tx->a, -1);
			s->n_lent = 0;
			wire_sctp_checksum_put(tx->p, len);
			return;
		}
		p = lent->at + lent->len;
	}
	wire_sctp_checksum_set(tx->p, crc32c_add(crc, p, (size_t)(tx->p + len - p)));
}

void sctp_lent_fill(struct sctp_assoc *a, struct sctp_out *o)
{
	struct sctp *s = a->s;
	struct note note;
	uint8_t *at;

	if (!(o->flags & SCTP_OUT_LENT))
		return;
	at = wire_sctp_data_end(o->chunk);
	memcpy(&note, at - sizeof(note), sizeof(note));
	at -= note.len;
	s->ops.fill(o->chunk + WIRE_SCTP_DATA_LEN, at, note.from, note.len);
	/* It may be in a batch that is still being built: no gap is left there either. */
	for (unsigned int i = 0; i < s->n_lent; i++)
		if (s->lent[i].at == at)
			s->lent[i].from = at;
	o->flags &= (uint8_t)~SCTP_OUT_LENT;
	a->lent--;
}

void sctp_lent_lost(struct sctp_assoc *a)
{
	a->lent_since = 0;
	if (a->copies)
		return;
	if (!a->copies_next)
		a->copies_next = COPIES_FIRST;
	a->copies = a->copies_next;
	if (a->copies_next < COPIES_MOST)
		a->copies_next *= 2;
}

void sctp_assoc_recall(struct sctp_assoc *a, int sid)
{
	for (uint32_t tsn = a->out.cum + 1; a->lent && tsn != a->out.next; tsn++) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (sid < 0 || wire_sctp_data_sid(o->chunk) == sid)
			sctp_lent_fill(a, o);
	}
}

void sctp_batch_keep(struct sctp_assoc *a, struct sctp_batch *batch)
{
	/* They are the newest. */
	for (uint32_t tsn = a->out.next - 1; batch->n_lent && a->lent && tsn != a->out.cum; tsn--) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (!(o->flags & SCTP_OUT_LENT))
			continue;
		sctp_lent_fill(a, o);
		batch->n_lent--;
	}
	batch->n_lent = 0;
}
