/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The listing of the device's directory device/net: the network interfaces that have a GID of the
 * device, the interface of GID 0 first. The directory itself is a link to /sys/class/net, so a
 * program can open any interface there, even lo. But programs assume that the first listed name is
 * the device's interface. The hooks on directories (hooks_dir.c) read this listing.
 */
#ifndef KERNEL_ABI_NETDIR_H
#define KERNEL_ABI_NETDIR_H

#include <dirent.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Number of open directories device/net. */
extern _Atomic unsigned int netdir_count;

/* True if the path, as the application sees it, is a directory device/net. */
bool netdir_is(const char *known_as);
/*
 * Call this when the stream was opened on a directory device/net. If out of memory, or without an
 * RNIC, the stream reads the directory on disk.
 */
void netdir_opened(DIR *dir);
/* Call this when the stream is closed. */
void netdir_closed(DIR *dir);

struct netdir;

struct netdir *netdir_find_open(DIR *dir);
/* Returns the listing of this stream, or NULL if the stream has none. */
static inline struct netdir *netdir_find(DIR *dir)
{
	return atomic_load_explicit(&netdir_count, memory_order_relaxed) ? netdir_find_open(dir) :
									   NULL;
}

/* Returns the next entry, or NULL at the end. The entry is valid until the next call. */
struct dirent *netdir_next(struct netdir *n);
/* Get and set the position in the listing. */
long netdir_tell(const struct netdir *n);
void netdir_seek(struct netdir *n, long pos);

#endif
