/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Datagrams of kinds 2 and 3, Service ID Resolution Request and Reply (docs/wire.md "Datagrams").
 * rdma_cm uses them to resolve a port to a UD queue pair. The name and the statuses are from
 * InfiniBand (IBTA 12.11). Both kinds have the same layout:
 *
 *  |                          Request ID                           |
 *  |                          (64 bits)                            |
 *  |                            Cookie                             |
 *  |                          (64 bits)                            |
 *  |                     QP number (24 bits)                       |
 *  |                            Q_Key                              |
 *  |    Status     | Private Len   |             Port              |
 *  |                         Private Data                          |
 *
 * A request is always as long as the longest reply. So a forged request cannot multiply traffic to
 * a victim. Integers of the struct are in host order. Encoding and decoding only; no state.
 */
#ifndef SCTPIW_WIRE_SIDR_H
#define SCTPIW_WIRE_SIDR_H

#include <string.h>

#include "wire/datagram.h"

/* length of a chunk without private data */
#define WIRE_SIDR_LEN (WIRE_DATAGRAM_LEN + 28u)
#define WIRE_SIDR_PRIVATE_MAX 255u /* bytes of private data */
/* length of the chunk of a request */
#define WIRE_SIDR_MAX (WIRE_SIDR_LEN + 256u)
#define WIRE_SIDR_PACKET (WIRE_SCTP_COMMON_LEN + WIRE_SIDR_MAX) /* length of the longest packet */

enum wire_sidr_status {
	WIRE_SIDR_ACCEPTED = 0,
	WIRE_SIDR_UNSUPPORTED = 1, /* no listener on the port */
	WIRE_SIDR_REJECTED = 2,
	/* Not a status of InfiniBand: the client must repeat the request with this cookie. */
	WIRE_SIDR_CHALLENGE = 255,
};

struct wire_sidr {
	uint64_t request_id; /* chosen by the client */
	uint64_t cookie;     /* 0 in a client's first request */
	uint32_t qp_num;     /* qp_num, qkey and status: set in a reply, 0 in a request */
	uint32_t qkey;
	uint8_t status; /* enum wire_sidr_status; a client treats unknown values as a refusal */
	uint16_t port;	/* request: port of the client's rdma_cm_id, or 0; reply: 0 */
	uint8_t private_data_len;
	const uint8_t *private_data;
};

/*
 * Writes the chunk of a request or a reply, padded with zeros to a multiple of 4 bytes. p must have
 * room for WIRE_SIDR_MAX bytes. Returns the length.
 */
static inline size_t wire_sidr_put(uint8_t *p, enum wire_datagram_kind kind,
				   const struct wire_sidr *s)
{
	size_t n = kind == WIRE_DATAGRAM_SIDR_REQUEST ?
			   WIRE_SIDR_MAX :
			   WIRE_SIDR_LEN + ((s->private_data_len + 3u) & ~3u);

	memset(p, 0, n);
	wire_sctp_chunk_put(p, WIRE_DATAGRAM, 0, n);
	p[4] = WIRE_DATAGRAM_VERSION;
	p[5] = (uint8_t)kind;
	put_be64(p + 8, s->request_id);
	put_be64(p + 16, s->cookie);
	put_be32(p + 24, s->qp_num);
	put_be32(p + 28, s->qkey);
	p[32] = s->status;
	p[33] = s->private_data_len;
	put_be16(p + 34, s->port);
	if (s->private_data_len)
		memcpy(p + WIRE_SIDR_LEN, s->private_data, s->private_data_len);
	return n;
}

/*
 * Decodes a chunk whose wire_datagram_kind() is kind. Returns false if the chunk is too short for
 * its contents, or if the QP number exceeds 24 bits. Also returns false if a request is shorter
 * than the longest reply.
 */
static inline bool wire_sidr_get(struct wire_sidr *s, enum wire_datagram_kind kind,
				 const uint8_t *p)
{
	size_t n = get_be16(p + 2);

	if (n < (kind == WIRE_DATAGRAM_SIDR_REQUEST ? WIRE_SIDR_MAX : WIRE_SIDR_LEN))
		return false;
	*s = (struct wire_sidr){
		.request_id = get_be64(p + 8),
		.cookie = get_be64(p + 16),
		.qp_num = get_be32(p + 24),
		.qkey = get_be32(p + 28),
		.status = p[32],
		.private_data_len = p[33],
		.port = get_be16(p + 34),
		.private_data = p + WIRE_SIDR_LEN,
	};
	return s->private_data_len <= n - WIRE_SIDR_LEN && !(s->qp_num >> 24);
}

#endif
