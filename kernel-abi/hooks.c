/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The table of the real functions, and the functions of libc.h, which call libc without hooks. */
#define _GNU_SOURCE
#include "hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/lib-names.h>

#include "libc.h"
#include "sysfs.h"

#define SYMBOL_NAME(name) #name,
static const char *const symbol_names[] = { LIBC_SYMBOLS(SYMBOL_NAME) };

void *_Atomic hooks_symbols[HOOKS_COUNT];

/* Called instead of a function that this libc lacks. They all return an int or a ssize_t. */
static long missing_function(void)
{
	errno = ENOSYS;
	return -1;
}
__attribute__((noinline, cold)) void *hooks_resolve(int index)
{
	void *p = dlsym(RTLD_NEXT, symbol_names[index]);

	if (!p)
		p = (void *)missing_function;
	atomic_store(&hooks_symbols[index], p);
	return p;
}

/*
 * Functions that this library itself calls. They are looked up in libc, not in the next library,
 * since the next library might call a hook while this library is using the same descriptor or
 * signal.
 */
#define OWN_SYMBOLS(X) X(open) X(close) X(fcntl) X(fstat) X(fstatat) X(sigaction)
#define OWN_INDEX(name) OWN_##name,
enum { OWN_SYMBOLS(OWN_INDEX) OWN_COUNT };
static const char *const own_names[] = { OWN_SYMBOLS(SYMBOL_NAME) };
static void *_Atomic own_symbols[OWN_COUNT];

static __attribute__((noinline, cold)) void *own_resolve(int index)
{
	void *libc = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
	void *p = libc ? dlsym(libc, own_names[index]) : NULL;

	if (!p)
		p = (void *)missing_function;
	atomic_store(&own_symbols[index], p);
	return p;
}

static void *own_resolved(int index)
{
	void *p = atomic_load_explicit(&own_symbols[index], memory_order_relaxed);

	return likely(p) ? p : own_resolve(index);
}

#define OWN(name) ((__typeof__(&name))own_resolved(OWN_##name))

static __attribute__((constructor)) void hooks_init(void)
{
	for (int i = 0; i < HOOKS_COUNT; i++)
		hooks_resolve(i);
	for (int i = 0; i < OWN_COUNT; i++)
		own_resolve(i);
	sysfs_init();
}

long hooks_result(long ret, int saved)
{
	errno = ret >= 0 ? saved : (int)-ret;
	return ret >= 0 ? ret : -1;
}

bool hooks_redirect(int *dirfd, const char **path, struct sysfs_target *target)
{
	if (!hooks_lookup(*dirfd, *path, target))
		return false;
	*dirfd = AT_FDCWD;
	*path = target->path;
	return true;
}

/* Converts the return value of a libc function to the kernel's convention: a result or -errno. */
static long kernel_result(long ret)
{
	return ret < 0 ? -errno : ret;
}

int libc_open(const char *path, int flags)
{
	return (int)kernel_result(OWN(open)(path, flags));
}

int libc_close(int fd)
{
	return (int)kernel_result(OWN(close)(fd));
}

int libc_fcntl(int fd, int cmd, long arg)
{
	return (int)kernel_result(OWN(fcntl)(fd, cmd, arg));
}

int libc_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	return (int)kernel_result(OWN(sigaction)(sig, act, old));
}

/* Both functions preserve errno, since they are called inside calls that may succeed later. */
int libc_fstat(int fd, struct stat *st)
{
	int saved = errno, ret = (int)kernel_result(OWN(fstat)(fd, st));

	errno = saved;
	return ret;
}

int libc_fstatat(int dirfd, const char *path, struct stat *st, int flags)
{
	int saved = errno, ret = (int)kernel_result(OWN(fstatat)(dirfd, path, st, flags));

	errno = saved;
	return ret;
}
