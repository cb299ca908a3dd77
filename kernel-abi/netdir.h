/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The listing of the device's directory device/net: the network interfaces that have a GID of the device, that of GID 0
 * first. The directory itself is /sys/class/net, so all its names lead somewhere, and lo's too; but programs take the
 * first one that is listed for the device's own. The functions on directories (hooks_dir.c) read that listing here.
 */
#ifndef KERNEL_ABI_NETDIR_H
#define KERNEL_ABI_NETDIR_H

#include <dirent.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* How many of these directories are open. */
extern _Atomic unsigned int netdir_count;

/* Whether the path, as the application knows it, is that of such a directory. */
bool netdir_is(const char *known_as);
/* The stream was opened on one. If there is no memory, or no RNIC, it reads as the directory on disk. */
void netdir_opened(DIR *dir);
/* The stream is closed. */
void netdir_closed(DIR *dir);

struct netdir;

struct netdir *netdir_find_open(DIR *dir);
/* The listing that the stream reads; NULL: it is any other stream. */
static inline struct netdir *netdir_find(DIR *dir)
{
	return atomic_load_explicit(&netdir_count, memory_order_relaxed) ? netdir_find_open(dir) :
									   NULL;
}

/* The next entry, which is valid until the next call; NULL: there is none. */
struct dirent *netdir_next(struct netdir *n);
/* Where the stream is, and goes on. */
long netdir_tell(const struct netdir *n);
void netdir_seek(struct netdir *n, long pos);

#endif
