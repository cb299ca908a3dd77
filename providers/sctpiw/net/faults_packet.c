/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/faults_packet.h"

#include <string.h>

#include "conn/assoc.h"
#include "conn/conn.h"
#include "faults/fault_set.h"
#include "net/faults_peer.h"
#include "net/memory.h"
#include "sctp/sctp.h"
#include "wire/datagram.h"
#include "wire/sctp_packet.h"

#define IPV4_LEN 20u
#define IPV6_LEN 40u
#define UDP_LEN 8u
/* These chunk types are too large to be bit numbers. fault_list.h gives them the bits BIT_*. */
#define CHUNK_ASCONF 0xc1
#define CHUNK_ASCONF_ACK 0x80
enum { BIT_ASCONF = 16, BIT_ASCONF_ACK = 17, BIT_DATAGRAM = 18 };

size_t faults_packet_ip_len(const struct faults_packet *p)
{
	return p->len + (ip_addr_is_v4(&p->path.remote) ? IPV4_LEN : IPV6_LEN) +
	       (p->path.udp_port ? UDP_LEN : 0);
}

/* ---- attributes for rules ---- */

static uint64_t chunk_bit(uint8_t type)
{
	if (type < BIT_ASCONF)
		return 1ull << type;
	switch (type) {
	case CHUNK_ASCONF:
		return 1ull << BIT_ASCONF;
	case CHUNK_ASCONF_ACK:
		return 1ull << BIT_ASCONF_ACK;
	case WIRE_DATAGRAM:
		return 1ull << BIT_DATAGRAM;
	default:
		return 0;
	}
}

/* Reads p->data only, since referenced memory never contains chunk headers. */
static uint64_t chunks_of(const struct faults_packet *p)
{
	const uint8_t *at = p->data + WIRE_SCTP_COMMON_LEN, *end = p->data + p->len;
	struct wire_sctp_chunk chunk;
	uint64_t bits = 0;

	while (wire_sctp_chunk_next(&at, end, &chunk))
		bits |= chunk_bit(chunk.type);
	return bits;
}

/* Returns the association with this address and port of the peer, or NULL. */
static const struct conn_assoc *assoc_of(const struct endpoint *ep, const struct ip_addr *remote,
					 uint16_t port)
{
	const struct transport *t = ep->conn->transport;

	list_for_each(node, &ep->assocs) {
		const struct conn_assoc *a = list_entry(node, struct conn_assoc, node);

		if (!a->gone && t->remote_port(a) == port && conn_assoc_has_address(a, remote))
			return a;
	}
	return NULL;
}

void faults_packet_attrs(const struct faults_packet *p, struct fault_attrs *attrs)
{
	struct wire_sctp_common h;

	memset(attrs, 0, sizeof(*attrs));
	attrs->known = 1u << FAULT_SELECT_direction | 1u << FAULT_SELECT_path;
	attrs->direction = p->out ? FAULT_OUT : FAULT_IN;
	attrs->path = p->path.local;
	attrs->path_remote = p->path.remote;
	attrs->bytes = faults_packet_ip_len(p);
	if (p->len < WIRE_SCTP_COMMON_LEN)
		return;
	attrs->known |= 1u << FAULT_SELECT_peer | 1u << FAULT_SELECT_port |
			1u << FAULT_SELECT_peer_port | 1u << FAULT_SELECT_chunk;
	wire_sctp_common_get(p->data, &h);
	attrs->port = p->out ? h.sport : h.dport;
	attrs->peer_port = p->out ? h.dport : h.sport;
	attrs->peer = p->path.remote;
	faults_peer_set(attrs, assoc_of(p->ep, &p->path.remote, (uint16_t)attrs->peer_port));
	attrs->chunk = chunks_of(p);
}

/* ---- bytes of the packet ---- */

bool faults_packet_copy(const struct faults_packet *p, uint8_t *to)
{
	memcpy(to, p->data, p->len);
	for (unsigned int i = 0; i < p->n_refs; i++) {
		const struct sctp_ref *ref = &p->refs[i];

		if (ref->at < p->data || ref->at >= p->data + p->len)
			continue;
		if (memory_copy(to + (ref->at - p->data), ref->from, ref->len))
			return false;
	}
	return true;
}

/* Changes the byte to a different one. */
static void change(uint8_t *byte, uint64_t *random)
{
	*byte ^= (uint8_t)(1 + fault_random(random) % 255);
}

void faults_packet_corrupt(uint8_t *data, size_t len, uint64_t n, uint64_t random)
{
	size_t at = fault_random(&random) % len;

	/*
	 * Change consecutive bytes, as a burst error does. The checksum detects all short bursts.
	 */
	for (uint64_t i = 0; i < n && i < len; i++)
		change(&data[(at + i) % len], &random);
}

/*
 * Returns byte number `at` of the data in all DATA chunks. If there are fewer bytes, returns NULL
 * and sets *total to their number.
 */
static uint8_t *data_byte(uint8_t *data, size_t len, size_t at, size_t *total)
{
	const uint8_t *p = data + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_chunk chunk;

	*total = 0;
	while (wire_sctp_chunk_next(&p, data + len, &chunk)) {
		size_t n;

		if (chunk.type != WIRE_SCTP_DATA || chunk.len < WIRE_SCTP_DATA_LEN)
			continue;
		n = chunk.len - WIRE_SCTP_DATA_LEN;
		if (at - *total < n)
			return data + (chunk.raw - data) + WIRE_SCTP_DATA_LEN + (at - *total);
		*total += n;
	}
	return NULL;
}

void faults_packet_corrupt_sealed(uint8_t *data, size_t len, uint64_t n, uint64_t random)
{
	size_t total, unused, at;

	if (len <= WIRE_SCTP_COMMON_LEN || !wire_sctp_checksum_ok(data, len))
		return;
	data_byte(data, len, SIZE_MAX, &total);
	at = fault_random(&random) % (total ? total : len - WIRE_SCTP_COMMON_LEN);
	for (uint64_t i = 0; i < n && i < (total ? total : len - WIRE_SCTP_COMMON_LEN); i++) {
		if (total)
			change(data_byte(data, len, (at + i) % total, &unused), &random);
		else
			change(data + WIRE_SCTP_COMMON_LEN +
				       (at + i) % (len - WIRE_SCTP_COMMON_LEN),
			       &random);
	}
	memset(data + 8, 0, 4);
	wire_sctp_checksum_put(data, len);
}
