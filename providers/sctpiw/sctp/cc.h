/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Congestion control of one path (RFC 9260 7.2). All counts are bytes of DATA chunks
 * with their headers and padding. Guarded by the owner's lock.
 */
#ifndef SCTPIW_SCTP_CC_H
#define SCTPIW_SCTP_CC_H

#include <stdbool.h>
#include <stdint.h>

struct sctp_cc {
	uint32_t cwnd;
	uint32_t ssthresh;
	uint32_t partial; /* partial_bytes_acked */
	uint32_t stride; /* bytes that let cwnd grow by a packet, if more than cwnd: see sctp_cc_couple() */
	uint32_t most;	/* cwnd grows no further than this */
	uint32_t pmdcs; /* PMDCS: what fits a packet, the PMTU without IP, UDP and common header */
	bool pristine;	/* cwnd is still the initial window */
	bool v4;	/* the path is IPv4, whose initial window is slightly larger */
};

/* Begins with the initial window for packets of pmdcs bytes. */
void sctp_cc_init(struct sctp_cc *cc, uint32_t pmdcs, bool v4);
/*
 * The path MTU has changed. A window that is still the initial one becomes that of the new MTU, and
 * one that has met no loss is at least that.
 */
void sctp_cc_set_pmdcs(struct sctp_cc *cc, uint32_t pmdcs);
/*
 * A SACK acknowledged so many bytes for the first time and moved the cumulative
 * TSN. limited: the window was fully used before. recovering: the association is in Fast
 * Recovery. drained: nothing is outstanding any more.
 */
void sctp_cc_acked(struct sctp_cc *cc, uint32_t bytes, bool limited, bool recovering, bool drained);
/* SACKs showed a loss; called once per window (7.2.3). */
void sctp_cc_loss(struct sctp_cc *cc);
/*
 * Tells the shortest round trip that was seen, ns. On a path as short as a host's own, a window
 * that fills every buffer on the way makes nothing faster, but each byte then passes through more
 * memory than caches have. So cwnd stops at what a path of 10 GB/s holds, and half a megabyte more
 * for the delays of the two hosts.
 */
void sctp_cc_set_rtt(struct sctp_cc *cc, uint64_t min);
/*
 * The path carries DATA together with others: couples the increase of their windows in congestion avoidance, so that
 * all of them together take no more of a bottleneck that they share than one flow does (the "Linked Increases" of RFC
 * 6356 3). There cwnd grows by a packet in 1 / min(alpha / cwnd_total, 1 / cwnd) bytes; cwnd_total / alpha is
 * the least cwnd_i * (rate / rate_i)^2 of all paths i, where rate_i is cwnd_i / RTT_i, and rate the sum of them. n:
 * paths, of which rtt[] is in ns, 0 if it is not known. One path alone is not coupled.
 */
void sctp_cc_couple(struct sctp_cc *const cc[], const uint64_t rtt[], unsigned int n);
/* T3-rtx expired (7.2.3). */
void sctp_cc_timeout(struct sctp_cc *cc);
/* Nothing was sent for this many RTOs (7.2.1, last point). */
void sctp_cc_idle(struct sctp_cc *cc, unsigned int rtos);

#endif
