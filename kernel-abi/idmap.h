/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The channel of RDMA CM that each id is on. As in the kernel, a descriptor can use only the ids
 * that were made on it or moved to it. The RNIC numbers the ids, uniquely in the process.
 *
 * Locks: one of its own, which guards the whole map and is held inside these functions only. No
 * function may be called from a signal handler.
 */
#ifndef KERNEL_ABI_IDMAP_H
#define KERNEL_ABI_IDMAP_H

#include <stdint.h>

struct kfile;
struct idmap_node;

/* Memory for one entry, so that idmap_set() cannot fail; NULL if there is none. */
struct idmap_node *idmap_reserve(void);
/* Frees an entry that is not in the map; NULL is no entry. */
void idmap_unreserve(struct idmap_node *node);
/* Enters that the id is on channel kf, in place of what was known of the id. Takes over node. */
void idmap_set(struct idmap_node *node, uint32_t id, const struct kfile *kf);

/*
 * 0 if the id is on channel kf; -ENOENT if there is no such id, -EINVAL if it is on another
 * channel.
 */
int idmap_check(uint32_t id, const struct kfile *kf);

/*
 * As idmap_check(); if it is 0, takes the entry out, and *node is the caller's to
 * idmap_unreserve().
 */
int idmap_take(uint32_t id, const struct kfile *kf, struct idmap_node **node);

/* Moves the id to another channel; returns what idmap_check(id, from) does. */
int idmap_move(uint32_t id, const struct kfile *from, const struct kfile *to);

/* Forgets all ids of a channel that is being closed. */
void idmap_drop_channel(const struct kfile *kf);

#endif
