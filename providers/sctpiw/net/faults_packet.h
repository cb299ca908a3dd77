/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* An SCTP packet: its attributes for rules of faults, and functions that damage it. No state. */
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
	/* application memory to be copied into data or into other packets of the batch */
	const struct sctp_ref *refs;
	unsigned int n_refs;
};

/* Returns the length of the packet's IP packet in bytes, without IP options. */
size_t faults_packet_ip_len(const struct faults_packet *p);
/* Sets the attributes of the packet to which rules can refer. */
void faults_packet_attrs(const struct faults_packet *p, struct fault_attrs *attrs);
/*
 * Copies all p->len bytes, including referenced memory of the application. Returns false if the
 * application has unmapped that memory.
 */
bool faults_packet_copy(const struct faults_packet *p, uint8_t *to);

/* Changes n bytes but not the checksum: a receiver that verifies the checksum drops the packet. */
void faults_packet_corrupt(uint8_t *data, size_t len, uint64_t n, uint64_t random);
/*
 * Changes n bytes and corrects the checksum. Changes data of DATA chunks, or if the packet has
 * none, any bytes after the common header. A packet whose checksum is wrong already is not changed.
 */
void faults_packet_corrupt_sealed(uint8_t *data, size_t len, uint64_t n, uint64_t random);

#endif
