/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Hooks on functions that use or make a descriptor: read(), write(), close(), dup(), ioctl(),
 * socket() and similar ones.
 */
#define _GNU_SOURCE
#include "hooks.h"

#include <errno.h>
#include <limits.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "fdtable.h"
#include "netlink.h"
#include "rnic.h"

/* In a hook: the return address, which identifies the caller. */
#define CALLER __builtin_return_address(0)

enum transfer { TRANSFER_READ, TRANSFER_WRITE };

/*
 * Reads from, or writes to, a descriptor that may be served. Sets *ret and errno to the hook's
 * result. Returns false if the descriptor is not served, or has no such operation; the hook then
 * calls libc. from: the return address of the program's call.
 */
static __attribute__((noinline)) bool serve(enum transfer what, int fd, void *buf, size_t len,
					    const void *from, ssize_t *ret)
{
	struct kfile *kf = what == TRANSFER_READ ? fdtable_get(fd) :
						   fdtable_get_for_write(fd, buf, len, from);
	int saved = errno;
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
		*ret = hooks_result(*ret, saved);
	return ours;
}

HOOK ssize_t read(int fd, void *buf, size_t len)
{
	ssize_t ret;

	if (unlikely(fdtable_maybe(fd)) && serve(TRANSFER_READ, fd, buf, len, CALLER, &ret))
		return ret;
	return REAL(read)(fd, buf, len);
}

HOOK ssize_t __read_chk(int fd, void *buf, size_t len, size_t size)
{
	ssize_t ret;

	if (unlikely(fdtable_maybe(fd)) && len <= size &&
	    serve(TRANSFER_READ, fd, buf, len, CALLER, &ret))
		return ret;
	/* fails and ends the program if len exceeds size */
	return REAL(__read_chk)(fd, buf, len, size);
}

/* One read() returns one event, which must fit into the first buffer. Ignores other buffers. */
HOOK ssize_t readv(int fd, const struct iovec *iov, int count)
{
	ssize_t ret;

	if (unlikely(fdtable_maybe(fd)) && count > 0 &&
	    serve(TRANSFER_READ, fd, iov[0].iov_base, iov[0].iov_len, CALLER, &ret))
		return ret;
	return REAL(readv)(fd, iov, count);
}

HOOK ssize_t write(int fd, const void *buf, size_t len)
{
	ssize_t ret;

	if (unlikely(fdtable_maybe(fd)) &&
	    serve(TRANSFER_WRITE, fd, (void *)buf, len, CALLER, &ret))
		return ret;
	return REAL(write)(fd, buf, len);
}

/* Does the same as serve(), for several buffers. Preserves errno if any buffer was written. */
static __attribute__((noinline)) bool serve_pieces(int fd, const struct iovec *iov, int count,
						   const void *from, ssize_t *ret)
{
	int saved = errno;
	ssize_t n;

	*ret = 0;
	for (int i = 0; i < count; i++) {
		if (!serve(TRANSFER_WRITE, fd, iov[i].iov_base, iov[i].iov_len, from, &n))
			return i > 0;
		if (n < 0 && i > 0)
			errno = saved;
		else
			*ret += n;
		if (n < 0)
			break;
	}
	return true;
}

/* As the kernel's devices do, writes each buffer by a write(), until one fails. */
HOOK ssize_t writev(int fd, const struct iovec *iov, int count)
{
	ssize_t ret;

	if (unlikely(fdtable_maybe(fd)) && count > 0 && count <= IOV_MAX &&
	    serve_pieces(fd, iov, count, CALLER, &ret))
		return ret;
	return REAL(writev)(fd, iov, count);
}

/*
 * Closes a descriptor that may be served, and then releases its kfile. In this order, no other file
 * can get the number of the descriptor before it is closed. The thread must not be cancelled
 * between the two steps, which would leak the kfile.
 */
static __attribute__((noinline)) int close_ours(int fd)
{
	int ret, saved = errno, state;
	struct kfile *kf;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	kf = fdtable_take(fd);
	errno = saved;
	if (!kf) {
		pthread_setcancelstate(state, NULL);
		return REAL(close)(fd);
	}
	ret = REAL(close)(fd);
	saved = errno;
	kfile_put(kf);
	pthread_setcancelstate(state, NULL);
	errno = saved;
	return ret;
}

/*
 * True if fd is a descriptor of the RNIC. The application must see these numbers as unused. A
 * program that closes all unknown descriptors must not close the RNIC's, nor reuse their numbers. A
 * program that counts its open descriptors to find leaks must not count them (hooks_dir.c).
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

/*
 * Closes the descriptors in [first, last] up to the RNIC's last descriptor there, but not the
 * RNIC's descriptors. Returns the next number to close. If the RNIC has no descriptor in [first,
 * last], this is first.
 */
static unsigned int close_between(unsigned int first, unsigned int last, int flags)
{
	int own;

	while (first <= last && (own = rnic_own_fd(first, last)) >= 0) {
		unsigned int end = (unsigned int)own;

		if (first < end && REAL(close_range)(first, end - 1, flags))
			for (; first < end; first++) /* the kernel lacks close_range() */
				REAL(close)((int)first);
		first = end + 1;
	}
	return first;
}

HOOK int close_range(unsigned int first, unsigned int last, int flags)
{
	unsigned int from = first;
	int ret = 0;

	/* A call that only sets CLOEXEC may include the RNIC's descriptors. */
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

/*
 * Handles the result newfd of dup() or a similar function for oldfd: newfd is served if oldfd is.
 * Returns newfd.
 */
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

/*
 * If newfd is a descriptor of the RNIC, sets errno to EBUSY and returns true: the program must not
 * replace it. The kernel's dup2() also fails with EBUSY, if another thread is just opening a file
 * with this number.
 */
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

/*
 * The third argument may be an int, a pointer or missing. It is always passed on as a pointer,
 * since it is in the same register in all cases.
 */

#define FCNTL_HOOK(name)                                                                           \
	HOOK int name(int fd, int cmd, ...)                                                        \
	{                                                                                          \
		va_list ap;                                                                        \
		void *arg;                                                                         \
		int ret;                                                                           \
                                                                                                   \
		if (unlikely(fd >= 0 && is_own(fd))) {                                             \
			errno = EBADF;                                                             \
			return -1;                                                                 \
		}                                                                                  \
		va_start(ap, cmd);                                                                 \
		arg = va_arg(ap, void *);                                                          \
		va_end(ap);                                                                        \
		ret = REAL(name)(fd, cmd, arg);                                                    \
		return cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC ? copied(fd, ret) : ret;           \
	}

FCNTL_HOOK(fcntl)
FCNTL_HOOK(fcntl64)

/*
 * True if the kernel handles this ioctl() in the same way for files of all kinds. These requests
 * set a flag of the descriptor.
 */
static bool is_for_any_file(unsigned long request)
{
	return request == FIOCLEX || request == FIONCLEX || request == FIONBIO ||
	       request == FIOASYNC;
}

/*
 * Handles ioctl() for a descriptor that may be served. If it returns true, *ret is the hook's
 * return value. Only requests that set a flag are passed to the pipe or memory file of the
 * descriptor, since its errors for unknown requests differ between systems. In a child of fork(),
 * ioctl() fails as in a kernel whose device has no ioctl(), and libibverbs then uses other calls.
 */
static __attribute__((noinline)) bool ioctl_ours(int fd, unsigned long request, void *arg, int *ret)
{
	struct kfile *kf = is_for_any_file(request) ? NULL : fdtable_get(fd);
	int saved = errno;

	if (!kf)
		return false;
	*ret = kf->ops->ioctl && kfile_alive(kf) ? kf->ops->ioctl(kf, request, arg) : -ENOTTY;
	kfile_put(kf);
	*ret = (int)hooks_result(*ret, saved);
	return true;
}

/* The third argument is passed on as in fcntl(). */
HOOK int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;
	int ret;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (unlikely(fdtable_maybe(fd)) && ioctl_ours(fd, request, arg, &ret))
		return ret;
	return REAL(ioctl)(fd, request, arg);
}

/*
 * libibverbs and librdmacm look for RDMA devices by netlink, and use sysfs only if netlink fails. A
 * kernel with RDMA drivers would report only its own devices. So a socket of NETLINK_RDMA is
 * refused, or served by this library.
 */
HOOK int socket(int domain, int type, int protocol)
{
	int fd;

	if (likely(domain != AF_NETLINK || protocol != NETLINK_RDMA))
		return REAL(socket)(domain, type, protocol);
	fd = netlink_is_wanted() ? REAL(socket)(domain, type, NETLINK_USERSOCK) : -1;
	if (fd >= 0 && !fdtable_install(fd, &netlink_ops, NULL, NULL))
		return fd;
	if (fd >= 0)
		libc_close(fd);
	errno = EPROTONOSUPPORT;
	return -1;
}

static __attribute__((noinline)) bool serve_send(int fd, const struct msghdr *msg, ssize_t *ret)
{
	struct kfile *kf = fdtable_get(fd);
	int saved = errno;
	bool ours;

	if (!kf)
		return false;
	ours = kf->ops->send && msg->msg_iovlen == 1;
	if (ours)
		*ret = hooks_result(kf->ops->send(kf, fd, msg->msg_iov->iov_base,
						  msg->msg_iov->iov_len),
				    saved);
	kfile_put(kf);
	return ours;
}

HOOK ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t ret;

	if (unlikely(fdtable_maybe(fd)) && serve_send(fd, msg, &ret))
		return ret;
	return REAL(sendmsg)(fd, msg, flags);
}
