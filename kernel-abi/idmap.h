/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Maps each id to its channel of RDMA CM. As in the kernel, a descriptor can use only the ids that
 * were made on it or moved to it. The RNIC numbers the ids, uniquely in the process.
 *
 * Locks: one lock of its own guards the whole map, and is held inside these functions only. No
 * function may be called from a signal handler.
 */
#ifndef KERNEL_ABI_IDMAP_H
#define KERNEL_ABI_IDMAP_H

#include <stdint.h>

struct kfile;
struct idmap_node;

/* Returns memory for one entry, so that idmap_set() cannot fail, or NULL. */
struct idmap_node *idmap_reserve(void);
/* Frees an entry that is not in the map, or NULL. */
void idmap_unreserve(struct idmap_node *node);
/* Enters the id with channel kf, and replaces an older entry of the id. Takes over node. */
void idmap_set(struct idmap_node *node, uint32_t id, const struct kfile *kf);

/*
 * Returns 0 if the id is on channel kf; -ENOENT if the id does not exist; -EINVAL if it is on
 * another channel.
 */
int idmap_check(uint32_t id, const struct kfile *kf);

/* As idmap_check(). If 0, also removes the entry; the caller passes *node to idmap_unreserve(). */
int idmap_take(uint32_t id, const struct kfile *kf, struct idmap_node **node);

/* Moves the id to another channel. Returns the result of idmap_check(id, from). */
int idmap_move(uint32_t id, const struct kfile *from, const struct kfile *to);

/* Removes all ids of a channel that is being closed. */
void idmap_drop_channel(const struct kfile *kf);

#endif
