/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Placement in order, where it is asked for (iw_config.in_order). DDP places what comes, when it
 * comes, and leaves order to delivery (RFC 5041 5.3); but there are programs that wait for the last
 * byte of an RDMA Write to change in memory. For them a message that came early is kept as it is, and
 * looked at when its turn has come. It costs a copy and memory, after a loss only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/private.h"
#include "util/bytes.h"

#define EARLY_MAX (16u << 20) /* bytes a session, bookkeeping included: more than any window of ours */

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
	struct iw_early **at = &s->early, *m;
	struct iw_failure f;
	uint16_t ssn, distance;

	if (s->state == IW_S_PENDING || s->state >= IW_S_CLOSING || len < SESSION_SSN_LEN ||
	    len > IW_SEGMENT_MAX)
		return false;
	ssn = get_be16(data);
	distance = (uint16_t)(ssn - s->rx_ssn);
	if (!distance || distance >= 0x8000)
		return false;
	/* Mostly they come in order behind the gap. */
	if (s->early && (uint16_t)(s->early_last->ssn - s->rx_ssn) < distance)
		at = &s->early_last->next;
	while (*at && (uint16_t)((*at)->ssn - s->rx_ssn) < distance)
		at = &(*at)->next;
	if (*at && (*at)->ssn == ssn)
		return true; /* twice: the first counts */
	m = s->early_bytes + cost <= EARLY_MAX ? malloc(cost) : NULL;
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
		s->early_last = m;
	s->early_bytes += cost;
	return true;
}

struct iw_early *iw_early_take(struct iw_session *s)
{
	struct iw_early *m = s->early;

	if (!m || (m->ssn != s->rx_ssn && !s->rx_loose))
		return NULL;
	s->early = m->next;
	s->early_bytes -= sizeof(*m) + m->len;
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
	while (s->early) {
		struct iw_early *next = s->early->next;

		free(s->early);
		s->early = next;
	}
	s->early_bytes = 0;
}
