/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of served descriptors: descriptors whose system calls this library serves. Each
 * descriptor number has a slot. A slot holds a reference to a kfile, the counterpart of an open
 * file in the kernel. A slot goes stale if its descriptor is closed or replaced by a call without a
 * hook (a raw system call, fclose()). So a slot is valid only after fstat() has shown the inode of
 * the kfile, or if the bytes of a write() can only be meant for the kfile.
 *
 * Locks: none. The exchange that puts a kfile into its slot publishes the kfile's fields, and the
 * load of the slot in fdtable_get() acquires them. fdtable_maybe() only checks for an empty slot,
 * so a relaxed load suffices there. The memory of kfiles is never freed, so a thread may try to
 * take a reference to a dead one. All functions may be called from signal handlers, and from the
 * child of a vfork(). This child shares the parent's memory but not its descriptors, so it changes
 * no slot and releases nothing.
 *
 * A kfile belongs to the process that opened it. A child of fork() inherits the descriptors, but
 * not the RNIC that serves them: kfile_alive() is false there, and the child releases nothing.
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
 * Operations of a kfile, which return -errno. If read or write is NULL, libc's function runs on the
 * descriptor itself.
 */
struct kfile_ops {
	ssize_t (*read)(struct kfile *kf, int fd, void *buf, size_t len);
	ssize_t (*write)(struct kfile *kf, int fd, const void *buf, size_t len);
	/* As write, for sendmsg() with one buffer. NULL: the file is no socket. */
	ssize_t (*send)(struct kfile *kf, int fd, const void *buf, size_t len);
	/*
	 * True if these bytes can only be meant for such a file, so that fstat() is not needed;
	 * NULL: never. from: return address of the program's call.
	 */
	bool (*is_meant)(const void *buf, size_t len, const void *from);
	/* NULL: returns -ENOTTY. Requests that set a flag of the descriptor are not passed here. */
	int (*ioctl)(struct kfile *kf, unsigned long request, void *arg);
	/*
	 * Called by close() before it closes a descriptor, in the process that opened it; or NULL.
	 */
	void (*before_close)(struct kfile *kf);
	/* Called after the close of the last descriptor, in the process that opened it. */
	void (*release)(struct kfile *kf);
	/* If true, fstat() shows a character device with these numbers. */
	bool cdev;
	unsigned int major, minor;
};

struct kfile {
	_Atomic uint32_t refs; /* held by slots and by callers of fdtable_get(); 0: free */
	const struct kfile_ops *ops;
	struct rnic_channel *chan; /* of the RNIC, for ops; or NULL */
	_Atomic int flags;	   /* result of the last F_GETFL */
	/*
	 * For RDMA CM channels: the thread that took the last event, until a thread requests the
	 * next one; or 0. taken: time of CLOCK_MONOTONIC, ns.
	 */
	_Atomic pid_t taker;
	_Atomic int64_t taken;
	char *path; /* the application's name of a directory of the tree; or NULL */
	dev_t dev;  /* with ino: the inode of the descriptor */
	ino_t ino;
	pid_t pid;     /* with mark: the process that opened it */
	uint32_t mark; /* differs in each child of fork() */
};

#define FDTABLE_PAGE 1024  /* slots per page */
#define FDTABLE_PAGES 1024 /* later descriptors are never served */

struct fdtable_page {
	_Atomic(struct kfile *) slot[FDTABLE_PAGE];
};

/* A page is made on first use, and never freed. */
extern _Atomic(struct fdtable_page *) fdtable_pages[FDTABLE_PAGES];

/* Fast test of each hooked call. If false, fd is certainly not served. */
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
 * Makes fd a served descriptor. Takes over chan and path (from malloc()), which ops->release frees;
 * both may be NULL. Returns 0; -EMFILE if fd has no slot; -ENOMEM; or the error of fstat(). After
 * an error, the caller still owns chan and path.
 */
int fdtable_install(int fd, const struct kfile_ops *ops, struct rnic_channel *chan, char *path);

/*
 * Returns the verified kfile of fd with a reference, which the caller puts; NULL if fd is not
 * served.
 */
struct kfile *fdtable_get(int fd);

/*
 * As fdtable_get(), for a call that writes these bytes and returns to `from`. If is_meant() of the
 * kfile accepts the bytes, fstat() is skipped.
 */
struct kfile *fdtable_get_for_write(int fd, const void *buf, size_t len, const void *from);

/*
 * True if the slot of fd still has this kfile. After a close() of fd, a call in progress continues
 * with the file that it found, as in the kernel, and another file may get the number fd.
 */
bool fdtable_holds(int fd, const struct kfile *kf);

/* True if the slot of fd has this kfile, but fd is another file, as after a call without a hook. */
bool fdtable_is_stale(int fd, const struct kfile *kf);

/* Puts a reference. With the last one, calls ops->release if the kfile is alive. */
void kfile_put(struct kfile *kf);

/*
 * True if this process opened the kfile. A child of vfork() shares its parent's memory and counts
 * as its parent. Makes no system call.
 */
bool kfile_alive(const struct kfile *kf);

/*
 * Empties the slot of fd before a close. Returns the kfile with a reference, which the caller puts
 * after the close; NULL if fd is not served, or was opened by a parent.
 */
struct kfile *fdtable_take(int fd);

/* Call this when newfd has become a copy of oldfd. newfd may have been any file before. */
void fdtable_dup(int oldfd, int newfd);

/* Empties the slots from first to last whose descriptors were closed by calls without a hook. */
void fdtable_reap(unsigned int first, unsigned int last);

#endif
