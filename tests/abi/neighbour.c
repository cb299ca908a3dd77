/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A library that replaces functions of libc, as other LD_PRELOAD libraries do. Of two names of one
 * function, the first calls the second through the dynamic linker. The second calls its next
 * definition. REVERSE swaps the names. If the preload library called another name than the called
 * one, the two libraries would call each other endlessly.
 *
 * The functions have private names here, since headers declare libc's with other types.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/types.h>

#define EXPORT __attribute__((visibility("default")))

#define DEFINE_(type, caller, called, params, args)                                                \
	EXPORT type my_##caller params __asm__(#caller);                                           \
	EXPORT type my_##called params __asm__(#called);                                           \
	type my_##caller params                                                                    \
	{                                                                                          \
		return my_##called args;                                                           \
	}                                                                                          \
	type my_##called params                                                                    \
	{                                                                                          \
		type(*next) params;                                                                \
                                                                                                   \
		*(void **)&next = dlsym(RTLD_NEXT, #called);                                       \
		return next args;                                                                  \
	}

#ifdef REVERSE
#define DEFINE(type, one, other, params, args) DEFINE_(type, other, one, params, args)
#else
#define DEFINE(type, one, other, params, args) DEFINE_(type, one, other, params, args)
#endif

DEFINE(int, open, open64, (const char *path, int flags, mode_t mode), (path, flags, mode))
DEFINE(int, openat, openat64, (int fd, const char *path, int flags, mode_t mode),
       (fd, path, flags, mode))
DEFINE(int, __open_2, __open64_2, (const char *path, int flags), (path, flags))
DEFINE(void *, fopen, fopen64, (const char *path, const char *mode), (path, mode))
DEFINE(void *, freopen, freopen64, (const char *path, const char *mode, void *fp), (path, mode, fp))
DEFINE(int, stat, stat64, (const char *path, void *st), (path, st))
DEFINE(int, lstat, lstat64, (const char *path, void *st), (path, st))
DEFINE(int, fstat, fstat64, (int fd, void *st), (fd, st))
DEFINE(int, fstatat, fstatat64, (int fd, const char *path, void *st, int flags),
       (fd, path, st, flags))
DEFINE(int, __xstat, __xstat64, (int version, const char *path, void *st), (version, path, st))
DEFINE(int, fcntl, fcntl64, (int fd, int cmd, void *arg), (fd, cmd, arg))
DEFINE(int, eaccess, euidaccess, (const char *path, int mode), (path, mode))
DEFINE(int, scandir, scandir64, (const char *path, void *list, void *filter, void *compare),
       (path, list, filter, compare))
DEFINE(int, glob, glob64, (const char *pattern, int flags, void *on_error, void *g),
       (pattern, flags, on_error, g))
DEFINE(int, sigaction, __sigaction, (int sig, const void *act, void *old), (sig, act, old))
DEFINE(void *, signal, bsd_signal, (int sig, void *handler), (sig, handler))
DEFINE(void *, sysv_signal, __sysv_signal, (int sig, void *handler), (sig, handler))
