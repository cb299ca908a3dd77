/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * This library's own calls of the real libc. They bypass the hooks (hooks.h) and those of other
 * libraries, which may call back. Only functions with hooks are declared here; others are called by
 * their names. Each function returns 0, a value or -errno.
 */
#ifndef KERNEL_ABI_LIBC_H
#define KERNEL_ABI_LIBC_H

#include <signal.h>
#include <sys/stat.h>

/* A function that is visible outside the library; all others are hidden. */
#define HOOK __attribute__((visibility("default")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Like the functions of these names. libc_open() accepts no flags that need a mode. */
int libc_open(const char *path, int flags);
int libc_close(int fd);
int libc_fcntl(int fd, int cmd, long arg);
int libc_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

/* These two preserve errno. */
int libc_fstat(int fd, struct stat *st);
int libc_fstatat(int dirfd, const char *path, struct stat *st, int flags);

#endif
