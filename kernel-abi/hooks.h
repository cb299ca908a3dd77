/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Common declarations of the hooks. A hook is a function of this library with the name of a libc
 * function; the dynamic linker gives the hook to the program instead. Only the files hooks*.c
 * define hooks. Each hook checks, with one load and one branch, if this library may serve the
 * descriptor, path or signal. If not, the hook calls the next definition of its name.
 *
 * A hook must call the next definition of exactly its own name, even if libc has two names for one
 * function. Other libraries that replace functions (fakeroot, the sanitizers) implement one of the
 * two names by the other. A hook that did the reverse would start an endless recursion.
 *
 * The other files of this library serve the calls. They call the real functions through libc.h.
 * Hooks may run before this library's constructor, in signal handlers and in the child of a
 * vfork().
 */
#ifndef KERNEL_ABI_HOOKS_H
#define KERNEL_ABI_HOOKS_H

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libc.h"
#include "sysfs.h"

#ifndef __LP64__
#error "each function and struct is taken to be the same as its variant for 64-bit files"
#endif

/* Functions that no header declares. Fortified programs and older programs call them. */
ssize_t __read_chk(int fd, void *buf, size_t len, size_t size);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
int __openat64_2(int dirfd, const char *path, int flags);
ssize_t __readlink_chk(const char *path, char *buf, size_t len, size_t size);
ssize_t __readlinkat_chk(int dirfd, const char *path, char *buf, size_t len, size_t size);
char *__realpath_chk(const char *path, char *resolved, size_t size);
int __xstat(int version, const char *path, struct stat *st);
int __lxstat(int version, const char *path, struct stat *st);
int __fxstat(int version, int fd, struct stat *st);
int __fxstatat(int version, int dirfd, const char *path, struct stat *st, int flags);
int __xstat64(int version, const char *path, struct stat64 *st);
int __lxstat64(int version, const char *path, struct stat64 *st);
int __fxstat64(int version, int fd, struct stat64 *st);
int __fxstatat64(int version, int dirfd, const char *path, struct stat64 *st, int flags);
int __sigaction(int sig, const struct sigaction *act, struct sigaction *old);
sighandler_t bsd_signal(int sig, sighandler_t handler);
sighandler_t __sysv_signal(int sig, sighandler_t handler);

/*
 * Functions whose next definition a hook calls. free() comes first, because a dlsym() that finds no
 * definition calls free().
 */
#define LIBC_SYMBOLS(X)                                                                            \
	X(free)                                                                                    \
	X(realloc)                                                                                 \
	X(malloc_usable_size)                                                                      \
	X(mmap)                                                                                    \
	X(mmap64)                                                                                  \
	X(madvise)                                                                                 \
	X(munmap)                                                                                  \
	X(mremap)                                                                                  \
	X(brk)                                                                                     \
	X(sbrk)                                                                                    \
	X(shmat)                                                                                   \
	X(shmdt)                                                                                   \
	X(dlclose)                                                                                 \
	X(read)                                                                                    \
	X(__read_chk)                                                                              \
	X(readv)                                                                                   \
	X(write)                                                                                   \
	X(writev)                                                                                  \
	X(open)                                                                                    \
	X(open64)                                                                                  \
	X(openat)                                                                                  \
	X(openat64)                                                                                \
	X(__open_2)                                                                                \
	X(__open64_2)                                                                              \
	X(__openat_2)                                                                              \
	X(__openat64_2)                                                                            \
	X(close)                                                                                   \
	X(close_range)                                                                             \
	X(closefrom)                                                                               \
	X(dup)                                                                                     \
	X(dup2)                                                                                    \
	X(dup3)                                                                                    \
	X(fcntl)                                                                                   \
	X(fcntl64)                                                                                 \
	X(ioctl)                                                                                   \
	X(socket)                                                                                  \
	X(sendmsg)                                                                                 \
	X(fopen)                                                                                   \
	X(fopen64)                                                                                 \
	X(freopen)                                                                                 \
	X(freopen64)                                                                               \
	X(opendir)                                                                                 \
	X(fdopendir)                                                                               \
	X(closedir)                                                                                \
	X(readdir)                                                                                 \
	X(readdir64)                                                                               \
	X(readdir_r)                                                                               \
	X(readdir64_r)                                                                             \
	X(getdents64)                                                                              \
	X(rewinddir)                                                                               \
	X(telldir)                                                                                 \
	X(seekdir)                                                                                 \
	X(scandir)                                                                                 \
	X(scandir64)                                                                               \
	X(scandirat)                                                                               \
	X(scandirat64)                                                                             \
	X(glob)                                                                                    \
	X(glob64)                                                                                  \
	X(access)                                                                                  \
	X(eaccess)                                                                                 \
	X(euidaccess)                                                                              \
	X(faccessat)                                                                               \
	X(readlink)                                                                                \
	X(readlinkat)                                                                              \
	X(__readlink_chk)                                                                          \
	X(__readlinkat_chk)                                                                        \
	X(realpath)                                                                                \
	X(__realpath_chk)                                                                          \
	X(canonicalize_file_name)                                                                  \
	X(chdir)                                                                                   \
	X(fchdir)                                                                                  \
	X(stat)                                                                                    \
	X(lstat)                                                                                   \
	X(fstat)                                                                                   \
	X(fstatat)                                                                                 \
	X(stat64)                                                                                  \
	X(lstat64)                                                                                 \
	X(fstat64)                                                                                 \
	X(fstatat64)                                                                               \
	X(statx)                                                                                   \
	X(__xstat)                                                                                 \
	X(__lxstat)                                                                                \
	X(__fxstat)                                                                                \
	X(__fxstatat)                                                                              \
	X(__xstat64)                                                                               \
	X(__lxstat64)                                                                              \
	X(__fxstat64)                                                                              \
	X(__fxstatat64)                                                                            \
	X(getxattr)                                                                                \
	X(lgetxattr)                                                                               \
	X(listxattr)                                                                               \
	X(llistxattr)                                                                              \
	X(sigaction)                                                                               \
	X(__sigaction)                                                                             \
	X(signal)                                                                                  \
	X(bsd_signal)                                                                              \
	X(ssignal)                                                                                 \
	X(sysv_signal)                                                                             \
	X(__sysv_signal)                                                                           \
	X(sigset)                                                                                  \
	X(execve)                                                                                  \
	X(execv)                                                                                   \
	X(execvp)                                                                                  \
	X(execvpe)                                                                                 \
	X(execveat)                                                                                \
	X(fexecve)                                                                                 \
	X(posix_spawn)                                                                             \
	X(posix_spawnp)                                                                            \
	X(system)                                                                                  \
	X(popen)                                                                                   \
	X(_exit)                                                                                   \
	X(_Exit)

#define HOOKS_INDEX(name) HOOKS_##name,
enum { LIBC_SYMBOLS(HOOKS_INDEX) HOOKS_COUNT };
#undef HOOKS_INDEX

/*
 * The addresses of the next definitions, indexed by HOOKS_*. NULL: the definition has not been
 * looked up yet. Each element is written once, without a lock.
 */
extern void *_Atomic hooks_symbols[HOOKS_COUNT];

/*
 * Looks up the next definition of the function, and stores it. If this libc lacks the function,
 * returns a function that fails with ENOSYS.
 */
void *hooks_resolve(int index);

/* True if the next definition was looked up already. */
static inline bool hooks_known(int index)
{
	return atomic_load_explicit(&hooks_symbols[index], memory_order_relaxed);
}

static inline void *hooks_resolved(int index)
{
	void *p = atomic_load_explicit(&hooks_symbols[index], memory_order_relaxed);

	return likely(p) ? p : hooks_resolve(index);
}

/* The function that the program would call if this library were not loaded. */
#define REAL(name) ((__typeof__(&name))hooks_resolved(HOOKS_##name))

/*
 * Converts a result or -errno to libc's convention: returns the result, or sets errno and returns
 * -1. saved: the value of errno before the program's call, which is restored on success.
 */
long hooks_result(long ret, int saved);

/*
 * True if path is in the device's tree. A relative path is relative to dirfd (or AT_FDCWD). Sets
 * *target to the location of the file (sysfs.h). path may be NULL, which is in no tree.
 */
static inline bool hooks_lookup(int dirfd, const char *path, struct sysfs_target *target)
{
	return sysfs_maybe(dirfd, path) && sysfs_lookup(dirfd, path, target);
}

/*
 * If the path is in the device's tree, sets *dirfd and *path to the location of the file, and
 * returns true. *path may point into *target.
 */
bool hooks_redirect(int *dirfd, const char **path, struct sysfs_target *target);

#endif
