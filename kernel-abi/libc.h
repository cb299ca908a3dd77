/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The calls that the rest of the stand-in makes into the real libc, past the hooks of preload.c.
 * Only functions that are hooked stand here; the others are called directly. 0, a value or -errno.
 */
#ifndef KERNEL_ABI_LIBC_H
#define KERNEL_ABI_LIBC_H

#include <signal.h>
#include <sys/stat.h>

#define HOOK __attribute__((visibility("default")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

int libc_open(const char *path, int flags);
int libc_close(int fd);
int libc_fstat(int fd, struct stat *st);
int libc_fstatat(int dirfd, const char *path, struct stat *st, int flags);
int libc_fcntl(int fd, int cmd, long arg);
int libc_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

#endif
