/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Congestion control of one path (RFC 9260 7.2). Sizes are bytes of DATA chunks with their headers
 * and padding. Guarded by the owner's lock.
 */
#ifndef SCTPIW_SCTP_CC_H
#define SCTPIW_SCTP_CC_H

#include <stdbool.h>
#include <stdint.h>

struct sctp_cc {
	uint32_t cwnd;
	uint32_t ssthresh;
	uint32_t partial; /* partial_bytes_acked */
	/* bytes to acknowledge per increase of cwnd, if more than cwnd: see sctp_cc_couple() */
	uint32_t stride;
	uint32_t most;	/* maximum of cwnd */
	uint32_t pmdcs; /* PMDCS: the path MTU without the IP, UDP and common headers */
	bool pristine;	/* cwnd is still the initial window */
	bool v4;	/* the path uses IPv4: its initial window is slightly larger */
};

/* Starts with the initial window. pmdcs is the PMDCS of the path. */
void sctp_cc_init(struct sctp_cc *cc, uint32_t pmdcs, bool v4);
/*
 * Sets the PMDCS after a change of the path MTU. If cwnd is still the initial window, cwnd becomes
 * the initial window of the new MTU. If no loss has occurred, cwnd grows at least to that window.
 */
void sctp_cc_set_pmdcs(struct sctp_cc *cc, uint32_t pmdcs);
/*
 * Grows cwnd after a SACK that moved the cumulative TSN, and newly acknowledged `bytes` bytes.
 * limited: cwnd was full before the SACK. recovering: the path is in Fast Recovery. drained:
 * nothing is outstanding after the SACK.
 */
void sctp_cc_acked(struct sctp_cc *cc, uint32_t bytes, bool limited, bool recovering, bool drained);
/* Shrinks cwnd after SACKs have shown a loss (7.2.3). Call this once per window of data. */
void sctp_cc_loss(struct sctp_cc *cc);
/*
 * Sets the maximum of cwnd from the shortest measured round trip, ns. On a very short path, as
 * within one host, a larger window fills more buffers without being faster. It then moves each byte
 * through more memory than the caches hold. So the maximum is the contents of a path of 10 GB/s,
 * plus half a megabyte for the delays of the two hosts.
 */
void sctp_cc_set_rtt(struct sctp_cc *cc, uint64_t min);
/*
 * Couples the windows of paths that carry DATA together, during congestion avoidance. In a shared
 * bottleneck, the paths then take no more than one flow (the "Linked Increases" of RFC 6356 3).
 * Under these rules, cwnd grows by a packet in 1 / min(alpha / cwnd_total, 1 / cwnd) bytes.
 * cwnd_total / alpha is the minimum, over all paths i, of cwnd_i * (rate / rate_i)^2. rate_i is
 * cwnd_i / RTT_i, and rate is the sum of all rate_i. n is the number of paths; rtt[] is in ns, 0 if
 * unknown. A single path is not coupled.
 */
void sctp_cc_couple(struct sctp_cc *const cc[], const uint64_t rtt[], unsigned int n);
/* Shrinks cwnd after an expiration of T3-rtx (7.2.3). */
void sctp_cc_timeout(struct sctp_cc *cc);
/* Shrinks cwnd on a path that has been idle for rtos RTOs (7.2.1, last point). */
void sctp_cc_idle(struct sctp_cc *cc, unsigned int rtos);

#endif
