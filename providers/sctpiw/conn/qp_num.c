/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "conn/qp_num.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conn/conn.h"
#include "conn/oob_early.h"
#include "log/log.h"
#include "util/sockaddr.h"

#define BLOCK 256
/*
 * Number of QP numbers in a block that stay free. So at least this many other numbers are used
 * before a number is used again.
 */
#define BLOCK_FREE 64

struct qp_block {
	struct list_node node; /* qp_num_table.blocks */
	struct endpoint *ep;
	bool used[BLOCK];
	unsigned int n_used;
	uint8_t next;
};

void qp_num_table_init(struct qp_num_table *t)
{
	list_init(&t->blocks);
}

void qp_num_table_free(struct conn *c)
{
	struct list_node *node;

	while ((node = list_pop(&c->qp_nums.blocks))) {
		struct qp_block *b = list_entry(node, struct qp_block, node);

		endpoint_put(b->ep);
		free(b);
	}
}

/* Binds any port for IPv6 and IPv4, or only for IPv4 if the host lacks IPv6. */
static int bind_port(struct conn *c, struct endpoint **ep)
{
	struct sockaddr_storage any;
	int ret;

	sockaddr_any(&any, AF_INET6, 0);
	ret = endpoint_open_dormant(c, (struct sockaddr *)&any, ep);
	if (ret != -EAFNOSUPPORT && ret != -EADDRNOTAVAIL)
		return ret;
	sockaddr_any(&any, AF_INET, 0);
	return endpoint_open_dormant(c, (struct sockaddr *)&any, ep);
}

static int block_new(struct conn *c, struct qp_block **out)
{
	struct qp_block *b = calloc(1, sizeof(*b));
	int ret;

	if (!b)
		return -ENOMEM;
	ret = bind_port(c, &b->ep);
	if (ret) {
		log_error("no port for QP numbers: %s", log_reason(-ret));
		free(b);
		return ret;
	}
	b->ep->block = b;
	/* Reserve the multicast QP number if it is in this block: it belongs to no QP. */
	b->used[IW_MCAST_QPN % BLOCK] = b->ep->bound.port == MULTICAST_PORT;
	/*
	 * Begin with a random number: a process that had the port shortly before may have used the
	 * first numbers.
	 */
	b->next = (uint8_t)random_u32(c->random);
	list_add(&c->qp_nums.blocks, &b->node);
	*out = b;
	return 0;
}

static struct qp_block *block_with_room(struct conn *c)
{
	list_for_each(node, &c->qp_nums.blocks) {
		struct qp_block *b = list_entry(node, struct qp_block, node);

		if (b->n_used < BLOCK - BLOCK_FREE)
			return b;
	}
	return NULL;
}

int qp_num_get(struct conn *c, uint32_t *num)
{
	struct qp_block *b = block_with_room(c);
	int ret;

	if (!b) {
		ret = block_new(c, &b);
		if (ret)
			return ret;
	}
	while (b->used[b->next])
		b->next++;
	*num = (uint32_t)b->ep->bound.port << 8 | b->next;
	b->used[b->next++] = true;
	b->n_used++;
	return 0;
}

static struct qp_block *block_of(const struct conn *c, uint32_t num)
{
	list_for_each(node, &c->qp_nums.blocks) {
		struct qp_block *b = list_entry(node, struct qp_block, node);

		if (b->ep->bound.port == qp_num_port(num))
			return b;
	}
	return NULL;
}

void qp_num_put(struct conn *c, uint32_t num)
{
	struct qp_block *b = block_of(c, num);

	b->used[num % BLOCK] = false;
	b->n_used--;
	oob_early_consider(c, num);
}

struct endpoint *qp_num_endpoint(const struct conn *c, uint32_t num)
{
	struct qp_block *b = block_of(c, num);

	return b ? b->ep : NULL;
}
