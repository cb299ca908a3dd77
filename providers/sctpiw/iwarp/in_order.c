/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Placement in order, for UC and if iw_config.in_order is set. DDP places segments as they arrive,
 * and orders only their delivery (RFC 5041 5.3). But some programs poll memory for the last byte of
 * an RDMA Write, and expect that all other bytes are then placed. For such programs, an early
 * message is stored unchanged and placed when its turn comes. If a message is lost, the messages
 * after it therefore need memory and a second copy.
 */
#include "iwarp/in_order.h"

#include <stdlib.h>
#include <string.h>

#include "iwarp/session.h"
#include "util/bytes.h"

/* Maximum bytes of a session's early messages, with overhead: more than any receive window. */
#define EARLY_MAX (16u << 20)

struct iw_early {
	struct iw_early *next;
	uint32_t ppid;
	uint32_t len;
	uint16_t ssn;
	uint8_t data[];
};

bool iw_early_keep(struct iw_session *s, uint32_t ppid, const uint8_t *data, size_t len)
{
	size_t cost = sizeof(struct iw_early) + len;
	struct iw_early_queue *q = &s->rx.early;
	struct iw_early **at = &q->first, *m;
	struct iw_failure f;
	uint16_t ssn, distance;

	if (s->state == IW_S_PENDING || s->state >= IW_S_CLOSING || len < SESSION_SSN_LEN ||
	    len > IW_SEGMENT_MAX)
		return false;
	ssn = get_be16(data);
	distance = (uint16_t)(ssn - s->rx.ssn);
	if (!distance || distance >= 0x8000)
		return false;
	/* After a gap, messages mostly arrive in order, so try the end of the queue first. */
	if (q->first && (uint16_t)(q->last->ssn - s->rx.ssn) < distance)
		at = &q->last->next;
	while (*at && (uint16_t)((*at)->ssn - s->rx.ssn) < distance)
		at = &(*at)->next;
	if (*at && (*at)->ssn == ssn)
		return true; /* a duplicate: keep the first copy */
	m = q->bytes + cost <= EARLY_MAX ? malloc(cost) : NULL;
	if (!m) {
		iw_fail_local(&f, IW_FAULT_NONE, 0, 0);
		iw_session_fail(s, &f);
		return false;
	}
	m->ppid = ppid;
	m->len = (uint32_t)len;
	m->ssn = ssn;
	memcpy(m->data, data, len);
	m->next = *at;
	*at = m;
	if (!m->next)
		q->last = m;
	q->bytes += cost;
	return true;
}

struct iw_early *iw_early_take(struct iw_session *s)
{
	struct iw_early_queue *q = &s->rx.early;
	struct iw_early *m = q->first;

	if (!m || (m->ssn != s->rx.ssn && !s->rx.loose.on))
		return NULL;
	q->first = m->next;
	q->bytes -= sizeof(*m) + m->len;
	return m;
}

const uint8_t *iw_early_message(const struct iw_early *m, uint32_t *ppid, size_t *len)
{
	*ppid = m->ppid;
	*len = m->len;
	return m->data;
}

void iw_early_clear(struct iw_session *s)
{
	struct iw_early *m, *next;

	for (m = s->rx.early.first; m; m = next) {
		next = m->next;
		free(m);
	}
	s->rx.early = (struct iw_early_queue){ 0 };
}
