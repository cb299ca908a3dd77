/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "wire/sctp_asconf.h"

#include "wire/sctp_init.h"

size_t wire_sctp_addr_put(uint8_t *p, const struct ip_addr *addr)
{
	if (ip_addr_is_v4(addr))
		return wire_sctp_param_put(p, WIRE_SCTP_PARAM_IPV4, addr->b + 12, 4);
	return wire_sctp_param_put(p, WIRE_SCTP_PARAM_IPV6, addr->b, 16);
}

size_t wire_sctp_addr_get(const uint8_t *p, size_t len, struct ip_addr *addr)
{
	if (len >= 8 && get_be16(p) == WIRE_SCTP_PARAM_IPV4 && get_be16(p + 2) == 8) {
		*addr = ip_addr_from_v4(p + 4);
		return 8;
	}
	if (len >= 20 && get_be16(p) == WIRE_SCTP_PARAM_IPV6 && get_be16(p + 2) == 20) {
		*addr = (struct ip_addr){ 0 };
		memcpy(addr->b, p + 4, 16);
		return 20;
	}
	return 0;
}

bool wire_sctp_asconf_get(const struct wire_sctp_chunk *c, struct wire_sctp_asconf *asconf)
{
	size_t len;

	if (c->len < WIRE_SCTP_ASCONF_LEN)
		return false;
	asconf->serial = get_be32(c->raw + 4);
	asconf->end = c->raw + c->len;
	len = wire_sctp_addr_get(c->raw + WIRE_SCTP_ASCONF_LEN, c->len - WIRE_SCTP_ASCONF_LEN,
				 &asconf->address);
	asconf->params = c->raw + WIRE_SCTP_ASCONF_LEN + len;
	return len != 0;
}

bool wire_sctp_asconf_ack_get(const struct wire_sctp_chunk *c, struct wire_sctp_asconf *ack)
{
	if (c->len < WIRE_SCTP_ASCONF_LEN)
		return false;
	*ack = (struct wire_sctp_asconf){
		.serial = get_be32(c->raw + 4),
		.params = c->raw + WIRE_SCTP_ASCONF_LEN,
		.end = c->raw + c->len,
	};
	return true;
}

bool wire_sctp_asconf_next(const uint8_t **p, const uint8_t *end,
			   struct wire_sctp_asconf_param *param)
{
	const uint8_t *raw = *p;
	size_t left = (size_t)(end - raw), whole;

	if (left < WIRE_SCTP_ASCONF_PARAM_LEN)
		return false;
	param->len = get_be16(raw + 2);
	if (param->len < WIRE_SCTP_ASCONF_PARAM_LEN || param->len > left)
		return false;
	param->type = get_be16(raw);
	param->id = get_be32(raw + 4);
	param->raw = raw;
	param->has_address = wire_sctp_addr_get(raw + WIRE_SCTP_ASCONF_PARAM_LEN,
						param->len - WIRE_SCTP_ASCONF_PARAM_LEN,
						&param->address) != 0;
	whole = round_up4(param->len);
	*p = raw + (whole < left ? whole : left);
	return true;
}

size_t wire_sctp_asconf_put(uint8_t *p, uint16_t type, uint32_t id, const struct ip_addr *addr)
{
	size_t len = WIRE_SCTP_ASCONF_PARAM_LEN;

	len += wire_sctp_addr_put(p + len, addr);
	put_be16(p, type);
	put_be16(p + 2, (uint16_t)len);
	put_be32(p + 4, id);
	return len;
}

size_t wire_sctp_asconf_error_put(uint8_t *p, uint32_t id, uint16_t cause, const uint8_t *copied,
				  size_t len)
{
	size_t whole = WIRE_SCTP_ASCONF_PARAM_LEN;

	whole += wire_sctp_cause_put(p + whole, cause, copied, len);
	put_be16(p, WIRE_SCTP_ASCONF_ERROR);
	/* The length of the parameter excludes the padding of the last cause (RFC 9260 3.2). */
	put_be16(p + 2, (uint16_t)(WIRE_SCTP_ASCONF_PARAM_LEN + 4 + len));
	put_be32(p + 4, id);
	return whole;
}
