/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The trace points of SCTP that need more code than one line. util/trace_events.h defines the
 * events. Without tracing, a call costs one branch. `now` is the caller's time, ns.
 */
#ifndef SCTPIW_SCTP_TRACE_H
#define SCTPIW_SCTP_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "util/trace.h"

struct sctp_assoc;
struct sctp_batch;
struct sctp_path;

void sctp_trace_batch(struct sctp_assoc *a, const struct sctp_batch *batch, uint64_t now);
void sctp_trace_input(struct sctp_assoc *a, const struct ip_addr *from, const uint8_t *packet,
		      size_t len, uint64_t now);
void sctp_trace_windows(const struct sctp_assoc *a, uint64_t now);
void sctp_trace_flight_lost(struct sctp_assoc *a, const struct sctp_path *path, const char *why,
			    uint64_t now);
void sctp_trace_established(const struct sctp_assoc *a, uint64_t now);
void sctp_trace_timer_name(const struct sctp_assoc *a, unsigned int timer, uint64_t now);

/* Events packet_sent, sack_sent and metrics, for the packets of a batch that leaves. */
static inline void sctp_trace_sent(struct sctp_assoc *a, const struct sctp_batch *batch,
				   uint64_t now)
{
	if (trace_enabled())
		sctp_trace_batch(a, batch, now);
}

/* Events packet_received and sack_received, for a packet that belongs to the association. */
static inline void sctp_trace_received(struct sctp_assoc *a, const struct ip_addr *from,
				       const uint8_t *packet, size_t len, uint64_t now)
{
	if (trace_enabled())
		sctp_trace_input(a, from, packet, len, now);
}

/* Event metrics, for the path in use: its windows and its bytes in flight. */
static inline void sctp_trace_metrics(const struct sctp_assoc *a, uint64_t now)
{
	if (trace_enabled())
		sctp_trace_windows(a, now);
}

/*
 * Events packet_lost, for all chunks in flight on the path. They are about to be marked lost for
 * the reason `why`.
 */
static inline void sctp_trace_path_lost(struct sctp_assoc *a, const struct sctp_path *path,
					const char *why, uint64_t now)
{
	if (trace_enabled())
		sctp_trace_flight_lost(a, path, why, now);
}

/* Event assoc_up. The association must be up. */
static inline void sctp_trace_up(const struct sctp_assoc *a, uint64_t now)
{
	if (trace_enabled())
		sctp_trace_established(a, now);
}

/* Event timer. Timers that expire very often have no event. timer: enum sctp_timer. */
static inline void sctp_trace_expired(const struct sctp_assoc *a, unsigned int timer, uint64_t now)
{
	if (trace_enabled())
		sctp_trace_timer_name(a, timer, now);
}

#endif
