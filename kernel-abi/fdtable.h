/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which descriptors are ours. A descriptor number names a slot, a slot holds a reference to a kfile,
 * the stand-in's idea of the kernel's open file. The table goes stale whenever a descriptor is
 * closed or replaced behind our back (raw system calls, fclose(), exec), so a slot only counts
 * after fstat() has shown that the descriptor is still the inode that was handed out.
 *
 * Locks: none. kfiles are never given back to the system, so a reference may be tried on one that
 * has just died. Everything here may be called from signal handlers, and from the child of a
 * vfork(), which shares our memory but not our descriptors: such a child changes nothing.
 *
 * Objects belong to the process that made them. A child of fork() still has the descriptors, but the
 * RNIC behind them is not there: kfile_alive() is false, and nothing is ever released from it.
 */
#ifndef KERNEL_ABI_FDTABLE_H
#define KERNEL_ABI_FDTABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct rnic_channel;
struct kfile;

/* A missing function means: the descriptor's own behaviour. Functions return -errno. */
struct kfile_ops {
	ssize_t (*read)(struct kfile *kf, int fd, void *buf, size_t len);
	ssize_t (*write)(struct kfile *kf, int fd, const void *buf, size_t len);
	void (*release)(struct kfile *kf); /* the last descriptor was closed */
	bool cdev;			   /* fstat() shows a character device ... */
	unsigned int major, minor;	   /* ... of this number */
};

struct kfile {
	_Atomic uint32_t refs; /* one for each slot and each user; 0: free */
	const struct kfile_ops *ops;
	struct rnic_channel *chan;
	_Atomic int flags; /* F_GETFL, when it was last asked */
	char *path; /* of a directory of the sysfs tree: its path as the application knows it */
	dev_t dev;
	ino_t ino;
	pid_t pid;
	uint32_t generation; /* of fork() */
};

#define FDTABLE_PAGE 1024
#define FDTABLE_PAGES 1024

struct fdtable_page {
	_Atomic(struct kfile *) slot[FDTABLE_PAGE];
};

extern _Atomic(struct fdtable_page *) fdtable_pages[FDTABLE_PAGES];

/* The test that each hooked call on a descriptor makes: false means certainly not ours. */
static inline bool fdtable_maybe(int fd)
{
	unsigned int page = (unsigned int)fd / FDTABLE_PAGE;
	struct fdtable_page *p;

	if (page >= FDTABLE_PAGES)
		return false;
	p = atomic_load_explicit(&fdtable_pages[page], memory_order_acquire);
	return p && atomic_load_explicit(&p->slot[(unsigned int)fd % FDTABLE_PAGE],
					 memory_order_relaxed);
}

/*
 * Make fd ours. Takes over chan and path (malloc'ed, or NULL): they go to ops->release. -errno, and
 * nothing is taken over then.
 */
int fdtable_install(int fd, const struct kfile_ops *ops, struct rnic_channel *chan, char *path);

/* A verified kfile, to be put, or NULL. */
struct kfile *fdtable_get(int fd);
void kfile_put(struct kfile *kf);

/* False in a child of the process that opened it. */
bool kfile_alive(const struct kfile *kf);

/* fd is about to be closed: removes it, and returns the kfile to be put after that; or NULL. */
struct kfile *fdtable_take(int fd);

/* newfd has just become a copy of oldfd, whatever it was before. */
void fdtable_dup(int oldfd, int newfd);

/* Drop what has been closed without our knowledge, first <= fd <= last. */
void fdtable_reap(unsigned int first, unsigned int last);

#endif
