/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "attr.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "devnum.h"
#include "libc.h"
#include "rnic.h"
#include "unused.h"

/*
 * Returns the GID type as the kernel prints it. A GID that is an IP address has the type "RoCE v2";
 * programs that pick a GID themselves look for this type. The GIDs of a port with link layer
 * InfiniBand have the type "IB/RoCE v1".
 */
static const char *gid_type(const struct sctpiw_rnic_api *api)
{
	struct rnic_port port;

	return !api->query_port(&port) && port.ib ? "IB/RoCE v1" : "RoCE v2";
}

#define TEXT_MAX 2048 /* maximum bytes of a file, except for the file with the mask of processors */
#define CPUS_MAX 8192 /* maximum number of processors, the largest NR_CPUS of the kernel */
#define CPUS_ONLINE "/sys/devices/system/cpu/online"

_Static_assert(SYSFS_GIDS == RNIC_GIDS, "the tree has a file for each slot of the GID table");

/*
 * Returns a descriptor of a pipe that contains this text, or -errno. A pipe can be read only once,
 * and has no lseek(), but the readers of sysfs files need no more.
 */
static int open_text_in_pipe(const char *text, int flags)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)text, .iov_len = strlen(text) };
	int fds[2];
	ssize_t n;

	if (pipe2(fds, O_NONBLOCK | (flags & O_CLOEXEC)))
		return -errno;
	n = writev(fds[1], &iov, 1);
	libc_close(fds[1]);
	if (n == (ssize_t)iov.iov_len)
		return fds[0];
	libc_close(fds[0]);
	return -EIO;
}

/* Returns a descriptor of a memory file that contains this text, or -errno. */
static int open_text(const char *text, int flags)
{
	ssize_t len = (ssize_t)strlen(text);
	struct rlimit limit;
	int fd;

	/* RLIMIT_FSIZE limits memory files, too. A longer write would raise SIGXFSZ. */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < (rlim_t)len)
		return open_text_in_pipe(text, flags);
	fd = memfd_create("sysfs", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
	if (fd < 0)
		return -errno;
	if (pwrite(fd, text, (size_t)len, 0) != len) {
		libc_close(fd);
		return -EIO;
	}
	return fd;
}

/* Prints groups of 16 bits, separated by colons. */
static void print_groups(char *out, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i += 2)
		out += sprintf(out, "%s%02x%02x", i ? ":" : "", bytes[i], bytes[i + 1]);
	strcpy(out, "\n");
}

static void print_guid(const struct sctpiw_rnic_api *api, char *text)
{
	uint64_t guid = api->node_guid(); /* in network byte order */
	uint8_t bytes[8];

	memcpy(bytes, &guid, sizeof(bytes));
	print_groups(text, bytes, sizeof(bytes));
}

static ssize_t empty_slot_read(struct kfile *kf, int fd, void *buf, size_t len)
{
	return -EINVAL;
}

static const struct kfile_ops empty_slot_ops = { .read = empty_slot_read };

/*
 * Opens a file of an empty GID slot. As in the kernel, the program can open the file, but not read
 * it. Programs recognise an empty slot by this error.
 */
static int open_empty_slot(int flags)
{
	int fd = open_text("", flags), ret;

	if (fd < 0)
		return fd;
	ret = fdtable_install(fd, &empty_slot_ops, NULL, NULL);
	if (ret) {
		libc_close(fd);
		return ret;
	}
	return fd;
}

static int open_gid(const struct sctpiw_rnic_api *api, const struct sysfs_target *target, int flags)
{
	char text[48], name[IF_NAMESIZE];
	unsigned int ifindex;
	uint8_t gid[16];
	int ret;

	ret = api->query_gid(target->gid_index, gid, &ifindex);
	if (ret && ret != -ENODATA)
		return ret;
	if (target->kind == SYSFS_GID) {
		print_groups(text, gid, sizeof(gid));
		return open_text(text, flags);
	}
	if (ret || (target->kind == SYSFS_GID_NDEV && !if_indextoname(ifindex, name)))
		return open_empty_slot(flags);
	snprintf(text, sizeof(text), "%s\n", target->kind == SYSFS_GID_NDEV ? name : gid_type(api));
	return open_text(text, flags);
}

/*
 * Prints the rate of the port, which is the number of lanes times the rate of one lane. The rate of
 * a lane is in units of 100 Mbit/s here. Lanes and speeds are encoded as in InfiniBand
 * (ibv_port_attr).
 */
static void print_rate(char *text, size_t len, const struct rnic_port *port)
{
	static const struct {
		uint8_t number;
		unsigned int rate;
		const char *name;
	} speeds[] = {
		{ 1, 25, "SDR" },   { 2, 50, "DDR" },	{ 4, 100, "QDR" },  { 8, 100, "FDR10" },
		{ 16, 140, "FDR" }, { 32, 250, "EDR" }, { 64, 500, "HDR" }, { 128, 1000, "NDR" },
	};
	static const unsigned int lanes[] = { [1] = 1, [2] = 4, [4] = 8, [8] = 12, [16] = 2 };
	unsigned int width = port->width < sizeof(lanes) / sizeof(lanes[0]) ? lanes[port->width] :
									      0;
	size_t i = 0;

	while (i + 1 < sizeof(speeds) / sizeof(speeds[0]) && speeds[i].number != port->speed)
		i++;
	snprintf(text, len, "%u%s Gb/sec (%uX %s)\n", width * speeds[i].rate / 10,
		 width * speeds[i].rate % 10 ? ".5" : "", width, speeds[i].name);
}

static int print_port(const struct sctpiw_rnic_api *api, enum sysfs_kind kind, char *text)
{
	struct rnic_port port;
	int ret = api->query_port(&port);

	if (ret)
		return ret;
	if (kind == SYSFS_STATE)
		strcpy(text, port.active ? "4: ACTIVE\n" : "1: DOWN\n");
	else if (kind == SYSFS_PHYS_STATE)
		strcpy(text, port.active ? "5: LinkUp\n" : "3: Disabled\n");
	else if (kind == SYSFS_LINK_LAYER)
		strcpy(text, port.ib ? "InfiniBand\n" : "Ethernet\n");
	else if (kind == SYSFS_LID)
		snprintf(text, TEXT_MAX, "0x%x\n", port.lid);
	else
		print_rate(text, TEXT_MAX, &port);
	return 0;
}

static int print_counter(const struct sctpiw_rnic_api *api, const char *path, char *text)
{
	uint64_t value;
	int ret = api->query_counter(strrchr(path, '/') + 1, &value);

	if (!ret)
		snprintf(text, TEXT_MAX, "%llu\n", (unsigned long long)value);
	return ret;
}

/*
 * Converts a list of processors such as "0-3,8" into a mask. Returns the number of bits up to the
 * highest one that is set.
 */
static unsigned int parse_cpus(const char *list, uint32_t mask[CPUS_MAX / 32])
{
	unsigned int bits = 0;

	while (*list >= '0' && *list <= '9') {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long cpu = first; cpu <= last && cpu < CPUS_MAX; cpu++) {
			mask[cpu / 32] |= 1u << cpu % 32;
			if (cpu >= bits)
				bits = (unsigned int)cpu + 1;
		}
		list = *end == ',' ? end + 1 : end;
	}
	return bits;
}

/*
 * Prints the mask of the processors that are local to the device. The RNIC is on no bus, so this is
 * all processors. The mask is printed in words of 32 bits, the most significant word first.
 */
static int print_cpus(char *text)
{
	uint32_t mask[CPUS_MAX / 32] = { 0 };
	unsigned int bits, word;
	char list[TEXT_MAX];
	ssize_t n = -1;
	int fd = libc_open(CPUS_ONLINE, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return fd;
	n = pread(fd, list, sizeof(list) - 1, 0);
	libc_close(fd);
	if (n <= 0)
		return -EIO;
	list[n] = '\0';
	bits = parse_cpus(list, mask);
	if (!bits)
		return -EIO;
	word = (bits - 1) / 32;
	text += sprintf(text, "%0*x", (int)((bits - 1) % 32 / 4 + 1), mask[word]);
	while (word--)
		text += sprintf(text, ",%08x", mask[word]);
	strcpy(text, "\n");
	return 0;
}

int attr_open(const struct sysfs_target *target, int flags)
{
	const struct sctpiw_rnic_api *api = rnic_load();
	/* The text must have room for the mask of processors, the longest of these files. */
	char text[TEXT_MAX + CPUS_MAX / 32 * 9];
	int ret = 0;

	if (!api)
		return -ENODEV;
	if (!api->node_guid()) /* there is no device; an earlier message gives the reason */
		unused_over();
	switch (target->kind) {
	case SYSFS_NODE_GUID:
		print_guid(api, text);
		break;
	case SYSFS_NODE_TYPE:
		strcpy(text, api->node_type() == RNIC_NODE_CA ? "1: CA\n" : "4: RNIC\n");
		break;
	case SYSFS_GID:
	case SYSFS_GID_TYPE:
	case SYSFS_GID_NDEV:
		return open_gid(api, target, flags);
	case SYSFS_COUNTER:
		ret = print_counter(api, target->known_as, text);
		break;
	case SYSFS_LOCAL_CPUS:
		ret = print_cpus(text);
		break;
	default:
		ret = print_port(api, target->kind, text);
		break;
	}
	return ret ? ret : open_text(text, flags);
}
