/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Raw system calls on descriptors. The RNIC does not call libc's wrappers, since other libraries
 * may replace them: librspreload turns sockets into rsockets, and sctpiw's preload library serves
 * some descriptors itself. Each function makes the system call in its name. It returns the result
 * or -errno, and leaves errno unchanged. Any thread may call these functions without a lock.
 *
 * New descriptors are CLOEXEC. They never have the numbers 0 to 2: a program that has closed its
 * standard streams would otherwise print into the RNIC's files. "Non-blocking" describes the new
 * descriptor.
 */
#ifndef SCTPIW_SYS_SYS_H
#define SCTPIW_SYS_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "util/time.h"

struct epoll_event;
struct mmsghdr;
struct pollfd;

int sys_socket(int family, int type, int protocol);
int sys_bind(int fd, const struct sockaddr *addr, socklen_t len);
int sys_connect(int fd, const struct sockaddr *addr, socklen_t len);
int sys_listen(int fd, int backlog);
int sys_accept(int fd, struct sockaddr_storage *addr); /* non-blocking */
int sys_shutdown(int fd, int how);
int sys_getsockname(int fd, struct sockaddr_storage *addr);
int sys_setsockopt(int fd, int level, int name, const void *val, socklen_t len);
int sys_setsockopt_int(int fd, int level, int name, int val);
int sys_getsockopt(int fd, int level, int name, void *val, socklen_t *len);
int sys_getsockopt_int(int fd, int level, int name); /* returns the value, or -errno */
/* Requested size of the send and receive buffers of a carrier's socket, in bytes of payload. */
#define SYS_SOCKET_BUFFER (4 << 20)
/*
 * Sets the size of a buffer (name: SO_RCVBUF or SO_SNDBUF) to SYS_SOCKET_BUFFER, or to the limit
 * net.core.rmem_max or wmem_max if that is lower. Returns the size that the kernel uses in bytes,
 * or 0 if it is unknown. The kernel doubles the requested size, since it also counts its own data
 * structures.
 */
size_t sys_raise_buffer(int fd, int name);
ssize_t sys_sendmsg(int fd, const struct msghdr *msg, int flags);
int sys_sendmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags);
ssize_t sys_recvmsg(int fd, struct msghdr *msg, int flags);
int sys_recvmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags);
int sys_epoll_create(void);
int sys_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev);
int sys_epoll_poll(int epfd, struct epoll_event *ev, int max); /* epoll_wait() without waiting */
int sys_epoll_wait(int epfd, struct epoll_event *ev, int max, int timeout); /* ms */
int sys_eventfd(void);							    /* non-blocking */
int sys_timerfd(void);				/* CLOCK_MONOTONIC, non-blocking */
int sys_timerfd_set(int fd, uint64_t deadline); /* ns, absolute; TIME_NEVER: disarm */
int sys_ppoll(struct pollfd *fds, unsigned int n, uint64_t timeout); /* ns; TIME_NEVER: no limit */
int sys_pipe(int fds[2]);					     /* both ends are blocking */
int sys_dup(int fd);
int sys_open(const char *path, int flags); /* mode 0600 with O_CREAT */
int sys_truncate(int fd, off_t len);
int sys_fchmod(int fd, mode_t mode);
int sys_mkdir(const char *path, mode_t mode);
int sys_unlink(const char *path);
int sys_rename(const char *from, const char *to);
int sys_lstat(const char *path, struct stat *st);
uid_t sys_uid(void); /* geteuid() */
int sys_ioctl(int fd, unsigned long request, void *arg);
int sys_stat_fd(int fd, struct stat *st);
int sys_try_lock(int fd); /* flock(), exclusive, without waiting */
int sys_unlock(int fd);
/*
 * Locks or unlocks a byte of the file, for the open file description of fd. The lock is shared,
 * since an exclusive lock would require write permission.
 */
int sys_lock_byte(int fd, off_t at, bool lock);
/*
 * If another open file description has locked the byte at position `at`, returns the first position
 * after this lock. Otherwise returns `at`.
 */
off_t sys_locked_to(int fd, off_t at);
off_t sys_tell(int fd); /* returns the position; after an append, the end of its data */
ssize_t sys_read(int fd, void *buf, size_t len);
/*
 * Reads from a pipe. Returns -EAGAIN if the pipe is empty, even if the descriptor is blocking.
 * Makes one system call since Linux 6.4. Older kernels need two calls, and the second blocks if
 * another reader empties the pipe between them.
 */
ssize_t sys_read_pipe(int fd, void *buf, size_t len);
ssize_t sys_write(int fd, const void *buf, size_t len);
/*
 * Writes to a file that may grow large. At the limit RLIMIT_FSIZE, returns -EFBIG, and suppresses
 * SIGXFSZ, which would kill the process.
 */
ssize_t sys_append(int fd, const void *buf, size_t len);
void sys_close(int fd); /* ignores a negative fd */
/*
 * Moves a long-lived descriptor to a high number, so that it does not mix with the application's
 * descriptors. Returns the new number. The preload library prevents the application from closing
 * the descriptor. Returns a negative fd, such as -errno of sys_socket(), unchanged.
 */
int sys_keep(int fd);
/*
 * Returns the lowest number in [first, last] that sys_keep() has returned and that is still open,
 * or -1. May be called in signal handlers, and in children of vfork().
 */
int sys_kept(unsigned int first, unsigned int last);
/* Returns the process's limit of descriptors. All descriptor numbers are lower than this limit. */
uint64_t sys_max_fds(void);
/* Fills buf with random octets from the kernel. Returns 0 or -errno. */
int sys_random(void *buf, size_t len);

/* Returns CLOCK_MONOTONIC in ns. */
static inline uint64_t sys_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

#endif
