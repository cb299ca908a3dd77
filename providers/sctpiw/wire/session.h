/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * DDP Stream Session Control messages (RFC 5043 5.2.3, RFC 6581 7 and 9), PPID 17:
 *
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * +-------------------------------+-------------------------------+
 * |            DDP-SSN            |         Function Code         |
 * +-+-+---------------------------+-+-+---------------------------+
 * |A|B|           IRD             |C|D|           ORD             | enhanced messages only
 * +-+-+---------------------------+-+-+---------------------------+
 * |                        Private Data                           |
 *
 * Integers of the structs are in host order. No state, no lock.
 */
#ifndef SCTPIW_WIRE_SESSION_H
#define SCTPIW_WIRE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SESSION_PPID_DDP 16 /* RFC 5043 5.2 */
#define SESSION_PPID_CONTROL 17
#define SESSION_SSN_LEN 2 /* length of the DDP-SSN, the first field of every user message */
#define SESSION_CONTROL_MIN 4
#define SESSION_PRIVATE_MAX 512 /* includes the establishment data of an enhanced message */
#define SESSION_CONTROL_MAX (SESSION_CONTROL_MIN + SESSION_PRIVATE_MAX)
#define SESSION_ENHANCED_LEN 4
#define SESSION_DEPTH_MAX 0x3ffe
#define SESSION_DEPTH_ULP 0x3fff /* IRD or ORD: the ULP has its own negotiation (RFC 6581 9.1) */

enum session_function {
	SESSION_INITIATE = 1,
	SESSION_ACCEPT = 2,
	SESSION_REJECT = 3,
	SESSION_TERMINATE = 4,
	SESSION_ENHANCED_INITIATE = 5,
	SESSION_ENHANCED_ACCEPT = 6,
	SESSION_ENHANCED_REJECT = 7,
};

/* The establishment data: IRD and ORD of 14 bits each, and flags A to D (RFC 6581 9). */
struct session_enhanced {
	uint16_t ird;
	uint16_t ord;
	bool peer_to_peer; /* flag A */
	bool rtr_send;	   /* flag B */
	bool rtr_write;	   /* flag C */
	bool rtr_read;	   /* flag D */
};

struct session_control {
	uint16_t ssn;
	uint16_t function;
	struct session_enhanced enhanced; /* functions 5, 6 and 7 only */
	uint16_t private_len;
	const uint8_t *private_data; /* points into the message, after the establishment data */
};

static inline bool session_is_enhanced(uint16_t function)
{
	return function >= SESSION_ENHANCED_INITIATE && function <= SESSION_ENHANCED_REJECT;
}

static inline bool session_is_initiate(uint16_t function)
{
	return function == SESSION_INITIATE || function == SESSION_ENHANCED_INITIATE;
}

/*
 * Writes the message to buf, which has len bytes. Returns the length of the message. Returns 0 if
 * the message does not fit, or has too much private data (a Terminate must have none). Limits IRD
 * and ORD to 14 bits. If peer_to_peer is false, the RTR flags are sent as 0 (RFC 6581 9.2).
 */
size_t session_encode(const struct session_control *c, uint8_t *buf, size_t len);

/*
 * Decodes a complete user message. Returns 0, or -EINVAL if the message is too short for its
 * function, too long, or a Terminate with private data. After -EINVAL, ssn and function are valid
 * if len >= 4. An unknown function is not an error here. An Enhanced Reject without establishment
 * data gives an IRD and ORD of 0.
 */
int session_decode(struct session_control *c, const uint8_t *data, size_t len);

#endif
