/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The RNIC's own descriptors: to the program, their numbers must appear unused. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "check.h"
#include "fake_rnic.h"

static struct fake_control *ctl;

/* These return true if a descriptor is open: for the kernel, and for a program. */
static bool is_open(int fd)
{
	return syscall(SYS_fcntl, fd, F_GETFD) >= 0;
}

static bool looks_open(int fd)
{
	errno = 0;
	if (fcntl(fd, F_GETFD) >= 0 && fcntl64(fd, F_GETFD) >= 0)
		return true;
	check(errno == EBADF);
	return false;
}

/* The RNIC's own descriptors cannot be closed or replaced, and do not appear open. */
static void test_own(void)
{
	int null = open("/dev/null", O_RDWR), copy;

	check(null >= 0 && dup2(null, 940) == 940 && dup2(null, 950) == 950 &&
	      dup2(null, 960) == 960);
	ctl->own_fd = 950;
	errno = 0;
	check(close(950) < 0 && errno == EBADF);
	check(looks_open(940) && !looks_open(950) && looks_open(960));
	check(!close_range(930, 970, 0));
	check(!is_open(940) && is_open(950) && !is_open(960));
	check(!close_range(950, 950, 0) && is_open(950));
	errno = 0;
	check(close_range(960, 940, 0) < 0 && errno == EINVAL);
	check(dup2(null, 940) == 940 && dup2(null, 960) == 960);
	closefrom(930);
	check(!is_open(940) && is_open(950) && !is_open(960));
	errno = 0;
	check(dup2(null, 950) < 0 && errno == EBUSY);
	errno = 0;
	check(dup3(null, 950, 0) < 0 && errno == EBUSY);
	copy = dup(950);
	check(copy >= 0 && !close(copy));
	ctl->own_fd = 0;
	check(!close(950) && !close(null));
}

/* ---- listings ---- */

/* Returns bits 1, 2 and 4 for the entries "940", "950" and "960". */
static int mark(const char *name)
{
	return !strcmp(name, "940") + 2 * !strcmp(name, "950") + 4 * !strcmp(name, "960");
}

static int by_stream(DIR *dir)
{
	struct dirent64 *e64;
	struct dirent *e;
	int found = 0, again = 0;

	check(dir);
	while ((e = readdir(dir)))
		found |= mark(e->d_name);
	rewinddir(dir);
	while ((e64 = readdir64(dir)))
		again |= mark(e64->d_name);
	check(found == again);
	closedir(dir);
	return found;
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static int by_readdir_r(const char *path)
{
	struct dirent e, *result;
	DIR *dir = opendir(path);
	int found = 0;

	check(dir);
	while (!readdir_r(dir, &e, &result) && result)
		found |= mark(e.d_name);
	closedir(dir);
	return found;
}

static int by_scandir(int dirfd, const char *path)
{
	struct dirent **list;
	int found = 0, n = dirfd == AT_FDCWD ? scandir(path, &list, NULL, alphasort) :
					       scandirat(dirfd, path, &list, NULL, alphasort);

	check(n > 0);
	for (int i = 0; i < n; i++) {
		found |= mark(list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return found;
}

/* Reads entries with a buffer of len bytes. */
static int by_getdents(const char *path, size_t len)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY), found = 0;
	char buf[4096] __attribute__((aligned(8)));
	ssize_t n;

	check(fd >= 0);
	while ((n = getdents64(fd, buf, len)) > 0)
		for (char *at = buf; at < buf + n; at += ((struct dirent64 *)(void *)at)->d_reclen)
			found |= mark(((struct dirent64 *)(void *)at)->d_name);
	check(!n);
	close(fd);
	return found;
}

static void check_listings(const char *path, int want)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);

	check(fd >= 0);
	check(by_scandir(fd, ".") == want);
	check(by_stream(fdopendir(fd)) == want);
	check(by_stream(opendir(path)) == want);
	check(by_readdir_r(path) == want);
	check(by_scandir(AT_FDCWD, path) == want);
	check(by_getdents(path, 4096) == want);
	check(by_getdents(path, 32) == want); /* one entry per call */
}

/*
 * The RNIC's own descriptors are in no list of this process's descriptors. In other directories,
 * numbers are ordinary names.
 */
static void test_listings(void)
{
	int null = open("/dev/null", O_RDWR);
	char dir[] = "/tmp/test_fd.XXXXXX", path[64];
	struct dirent **none = NULL;

	check(dup2(null, 940) == 940 && dup2(null, 950) == 950 && dup2(null, 960) == 960);
	check_listings("/proc/self/fd", 7);
	ctl->own_fd = 950;
	check_listings("/proc/self/fd", 5);
	check_listings("/proc/self/fdinfo", 5);
	check_listings("/proc/thread-self/fd", 5);
	check_listings("/dev/fd/", 5);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/fd", (int)getpid(), (int)getpid());
	check_listings(path, 5);
	check(mkdtemp(dir));
	for (int i = 940; i <= 960; i += 10) {
		snprintf(path, sizeof(path), "%s/%d", dir, i);
		check(!mkdir(path, 0700));
	}
	check_listings(dir, 7);
	for (int i = 940; i <= 960; i += 10) {
		snprintf(path, sizeof(path), "%s/%d", dir, i);
		check(!rmdir(path));
	}
	check(!rmdir(dir));
	errno = 0;
	check(scandir(dir, &none, NULL, NULL) < 0 && errno == ENOENT);
	ctl->own_fd = 0;
	check(!close(940) && !close(950) && !close(960) && !close(null));
}

int main(void)
{
	int uverbs = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);

	alarm(60);
	check(uverbs >= 0);
	ctl = fake();
	check(ctl);
	test_own();
	test_listings();
	return 0;
}
