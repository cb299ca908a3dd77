/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * INIT and INIT ACK with their parameters (RFC 9260 3.3.2, 3.3.3; RFC 5061 4.2.6, 4.2.7; RFC 4895 3; RFC 4820 4).
 * Integers of the structs are in host order; pointers are into the chunk. No state.
 */
#ifndef SCTPIW_WIRE_SCTP_INIT_H
#define SCTPIW_WIRE_SCTP_INIT_H

#include "util/addr.h"
#include "wire/sctp_packet.h"
#include "wire/sctp_receipts.h"

#define WIRE_SCTP_INIT_LEN 20u /* chunk header and fixed part */

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

#define WIRE_SCTP_REPORT_MAX 8 /* unknown parameters remembered for a report */
#define WIRE_SCTP_ADDRS_MAX 8  /* listed addresses remembered */

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
	uint16_t mis; /* Number of Inbound Streams: at most that many */
	uint32_t tsn;
	bool has_adaptation;
	uint32_t adaptation;
	struct wire_sctp_receipts receipts;
	uint16_t address_type;	  /* the first of the Supported Address Types, or 0 */
	const uint8_t *host_name; /* header of the Host Name Address, which is forbidden, or NULL */
	unsigned int addrs;	  /* IPv4 and IPv6 Address parameters; they have no scope */
	struct ip_addr addr[WIRE_SCTP_ADDRS_MAX];
	/* The headers of these parameters, or NULL (RFC 4895 3, RFC 5061 4.2.7). */
	const uint8_t *random;
	const uint8_t *chunks;
	const uint8_t *hmacs;
	const uint8_t *extensions;
	const uint8_t *cookie; /* State Cookie, or NULL */
	size_t cookie_len;
	unsigned int reports; /* unknown parameters that ask to be reported */
	struct {
		const uint8_t *raw; /* parameter header */
		size_t len;	    /* Parameter Length, no padding */
	} report[WIRE_SCTP_REPORT_MAX];
};

/*
 * Decodes an INIT or INIT ACK. Returns false when it is too short for the fixed part. Parameters
 * behind a malformed one are skipped.
 */
bool wire_sctp_init_get(const struct wire_sctp_chunk *c, struct wire_sctp_init *init);

/*
 * Writes an INIT (type WIRE_SCTP_INIT) or INIT ACK with the fixed part, the address type if there
 * is one, the addresses, the parameters of authentication and extensions that are there, the adaptation of *init, and
 * the receipts if their version is not 0. Returns the length, WIRE_SCTP_INIT_LEN + 28 bytes at most, 20 for each
 * address that it lists, and those other parameters.
 * More parameters may be appended with wire_sctp_param_put(), and counted in with
 * wire_sctp_chunk_put().
 */
size_t wire_sctp_init_put(uint8_t *p, uint8_t type, const struct wire_sctp_init *init);

/* Writes a parameter with len bytes of value and its padding; returns round_up4(4 + len). */
size_t wire_sctp_param_put(uint8_t *p, uint16_t type, const void *value, size_t len);

#endif
