/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "netdir.h"

#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libc.h"
#include "rnic.h"

/* maximum number of open listings; further streams read the directory on disk */
#define NETDIRS_MAX 16
#define END "/device/net"

struct netdir {
	DIR *dir;
	long pos; /* position of the next entry */
	unsigned int n;
	struct dirent entry;
	char name[2 + RNIC_GIDS][IF_NAMESIZE]; /* ".", ".." and the names of the interfaces */
};

_Atomic unsigned int netdir_count;
/* The open listings. NULL: the element is free. */
static _Atomic(struct netdir *) netdirs[NETDIRS_MAX];

bool netdir_is(const char *known_as)
{
	size_t len = strlen(known_as), n = strlen(END);

	while (len && known_as[len - 1] == '/')
		len--;
	return len >= n && !memcmp(known_as + len - n, END, n);
}

static void add(struct netdir *n, const char *name)
{
	for (unsigned int i = 0; i < n->n; i++) {
		if (!strcmp(n->name[i], name))
			return;
	}
	snprintf(n->name[n->n++], IF_NAMESIZE, "%s", name);
}

void netdir_opened(DIR *dir)
{
	const struct sctpiw_rnic_api *api = rnic_load();
	struct netdir *n = api ? calloc(1, sizeof(*n)) : NULL, *none;
	unsigned int ifindex;
	char name[IF_NAMESIZE];
	uint8_t gid[16];

	if (!n)
		return;
	n->dir = dir;
	add(n, ".");
	add(n, "..");
	for (unsigned int i = 0; i < RNIC_GIDS; i++) {
		if (!api->query_gid(i, gid, &ifindex) && if_indextoname(ifindex, name))
			add(n, name);
	}
	for (unsigned int i = 0; i < NETDIRS_MAX; i++) {
		none = NULL;
		if (!atomic_compare_exchange_strong(&netdirs[i], &none, n))
			continue;
		atomic_fetch_add(&netdir_count, 1);
		return;
	}
	free(n);
}

struct netdir *netdir_find_open(DIR *dir)
{
	for (unsigned int i = 0; i < NETDIRS_MAX; i++) {
		struct netdir *n = atomic_load(&netdirs[i]);

		if (n && n->dir == dir)
			return n;
	}
	return NULL;
}

void netdir_closed(DIR *dir)
{
	for (unsigned int i = 0; i < NETDIRS_MAX; i++) {
		struct netdir *n = atomic_load(&netdirs[i]);

		if (n && n->dir == dir) {
			atomic_store(&netdirs[i], NULL);
			atomic_fetch_sub(&netdir_count, 1);
			free(n);
			return;
		}
	}
}

struct dirent *netdir_next(struct netdir *n)
{
	char path[64];
	struct stat st = { .st_ino = 1 };

	if (n->pos < 0 || n->pos >= (long)n->n)
		return NULL;
	snprintf(path, sizeof(path), "/sys/class/net/%s", n->name[n->pos]);
	libc_fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);
	n->entry.d_ino = st.st_ino;
	n->entry.d_off = n->pos + 1;
	n->entry.d_reclen = sizeof(n->entry);
	n->entry.d_type = n->pos < 2 ? DT_DIR : DT_LNK;
	strcpy(n->entry.d_name, n->name[n->pos++]);
	return &n->entry;
}

long netdir_tell(const struct netdir *n)
{
	return n->pos;
}

void netdir_seek(struct netdir *n, long pos)
{
	n->pos = pos;
}
