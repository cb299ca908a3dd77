/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "rnic.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libc.h"
#include "unused.h"

#define PROVIDER_FILE "libsctpiw-rdmav34.so"

static _Atomic(const struct sctpiw_rnic_api *) rnic;

void rnic_complain(const char *what, const char *why)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&said))
		dprintf(STDERR_FILENO, "sctpiw: no RDMA device: %s: %s\n", what, why);
}

int rnic_library_dir(char *buf, size_t len)
{
	const char *slash;
	Dl_info info;

	if (!dladdr((void *)&rnic, &info) || !info.dli_fname)
		return -ENOENT;
	slash = strrchr(info.dli_fname, '/');
	if (!slash || (size_t)(slash - info.dli_fname) >= len)
		return -ENOENT;
	memcpy(buf, info.dli_fname, (size_t)(slash - info.dli_fname));
	buf[slash - info.dli_fname] = '\0';
	return 0;
}

static const char *provider_path(char *buf, size_t len)
{
	const char *env = secure_getenv("SCTPIW_PROVIDER");
	size_t used;

	if (env && *env)
		return env;
	if (rnic_library_dir(buf, len))
		return PROVIDER_FILE;
	used = strlen(buf);
	snprintf(buf + used, len - used, "/" PROVIDER_FILE);
	return buf;
}

/* Called by the RNIC for each descriptor that it makes itself, for a context's async events. */
static void opened_by_rnic(int fd, struct rnic_channel *chan)
{
	rnic_channel_install(fd, chan);
}

const struct sctpiw_rnic_api *rnic_get(void)
{
	return atomic_load(&rnic);
}

int rnic_own_fd(unsigned int first, unsigned int last)
{
	const struct sctpiw_rnic_api *api = rnic_get();

	return api ? api->own_fd(first, last) : -1;
}

/*
 * Needs no lock: two threads that call this at the same time load the same file and find the same
 * table. So a fork() in another thread cannot leave a lock held.
 */
const struct sctpiw_rnic_api *rnic_load(void)
{
	const struct sctpiw_rnic_api *api = atomic_load(&rnic);
	char buf[PATH_MAX], why[128];
	const char *path;
	void *handle;

	if (api)
		return api;
	path = provider_path(buf, sizeof(buf));
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		rnic_complain("cannot load the provider", dlerror());
		return NULL;
	}
	api = dlsym(handle, SCTPIW_RNIC_API_SYMBOL);
	if (!api) {
		rnic_complain(path,
			      "not a provider of sctpiw (no symbol " SCTPIW_RNIC_API_SYMBOL ")");
		return NULL;
	}
	if (api->version != SCTPIW_RNIC_API_VERSION || api->size < sizeof(*api)) {
		snprintf(
			why, sizeof(why),
			"interface version %u (%u bytes), but libsctpiw-preload.so needs %u (%zu); "
			"install both from one release",
			api->version, api->size, SCTPIW_RNIC_API_VERSION, sizeof(*api));
		rnic_complain(path, why);
		return NULL;
	}
	api->set_fd_hooks(opened_by_rnic);
	atomic_store(&rnic, api);
	return api;
}

int rnic_open(void)
{
	const struct sctpiw_rnic_api *api = rnic_load();

	if (!api)
		return -ENODEV;
	unused_over();
	return api->guard();
}

/*
 * True if a read() must continue after a signal. If the handler that ran has SA_RESTART, the kernel
 * restarts read(), but not poll(). It does not report which handler ran. So a read() continues if
 * every handler of the process has SA_RESTART. Handlers of faults are not considered, since a
 * sleeping thread causes no faults.
 */
static bool signals_restart(void)
{
	static const uint64_t faults = 1ull << SIGSEGV | 1ull << SIGBUS | 1ull << SIGILL |
				       1ull << SIGFPE | 1ull << SIGTRAP | 1ull << SIGABRT |
				       1ull << SIGSYS;
	struct sigaction sa;

	for (int sig = 1; sig < NSIG; sig++) {
		if ((sig < 64 && faults >> sig & 1) || libc_sigaction(sig, NULL, &sa))
			continue;
		if (sa.sa_handler != SIG_DFL && sa.sa_handler != SIG_IGN &&
		    !(sa.sa_flags & SA_RESTART))
			return false;
	}
	return true;
}

static void put_cancelled(void *kf)
{
	kfile_put(kf);
}

/*
 * Calls poll() as a cancellation point. It is a separate function since the cleanup handler saves
 * registers, as setjmp() does, and would slow down local variables of the caller.
 */
static int poll_in(struct kfile *kf, struct pollfd *pfd)
{
	int ret;

	pthread_cleanup_push(put_cancelled, kf);
	ret = poll(pfd, 1, -1) < 0 ? -errno : 0;
	pthread_cleanup_pop(0);
	return ret;
}

/*
 * In the kernel, a thread that waits in read() continues to wait if another thread closes the
 * descriptor. Programs rely on this: otherwise rping's event thread would end the process with an
 * error. So this function does not return if the descriptor is closed meanwhile.
 */
int rnic_wait_readable(struct kfile *kf, int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	int flags = libc_fcntl(fd, F_GETFL, 0), ret;

	if (flags >= 0 && fdtable_holds(fd, kf))
		atomic_store_explicit(&kf->flags, flags, memory_order_relaxed);
	else
		flags = atomic_load_explicit(&kf->flags, memory_order_relaxed);
	if (flags & O_NONBLOCK)
		return -EAGAIN;
	for (;;) {
		if (!fdtable_holds(fd, kf) || pfd.revents & POLLNVAL)
			pfd.fd = -1; /* poll() ignores a negative descriptor, and sleeps */
		ret = poll_in(kf, &pfd);
		if (ret == -EINTR && signals_restart())
			continue;
		if (ret)
			return ret;
		if (!fdtable_holds(fd, kf) || pfd.revents & POLLNVAL)
			continue;
		return pfd.revents & POLLIN ? 0 : -EIO;
	}
}

static ssize_t channel_file_read(struct kfile *kf, int fd, void *buf, size_t len)
{
	const struct sctpiw_rnic_api *api = rnic_get();

	for (;;) {
		ssize_t n = api->channel_read(kf->chan, buf, len);

		if (n == -EAGAIN)
			n = rnic_wait_readable(kf, fd);
		if (n)
			return n;
	}
}

static void channel_file_release(struct kfile *kf)
{
	rnic_get()->channel_release(kf->chan);
}

static const struct kfile_ops channel_file_ops = {
	.read = channel_file_read,
	.release = channel_file_release,
};

int rnic_channel_install(int fd, struct rnic_channel *chan)
{
	int ret = fdtable_install(fd, &channel_file_ops, chan, NULL);

	if (ret) {
		libc_close(fd);
		rnic_get()->channel_release(chan);
	}
	return ret;
}

void rnic_apply_open_flags(int fd, int flags)
{
	int fl = libc_fcntl(fd, F_GETFL, 0);

	libc_fcntl(fd, F_SETFD, flags & O_CLOEXEC ? FD_CLOEXEC : 0);
	if (fl >= 0)
		libc_fcntl(fd, F_SETFL, (fl & ~O_NONBLOCK) | (flags & O_NONBLOCK));
}

int user_write(uint64_t addr, const void *data, size_t len)
{
	return rnic_get()->copy((void *)(uintptr_t)addr, data, len);
}

int user_read(uint64_t addr, void *data, size_t len)
{
	return rnic_get()->copy(data, (const void *)(uintptr_t)addr, len);
}
