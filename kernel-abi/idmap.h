/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Maps each id to its channel of RDMA CM. As in the kernel, a descriptor can use only the ids that
 * were made on it or moved to it. The RNIC chooses the numbers of the ids, which are unique in the
 * process.
 *
 * Locks: one lock guards the whole map. Only these functions hold it, and none of them may be
 * called from a signal handler.
 */
#ifndef KERNEL_ABI_IDMAP_H
#define KERNEL_ABI_IDMAP_H

#include <stdint.h>

struct kfile;
struct idmap_node;

/* Returns memory for one entry, or NULL. Call this first, so that idmap_set() cannot fail. */
struct idmap_node *idmap_reserve(void);
/* Frees an entry that is not in the map. Accepts NULL. */
void idmap_unreserve(struct idmap_node *node);
/* Adds the id with its channel kf. Replaces an older entry of the id. Takes over node. */
void idmap_set(struct idmap_node *node, uint32_t id, const struct kfile *kf);

/*
 * Returns 0 if the id is on channel kf; -ENOENT if the id does not exist; -EINVAL if it is on
 * another channel.
 */
int idmap_check(uint32_t id, const struct kfile *kf);

/*
 * Does the same as idmap_check(). If it returns 0, it has also removed the entry, and the caller
 * must pass *node to idmap_unreserve().
 */
int idmap_take(uint32_t id, const struct kfile *kf, struct idmap_node **node);

/* Moves the id to another channel. Returns the result of idmap_check(id, from). */
int idmap_move(uint32_t id, const struct kfile *from, const struct kfile *to);

/* Removes all ids of a channel that is being closed. */
void idmap_drop_channel(const struct kfile *kf);

#endif
