/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The hooks: the only file that names the symbols of libc that are replaced. Each looks whether the
 * descriptor, path or signal may be ours, which costs a load and a branch, and otherwise goes straight
 * on to the next definition of its name. What a hook does with what is ours stands elsewhere.
 *
 * Hooks may run before this library's constructor, in signal handlers and in the child of a vfork().
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "fdtable.h"
#include "libc.h"
#include "rnic.h"
#include "sigchain.h"
#include "sysfs.h"

#ifndef __LP64__
#error "struct stat and struct stat64 are taken for the same"
#endif

/* Symbols without a prototype in the headers: those of fortified and of older programs. */
ssize_t __read_chk(int fd, void *buf, size_t len, size_t size);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
int __openat64_2(int dirfd, const char *path, int flags);
ssize_t __readlink_chk(const char *path, char *buf, size_t len, size_t size);
ssize_t __readlinkat_chk(int dirfd, const char *path, char *buf, size_t len, size_t size);
char *__realpath_chk(const char *path, char *resolved, size_t size);
void __chk_fail(void) __attribute__((noreturn));
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

#define LIBC_SYMBOLS(X)                                                                            \
	X(read)                                                                                    \
	X(write)                                                                                   \
	X(readv)                                                                                   \
	X(__read_chk)                                                                              \
	X(open)                                                                                    \
	X(openat)                                                                                  \
	X(close)                                                                                   \
	X(close_range)                                                                             \
	X(closefrom)                                                                               \
	X(dup)                                                                                     \
	X(dup2)                                                                                    \
	X(dup3)                                                                                    \
	X(fcntl)                                                                                   \
	X(fopen)                                                                                   \
	X(freopen)                                                                                 \
	X(opendir)                                                                                 \
	X(scandir)                                                                                 \
	X(scandirat)                                                                               \
	X(glob)                                                                                    \
	X(access)                                                                                  \
	X(eaccess)                                                                                 \
	X(faccessat)                                                                               \
	X(stat)                                                                                    \
	X(lstat)                                                                                   \
	X(fstat)                                                                                   \
	X(fstatat)                                                                                 \
	X(statx)                                                                                   \
	X(readlink)                                                                                \
	X(readlinkat)                                                                              \
	X(realpath)                                                                                \
	X(chdir)                                                                                   \
	X(fchdir)                                                                                  \
	X(getxattr)                                                                                \
	X(lgetxattr)                                                                               \
	X(listxattr)                                                                               \
	X(llistxattr)                                                                              \
	X(socket)                                                                                  \
	X(sigaction)                                                                               \
	X(signal)                                                                                  \
	X(sysv_signal)                                                                             \
	X(sigset)

#define SYMBOL_INDEX(name) R_##name,
#define SYMBOL_NAME(name) #name,
enum { LIBC_SYMBOLS(SYMBOL_INDEX) R_COUNT };
static const char *const symbol_names[] = {LIBC_SYMBOLS(SYMBOL_NAME)};
static void *_Atomic symbols[R_COUNT];

/* In place of a function that this libc does not have: all such return an int or a ssize_t. */
static long missing_function(void)
{
	errno = ENOSYS;
	return -1;
}

static __attribute__((noinline, cold)) void *resolve(int index)
{
	void *p = dlsym(RTLD_NEXT, symbol_names[index]);

	if (!p)
		p = (void *)missing_function;
	atomic_store(&symbols[index], p);
	return p;
}

static inline void *resolved(int index)
{
	void *p = atomic_load_explicit(&symbols[index], memory_order_relaxed);

	return likely(p) ? p : resolve(index);
}

#define REAL(name) ((__typeof__(&name))resolved(R_##name))

static __attribute__((constructor)) void preload_init(void)
{
	for (int i = 0; i < R_COUNT; i++)
		resolve(i);
	sysfs_init();
}

/* From -errno to libc's way. */
static long libc_result(long ret)
{
	if (ret >= 0)
		return ret;
	errno = (int)-ret;
	return -1;
}

static long kernel_result(long ret)
{
	return ret < 0 ? -errno : ret;
}

int libc_open(const char *path, int flags)
{
	return (int)kernel_result(REAL(open)(path, flags));
}

int libc_close(int fd)
{
	return (int)kernel_result(REAL(close)(fd));
}

int libc_fcntl(int fd, int cmd, long arg)
{
	return (int)kernel_result(REAL(fcntl)(fd, cmd, arg));
}

int libc_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	return (int)kernel_result(REAL(sigaction)(sig, act, old));
}

/* errno stays: these run inside calls that go on to succeed. */
int libc_fstat(int fd, struct stat *st)
{
	int saved = errno, ret = (int)kernel_result(REAL(fstat)(fd, st));

	errno = saved;
	return ret;
}

int libc_fstatat(int dirfd, const char *path, struct stat *st, int flags)
{
	int saved = errno, ret = (int)kernel_result(REAL(fstatat)(dirfd, path, st, flags));

	errno = saved;
	return ret;
}

/*
 * Descriptors
 */

enum transfer { TRANSFER_READ, TRANSFER_WRITE };

/* False: not ours after all, or such a call on ours means what it always means. */
static __attribute__((noinline)) bool serve(enum transfer what, int fd, void *buf, size_t len,
					    ssize_t *ret)
{
	struct kfile *kf = fdtable_get(fd);
	bool ours;

	if (!kf)
		return false;
	ours = what == TRANSFER_READ ? kf->ops->read != NULL : kf->ops->write != NULL;
	if (!ours)
		;
	else if (!kfile_alive(kf))
		*ret = -EIO;
	else if (what == TRANSFER_READ)
		*ret = kf->ops->read(kf, fd, buf, len);
	else
		*ret = kf->ops->write(kf, fd, buf, len);
	kfile_put(kf);
	if (ours)
		*ret = libc_result(*ret);
	return ours;
}

HOOK ssize_t read(int fd, void *buf, size_t len)
{
	ssize_t ret;

	if (unlikely(fdtable_maybe(fd)) && serve(TRANSFER_READ, fd, buf, len, &ret))
		return ret;
	return REAL(read)(fd, buf, len);
}

HOOK ssize_t __read_chk(int fd, void *buf, size_t len, size_t size)
{
	if (likely(!fdtable_maybe(fd)))
		return REAL(__read_chk)(fd, buf, len, size);
	if (len > size)
		__chk_fail();
	return read(fd, buf, len);
}

/* One event is one read, so only the first piece of memory matters. */
HOOK ssize_t readv(int fd, const struct iovec *iov, int count)
{
	ssize_t ret;

	if (unlikely(fdtable_maybe(fd)) && count > 0 &&
	    serve(TRANSFER_READ, fd, iov[0].iov_base, iov[0].iov_len, &ret))
		return ret;
	return REAL(readv)(fd, iov, count);
}

HOOK ssize_t write(int fd, const void *buf, size_t len)
{
	ssize_t ret;

	if (unlikely(fdtable_maybe(fd)) && serve(TRANSFER_WRITE, fd, (void *)buf, len, &ret))
		return ret;
	return REAL(write)(fd, buf, len);
}

/* The kfile goes after the descriptor: until then nobody else can get its number. */
static __attribute__((noinline)) int close_ours(int fd)
{
	struct kfile *kf = fdtable_take(fd);
	int ret, saved, state;

	if (!kf)
		return REAL(close)(fd);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	ret = REAL(close)(fd);
	saved = errno;
	kfile_put(kf);
	pthread_setcancelstate(state, NULL);
	errno = saved;
	return ret;
}

/*
 * The RNIC's descriptors do not exist as far as the application can tell: programs that close all
 * they do not know of must not take the RNIC's away, still less give their numbers to others.
 */
static bool is_own(int fd)
{
	return rnic_own_fd((unsigned int)fd, (unsigned int)fd) == fd;
}

HOOK int close(int fd)
{
	if (unlikely(fdtable_maybe(fd)))
		return close_ours(fd);
	if (unlikely(fd >= 0 && is_own(fd))) {
		errno = EBADF;
		return -1;
	}
	return REAL(close)(fd);
}

/* Around the RNIC's: closes up to the last of them, and returns the number after it. */
static unsigned int close_between(unsigned int first, unsigned int last, int flags)
{
	int own;

	while (first <= last && (own = rnic_own_fd(first, last)) >= 0) {
		unsigned int end = (unsigned int)own;

		if (first < end && REAL(close_range)(first, end - 1, flags))
			for (; first < end; first++) /* a kernel without the call */
				REAL(close)((int)first);
		first = end + 1;
	}
	return first;
}

HOOK int close_range(unsigned int first, unsigned int last, int flags)
{
	unsigned int from = first;
	int ret = 0;

	/* The RNIC's are CLOEXEC as it is. */
	if (!(flags & CLOSE_RANGE_CLOEXEC) && !(flags & ~CLOSE_RANGE_UNSHARE))
		from = close_between(first, last, flags);
	if (from <= last || from == first)
		ret = REAL(close_range)(from, last, flags);
	if (!ret && !(flags & CLOSE_RANGE_CLOEXEC))
		fdtable_reap(first, last);
	return ret;
}

HOOK void closefrom(int first)
{
	unsigned int from = first < 0 ? 0 : (unsigned int)first;

	REAL(closefrom)((int)close_between(from, INT_MAX - 1, 0));
	fdtable_reap(from, UINT_MAX);
}

static int copied(int oldfd, int newfd)
{
	int saved = errno;

	if (newfd >= 0)
		fdtable_dup(oldfd, newfd);
	errno = saved;
	return newfd;
}

HOOK int dup(int fd)
{
	return copied(fd, REAL(dup)(fd));
}

/* errno of a descriptor that was taken just now: the only one that fits, and that dup2() has. */
static bool is_taken(int oldfd, int newfd)
{
	if (likely(newfd < 0 || oldfd == newfd || !is_own(newfd)))
		return false;
	errno = EBUSY;
	return true;
}

HOOK int dup2(int oldfd, int newfd)
{
	if (is_taken(oldfd, newfd))
		return -1;
	return copied(oldfd, REAL(dup2)(oldfd, newfd));
}

HOOK int dup3(int oldfd, int newfd, int flags)
{
	if (is_taken(oldfd, newfd))
		return -1;
	return copied(oldfd, REAL(dup3)(oldfd, newfd, flags));
}

/* The third argument is an int or a pointer, or missing: whatever it is travels in one register. */
static int fcntl_hook(int fd, int cmd, void *arg)
{
	int ret = REAL(fcntl)(fd, cmd, arg);

	return cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC ? copied(fd, ret) : ret;
}

HOOK int fcntl(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	return fcntl_hook(fd, cmd, arg);
}

HOOK int fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	return fcntl_hook(fd, cmd, arg);
}

/*
 * libibverbs and librdmacm ask netlink for RDMA devices before sysfs. A kernel with RDMA drivers would
 * answer with its own devices, and ours would not exist.
 */
HOOK int socket(int domain, int type, int protocol)
{
	if (unlikely(domain == AF_NETLINK && protocol == NETLINK_RDMA)) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	return REAL(socket)(domain, type, protocol);
}

/*
 * Paths
 */

static bool lookup(int dirfd, const char *path, struct sysfs_target *target)
{
	return sysfs_maybe(dirfd, path) && sysfs_lookup(dirfd, path, target);
}

/* Point dirfd and path at where the file is; target has to live as long as path is used. */
static bool redirect(int *dirfd, const char **path, struct sysfs_target *target)
{
	if (!lookup(*dirfd, *path, target))
		return false;
	*dirfd = AT_FDCWD;
	*path = target->path;
	return true;
}

/* target's kilobyte of stack is for those alone who need it. */
static __attribute__((noinline)) bool open_ours(int dirfd, const char *path, int flags,
						mode_t mode, int *fd)
{
	struct sysfs_target target;

	if (!sysfs_lookup(dirfd, path, &target))
		return false;
	if (target.kind == SYSFS_OUTSIDE)
		*fd = REAL(open)(target.path, flags, mode);
	else
		*fd = (int)libc_result(sysfs_open(&target, flags));
	return true;
}

static int openat_hook(int dirfd, const char *path, int flags, mode_t mode)
{
	int fd;

	if (sysfs_maybe(dirfd, path) && open_ours(dirfd, path, flags, mode, &fd))
		return fd;
	return dirfd == AT_FDCWD ? REAL(open)(path, flags, mode) :
				   REAL(openat)(dirfd, path, flags, mode);
}

#define OPEN_MODE(flags, mode)                                                                     \
	do {                                                                                       \
		va_list ap;                                                                        \
		mode = 0;                                                                          \
		if (__OPEN_NEEDS_MODE(flags)) {                                                    \
			va_start(ap, flags);                                                       \
			mode = va_arg(ap, mode_t);                                                 \
			va_end(ap);                                                                \
		}                                                                                  \
	} while (0)

HOOK int open(const char *path, int flags, ...)
{
	mode_t mode;

	OPEN_MODE(flags, mode);
	return openat_hook(AT_FDCWD, path, flags, mode);
}

HOOK int open64(const char *path, int flags, ...)
{
	mode_t mode;

	OPEN_MODE(flags, mode);
	return openat_hook(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

HOOK int openat(int dirfd, const char *path, int flags, ...)
{
	mode_t mode;

	OPEN_MODE(flags, mode);
	return openat_hook(dirfd, path, flags, mode);
}

HOOK int openat64(int dirfd, const char *path, int flags, ...)
{
	mode_t mode;

	OPEN_MODE(flags, mode);
	return openat_hook(dirfd, path, flags | O_LARGEFILE, mode);
}

/* Fortified: flags that need a mode are a mistake of the program. */
static int openat_2_hook(int dirfd, const char *path, int flags)
{
	if (__OPEN_NEEDS_MODE(flags))
		__chk_fail();
	return openat_hook(dirfd, path, flags, 0);
}

HOOK int __open_2(const char *path, int flags)
{
	return openat_2_hook(AT_FDCWD, path, flags);
}

HOOK int __open64_2(const char *path, int flags)
{
	return openat_2_hook(AT_FDCWD, path, flags | O_LARGEFILE);
}

HOOK int __openat_2(int dirfd, const char *path, int flags)
{
	return openat_2_hook(dirfd, path, flags);
}

HOOK int __openat64_2(int dirfd, const char *path, int flags)
{
	return openat_2_hook(dirfd, path, flags | O_LARGEFILE);
}

/* r, r+, w ...: the flags of open(), without those that create. */
static int stream_flags(const char *mode)
{
	int flags = strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;

	return flags | (strchr(mode, 'e') ? O_CLOEXEC : 0);
}

static __attribute__((noinline)) bool fopen_ours(const char *path, const char *mode, FILE **fp)
{
	int fd;

	if (!open_ours(AT_FDCWD, path, stream_flags(mode), 0666, &fd))
		return false;
	*fp = fd < 0 ? NULL : fdopen(fd, mode);
	if (fd >= 0 && !*fp)
		close(fd);
	return true;
}

HOOK FILE *fopen(const char *path, const char *mode)
{
	FILE *fp;

	if (sysfs_maybe(AT_FDCWD, path) && fopen_ours(path, mode, &fp))
		return fp;
	return REAL(fopen)(path, mode);
}

HOOK FILE *fopen64(const char *path, const char *mode)
{
	return fopen(path, mode);
}

HOOK FILE *freopen(const char *path, const char *mode, FILE *fp)
{
	struct sysfs_target target;

	if (lookup(AT_FDCWD, path, &target)) {
		if (stream_flags(mode) & (O_WRONLY | O_RDWR) && target.kind != SYSFS_OUTSIDE) {
			fclose(fp);
			errno = EACCES;
			return NULL;
		}
		path = target.path;
	}
	return REAL(freopen)(path, mode, fp);
}

HOOK FILE *freopen64(const char *path, const char *mode, FILE *fp)
{
	return freopen(path, mode, fp);
}

HOOK DIR *opendir(const char *path)
{
	struct sysfs_target target;
	DIR *dir;

	if (!lookup(AT_FDCWD, path, &target))
		return REAL(opendir)(path);
	dir = REAL(opendir)(target.path);
	if (dir)
		sysfs_opened_dir(&target, dirfd(dir));
	return dir;
}

HOOK int scandirat(int dirfd, const char *path, struct dirent ***list,
		   int (*filter)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **))
{
	struct sysfs_target target;

	redirect(&dirfd, &path, &target);
	return dirfd == AT_FDCWD ? REAL(scandir)(path, list, filter, compare) :
				   REAL(scandirat)(dirfd, path, list, filter, compare);
}

HOOK int scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
		 int (*compare)(const struct dirent **, const struct dirent **))
{
	return scandirat(AT_FDCWD, path, list, filter, compare);
}

HOOK int scandir64(const char *path, struct dirent64 ***list,
		   int (*filter)(const struct dirent64 *),
		   int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	return scandirat(AT_FDCWD, path, (struct dirent ***)list,
			 (int (*)(const struct dirent *))filter,
			 (int (*)(const struct dirent **, const struct dirent **))compare);
}

HOOK int scandirat64(int dirfd, const char *path, struct dirent64 ***list,
		     int (*filter)(const struct dirent64 *),
		     int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	return scandirat(dirfd, path, (struct dirent ***)list,
			 (int (*)(const struct dirent *))filter,
			 (int (*)(const struct dirent **, const struct dirent **))compare);
}

static void *glob_opendir(const char *path)
{
	return opendir(path);
}

static void glob_closedir(void *dir)
{
	closedir(dir);
}

static struct dirent *glob_readdir(void *dir)
{
	return readdir(dir);
}

/* glob() works inside libc; with GLOB_ALTDIRFUNC it looks at directories through the hooks here. */
HOOK int glob(const char *pattern, int flags, int (*on_error)(const char *, int), glob_t *g)
{
	glob_t saved = *g;
	int ret;

	if (flags & GLOB_ALTDIRFUNC || !sysfs_maybe(AT_FDCWD, pattern))
		return REAL(glob)(pattern, flags, on_error, g);
	g->gl_opendir = glob_opendir;
	g->gl_closedir = glob_closedir;
	g->gl_readdir = glob_readdir;
	g->gl_stat = stat;
	g->gl_lstat = lstat;
	ret = REAL(glob)(pattern, flags | GLOB_ALTDIRFUNC, on_error, g);
	g->gl_opendir = saved.gl_opendir;
	g->gl_closedir = saved.gl_closedir;
	g->gl_readdir = saved.gl_readdir;
	g->gl_stat = saved.gl_stat;
	g->gl_lstat = saved.gl_lstat;
	g->gl_flags &= ~GLOB_ALTDIRFUNC;
	return ret;
}

HOOK int glob64(const char *pattern, int flags, int (*on_error)(const char *, int), glob64_t *g)
{
	return glob(pattern, flags, on_error, (glob_t *)g);
}

/* True: *ret is the answer. False: path is where to ask, in the ordinary way. */
static bool access_ours(int *dirfd, const char **path, int mode, struct sysfs_target *target,
			int *ret)
{
	if (!redirect(dirfd, path, target) || target->kind == SYSFS_OUTSIDE)
		return false;
	*ret = (int)libc_result(sysfs_access(target, mode));
	return true;
}

HOOK int access(const char *path, int mode)
{
	struct sysfs_target target;
	int ret, dirfd = AT_FDCWD;

	return access_ours(&dirfd, &path, mode, &target, &ret) ? ret : REAL(access)(path, mode);
}

HOOK int eaccess(const char *path, int mode)
{
	struct sysfs_target target;
	int ret, dirfd = AT_FDCWD;

	return access_ours(&dirfd, &path, mode, &target, &ret) ? ret : REAL(eaccess)(path, mode);
}

HOOK int euidaccess(const char *path, int mode)
{
	return eaccess(path, mode);
}

HOOK int faccessat(int dirfd, const char *path, int mode, int flags)
{
	struct sysfs_target target;
	int ret;

	return access_ours(&dirfd, &path, mode, &target, &ret) ?
		       ret :
		       REAL(faccessat)(dirfd, path, mode, flags);
}

/*
 * The stat family. In 64-bit libcs stat and stat64 are one, and the __xstat functions of older programs
 * have but one version of the struct.
 */

static void fix_fstat(int fd, struct stat *st)
{
	struct kfile *kf = fdtable_get(fd);

	if (!kf)
		return;
	if (kf->ops->cdev) {
		st->st_mode = S_IFCHR | 0666;
		st->st_size = 0;
		st->st_rdev = makedev(kf->ops->major, kf->ops->minor);
	}
	kfile_put(kf);
}

HOOK int fstat(int fd, struct stat *st)
{
	int ret = REAL(fstat)(fd, st);

	if (unlikely(fdtable_maybe(fd)) && !ret)
		fix_fstat(fd, st);
	return ret;
}

static __attribute__((noinline)) bool stat_ours(int dirfd, const char *path, struct stat *st,
						int flags, int *ret)
{
	struct sysfs_target target;

	if (!sysfs_lookup(dirfd, path, &target))
		return false;
	*ret = REAL(fstatat)(AT_FDCWD, target.path, st, flags);
	if (!*ret)
		sysfs_fix_stat(&target, st);
	return true;
}

HOOK int stat(const char *path, struct stat *st)
{
	int ret;

	if (sysfs_maybe(AT_FDCWD, path) && stat_ours(AT_FDCWD, path, st, 0, &ret))
		return ret;
	return REAL(stat)(path, st);
}

HOOK int lstat(const char *path, struct stat *st)
{
	int ret;

	if (sysfs_maybe(AT_FDCWD, path) &&
	    stat_ours(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW, &ret))
		return ret;
	return REAL(lstat)(path, st);
}

static bool is_descriptor_itself(int dirfd, const char *path, int flags)
{
	return flags & AT_EMPTY_PATH && dirfd >= 0 && fdtable_maybe(dirfd) && (!path || !*path);
}

HOOK int fstatat(int dirfd, const char *path, struct stat *st, int flags)
{
	int ret;

	if (sysfs_maybe(dirfd, path) && stat_ours(dirfd, path, st, flags, &ret))
		return ret;
	ret = REAL(fstatat)(dirfd, path, st, flags);
	if (!ret && is_descriptor_itself(dirfd, path, flags))
		fix_fstat(dirfd, st);
	return ret;
}

HOOK int stat64(const char *path, struct stat64 *st)
{
	return stat(path, (struct stat *)st);
}

HOOK int lstat64(const char *path, struct stat64 *st)
{
	return lstat(path, (struct stat *)st);
}

HOOK int fstat64(int fd, struct stat64 *st)
{
	return fstat(fd, (struct stat *)st);
}

HOOK int fstatat64(int dirfd, const char *path, struct stat64 *st, int flags)
{
	return fstatat(dirfd, path, (struct stat *)st, flags);
}

HOOK int __xstat(int version, const char *path, struct stat *st)
{
	return stat(path, st);
}

HOOK int __lxstat(int version, const char *path, struct stat *st)
{
	return lstat(path, st);
}

HOOK int __fxstat(int version, int fd, struct stat *st)
{
	return fstat(fd, st);
}

HOOK int __fxstatat(int version, int dirfd, const char *path, struct stat *st, int flags)
{
	return fstatat(dirfd, path, st, flags);
}

HOOK int __xstat64(int version, const char *path, struct stat64 *st)
{
	return stat64(path, st);
}

HOOK int __lxstat64(int version, const char *path, struct stat64 *st)
{
	return lstat64(path, st);
}

HOOK int __fxstat64(int version, int fd, struct stat64 *st)
{
	return fstat64(fd, st);
}

HOOK int __fxstatat64(int version, int dirfd, const char *path, struct stat64 *st, int flags)
{
	return fstatat64(dirfd, path, st, flags);
}

HOOK int statx(int dirfd, const char *path, int flags, unsigned int mask, struct statx *stx)
{
	struct sysfs_target target;
	struct stat st = {0};
	int ret;

	if (lookup(dirfd, path, &target)) {
		ret = REAL(statx)(AT_FDCWD, target.path, flags, mask, stx);
		if (!ret)
			sysfs_fix_statx(&target, stx);
		return ret;
	}
	ret = REAL(statx)(dirfd, path, flags, mask, stx);
	if (!ret && is_descriptor_itself(dirfd, path, flags)) {
		fix_fstat(dirfd, &st);
		if (S_ISCHR(st.st_mode)) {
			stx->stx_mode = (uint16_t)st.st_mode;
			stx->stx_rdev_major = major(st.st_rdev);
			stx->stx_rdev_minor = minor(st.st_rdev);
		}
	}
	return ret;
}

HOOK ssize_t readlink(const char *path, char *buf, size_t len)
{
	struct sysfs_target target;
	int dirfd = AT_FDCWD;

	redirect(&dirfd, &path, &target);
	return REAL(readlink)(path, buf, len);
}

HOOK ssize_t readlinkat(int dirfd, const char *path, char *buf, size_t len)
{
	struct sysfs_target target;

	redirect(&dirfd, &path, &target);
	return REAL(readlinkat)(dirfd, path, buf, len);
}

HOOK ssize_t __readlink_chk(const char *path, char *buf, size_t len, size_t size)
{
	if (len > size)
		__chk_fail();
	return readlink(path, buf, len);
}

HOOK ssize_t __readlinkat_chk(int dirfd, const char *path, char *buf, size_t len, size_t size)
{
	if (len > size)
		__chk_fail();
	return readlinkat(dirfd, path, buf, len);
}

HOOK char *realpath(const char *path, char *resolved_path)
{
	struct sysfs_target target;
	char *ret;

	if (!lookup(AT_FDCWD, path, &target))
		return REAL(realpath)(path, resolved_path);
	ret = REAL(realpath)(target.path, resolved_path);
	if (ret)
		sysfs_unmap(ret);
	return ret;
}

HOOK char *__realpath_chk(const char *path, char *resolved_path, size_t size)
{
	if (size < PATH_MAX)
		__chk_fail();
	return realpath(path, resolved_path);
}

HOOK char *canonicalize_file_name(const char *path)
{
	return realpath(path, NULL);
}

HOOK int chdir(const char *path)
{
	struct sysfs_target target;
	int ret;

	if (!lookup(AT_FDCWD, path, &target))
		return REAL(chdir)(path);
	ret = REAL(chdir)(target.path);
	if (!ret && target.kind != SYSFS_OUTSIDE)
		sysfs_entered();
	return ret;
}

HOOK int fchdir(int fd)
{
	int ret = REAL(fchdir)(fd);

	if (!ret && unlikely(fdtable_maybe(fd)))
		sysfs_entered(); /* perhaps; relative paths find out */
	return ret;
}

/* ls -l asks for these on each file. */
#define XATTR_HOOK(name, params, args)                                                             \
	HOOK ssize_t name params                                                                   \
	{                                                                                          \
		struct sysfs_target target;                                                        \
		int dirfd = AT_FDCWD;                                                              \
                                                                                                   \
		redirect(&dirfd, &path, &target);                                                  \
		return REAL(name) args;                                                            \
	}

XATTR_HOOK(getxattr, (const char *path, const char *name, void *value, size_t size),
	   (path, name, value, size))
XATTR_HOOK(lgetxattr, (const char *path, const char *name, void *value, size_t size),
	   (path, name, value, size))
XATTR_HOOK(listxattr, (const char *path, char *list, size_t size), (path, list, size))
XATTR_HOOK(llistxattr, (const char *path, char *list, size_t size), (path, list, size))

/*
 * Signals
 */

HOOK int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	return (int)libc_result(sigchain_sigaction(sig, act, old));
}

HOOK int __sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	return sigaction(sig, act, old);
}

HOOK sighandler_t signal(int sig, sighandler_t handler)
{
	sighandler_t old;

	return sigchain_signal(sig, handler, SA_RESTART, true, &old) ? old :
								       REAL(signal)(sig, handler);
}

HOOK sighandler_t bsd_signal(int sig, sighandler_t handler)
{
	return signal(sig, handler);
}

HOOK sighandler_t ssignal(int sig, sighandler_t handler)
{
	return signal(sig, handler);
}

HOOK sighandler_t sysv_signal(int sig, sighandler_t handler)
{
	sighandler_t old;

	return sigchain_signal(sig, handler, (int)SA_RESETHAND | SA_NODEFER, false, &old) ?
		       old :
		       REAL(sysv_signal)(sig, handler);
}

HOOK sighandler_t __sysv_signal(int sig, sighandler_t handler)
{
	return sysv_signal(sig, handler);
}

/* SIG_HOLD blocks a signal and changes no handler; otherwise it is unblocked. */
HOOK sighandler_t sigset(int sig, sighandler_t handler)
{
	sigset_t set, before;
	sighandler_t old;

	if (handler == SIG_HOLD || !sigchain_signal(sig, handler, 0, false, &old))
		return ((sighandler_t(*)(int, sighandler_t))resolved(R_sigset))(sig, handler);
	if (old == SIG_ERR)
		return old;
	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(SIG_UNBLOCK, &set, &before);
	return sigismember(&before, sig) ? SIG_HOLD : old;
}
