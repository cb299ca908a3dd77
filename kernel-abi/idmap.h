/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which rdma_cm channel a CM id is on. Handles come from the RNIC and are unique in the process; the
 * kernel lets a descriptor use only the ids that were made on it, or moved to it.
 */
#ifndef KERNEL_ABI_IDMAP_H
#define KERNEL_ABI_IDMAP_H

#include <stdint.h>

struct kfile;
struct idmap_node;

/* Memory for one entry, so that idmap_set() cannot fail; NULL when there is none. */
struct idmap_node *idmap_reserve(void);
void idmap_unreserve(struct idmap_node *node);
void idmap_set(struct idmap_node *node, uint32_t id, const struct kfile *kf);

/* 0, -ENOENT: no such id, -EINVAL: it is on another channel. */
int idmap_check(uint32_t id, const struct kfile *kf);

/* As idmap_check(), and takes the entry out. */
int idmap_take(uint32_t id, const struct kfile *kf, struct idmap_node **node);

int idmap_move(uint32_t id, const struct kfile *from, const struct kfile *to);

/* The channel is closed, and its ids with it. */
void idmap_drop_channel(const struct kfile *kf);

#endif
