/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * QP numbers have 24 bits, and are assigned in blocks of 256. The upper 16 bits of a number are a
 * UDP (SCTP) port that the process has bound. Thus QP numbers are unique on the host, and a peer
 * can reach a QP by its address and number alone. A block is kept until the process ends. The
 * block's endpoint is dormant until one of the block's QPs is connected out of band. Callers hold
 * the shard's lock.
 */
#ifndef SCTPIW_CONN_QP_NUM_H
#define SCTPIW_CONN_QP_NUM_H

#include <stdint.h>

#include "util/list.h"

struct conn;
struct endpoint;

/* Part of struct conn. */
struct qp_num_table {
	struct list_node blocks; /* qp_block.node, newest first */
};

void qp_num_table_init(struct qp_num_table *t);

/* Releases the ports of all blocks, at the end of the conn. All numbers must be released before. */
void qp_num_table_free(struct conn *c);

/* Sets *num to a free number. Returns 0, the -errno of socket() or bind(), or -ENOMEM. */
int qp_num_get(struct conn *c, uint32_t *num);
/* Releases a number, after its QP was destroyed. */
void qp_num_put(struct conn *c, uint32_t num);
/* Returns the endpoint with the port of this number, or NULL if this conn has no such endpoint. */
struct endpoint *qp_num_endpoint(const struct conn *c, uint32_t num);

/* Returns the port of the process that owns the number. */
static inline uint16_t qp_num_port(uint32_t num)
{
	return (uint16_t)(num >> 8);
}

#endif
