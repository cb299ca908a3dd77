/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "runtime/object.h"

#include "runtime/rnic.h"

void object_lock(struct object *obj)
{
	struct shard *s = object_shard(obj);

	shard_lock(s);
	/* The object may have moved to another shard before this thread had the lock. */
	while (s != object_shard(obj)) {
		shard_unlock(s);
		s = object_shard(obj);
		shard_lock(s);
	}
}

void object_unlock(struct object *obj)
{
	shard_unlock(object_shard(obj));
}

void object_lock_all(const struct object *obj)
{
	rnic_lock(object_shard(obj)->rnic);
}

void object_unlock_all(const struct object *obj)
{
	rnic_unlock(object_shard(obj)->rnic);
}
