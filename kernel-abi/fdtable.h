/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which descriptors are ours. Each number of a descriptor has a slot. A slot holds a reference to a
 * kfile, which stands for what is an open file in the kernel. A slot goes stale if its descriptor
 * is closed or replaced by a call that is not hooked (a raw system call, fclose()). So it counts
 * only after fstat() has shown that the descriptor is still the inode that was handed out, or if what
 * is written to it can be meant for nothing else.
 *
 * Locks: none. The exchange that puts a kfile into its slot publishes the kfile's fields, and the load
 * of the slot in fdtable_get() acquires them; fdtable_maybe() looks only whether the slot is empty, so
 * that a relaxed load does. The memory of kfiles is never freed, so a thread may try to take a reference to one
 * that has just died. All functions may be called from signal handlers, and from the child of a
 * vfork(), which shares the parent's memory but not its descriptors: such a child changes no slot, and releases nothing.
 *
 * A kfile belongs to the process that opened it. A child of fork() has the descriptors, but not the
 * RNIC behind them: kfile_alive() is false there, and the child never releases anything.
 */
#ifndef KERNEL_ABI_FDTABLE_H
#define KERNEL_ABI_FDTABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct rnic_channel;
struct kfile;

/*
 * What a descriptor does. If read or write is NULL the call goes to the descriptor itself. They
 * return -errno.
 */
struct kfile_ops {
	ssize_t (*read)(struct kfile *kf, int fd, void *buf, size_t len);
	ssize_t (*write)(struct kfile *kf, int fd, const void *buf, size_t len);
	/* As write, for sendmsg() with one piece of memory. NULL: the file is no socket. */
	ssize_t (*send)(struct kfile *kf, int fd, const void *buf, size_t len);
	/*
	 * Whether what is written can be meant for such a file alone: then no fstat() is needed. NULL: it never is.
	 * from: where the call returns to.
	 */
	bool (*is_meant)(const void *buf, size_t len, const void *from);
	/* NULL: the answer is -ENOTTY. Requests that set a flag of the descriptor do not come here. */
	int (*ioctl)(struct kfile *kf, unsigned long request, void *arg);
	/* Called by close() before it closes a descriptor, in the process that opened it; or NULL. */
	void (*before_close)(struct kfile *kf);
	/* Called when the last descriptor is closed, in the process that opened it. */
	void (*release)(struct kfile *kf);
	/* Whether fstat() is to show a character device, and its numbers. */
	bool cdev;
	unsigned int major, minor;
};

struct kfile {
	_Atomic uint32_t refs; /* of slots, and of callers of fdtable_get(); 0: it is free */
	const struct kfile_ops *ops;
	struct rnic_channel *chan; /* of the RNIC, for ops; or NULL */
	_Atomic int flags;	   /* what F_GETFL said when it was last asked */
	/* Of ucma: the thread that took the last event, till somebody asks for the next; or 0. When: ns of CLOCK_MONOTONIC. */
	_Atomic pid_t taker;
	_Atomic int64_t taken;
	char *path; /* of a directory of the tree, as the application knows it; or NULL */
	dev_t dev;  /* with ino: the inode that was handed out */
	ino_t ino;
	pid_t pid;     /* with mark: of the process that opened it */
	uint32_t mark; /* differs in each child of fork() */
};

#define FDTABLE_PAGE 1024  /* slots on a page */
#define FDTABLE_PAGES 1024 /* descriptors beyond the last page cannot be ours */

struct fdtable_page {
	_Atomic(struct kfile *) slot[FDTABLE_PAGE];
};

/* A page is made when it is first needed, and stays. */
extern _Atomic(struct fdtable_page *) fdtable_pages[FDTABLE_PAGES];

/* The test that each hooked call on a descriptor makes: if false, fd is certainly not ours. */
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
 * Makes fd ours. Takes over chan and path (from malloc()), either of which may be NULL, for
 * ops->release to free. Returns 0; or -errno, and then takes over nothing: -EMFILE if fd has no
 * slot, -ENOMEM, or fstat()'s.
 */
int fdtable_install(int fd, const struct kfile_ops *ops, struct rnic_channel *chan, char *path);

/* The kfile of fd, verified, with a reference for the caller to put; NULL if fd is not ours. */
struct kfile *fdtable_get(int fd);

/*
 * The same for a call that writes these bytes and returns to `from`: it is verified only if the kfile's is_meant() does
 * not vouch for them.
 */
struct kfile *fdtable_get_for_write(int fd, const void *buf, size_t len, const void *from);

/*
 * Whether the slot of fd still has it. A thread that is in a call on fd asks: after a close() of fd the call goes on with
 * the file that it found, as in the kernel, and the descriptor may be somebody else's.
 */
bool fdtable_holds(int fd, const struct kfile *kf);

/* Whether the slot of fd has it, but fd is another file, as after a call that is not hooked. */
bool fdtable_is_stale(int fd, const struct kfile *kf);

/* Gives a reference back. If it is the last one, and the kfile is alive, calls ops->release. */
void kfile_put(struct kfile *kf);

/*
 * Whether this process is the one that opened it, and not a child of that. A child of vfork() counts as its parent,
 * whose memory it has. No system call.
 */
bool kfile_alive(const struct kfile *kf);

/*
 * Empties the slot of fd, which is about to be closed. Returns the kfile with a reference, which
 * the caller puts once fd is closed; NULL if fd is not ours, or was opened by a parent.
 */
struct kfile *fdtable_take(int fd);

/* To be called when newfd has become a copy of oldfd, whatever newfd was before. */
void fdtable_dup(int oldfd, int newfd);

/*
 * Empties the slots, first <= fd <= last, whose descriptors have been closed by calls that are not
 * hooked.
 */
void fdtable_reap(unsigned int first, unsigned int last);

#endif
