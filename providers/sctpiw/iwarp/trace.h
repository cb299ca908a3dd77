/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Helpers for the trace points of sessions; for the events see util/trace_events.h. */
#ifndef SCTPIW_IWARP_TRACE_H
#define SCTPIW_IWARP_TRACE_H

#include "iwarp/iw_qp.h"
#include "iwarp/session.h"
#include "util/trace.h"
#include "wire/session.h"

static inline uint64_t iw_trace_qp(const struct iw_session *s)
{
	return s->qp ? s->qp->num : TRACE_NONE;
}

static inline const char *iw_trace_message(uint16_t function)
{
	static const char *const names[] = {
		[SESSION_INITIATE] = "Initiate",
		[SESSION_ACCEPT] = "Accept",
		[SESSION_REJECT] = "Reject",
		[SESSION_TERMINATE] = "Terminate",
		[SESSION_ENHANCED_INITIATE] = "Enhanced Initiate",
		[SESSION_ENHANCED_ACCEPT] = "Enhanced Accept",
		[SESSION_ENHANCED_REJECT] = "Enhanced Reject",
	};
	size_t n = sizeof(names) / sizeof(names[0]);

	return function && function < n ? names[function] : "unknown";
}

static inline const char *iw_trace_reason(enum iw_end_reason why)
{
	static const char *const names[] = {
		[IW_END_PEER] = "peer",		  [IW_END_REFUSED] = "refused",
		[IW_END_CROSSED] = "crossed",	  [IW_END_LOST] = "association_lost",
		[IW_END_TERMINATE] = "terminate", [IW_END_FAILED] = "failed",
		[IW_END_MOVED] = "qp_modified",	  [IW_END_CLOSED] = "closed",
		[IW_END_ABANDONED] = "abandoned",
	};

	return names[why];
}

#endif
