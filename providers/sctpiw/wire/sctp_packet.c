/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "wire/sctp_packet.h"

#include "util/crc32c.h"

#define CHECKSUM_OFFSET 8

void wire_sctp_common_get(const uint8_t *packet, struct wire_sctp_common *h)
{
	h->sport = get_be16(packet);
	h->dport = get_be16(packet + 2);
	h->vtag = get_be32(packet + 4);
}

void wire_sctp_common_put(uint8_t *packet, const struct wire_sctp_common *h)
{
	put_be16(packet, h->sport);
	put_be16(packet + 2, h->dport);
	put_be32(packet + 4, h->vtag);
	put_be32(packet + CHECKSUM_OFFSET, 0);
}

void wire_sctp_checksum_set(uint8_t *packet, uint32_t crc)
{
	put_le32(packet + CHECKSUM_OFFSET, crc);
}

void wire_sctp_checksum_put(uint8_t *packet, size_t len)
{
	wire_sctp_checksum_set(packet, crc32c(packet, len));
}

bool wire_sctp_checksum_ok(const uint8_t *packet, size_t len)
{
	uint8_t header[WIRE_SCTP_COMMON_LEN] = { 0 };
	uint32_t crc;

	/* The checksum is computed with zeros in its own field. */
	memcpy(header, packet, CHECKSUM_OFFSET);
	crc = crc32c(header, sizeof(header));
	crc = crc32c_add(crc, packet + sizeof(header), len - sizeof(header));
	return crc == get_le32(packet + CHECKSUM_OFFSET);
}

bool wire_sctp_sack_get(const struct wire_sctp_chunk *c, struct wire_sctp_sack *s)
{
	if (c->len < WIRE_SCTP_SACK_LEN)
		return false;
	s->cum = get_be32(c->raw + 4);
	s->a_rwnd = get_be32(c->raw + 8);
	s->gaps = get_be16(c->raw + 12);
	s->dups = get_be16(c->raw + 14);
	s->gap_raw = c->raw + WIRE_SCTP_SACK_LEN;
	s->dup_raw = s->gap_raw + 4 * (size_t)s->gaps;
	return (c->len - WIRE_SCTP_SACK_LEN) / 4 >= s->gaps + s->dups;
}

size_t wire_sctp_sack_put(uint8_t *p, uint32_t cum, uint32_t a_rwnd,
			  const struct wire_sctp_gap *gaps, unsigned int ngaps,
			  const uint32_t *dups, unsigned int ndups)
{
	size_t len = WIRE_SCTP_SACK_LEN + 4 * ((size_t)ngaps + ndups);
	uint8_t *q = p + WIRE_SCTP_SACK_LEN;
	unsigned int i;

	wire_sctp_chunk_put(p, WIRE_SCTP_SACK, 0, len);
	put_be32(p + 4, cum);
	put_be32(p + 8, a_rwnd);
	put_be16(p + 12, (uint16_t)ngaps);
	put_be16(p + 14, (uint16_t)ndups);
	for (i = 0; i < ngaps; i++, q += 4) {
		put_be16(q, gaps[i].start);
		put_be16(q + 2, gaps[i].end);
	}
	for (i = 0; i < ndups; i++, q += 4)
		put_be32(q, dups[i]);
	return len;
}

bool wire_sctp_cause_next(const uint8_t **p, const uint8_t *end, struct wire_sctp_cause_tlv *cause)
{
	const uint8_t *raw = *p;
	size_t left = (size_t)(end - raw);
	size_t len;

	if (left < 4)
		return false;
	len = get_be16(raw + 2);
	if (len < 4 || len > left)
		return false;
	cause->code = get_be16(raw);
	cause->len = (uint16_t)(len - 4);
	cause->info = raw + 4;
	len = round_up4(len);
	*p = raw + (len < left ? len : left);
	return true;
}

size_t wire_sctp_cause_put(uint8_t *p, uint16_t code, const void *info, size_t len)
{
	put_be16(p, code);
	put_be16(p + 2, (uint16_t)(4 + len));
	if (len)
		memcpy(p + 4, info, len);
	return wire_sctp_pad(p, 4 + len);
}
