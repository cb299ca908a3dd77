/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Hooks on functions that take or make a descriptor: reading, writing, closing, copying, ioctl(),
 * socket().
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

/* Where the call of a hook returns to: who has called. */
#define CALLER __builtin_return_address(0)

enum transfer { TRANSFER_READ, TRANSFER_WRITE };

/*
 * Reads from, or writes to, a descriptor that may be ours; *ret is what the hook returns then,
 * errno is set. False if the descriptor is not ours after all, or if ours have no function of their
 * own for the transfer: the call goes to libc. from: where the program's call returns to.
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
	return REAL(__read_chk)(fd, buf, len, size); /* ends the program if len is more than size */
}

/* One read gives one event, which has to fit the first piece of memory; the others are not used. */
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

/* As serve(), for several pieces of memory. errno is left alone if any of them was written. */
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

/* The kernel's devices take each piece of memory for a write() of its own, until one fails. */
HOOK ssize_t writev(int fd, const struct iovec *iov, int count)
{
	ssize_t ret;

	if (unlikely(fdtable_maybe(fd)) && count > 0 && count <= IOV_MAX &&
	    serve_pieces(fd, iov, count, CALLER, &ret))
		return ret;
	return REAL(writev)(fd, iov, count);
}

/*
 * Closes a descriptor that may be ours, and releases its kfile afterwards: as long as the
 * descriptor is open no other one can get its number. Cancellation on the way would leave the kfile
 * behind for ever.
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
 * Whether fd is one that the RNIC has for itself. The application is to take those for numbers that
 * are not open: a program that closes all descriptors it does not know of must not close the
 * RNIC's, still less open files of its own under their numbers; and a program that counts its open
 * descriptors looks for descriptors that it forgot to close (hooks_dir.c).
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
 * Closes the descriptors from first up to the last one that the RNIC has for itself in [first,
 * last], but not the RNIC's. Returns where to go on: first if the RNIC has none there.
 */
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

	/* A call that only sets CLOEXEC need not pass over the RNIC's: they have it already. */
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
 * newfd is what dup() or the like returned for oldfd: if it is a descriptor, it is ours if oldfd
 * is.
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
 * True, and errno EBUSY, if newfd is the RNIC's, which must not be replaced. dup2() gives EBUSY for
 * a number that another thread is just opening: of its errors the one that fits.
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
 * The third argument may be an int, a pointer or missing. All three are passed on as a pointer,
 * since each travels in the same one register.
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

/* Whether the kernel does this ioctl() alike for files of every kind: it sets a flag of the descriptor. */
static bool is_for_any_file(unsigned long request)
{
	return request == FIOCLEX || request == FIONCLEX || request == FIONBIO ||
	       request == FIOASYNC;
}

/*
 * Does ioctl() on a descriptor that may be ours: *ret is what the hook returns then. The pipe or memory
 * file that stands behind it is never asked for more than a flag: it would answer for itself, and
 * what it says to a number that it does not know is not the same everywhere. In a child of fork() the
 * answer is that of a kernel without ioctl() on the device, and libibverbs asks in other ways.
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

/* As with fcntl(), the third argument travels in the same register, whatever it is. */
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
 * libibverbs and librdmacm ask netlink for RDMA devices, and look into sysfs only if netlink does
 * not answer. A kernel with RDMA drivers would answer with its own devices alone, so the socket is
 * refused, or is ours.
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
