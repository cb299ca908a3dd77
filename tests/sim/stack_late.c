/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A flushed WR has no further effect. Once the application of a side has polled a failed
 * completion, no new packet contains a message of that side's WRs, or of its responses. Earlier
 * packets may stay in transit for any time.
 */
#include "iwarp/assoc.h"
#include "iwarp/rc.h"
#include "sctp/sctp.h"
#include "sim/stack.h"
#include "wire/rdmap.h"
#include "wire/sctp_packet.h"

/* The owner of a stream's messages: the session that was last pulled from. */
struct stack_stream {
	const struct conn_assoc *assoc;
	uint16_t sid;
	struct stack_side *side;
};

int __real_sctp_output(struct sctp_assoc *a, uint64_t now, struct sctp_batch *batch);
int __wrap_sctp_output(struct sctp_assoc *a, uint64_t now, struct sctp_batch *batch);

static struct stack_stream *find_stream(const struct stack_world *w, const struct conn_assoc *assoc,
					uint16_t sid)
{
	for (unsigned int i = 0; i < w->n_streams; i++)
		if (w->streams[i].assoc == assoc && w->streams[i].sid == sid)
			return &w->streams[i];
	return NULL;
}

void stack_late_note(const struct iw_assoc *assoc, uint16_t sid)
{
	const struct iw_session *session = iw_assoc_session(assoc, sid);
	struct stack_world *w = stack_current;
	struct stack_stream *s = find_stream(w, assoc->llp, sid);

	if (!session || !session->qp)
		return;
	if (!s) {
		w->streams = realloc(w->streams, (w->n_streams + 1) * sizeof(*w->streams));
		assert_non_null(w->streams);
		s = &w->streams[w->n_streams++];
	}
	*s = (struct stack_stream){ assoc->llp, sid, session->qp->ctx };
}

/* True if the segment is of a WR or of a response. An RTR indication is neither. */
static bool is_of_wr(const struct ddp_header *h, const uint8_t *payload, size_t len)
{
	struct rdmap_read_request r;

	switch (rdmap_opcode(h->rdmap)) {
	case RDMAP_TERMINATE:
	case RDMAP_RECEIPT:
		return false;
	case RDMAP_WRITE:
		return len || h->stag || h->to;
	case RDMAP_SEND:
		return len || h->msn != 1;
	case RDMAP_READ_REQUEST:
		check(len == RDMAP_READ_REQ_LEN);
		rdmap_get_read_request(&r, payload);
		return r.size || r.src_stag || h->msn != 1;
	default:
		return true;
	}
}

static void check_data(struct stack_world *w, const struct conn_assoc *assoc,
		       const struct wire_sctp_data *d)
{
	const struct stack_stream *s = find_stream(w, assoc, d->sid);
	struct ddp_header h = { 0 };
	size_t header;

	if (d->ppid != 16 || !s || !s->side->sq_failed)
		return;
	header = ddp_get(&h, d->data + 2, d->len - 2);
	check(header);
	check(!is_of_wr(&h, d->data + 2 + header, d->len - 2 - header));
	w->voids += d->len == IW_VOID_LEN && rdmap_opcode(h.rdmap) == RDMAP_TERMINATE;
}

static void check_packet(struct stack_world *w, const struct conn_assoc *assoc,
			 const uint8_t *packet, size_t len)
{
	const uint8_t *p = packet + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_chunk c;
	struct wire_sctp_data d;

	while (wire_sctp_chunk_next(&p, packet + len, &c))
		if (c.type == WIRE_SCTP_DATA && wire_sctp_data_get(&c, &d))
			check_data(w, assoc, &d);
}

int __wrap_sctp_output(struct sctp_assoc *a, uint64_t now, struct sctp_batch *batch)
{
	int ret = __real_sctp_output(a, now, batch);

	for (size_t at = 0; ret > 0 && stack_current && at < batch->len; at += batch->segment) {
		size_t left = batch->len - at;

		check_packet(stack_current, sctp_assoc_user(a), batch->data + at,
			     left < batch->segment ? left : batch->segment);
	}
	return ret;
}
