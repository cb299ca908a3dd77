/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* memory_check() and memory_gaps(): which addresses are mapped, with which access rights. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "net/memory.h"
#include "sys/sys.h"

#define VMA_READ 1
#define VMA_WRITE 2

/* The PROCMAP_QUERY ioctl of Linux 6.11 on /proc/PID/maps, which older headers lack. */
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

#define VMA_OR_NEXT 0x10 /* flag: if query_addr is unmapped, return the next mapping */

/* A walk through the mappings from addr to end. */
struct walk {
	uint64_t addr, end; /* addr: the walk has checked all addresses below */
	unsigned int want;  /* VMA_* access rights that each mapping must have */
	/* Called for each unmapped range. NULL: the walk fails at an unmapped range. */
	void (*gap)(uint64_t start, uint64_t end, void *arg);
	void *arg;
	bool failed; /* a mapping or a right is missing */
};

/* Handles an unmapped range that ends at start. Returns false if the walk is over. */
static bool pass_gap(struct walk *w, uint64_t start)
{
	if (start > w->end)
		start = w->end;
	if (start > w->addr) {
		if (w->gap)
			w->gap(w->addr, start, w->arg);
		else
			w->failed = true;
		w->addr = start;
	}
	return !w->failed && w->addr < w->end;
}

/* Handles the next mapping. Returns false if the walk is over. */
static bool pass(struct walk *w, uint64_t start, uint64_t stop, unsigned int flags)
{
	if (stop <= w->addr)
		return true;
	if (!pass_gap(w, start))
		return false;
	if ((flags & w->want) != w->want) {
		w->failed = true;
		return false;
	}
	w->addr = stop;
	return stop < w->end;
}

/* Returns false if the kernel lacks the ioctl. */
static bool walk_by_query(int fd, struct walk *w)
{
	struct vma_query q;
	int ret;

	do {
		q = (struct vma_query){
			.size = sizeof(q),
			.query_addr = w->addr,
			.query_flags = VMA_OR_NEXT,
		};
		ret = sys_ioctl(fd, VMA_QUERY, &q);
		if (ret == -ENOENT)
			pass_gap(w, w->end);
		else if (ret)
			return false;
	} while (!ret && pass(w, q.vma_start, q.vma_end, (unsigned int)q.vma_flags));
	return true;
}

/* Parses "start-end rwxp ...". Returns false if the line is incomplete. */
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

static void walk_by_text(int fd, struct walk *w)
{
	char buf[8192];
	size_t have = 0;

	for (;;) {
		ssize_t n = sys_read(fd, buf + have, sizeof(buf) - have);
		char *line = buf, *eol;

		if (n == -EINTR)
			continue;
		if (n <= 0) {
			pass_gap(w, w->end);
			return;
		}
		have += (size_t)n;
		while ((eol = memchr(line, '\n', have - (size_t)(line - buf)))) {
			uint64_t start, stop;
			unsigned int flags;

			if (parse_line(line, eol, &start, &stop, &flags) &&
			    !pass(w, start, stop, flags))
				return;
			line = eol + 1;
		}
		have -= (size_t)(line - buf);
		if (have == sizeof(buf)) {
			w->failed = true;
			return;
		}
		memmove(buf, line, have);
	}
}

static void walk(struct walk *w)
{
	static atomic_bool no_query;
	int fd = sys_open("/proc/self/maps", O_RDONLY);

	if (fd < 0)
		return; /* without /proc assume success; copies are guarded anyway */
	if (atomic_load_explicit(&no_query, memory_order_relaxed) || !walk_by_query(fd, w)) {
		atomic_store_explicit(&no_query, true, memory_order_relaxed);
		walk_by_text(fd, w);
	}
	sys_close(fd);
}

int memory_check(uint64_t addr, uint64_t len, bool write)
{
	struct walk w = {
		.addr = addr,
		.end = addr + len,
		.want = VMA_READ | (write ? VMA_WRITE : 0),
	};

	if (!len)
		return 0;
	if (w.end < addr)
		return -EFAULT;
	walk(&w);
	return w.failed ? -EFAULT : 0;
}

void memory_gaps(uint64_t addr, uint64_t end, void (*gap)(uint64_t start, uint64_t end, void *arg),
		 void *arg)
{
	struct walk w = { .addr = addr, .end = end, .gap = gap, .arg = arg };
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	w.addr -= w.addr % page;
	/*
	 * msync() fails if an address is unmapped; if all are mapped, the slower walk is not
	 * needed. A length that overflows when rounded up to pages counts as 0 there, so it needs
	 * the walk.
	 */
	if (end - w.addr > UINT64_MAX - page || syscall(SYS_msync, w.addr, end - w.addr, MS_ASYNC))
		walk(&w);
}
