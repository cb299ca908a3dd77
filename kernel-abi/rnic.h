/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds and loads the RNIC, and serves the descriptors on which it reports events. The RNIC is
 * loaded when a program first opens an RDMA device: a program without RDMA never has it.
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
 * The RNIC, which is loaded if need be from $SCTPIW_PROVIDER or from the directory of this library.
 * NULL if that fails; the first time a line on standard error says why.
 */
const struct sctpiw_rnic_api *rnic_load(void);

/*
 * The same for a process that opens a device: user_write() and user_read() work from then on. 0, -ENODEV, or -errno of
 * the RNIC's guard().
 */
int rnic_open(void);

/*
 * Says on standard error that there is no device, because what failed, and why. Only the first such line is
 * printed, as a program asks for the device again and again.
 */
void rnic_complain(const char *what, const char *why);

/* The RNIC if it is loaded, else NULL. */
const struct sctpiw_rnic_api *rnic_get(void);

/* The lowest of the RNIC's own descriptors within [first, last], or -1. */
int rnic_own_fd(unsigned int first, unsigned int last);

/*
 * Writes the directory of this library, without a slash at its end, into len bytes at buf. 0 or
 * -ENOENT.
 */
int rnic_library_dir(char *buf, size_t len);

/*
 * Makes fd, the descriptor of a completion or async channel, ours, so that read() gives events.
 * Takes over fd and chan in any case: on error, -errno, both are closed.
 */
int rnic_channel_install(int fd, struct rnic_channel *chan);

/*
 * Sleeps until fd is readable; the caller holds a reference to kf. Returns 0 if it is worth asking
 * the RNIC again; -EAGAIN if the descriptor is O_NONBLOCK, -EINTR after a signal whose handler does
 * not restart system calls, or -EIO. It is a cancellation point: a thread that is cancelled in it
 * puts the reference.
 */
int rnic_wait_readable(struct kfile *kf, int fd);

/* Sets O_NONBLOCK and FD_CLOEXEC of fd as the flags of an open() say. */
void rnic_apply_open_flags(int fd, int flags);

/*
 * Copy len bytes to or from an address that a command names, as the kernel's copy_to_user() and
 * copy_from_user() do: 0, or -EFAULT if the address is bad. Only for descriptors that this process has
 * opened: rnic_open() had the RNIC guard its copies then.
 */
int user_write(uint64_t addr, const void *data, size_t len);
int user_read(uint64_t addr, void *data, size_t len);

#endif
