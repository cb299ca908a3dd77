/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/doctor_owner.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the inode of the socket that has this port in a table of /proc/net, or 0. */
static unsigned long inode_in(const char *table, uint16_t port)
{
	unsigned int found_port;
	unsigned long inode, found = 0;
	FILE *f = fopen(table, "re");
	char line[512];

	while (f && !found && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*d: %*[0-9A-Fa-f]:%x %*s %*s %*s %*s %*s %*s %*s %lu",
			   &found_port, &inode) == 2 &&
		    found_port == port)
			found = inode;
	}
	if (f)
		fclose(f);
	return found;
}

/* True if the process has an open descriptor of this socket. */
static bool has_socket(const char *pid, const char *socket)
{
	char path[300], link[64];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.16s/fd", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%.16s/fd/%.200s", pid, entry->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = '\0';
		found = !strcmp(link, socket);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void read_name(const char *pid, char name[17])
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.16s/comm", pid);
	f = fopen(path, "re");
	if (!f || !fgets(name, 17, f))
		strcpy(name, "?");
	name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
}

const char *doctor_owner(uint16_t port, char out[DOCTOR_OWNER_LEN])
{
	unsigned long inode = inode_in("/proc/net/udp", port);
	char socket[64], name[17];
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	if (!inode)
		inode = inode_in("/proc/net/udp6", port);
	snprintf(socket, sizeof(socket), "socket:[%lu]", inode);
	strcpy(out, "a process of another user, or of the kernel");
	while (dir && inode && (entry = readdir(dir))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
		    !has_socket(entry->d_name, socket))
			continue;
		read_name(entry->d_name, name);
		snprintf(out, DOCTOR_OWNER_LEN, "process %.16s (%s)", entry->d_name, name);
		break;
	}
	if (dir)
		closedir(dir);
	return out;
}
