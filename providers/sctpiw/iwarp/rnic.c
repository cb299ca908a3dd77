/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/rnic.h"

#include <stdlib.h>

#include "util/alloc.h"

struct iw_rnic *iw_rnic_new(const struct iw_config *config, const struct iw_rnic_ops *ops,
			    struct random_source *random)
{
	struct iw_rnic *rnic = alloc_lines(sizeof(*rnic));

	if (!rnic)
		return NULL;
	rnic->config = *config;
	rnic->ops = *ops;
	rnic->next_qp_num = random_u32(random);
	rnic->stag_counter = random_u32(random);
	random_bytes(random, rnic->stag_keys, sizeof(rnic->stag_keys));
	list_init(&rnic->all_cqs);
	list_init(&rnic->all_mrs);
	list_init(&rnic->shards);
	return rnic;
}

void iw_rnic_free(struct iw_rnic *rnic)
{
	iw_table_fini(&rnic->mrs);
	iw_table_fini(&rnic->xrc_srqs);
	free(rnic->null_memory);
	free(rnic);
}

void iw_rnic_set_place(struct iw_rnic *rnic, int (*place)(void *dst, const void *src, size_t len))
{
	rnic->ops.place = place;
}

uint32_t iw_rnic_send_window(const struct iw_rnic *rnic)
{
	return rnic->config.unexpected_bytes_per_qp;
}
