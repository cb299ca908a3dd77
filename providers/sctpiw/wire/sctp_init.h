/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * INIT and INIT ACK with their parameters (RFC 9260 3.3.2, 3.3.3; RFC 5061 4.2.6, 4.2.7; RFC 4895
 * 3; RFC 4820 4). Integers of the structs are in host order; pointers point into the chunk. No
 * state.
 */
#ifndef SCTPIW_WIRE_SCTP_INIT_H
#define SCTPIW_WIRE_SCTP_INIT_H

#include "util/addr.h"
#include "wire/sctp_packet.h"
#include "wire/sctp_receipts.h"

#define WIRE_SCTP_INIT_LEN 20u /* length of the chunk header and the fixed part */

enum wire_sctp_param {
	WIRE_SCTP_PARAM_HEARTBEAT_INFO = 1,
	WIRE_SCTP_PARAM_IPV4 = 5,
	WIRE_SCTP_PARAM_IPV6 = 6,
	WIRE_SCTP_PARAM_COOKIE = 7,
	WIRE_SCTP_PARAM_UNRECOGNIZED = 8,
	WIRE_SCTP_PARAM_PRESERVATIVE = 9,
	WIRE_SCTP_PARAM_HOST_NAME = 11,
	WIRE_SCTP_PARAM_ADDRESS_TYPES = 12,
	WIRE_SCTP_PARAM_PAD = 0x8005,
	WIRE_SCTP_PARAM_ADAPTATION = 0xc006,
};

#define WIRE_SCTP_REPORT_MAX 8 /* maximum of unknown parameters kept for a report */
#define WIRE_SCTP_ADDRS_MAX 8  /* maximum of listed addresses that are kept */

/*
 *  |   Type = 1|2  |  Chunk Flags  |      Chunk Length             |
 *  |                         Initiate Tag                          |
 *  |           Advertised Receiver Window Credit (a_rwnd)          |
 *  |  Number of Outbound Streams   |   Number of Inbound Streams   |
 *  |                          Initial TSN                          |
 *  |                  Optional/Variable-Length Parameters          |
 */
struct wire_sctp_init {
	uint32_t tag;
	uint32_t a_rwnd;
	uint16_t os;  /* Number of Outbound Streams */
	uint16_t mis; /* Number of Inbound Streams, which is a maximum */
	uint32_t tsn;
	bool has_adaptation;
	uint32_t adaptation;
	struct wire_sctp_receipts receipts;
	uint16_t address_type;	  /* the first of the Supported Address Types, or 0 */
	const uint8_t *host_name; /* header of a Host Name Address, which is forbidden; or NULL */
	/* number of IPv4 and IPv6 Address parameters; they have no scopes */
	unsigned int addrs;
	struct ip_addr addr[WIRE_SCTP_ADDRS_MAX];
	/*
	 * Headers of the parameters RANDOM, CHUNKS, HMAC-ALGO and Supported Extensions, or NULL
	 * (RFC 4895 3, RFC 5061 4.2.7).
	 */
	const uint8_t *random;
	const uint8_t *chunks;
	const uint8_t *hmacs;
	const uint8_t *extensions;
	const uint8_t *cookie; /* State Cookie, or NULL */
	size_t cookie_len;
	unsigned int reports; /* number of unknown parameters whose types request a report */
	struct {
		const uint8_t *raw; /* header of the parameter */
		size_t len;	    /* Parameter Length, without padding */
	} report[WIRE_SCTP_REPORT_MAX];
};

/*
 * Decodes an INIT or INIT ACK. Returns false if the chunk is too short for the fixed part. Skips
 * all parameters that follow a malformed parameter.
 */
bool wire_sctp_init_get(const struct wire_sctp_chunk *c, struct wire_sctp_init *init);

/*
 * Writes an INIT (type WIRE_SCTP_INIT) or INIT ACK from *init. Optional are the address type, the
 * addresses, the parameters of authentication and extensions, and the receipts. The receipts are
 * left out if their version is 0. Returns the length. The length is at most WIRE_SCTP_INIT_LEN + 28
 * bytes, plus 20 for each address, plus the parameters of authentication and extensions. To append
 * more parameters, use wire_sctp_param_put(). Then write the new length with wire_sctp_chunk_put().
 */
size_t wire_sctp_init_put(uint8_t *p, uint8_t type, const struct wire_sctp_init *init);

/* Writes a parameter with a value of len bytes, and its padding. Returns round_up4(4 + len). */
size_t wire_sctp_param_put(uint8_t *p, uint16_t type, const void *value, size_t len);

#endif
