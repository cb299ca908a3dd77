/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions by which this library itself calls libc. They bypass its own hooks (hooks.h), and the
 * hooks of other libraries, which might call this library again. Only functions that have hooks are
 * declared here; all others are called by their usual names. Each function returns a result or
 * -errno.
 */
#ifndef KERNEL_ABI_LIBC_H
#define KERNEL_ABI_LIBC_H

#include <signal.h>
#include <sys/stat.h>

/* Marks a function that is visible outside this library. All other functions are hidden. */
#define HOOK __attribute__((visibility("default")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* They work like the functions of these names. libc_open() accepts no flags that need a mode. */
int libc_open(const char *path, int flags);
int libc_close(int fd);
int libc_fcntl(int fd, int cmd, long arg);
int libc_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

/* Both functions preserve errno. */
int libc_fstat(int fd, struct stat *st);
int libc_fstatat(int dirfd, const char *path, struct stat *st, int flags);

#endif
