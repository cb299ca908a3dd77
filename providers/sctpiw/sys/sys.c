/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * Makes a system call. Returns its result or -errno. Restores errno, which syscall() changes, since
 * errno belongs to the application.
 */
#define RAW(...)                                                                                   \
	({                                                                                         \
		int saved_errno_ = errno;                                                          \
		long raw_ = syscall(__VA_ARGS__);                                                  \
		if (raw_ < 0)                                                                      \
			raw_ = -errno;                                                             \
		errno = saved_errno_;                                                              \
		raw_;                                                                              \
	})

#define FIRST_FD 3

/*
 * Duplicates a new descriptor to a number above the standard streams. Returns a negative fd, which
 * is -errno, unchanged.
 */
static int move_up(int fd)
{
	int up;

	if (fd < 0 || fd >= FIRST_FD)
		return fd;
	up = (int)RAW(SYS_fcntl, fd, F_DUPFD_CLOEXEC, FIRST_FD);
	RAW(SYS_close, fd);
	return up;
}

int sys_socket(int family, int type, int protocol)
{
	return move_up((int)RAW(SYS_socket, family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
}

int sys_bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	return (int)RAW(SYS_bind, fd, addr, len);
}

int sys_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	return (int)RAW(SYS_connect, fd, addr, len);
}

int sys_listen(int fd, int backlog)
{
	return (int)RAW(SYS_listen, fd, backlog);
}

int sys_accept(int fd, struct sockaddr_storage *addr)
{
	socklen_t len = sizeof(*addr);

	memset(addr, 0, sizeof(*addr));
	return move_up((int)RAW(SYS_accept4, fd, addr, &len, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

int sys_shutdown(int fd, int how)
{
	return (int)RAW(SYS_shutdown, fd, how);
}

int sys_getsockname(int fd, struct sockaddr_storage *addr)
{
	socklen_t len = sizeof(*addr);

	/* A sockaddr_in fills only a part of *addr. */
	memset(addr, 0, sizeof(*addr));
	return (int)RAW(SYS_getsockname, fd, addr, &len);
}

int sys_setsockopt(int fd, int level, int name, const void *val, socklen_t len)
{
	return (int)RAW(SYS_setsockopt, fd, level, name, val, len);
}

int sys_setsockopt_int(int fd, int level, int name, int val)
{
	return sys_setsockopt(fd, level, name, &val, sizeof(val));
}

int sys_getsockopt(int fd, int level, int name, void *val, socklen_t *len)
{
	return (int)RAW(SYS_getsockopt, fd, level, name, val, len);
}

int sys_getsockopt_int(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int val = 0;
	long ret = RAW(SYS_getsockopt, fd, level, name, &val, &len);

	return ret < 0 ? (int)ret : val;
}

size_t sys_raise_buffer(int fd, int name)
{
	int force_name = name == SO_RCVBUF ? SO_RCVBUFFORCE : SO_SNDBUFFORCE;
	int got;

	sys_setsockopt_int(fd, SOL_SOCKET, name, SYS_SOCKET_BUFFER);
	got = sys_getsockopt_int(fd, SOL_SOCKET, name);
	if (got < 2 * SYS_SOCKET_BUFFER) {
		sys_setsockopt_int(fd, SOL_SOCKET, force_name, SYS_SOCKET_BUFFER);
		got = sys_getsockopt_int(fd, SOL_SOCKET, name);
	}
	return got > 0 ? (size_t)got : 0;
}

ssize_t sys_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	return RAW(SYS_sendmsg, fd, msg, flags);
}

int sys_sendmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags)
{
	return (int)RAW(SYS_sendmmsg, fd, msgs, n, flags);
}

ssize_t sys_recvmsg(int fd, struct msghdr *msg, int flags)
{
	return RAW(SYS_recvmsg, fd, msg, flags);
}

int sys_recvmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags)
{
	return (int)RAW(SYS_recvmmsg, fd, msgs, n, flags, NULL);
}

int sys_epoll_create(void)
{
	return move_up((int)RAW(SYS_epoll_create1, EPOLL_CLOEXEC));
}

int sys_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev)
{
	return (int)RAW(SYS_epoll_ctl, epfd, op, fd, ev);
}

int sys_epoll_wait(int epfd, struct epoll_event *ev, int max, int timeout)
{
	return (int)RAW(SYS_epoll_pwait, epfd, ev, max, timeout, NULL, 0);
}

int sys_epoll_poll(int epfd, struct epoll_event *ev, int max)
{
	return sys_epoll_wait(epfd, ev, max, 0);
}

int sys_eventfd(void)
{
	return move_up((int)RAW(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK));
}

int sys_timerfd(void)
{
	return move_up((int)RAW(SYS_timerfd_create, CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
}

int sys_timerfd_set(int fd, uint64_t deadline)
{
	struct itimerspec its = { 0 };

	if (deadline != UINT64_MAX) {
		/* Avoid a time of zero, which would disarm the timer. */
		if (!deadline)
			deadline = 1;
		its.it_value.tv_sec = (time_t)(deadline / NSEC_PER_SEC);
		its.it_value.tv_nsec = (long)(deadline % NSEC_PER_SEC);
	}
	return (int)RAW(SYS_timerfd_settime, fd, TFD_TIMER_ABSTIME, &its, NULL);
}

int sys_ppoll(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	struct timespec ts = {
		.tv_sec = (time_t)(timeout / NSEC_PER_SEC),
		.tv_nsec = (long)(timeout % NSEC_PER_SEC),
	};

	return (int)RAW(SYS_ppoll, fds, n, timeout == UINT64_MAX ? NULL : &ts, NULL, 0);
}

int sys_pipe(int fds[2])
{
	int ret = (int)RAW(SYS_pipe2, fds, O_CLOEXEC);

	if (ret)
		return ret;
	for (int i = 0; i < 2; i++) {
		fds[i] = move_up(fds[i]);
		if (fds[i] < 0)
			ret = fds[i];
	}
	if (ret) {
		sys_close(fds[0]);
		sys_close(fds[1]);
	}
	return ret;
}

int sys_dup(int fd)
{
	return (int)RAW(SYS_fcntl, fd, F_DUPFD_CLOEXEC, FIRST_FD);
}

int sys_open(const char *path, int flags)
{
	return move_up((int)RAW(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, S_IRUSR | S_IWUSR));
}

int sys_truncate(int fd, off_t len)
{
	return (int)RAW(SYS_ftruncate, fd, len);
}

int sys_fchmod(int fd, mode_t mode)
{
	return (int)RAW(SYS_fchmod, fd, mode);
}

int sys_mkdir(const char *path, mode_t mode)
{
	return (int)RAW(SYS_mkdirat, AT_FDCWD, path, mode);
}

int sys_unlink(const char *path)
{
	return (int)RAW(SYS_unlinkat, AT_FDCWD, path, 0);
}

int sys_rename(const char *from, const char *to)
{
	return (int)RAW(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int sys_lstat(const char *path, struct stat *st)
{
	return (int)RAW(SYS_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

uid_t sys_uid(void)
{
	return (uid_t)RAW(SYS_geteuid);
}

int sys_ioctl(int fd, unsigned long request, void *arg)
{
	return (int)RAW(SYS_ioctl, fd, request, arg);
}

int sys_stat_fd(int fd, struct stat *st)
{
	return (int)RAW(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}

int sys_try_lock(int fd)
{
	return (int)RAW(SYS_flock, fd, LOCK_EX | LOCK_NB);
}

int sys_unlock(int fd)
{
	return (int)RAW(SYS_flock, fd, LOCK_UN);
}

int sys_lock_byte(int fd, off_t at, bool lock)
{
	const struct flock l = { .l_type = lock ? F_RDLCK : F_UNLCK, .l_start = at, .l_len = 1 };

	return (int)RAW(SYS_fcntl, fd, F_OFD_SETLK, &l);
}

off_t sys_locked_to(int fd, off_t at)
{
	struct flock l = { .l_type = F_WRLCK, .l_start = at, .l_len = 1 };
	int ret = (int)RAW(SYS_fcntl, fd, F_OFD_GETLK, &l);

	if (ret || l.l_type == F_UNLCK)
		return ret ? ret : at;
	return l.l_len ? l.l_start + l.l_len : INT32_MAX;
}

off_t sys_tell(int fd)
{
	return RAW(SYS_lseek, fd, 0, SEEK_CUR);
}

ssize_t sys_read(int fd, void *buf, size_t len)
{
	return RAW(SYS_read, fd, buf, len);
}

ssize_t sys_read_pipe(int fd, void *buf, size_t len)
{
	static _Atomic bool refused;
	struct iovec iov = { .iov_base = buf, .iov_len = len };
	int waiting = 0, ret;
	ssize_t n;

	if (!atomic_load_explicit(&refused, memory_order_relaxed)) {
		n = RAW(SYS_preadv2, fd, &iov, 1ul, -1l, -1l, RWF_NOWAIT);
		if (n >= 0 || n == -EAGAIN)
			return n;
		atomic_store_explicit(&refused, true, memory_order_relaxed);
	}
	ret = sys_ioctl(fd, FIONREAD, &waiting);
	if (ret)
		return ret;
	return waiting > 0 ? sys_read(fd, buf, len) : -EAGAIN;
}

ssize_t sys_write(int fd, const void *buf, size_t len)
{
	return RAW(SYS_write, fd, buf, len);
}

ssize_t sys_append(int fd, const void *buf, size_t len)
{
	const uint64_t signal = 1ull << (SIGXFSZ - 1); /* the kernel's own sigset_t */
	const struct timespec at_once = { 0 };
	uint64_t before = 0, pending = 0;
	ssize_t n;

	RAW(SYS_rt_sigprocmask, SIG_BLOCK, &signal, &before, sizeof(signal));
	RAW(SYS_rt_sigpending, &pending, sizeof(pending));
	n = sys_write(fd, buf, len);
	/*
	 * Remove the pending SIGXFSZ of this write. A SIGXFSZ that was pending before belongs to
	 * the application.
	 */
	if (n == -EFBIG && !(pending & signal))
		RAW(SYS_rt_sigtimedwait, &signal, NULL, &at_once, sizeof(signal));
	RAW(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	return n;
}

/*
 * A bitmap of descriptors that must stay open. Some programs close all descriptors that they do not
 * know, up to the highest number that they have seen. If a program closed a descriptor of the RNIC,
 * another file could get its number, and the RNIC would write to that file.
 */
#define KEPT_MAX 65536u
#define KEEP_FROM 4096u /* lowest number of a kept descriptor, if the process's limit permits */

static _Atomic uint64_t kept[KEPT_MAX / 64];
static _Atomic pid_t keeper;

static void set_kept(int fd, bool on)
{
	uint64_t bit = 1ull << (fd % 64);

	if (fd < 0 || (unsigned int)fd >= KEPT_MAX)
		return;
	if (on)
		atomic_fetch_or(&kept[fd / 64], bit);
	else if (atomic_load_explicit(&kept[fd / 64], memory_order_relaxed) & bit)
		atomic_fetch_and(&kept[fd / 64], ~bit);
}

uint64_t sys_max_fds(void)
{
	struct rlimit64 limit = { 0 };

	RAW(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
	return limit.rlim_cur;
}

int sys_keep(int fd)
{
	uint64_t upper = sys_max_fds() / 4 * 3;
	long from = KEEP_FROM, up;

	if (fd < 0)
		return fd;
	if (upper < KEEP_FROM)
		from = (long)upper;
	if (from > fd) {
		up = RAW(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from);
		if (up >= 0) {
			RAW(SYS_close, fd);
			fd = (int)up;
		}
	}
	atomic_store_explicit(&keeper, getpid(), memory_order_relaxed);
	set_kept(fd, true);
	return fd;
}

int sys_kept(unsigned int first, unsigned int last)
{
	if (last >= KEPT_MAX)
		last = KEPT_MAX - 1;
	for (unsigned int fd = first; fd <= last; fd = (fd | 63) + 1) {
		uint64_t word = atomic_load_explicit(&kept[fd / 64], memory_order_relaxed) &
				~0ull << fd % 64;

		if (!word)
			continue;
		fd = (fd & ~63u) + (unsigned int)__builtin_ctzll(word);
		/* A child of vfork() shares this memory, but its descriptors are copies. */
		if (fd > last || getpid() != atomic_load_explicit(&keeper, memory_order_relaxed))
			return -1;
		return (int)fd;
	}
	return -1;
}

void sys_close(int fd)
{
	if (fd < 0)
		return;
	set_kept(fd, false);
	RAW(SYS_close, fd);
}

int sys_random(void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len) {
		ssize_t n = RAW(SYS_getrandom, p, len, 0);

		if (n == -EINTR)
			continue;
		if (n < 0)
			return (int)n;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}
