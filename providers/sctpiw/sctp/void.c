/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/void.h"

#include <string.h>

#include "sctp/assoc.h"

void sctp_void_put(const struct sctp_assoc *a, const struct sctp_out *o, uint8_t *p)
{
	memcpy(p, o->chunk, WIRE_SCTP_DATA_LEN);
	wire_sctp_chunk_put(p, WIRE_SCTP_DATA, o->chunk[1], SCTP_VOID_CHUNK_LEN);
	a->s->ops.put_void(p + WIRE_SCTP_DATA_LEN, o->chunk + WIRE_SCTP_DATA_LEN);
}

void sctp_assoc_void(struct sctp_assoc *a, uint16_t sid)
{
	for (uint32_t tsn = a->out.cum + 1; tsn != a->out.next; tsn++) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (!(o->flags & SCTP_OUT_VOIDABLE) || wire_sctp_data_sid(o->chunk) != sid)
			continue;
		sctp_zcopy_release(a, o);
		sctp_inflight_void(o);
	}
}
