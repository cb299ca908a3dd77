/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* memory_check(): what is mapped where, and how. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#include "net/memory.h"
#include "sys/sys.h"

#define VMA_READ 1
#define VMA_WRITE 2

/* Linux 6.11's query on /proc/PID/maps; the headers of older systems lack it. */
struct vma_query {
	uint64_t size;
	uint64_t query_flags;
	uint64_t query_addr;
	uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint32_t vma_name_size, build_id_size;
	uint64_t vma_name_addr, build_id_addr;
};
#define VMA_QUERY _IOWR('f', 17, struct vma_query)

/* Walks from *addr to end. 0, -EFAULT, or -ENOTTY: this kernel cannot be asked like this. */
static int check_by_query(int fd, uint64_t *addr, uint64_t end, unsigned int want)
{
	while (*addr < end) {
		struct vma_query q = { .size = sizeof(q), .query_addr = *addr };
		int ret = sys_ioctl(fd, VMA_QUERY, &q);

		if (ret == -ENOENT)
			return -EFAULT;
		if (ret)
			return -ENOTTY;
		if ((q.vma_flags & want) != want)
			return -EFAULT;
		*addr = q.vma_end;
	}
	return 0;
}

/* Parses "start-end rwxp ...". false: the line is not complete. */
static bool parse_line(const char *line, const char *end, uint64_t *start, uint64_t *stop,
		       unsigned int *flags)
{
	uint64_t num[2] = { 0, 0 };

	for (int i = 0; i < 2; i++) {
		for (; line < end; line++) {
			unsigned int digit;

			if (*line >= '0' && *line <= '9')
				digit = (unsigned int)(*line - '0');
			else if (*line >= 'a' && *line <= 'f')
				digit = (unsigned int)(*line - 'a' + 10);
			else
				break;
			num[i] = num[i] << 4 | digit;
		}
		line++;
	}
	if (end - line < 2)
		return false;
	*start = num[0];
	*stop = num[1];
	*flags = (line[0] == 'r' ? VMA_READ : 0) | (line[1] == 'w' ? VMA_WRITE : 0);
	return true;
}

static int check_by_text(int fd, uint64_t *addr, uint64_t end, unsigned int want)
{
	char buf[8192];
	size_t have = 0;

	for (;;) {
		ssize_t n = sys_read(fd, buf + have, sizeof(buf) - have);
		char *line = buf, *eol;

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return -EFAULT;
		have += (size_t)n;
		while ((eol = memchr(line, '\n', have - (size_t)(line - buf)))) {
			uint64_t start, stop;
			unsigned int flags;

			if (parse_line(line, eol, &start, &stop, &flags) && stop > *addr) {
				if (start > *addr || (flags & want) != want)
					return -EFAULT;
				*addr = stop;
				if (stop >= end)
					return 0;
			}
			line = eol + 1;
		}
		have -= (size_t)(line - buf);
		if (have == sizeof(buf))
			return -EFAULT;
		memmove(buf, line, have);
	}
}

int memory_check(uint64_t addr, uint64_t len, bool write)
{
	static atomic_bool no_query;
	unsigned int want = VMA_READ | (write ? VMA_WRITE : 0);
	uint64_t end = addr + len;
	int fd, ret = -ENOTTY;

	if (!len)
		return 0;
	if (end < addr)
		return -EFAULT;
	fd = sys_open("/proc/self/maps", O_RDONLY);
	if (fd < 0)
		return 0; /* without /proc nothing is known, and the copies are guarded all the same */
	if (!atomic_load_explicit(&no_query, memory_order_relaxed))
		ret = check_by_query(fd, &addr, end, want);
	if (ret == -ENOTTY) {
		atomic_store_explicit(&no_query, true, memory_order_relaxed);
		ret = check_by_text(fd, &addr, end, want);
	}
	sys_close(fd);
	return ret;
}
