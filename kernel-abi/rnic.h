/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finding and loading the RNIC, and the descriptors that it serves with events. The RNIC is loaded
 * when a program first opens an RDMA device, not before: a program without RDMA never has it.
 */
#ifndef KERNEL_ABI_RNIC_H
#define KERNEL_ABI_RNIC_H

#include <stddef.h>
#include <stdint.h>

#include "fdtable.h"
#include "rnic_api.h"

/*
 * The RNIC, loaded if need be from $SCTPIW_PROVIDER or from the directory of this library; NULL
 * after one line on standard error.
 */
const struct sctpiw_rnic_api *rnic_load(void);

/* The RNIC if it is loaded, else NULL. */
const struct sctpiw_rnic_api *rnic_get(void);

/* The lowest of the RNIC's own descriptors within [first, last], or -1. */
int rnic_own_fd(unsigned int first, unsigned int last);

/* Directory of this shared library without a slash at its end, or -ENOENT. */
int rnic_library_dir(char *buf, size_t len);

/*
 * Completion and async channels. Takes over fd and chan: on error, -errno, both are closed.
 */
int rnic_channel_install(int fd, struct rnic_channel *chan);

/*
 * Sleep until fd is readable, for a caller that holds a reference to kf. 0: ask again; -EAGAIN: the
 * descriptor is O_NONBLOCK; -EINTR: a signal that does not restart system calls. A cancellation
 * point, at which the reference is put.
 */
int rnic_wait_readable(struct kfile *kf, int fd);

/* Set O_NONBLOCK and FD_CLOEXEC on fd as the flags of an open() say. */
void rnic_apply_open_flags(int fd, int flags);

/*
 * Store a result at an address that a command gave, as the kernel's copy_to_user() does: -EFAULT
 * instead of a crash. And the other direction.
 */
int user_write(uint64_t addr, const void *data, size_t len);
int user_read(uint64_t addr, void *data, size_t len);

#endif
