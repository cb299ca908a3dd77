/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "wire/sctp_init.h"

#include "wire/sctp_asconf.h"
#include "wire/sctp_auth.h"

/* Appends an address of 4 or 16 bytes to init->addr[]. IPv4 addresses become mapped ones. */
static void init_addr(struct wire_sctp_init *init, const uint8_t *p, size_t len)
{
	struct ip_addr *addr = &init->addr[init->addrs];

	if (init->addrs == WIRE_SCTP_ADDRS_MAX)
		return;
	if (len == 4)
		*addr = ip_addr_from_v4(p);
	else
		memcpy(addr->b, p, 16);
	init->addrs++;
}

/*
 * Returns the field for the header of a parameter of this type (RFC 4895 3, RFC 5061 4.2.7). Such a
 * parameter occurs only once. Returns NULL for all other types.
 */
static const uint8_t **kept_raw(struct wire_sctp_init *init, uint16_t type)
{
	switch (type) {
	case WIRE_SCTP_PARAM_RANDOM:
		return &init->random;
	case WIRE_SCTP_PARAM_CHUNKS:
		return &init->chunks;
	case WIRE_SCTP_PARAM_HMACS:
		return &init->hmacs;
	case WIRE_SCTP_PARAM_EXTENSIONS:
		return &init->extensions;
	}
	return NULL;
}

/* Decodes one parameter. Returns false if all later parameters must be skipped (RFC 9260 3.2.1). */
static bool init_param(struct wire_sctp_init *init, const uint8_t *raw, size_t len)
{
	uint16_t type = get_be16(raw);
	const uint8_t **kept = kept_raw(init, type);

	if (kept) {
		if (!*kept)
			*kept = raw;
		return true;
	}
	switch (type) {
	case WIRE_SCTP_PARAM_COOKIE:
		init->cookie = raw + 4;
		init->cookie_len = len - 4;
		return true;
	case WIRE_SCTP_PARAM_ADAPTATION:
		if (len == 8) {
			init->has_adaptation = true;
			init->adaptation = get_be32(raw + 4);
		}
		return true;
	case WIRE_SCTP_PARAM_HOST_NAME:
		init->host_name = raw;
		return true;
	case WIRE_SCTP_PARAM_IPV4:
		if (len == 8)
			init_addr(init, raw + 4, 4);
		return true;
	case WIRE_SCTP_PARAM_IPV6:
		if (len == 20)
			init_addr(init, raw + 4, 16);
		return true;
	case WIRE_SCTP_PARAM_ADDRESS_TYPES:
		if (len >= 6)
			init->address_type = get_be16(raw + 4);
		return true;
	case WIRE_SCTP_PARAM_RECEIPTS:
		init->receipts = wire_sctp_receipts_get(raw + 4, len - 4);
		return true;
	case WIRE_SCTP_PARAM_UNRECOGNIZED:
	case WIRE_SCTP_PARAM_PRESERVATIVE:
	case WIRE_SCTP_PARAM_PAD:
		return true;
	}
	if ((type >> 14 & WIRE_SCTP_UNKNOWN_REPORT) && init->reports < WIRE_SCTP_REPORT_MAX) {
		init->report[init->reports].raw = raw;
		init->report[init->reports].len = len;
		init->reports++;
	}
	return type >> 14 & WIRE_SCTP_UNKNOWN_SKIP;
}

bool wire_sctp_init_get(const struct wire_sctp_chunk *c, struct wire_sctp_init *init)
{
	const uint8_t *p = c->raw + WIRE_SCTP_INIT_LEN;
	const uint8_t *end = c->raw + c->len;

	if (c->len < WIRE_SCTP_INIT_LEN)
		return false;
	memset(init, 0, sizeof(*init));
	init->tag = get_be32(c->raw + 4);
	init->a_rwnd = get_be32(c->raw + 8);
	init->os = get_be16(c->raw + 12);
	init->mis = get_be16(c->raw + 14);
	init->tsn = get_be32(c->raw + 16);
	while (end - p >= 4) {
		size_t len = get_be16(p + 2);
		size_t left = (size_t)(end - p);

		if (len < 4 || len > left || !init_param(init, p, len))
			break;
		p += round_up4(len) < left ? round_up4(len) : left;
	}
	return true;
}

/*
 * Copies a complete parameter, and pads the copy. Does nothing if raw is NULL. Returns the padded
 * length, or 0.
 */
static size_t raw_put(uint8_t *p, const uint8_t *raw)
{
	size_t len;

	if (!raw)
		return 0;
	len = get_be16(raw + 2);
	memcpy(p, raw, len);
	return wire_sctp_pad(p, len);
}

size_t wire_sctp_init_put(uint8_t *p, uint8_t type, const struct wire_sctp_init *init)
{
	size_t len = WIRE_SCTP_INIT_LEN;
	uint8_t code[4], types[2], receipts[WIRE_SCTP_RECEIPTS_LEN];
	unsigned int i;

	put_be32(p + 4, init->tag);
	put_be32(p + 8, init->a_rwnd);
	put_be16(p + 12, init->os);
	put_be16(p + 14, init->mis);
	put_be32(p + 16, init->tsn);
	put_be16(types, init->address_type);
	/* Never the last parameter: the chunk's length would exclude its padding (3.2). */
	if (init->address_type)
		len += wire_sctp_param_put(p + len, WIRE_SCTP_PARAM_ADDRESS_TYPES, types,
					   sizeof(types));
	for (i = 0; i < init->addrs; i++)
		len += wire_sctp_addr_put(p + len, &init->addr[i]);
	len += raw_put(p + len, init->random);
	len += raw_put(p + len, init->chunks);
	len += raw_put(p + len, init->hmacs);
	len += raw_put(p + len, init->extensions);
	put_be32(code, init->adaptation);
	len += wire_sctp_param_put(p + len, WIRE_SCTP_PARAM_ADAPTATION, code, sizeof(code));
	if (init->receipts.version) {
		wire_sctp_receipts_put(receipts, &init->receipts);
		len += wire_sctp_param_put(p + len, WIRE_SCTP_PARAM_RECEIPTS, receipts,
					   sizeof(receipts));
	}
	wire_sctp_chunk_put(p, type, 0, len);
	return len;
}

size_t wire_sctp_param_put(uint8_t *p, uint16_t type, const void *value, size_t len)
{
	put_be16(p, type);
	put_be16(p + 2, (uint16_t)(4 + len));
	if (len)
		memcpy(p + 4, value, len);
	return wire_sctp_pad(p, 4 + len);
}
