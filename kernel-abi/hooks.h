/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the hooks share. A hook is a function of this library that has the name of one of libc's, so
 * that the dynamic linker gives it to the program instead. The files hooks*.c alone name such
 * functions: each hook looks whether the descriptor, path or signal may be ours, which costs a load
 * and a branch, and otherwise goes straight on to the next definition of its name. It must be that
 * very name, even where libc has two for one function: other libraries that replace functions
 * (fakeroot, the sanitizers) let one of the two call the other, and would call us back for ever if we
 * did the reverse. The other files say what is done with what is ours, and reach the real functions
 * by libc.h.
 *
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

/* Functions that no header declares: those of fortified and of older programs. */
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
 * The functions whose next definition is called from a hook. free() comes first, because a dlsym()
 * that finds no definition calls free().
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
 * Addresses of the next definitions by HOOKS_*; NULL: not looked up yet. Written once, without a
 * lock.
 */
extern void *_Atomic hooks_symbols[HOOKS_COUNT];

/*
 * Looks up the next definition of the function, and remembers it. If this libc does not have the
 * function the result is one that fails with ENOSYS.
 */
void *hooks_resolve(int index);

/* Whether the next definition was looked up already. */
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
 * Turns 0, a value or -errno into what libc returns: the value, or -1 with errno set. With a value
 * errno is `saved`, what it was when the program made the call: a system call that succeeds leaves
 * errno alone, whatever the library has tried on the way.
 */
long hooks_result(long ret, int saved);

/*
 * Whether path, relative to dirfd (or AT_FDCWD), is in the device's tree, and where its file is
 * (sysfs.h). path may be NULL, which is nowhere.
 */
static inline bool hooks_lookup(int dirfd, const char *path, struct sysfs_target *target)
{
	return sysfs_maybe(dirfd, path) && sysfs_lookup(dirfd, path, target);
}

/*
 * If the path is in the device's tree, makes *dirfd and *path say where the file is, and returns
 * true. *target is filled then, and has to live as long as *path is used.
 */
bool hooks_redirect(int *dirfd, const char **path, struct sysfs_target *target);

#endif
