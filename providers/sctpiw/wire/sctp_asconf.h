/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Changes of addresses (RFC 5061 section 4): ASCONF, ASCONF-ACK and their parameters. Integers of
 * the structs are in host order; pointers point into the chunk. No state.
 *
 *  |  Type = 0xC1  |     Flags     |            Length             |
 *  |                        Sequence Number                        |
 *  |                       Address Parameter                       |
 *  |                      ASCONF Parameters                        |
 *
 *  |  Type = 0x80  |     Flags     |            Length             |
 *  |                        Sequence Number                        |
 *  |                 ASCONF Parameter Responses                    |
 *
 *  |    Type = 0xC001 to 0xC005    |            Length             |
 *  |                        Correlation ID                         |
 *  |     Address Parameter, or error causes, or nothing            |
 */
#ifndef SCTPIW_WIRE_SCTP_ASCONF_H
#define SCTPIW_WIRE_SCTP_ASCONF_H

#include "util/addr.h"
#include "wire/sctp_packet.h"

#define WIRE_SCTP_ASCONF 0xc1
#define WIRE_SCTP_ASCONF_ACK 0x80
#define WIRE_SCTP_ASCONF_LEN 8u /* bytes of both chunks up to the Sequence Number, inclusive */
#define WIRE_SCTP_PARAM_EXTENSIONS 0x8008
#define WIRE_SCTP_ADDR_PARAM_MAX 20u /* bytes of the longest Address Parameter */

enum wire_sctp_asconf_type {
	WIRE_SCTP_ADD_IP = 0xc001,
	WIRE_SCTP_DELETE_IP = 0xc002,
	WIRE_SCTP_ASCONF_ERROR = 0xc003, /* Error Cause Indication */
	WIRE_SCTP_SET_PRIMARY = 0xc004,
	WIRE_SCTP_ASCONF_SUCCESS = 0xc005,
};

enum wire_sctp_asconf_cause { /* RFC 5061 4.3 */
			      WIRE_SCTP_CAUSE_DELETE_LAST = 0xa0,
			      WIRE_SCTP_CAUSE_ASCONF_RESOURCE = 0xa1,
			      WIRE_SCTP_CAUSE_DELETE_SOURCE = 0xa2,
			      WIRE_SCTP_CAUSE_ILLEGAL_ASCONF_ACK = 0xa3,
			      WIRE_SCTP_CAUSE_NO_AUTHORIZATION = 0xa4,
};

#define WIRE_SCTP_ASCONF_PARAM_LEN 8u /* bytes of a parameter up to the Correlation ID, inclusive */

struct wire_sctp_asconf {
	uint32_t serial;	/* Sequence Number */
	struct ip_addr address; /* Address Parameter; zero: wildcard. Only in ASCONF */
	const uint8_t *params;	/* the parameters, up to `end` */
	const uint8_t *end;
};

/* Decodes an ASCONF. Returns false if its Address Parameter is missing, or has no address. */
bool wire_sctp_asconf_get(const struct wire_sctp_chunk *c, struct wire_sctp_asconf *asconf);
/* Decodes an ASCONF-ACK, which has no Address Parameter. Returns false if it is too short. */
bool wire_sctp_asconf_ack_get(const struct wire_sctp_chunk *c, struct wire_sctp_asconf *ack);

struct wire_sctp_asconf_param {
	uint16_t type;
	uint32_t id;	    /* Correlation ID */
	const uint8_t *raw; /* header of the parameter */
	/* Parameter Length: includes the header, excludes the padding; at least 8 */
	size_t len;
	bool has_address;	/* an Address Parameter follows the Correlation ID */
	struct ip_addr address; /* without a scope */
};

/*
 * Decodes the parameter at *p, in a chunk that ends at end. Advances *p past the parameter. Returns
 * false at the end, or if no complete parameter with a Correlation ID remains.
 */
bool wire_sctp_asconf_next(const uint8_t **p, const uint8_t *end,
			   struct wire_sctp_asconf_param *param);

/* Writes an Address Parameter (RFC 9260 3.3.2.1). Returns its length, 8 or 20 bytes. */
size_t wire_sctp_addr_put(uint8_t *p, const struct ip_addr *addr);
/*
 * Decodes the Address Parameter at p. At most len bytes are read. Returns the length of the
 * parameter, or 0 if there is none. The address has no scope.
 */
size_t wire_sctp_addr_get(const uint8_t *p, size_t len, struct ip_addr *addr);
/* Writes a request parameter with an address. Returns its length, 16 or 28 bytes. */
size_t wire_sctp_asconf_put(uint8_t *p, uint16_t type, uint32_t id, const struct ip_addr *addr);
/*
 * Writes an Error Cause Indication with one error cause. Its information is a copy of the len bytes
 * of a refused parameter. Returns the number of bytes written, 12 + round_up4(len).
 */
size_t wire_sctp_asconf_error_put(uint8_t *p, uint32_t id, uint16_t cause, const uint8_t *copied,
				  size_t len);

#endif
