/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * QP numbers: blocks of 256, each with a port that the process has bound. Whoever has the port has the
 * numbers, on all of the host. A block is kept until the process ends; its socket lies dormant until
 * a QP of it is connected out of band.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "util/sockaddr.h"
#include "conn/oob.h"

#define BLOCK 256
/* Numbers are given out in turn, and so many stay free: that many others are in use before one comes again. */
#define BLOCK_FREE 64

struct qp_block {
	struct list_node node; /* engine.qp_blocks; the newest first */
	struct endpoint *ep;
	bool used[BLOCK];
	unsigned int n_used;
	uint8_t next;
};

/* Any port, for both families; hosts may be without IPv6. */
static int bind_port(struct engine *e, struct endpoint **ep)
{
	struct sockaddr_storage any;
	int ret;

	sockaddr_any(&any, AF_INET6, 0);
	ret = endpoint_open_dormant(e, (struct sockaddr *)&any, ep);
	if (ret != -EAFNOSUPPORT && ret != -EADDRNOTAVAIL)
		return ret;
	sockaddr_any(&any, AF_INET, 0);
	return endpoint_open_dormant(e, (struct sockaddr *)&any, ep);
}

static int block_new(struct engine *e, struct qp_block **out)
{
	struct qp_block *b = calloc(1, sizeof(*b));
	int ret;

	if (!b)
		return -ENOMEM;
	ret = bind_port(e, &b->ep);
	if (ret) {
		log_error("no port for QP numbers: %s", strerror(-ret));
		free(b);
		return ret;
	}
	b->ep->block = b;
	/* The port may have been another process's a moment ago. */
	b->next = (uint8_t)random_u32(&e->random);
	list_add(&e->qp_blocks, &b->node);
	*out = b;
	return 0;
}

static struct qp_block *block_with_room(struct engine *e)
{
	list_for_each(node, &e->qp_blocks) {
		struct qp_block *b = list_entry(node, struct qp_block, node);

		if (b->n_used < BLOCK - BLOCK_FREE)
			return b;
	}
	return NULL;
}

int qp_num_get(struct engine *e, uint32_t *num)
{
	struct qp_block *b = block_with_room(e);
	int ret;

	if (!b) {
		ret = block_new(e, &b);
		if (ret)
			return ret;
	}
	while (b->used[b->next])
		b->next++;
	*num = (uint32_t)b->ep->port << 8 | b->next;
	b->used[b->next++] = true;
	b->n_used++;
	return 0;
}

static struct qp_block *block_of(const struct engine *e, uint32_t num)
{
	list_for_each(node, &e->qp_blocks) {
		struct qp_block *b = list_entry(node, struct qp_block, node);

		if (b->ep->port == qp_num_port(num))
			return b;
	}
	return NULL;
}

void qp_num_put(struct engine *e, uint32_t num)
{
	struct qp_block *b = block_of(e, num);

	b->used[num % BLOCK] = false;
	b->n_used--;
	oob_qp_gone(e, num);
}

struct endpoint *qp_num_endpoint(const struct engine *e, uint32_t num)
{
	struct qp_block *b = block_of(e, num);

	return b ? b->ep : NULL;
}
