/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds and loads the RNIC, and serves the descriptors that report its events. The RNIC is loaded
 * when a program first opens an RDMA device, so a program without RDMA never loads it.
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
 * Returns the RNIC. Loads it if necessary, from $SCTPIW_PROVIDER or from the directory of this
 * library. On failure, returns NULL; the first time, also prints the cause.
 */
const struct sctpiw_rnic_api *rnic_load(void);

/*
 * Does the same as rnic_load(), for a process that opens a device. user_write() and user_read() may
 * be called afterwards. Returns 0, -ENODEV, or -errno of the RNIC's guard().
 */
int rnic_open(void);

/*
 * Prints on standard error that there is no device, because `what` has failed for the reason `why`.
 * Prints only once, since programs look for the device repeatedly.
 */
void rnic_complain(const char *what, const char *why);

/* Returns the RNIC if it is loaded. Otherwise returns NULL. */
const struct sctpiw_rnic_api *rnic_get(void);

/* Returns the lowest number in [first, last] that is an internal descriptor of the RNIC, or -1. */
int rnic_own_fd(unsigned int first, unsigned int last);

/*
 * Writes the directory of this library to buf, which has len bytes, without a final slash. Returns
 * 0 or -ENOENT.
 */
int rnic_library_dir(char *buf, size_t len);

/*
 * Makes fd a served descriptor, so that read() returns the events of the channel. chan is a
 * completion or async channel. Takes over fd and chan in any case. Returns 0. On failure, closes
 * both and returns -errno.
 */
int rnic_channel_install(int fd, struct rnic_channel *chan);

/*
 * Sleeps until fd is readable. The caller holds a reference to kf. Returns 0 if the RNIC may have
 * an event; -EAGAIN if the descriptor has O_NONBLOCK; -EINTR after a signal whose handler does not
 * restart system calls; or -EIO. This function is a cancellation point: a cancelled thread drops
 * the caller's reference.
 */
int rnic_wait_readable(struct kfile *kf, int fd);

/* Sets O_NONBLOCK and FD_CLOEXEC of fd as the flags of open() require. */
void rnic_apply_open_flags(int fd, int flags);

/*
 * Copy len bytes to or from an address that a command contains, as the kernel's copy_to_user() and
 * copy_from_user() do. Return 0, or -EFAULT for a bad address. Call them only for descriptors that
 * this process has opened, since rnic_open() makes the RNIC guard these copies.
 */
int user_write(uint64_t addr, const void *data, size_t len);
int user_read(uint64_t addr, void *data, size_t len);

#endif
