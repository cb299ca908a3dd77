/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of served descriptors: descriptors whose system calls this library serves. Each
 * descriptor number has a slot. A slot holds a reference to a kfile, the counterpart of an open
 * file in the kernel. A slot goes stale if its descriptor is closed or replaced by a call without a
 * hook (a raw system call, fclose()). So the slot of a descriptor is valid only in two cases.
 * Either fstat() has shown the inode of the kfile, or the program writes bytes that only the kfile
 * can understand.
 *
 * Locks: none. The exchange that puts a kfile into its slot publishes the kfile's fields, and the
 * load of the slot in fdtable_get() acquires them. fdtable_maybe() only checks for an empty slot,
 * so a relaxed load suffices there. The memory of kfiles is never freed, so a thread may safely try
 * to take a reference to a kfile that was released. All functions may be called from signal
 * handlers, and from the child of a vfork(). The child of a vfork() shares the parent's memory but
 * not its descriptors, so it changes no slot and releases no kfile.
 *
 * A kfile belongs to the process that opened it. A child of fork() inherits the descriptors, but
 * not the RNIC that serves them: kfile_alive() is false in the child, and the child releases no
 * kfile.
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
 * Operations of a kfile. They return a result or -errno. If read or write is NULL, libc's function
 * is called with the descriptor.
 */
struct kfile_ops {
	ssize_t (*read)(struct kfile *kf, int fd, void *buf, size_t len);
	ssize_t (*write)(struct kfile *kf, int fd, const void *buf, size_t len);
	/* Does the same as write, for sendmsg() with one buffer. NULL: the file is no socket. */
	ssize_t (*send)(struct kfile *kf, int fd, const void *buf, size_t len);
	/*
	 * True if only a file of this kind can understand these bytes, so that fstat() is not
	 * needed. NULL: always call fstat(). from: the return address of the program's call.
	 */
	bool (*is_meant)(const void *buf, size_t len, const void *from);
	/*
	 * Handles an ioctl(), except for requests that set a flag of the descriptor. NULL: all
	 * requests return -ENOTTY.
	 */
	int (*ioctl)(struct kfile *kf, unsigned long request, void *arg);
	/* Called by close(), before it closes a descriptor of this process. NULL: not called. */
	void (*before_close)(struct kfile *kf);
	/* Called after the last descriptor was closed, in the process that opened it. */
	void (*release)(struct kfile *kf);
	/* True if fstat() must show a character device with these numbers. */
	bool cdev;
	unsigned int major, minor;
};

struct kfile {
	/* number of references of slots and of callers of fdtable_get(); 0: the kfile is free */
	_Atomic uint32_t refs;
	const struct kfile_ops *ops;
	struct rnic_channel *chan; /* the channel of the RNIC that ops use, or NULL */
	_Atomic int flags;	   /* result of the last F_GETFL */
	/*
	 * taker: for channels of RDMA CM, the thread that fetched the last event; 0 once a thread
	 * requests the next event. taken: the time of this fetch by CLOCK_MONOTONIC, ns.
	 */
	_Atomic pid_t taker;
	_Atomic int64_t taken;
	/* for a directory of the tree, its path as the application sees it; otherwise NULL */
	char *path;
	dev_t dev; /* together with ino: the inode of the descriptor */
	ino_t ino;
	pid_t pid;     /* together with mark: the process that opened the file */
	uint32_t mark; /* mark of that process, which differs in each child of fork() */
};

#define FDTABLE_PAGE 1024  /* number of slots per page */
#define FDTABLE_PAGES 1024 /* number of pages; descriptors beyond the last page are never served */

struct fdtable_page {
	_Atomic(struct kfile *) slot[FDTABLE_PAGE];
};

/* A page is made on first use, and never freed. */
extern _Atomic(struct fdtable_page *) fdtable_pages[FDTABLE_PAGES];

/* Fast test for each hooked call. If it returns false, fd is not served. */
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
 * Makes fd a served descriptor. Takes over chan and path, which comes from malloc(); both may be
 * NULL. ops->release frees them. Returns 0; -EMFILE if no slot exists for fd; -ENOMEM; or the error
 * of fstat(). After an error, the caller still owns chan and path.
 */
int fdtable_install(int fd, const struct kfile_ops *ops, struct rnic_channel *chan, char *path);

/*
 * Returns the kfile of fd with a reference, or NULL if fd is not served. The slot has been
 * verified. The caller puts the reference.
 */
struct kfile *fdtable_get(int fd);

/*
 * Does the same as fdtable_get(), for a call that writes these bytes. from: the return address of
 * the program's call. Omits fstat() if the kfile's is_meant() returns true.
 */
struct kfile *fdtable_get_for_write(int fd, const void *buf, size_t len, const void *from);

/*
 * True if the slot of fd still contains this kfile. As in the kernel, a call that is in progress
 * when fd is closed continues with the file that it found. Another file may then get the number fd.
 */
bool fdtable_holds(int fd, const struct kfile *kf);

/* True if the slot of fd contains this kfile, but fd is another file now. */
bool fdtable_is_stale(int fd, const struct kfile *kf);

/* Drops a reference. If it was the last one and the kfile is alive, calls ops->release. */
void kfile_put(struct kfile *kf);

/*
 * True if this process opened the kfile. A child of vfork(), which shares its parent's memory,
 * counts as its parent. Makes no system call.
 */
bool kfile_alive(const struct kfile *kf);

/*
 * Empties the slot of fd before fd is closed. Returns the kfile with a reference, which the caller
 * puts after closing fd. Returns NULL if fd is not served, or if a parent process opened it.
 */
struct kfile *fdtable_take(int fd);

/* Call this after a call has made newfd a copy of oldfd. newfd may have been any file before. */
void fdtable_dup(int oldfd, int newfd);

/* Empties those slots from first to last whose descriptors are no longer open. */
void fdtable_reap(unsigned int first, unsigned int last);

#endif
