/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds and loads the RNIC, and serves the descriptors that report its events. The RNIC is loaded
 * when a program first opens an RDMA device: a program without RDMA never loads it.
 *
 * Locks: none.
 */
#ifndef KERNEL_ABI_RNIC_H
#define KERNEL_ABI_RNIC_H

#include <stddef.h>
#include <stdint.h>

#include "fdtable.h"
#include "rnic_api.h"

/*
 * Returns the RNIC, loaded if necessary from $SCTPIW_PROVIDER or from the directory of this
 * library. Returns NULL on failure, and prints the cause the first time.
 */
const struct sctpiw_rnic_api *rnic_load(void);

/*
 * As rnic_load(), for a process that opens a device: afterwards user_write() and user_read() work.
 * Returns 0, -ENODEV, or -errno of the RNIC's guard().
 */
int rnic_open(void);

/*
 * Prints on standard error that no device is available: `what` failed because of `why`. Prints only
 * once, since programs search for the device repeatedly.
 */
void rnic_complain(const char *what, const char *why);

/* Returns the RNIC if it is loaded, else NULL. */
const struct sctpiw_rnic_api *rnic_get(void);

/* Returns the RNIC's lowest own descriptor within [first, last], or -1. */
int rnic_own_fd(unsigned int first, unsigned int last);

/*
 * Writes the directory of this library, without a slash at the end, into len bytes at buf. Returns
 * 0 or -ENOENT.
 */
int rnic_library_dir(char *buf, size_t len);

/*
 * Makes fd, a completion or async channel, a served descriptor, so that read() returns events.
 * Takes over fd and chan in any case. Returns 0, or -errno: then both are closed.
 */
int rnic_channel_install(int fd, struct rnic_channel *chan);

/*
 * Sleeps until fd is readable; the caller holds a reference to kf. Returns 0 if the RNIC may have
 * an event; -EAGAIN if the descriptor is O_NONBLOCK; -EINTR after a signal whose handler does not
 * restart system calls; or -EIO. It is a cancellation point: a cancelled thread puts the reference.
 */
int rnic_wait_readable(struct kfile *kf, int fd);

/* Sets O_NONBLOCK and FD_CLOEXEC of fd from the flags of an open(). */
void rnic_apply_open_flags(int fd, int flags);

/*
 * Copy len bytes to or from an address in a command, like the kernel's copy_to_user() and
 * copy_from_user(). Return 0, or -EFAULT for a bad address. Only for descriptors that this process
 * has opened: rnic_open() has made the RNIC guard its copies.
 */
int user_write(uint64_t addr, const void *data, size_t len);
int user_read(uint64_t addr, void *data, size_t len);

#endif
