/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The calls that this library makes into the real libc, past its own hooks (hooks.h) and past those
 * of other libraries, which may call back. Only functions that are hooked stand here; all others are
 * called by their names. Each returns 0, a value or -errno.
 */
#ifndef KERNEL_ABI_LIBC_H
#define KERNEL_ABI_LIBC_H

#include <signal.h>
#include <sys/stat.h>

/* A function that is seen from outside of the library; all others are hidden. */
#define HOOK __attribute__((visibility("default")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* As the functions of these names. libc_open() takes no flags that need a mode. */
int libc_open(const char *path, int flags);
int libc_close(int fd);
int libc_fcntl(int fd, int cmd, long arg);
int libc_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

/* These two leave errno as it was. */
int libc_fstat(int fd, struct stat *st);
int libc_fstatat(int dirfd, const char *path, struct stat *st, int flags);

#endif
