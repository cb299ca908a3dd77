/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* An SCTP packet as faults see it: what rules select by, and how it is damaged. No state. */
#ifndef SCTPIW_NET_FAULTS_PACKET_H
#define SCTPIW_NET_FAULTS_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faults/fault_rule.h"

struct endpoint;
struct sctp_ref;

/* One that leaves or arrives. */
struct faults_packet {
	struct endpoint *ep;
	bool out;
	bool df;      /* as in struct sctp_batch */
	uint8_t hops; /* the same */
	struct path_addr path;
	const uint8_t *data;
	size_t len;
	const struct sctp_ref *refs; /* what is not in data, also of packets beside it */
	unsigned int n_refs;
};

/* Bytes of the IP packet that it is in, without IP options. */
size_t faults_packet_ip_len(const struct faults_packet *p);
/* What an injector knows of the packet. */
void faults_packet_attrs(const struct faults_packet *p, struct fault_attrs *attrs);
/*
 * Writes all p->len bytes, also those that are referenced. false: the application has unmapped them, and no packet
 * can be made of it.
 */
bool faults_packet_copy(const struct faults_packet *p, uint8_t *to);

/* Changes n bytes behind the checksum; a receiver that looks at it drops the packet. */
void faults_packet_corrupt(uint8_t *data, size_t len, uint64_t n, uint64_t random);
/*
 * Changes n bytes before the checksum, which is right again afterwards: of what DATA chunks carry, or if there is none,
 * of all that is behind the common header. A packet whose checksum is wrong stays as it is.
 */
void faults_packet_corrupt_sealed(uint8_t *data, size_t len, uint64_t n, uint64_t random);

#endif
