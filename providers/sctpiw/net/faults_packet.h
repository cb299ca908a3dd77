/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* An SCTP packet for faults: its attributes for rules, and ways to damage it. No state. */
#ifndef SCTPIW_NET_FAULTS_PACKET_H
#define SCTPIW_NET_FAULTS_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faults/fault_rule.h"

struct endpoint;
struct sctp_ref;

struct faults_packet {
	struct endpoint *ep;
	bool out;
	bool df;      /* as in struct sctp_batch */
	uint8_t hops; /* as in struct sctp_batch */
	struct path_addr path;
	const uint8_t *data;
	size_t len;
	const struct sctp_ref *refs; /* bytes that are not in data, also of neighbouring packets */
	unsigned int n_refs;
};

/* Returns the bytes of its IP packet, without IP options. */
size_t faults_packet_ip_len(const struct faults_packet *p);
/* Fills in the attributes of the packet that an injector knows. */
void faults_packet_attrs(const struct faults_packet *p, struct fault_attrs *attrs);
/*
 * Copies all p->len bytes, also referenced ones. Returns false if the application has unmapped
 * them: the packet cannot be built.
 */
bool faults_packet_copy(const struct faults_packet *p, uint8_t *to);

/* Changes n bytes without correcting the checksum. A receiver that verifies it drops the packet. */
void faults_packet_corrupt(uint8_t *data, size_t len, uint64_t n, uint64_t random);
/*
 * Changes n bytes, and corrects the checksum. The bytes are data of DATA chunks, or if there is
 * none, any bytes after the common header. A packet with a wrong checksum stays unchanged.
 */
void faults_packet_corrupt_sealed(uint8_t *data, size_t len, uint64_t n, uint64_t random);

#endif
