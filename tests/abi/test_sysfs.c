/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The device's files, by every function of libc that accesses them. Also built with
 * _FORTIFY_SOURCE.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/netlink.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "check.h"
#include "fake_rnic.h"

#define IBDEV "/sys/class/infiniband/sctpiw0"
#define UVERBS "/dev/infiniband/uverbs0"

static void check_text(int fd, const char *text)
{
	char buf[128];
	ssize_t n;

	check(fd >= 0);
	n = read(fd, buf, sizeof(buf));
	check(n == (ssize_t)strlen(text) && !memcmp(buf, text, (size_t)n));
	check(!close(fd));
}

/* The files of an empty slot of the GID table can be opened, but not read. */
static void check_unreadable(int fd)
{
	char buf[16];

	check(fd >= 0);
	check_fails(read(fd, buf, sizeof(buf)), EINVAL);
	check(!close(fd));
}

static void check_stream(FILE *fp, const char *text)
{
	char buf[128] = "";

	check(fp);
	check(fgets(buf, sizeof(buf), fp));
	check(!strcmp(buf, text));
	check(!fclose(fp));
}

static void test_open(void)
{
	/*
	 * The flags are not constant, so that a fortified program calls __open_2() and similar
	 * functions.
	 */
	volatile int rdonly = O_RDONLY;
	int dir;

	check_text(open(IBDEV "/node_type", O_RDONLY), "4: RNIC\n");
	check_text(open64(IBDEV "/node_type", rdonly), "4: RNIC\n");
	check_text(open("//sys/./class/infiniband//sctpiw0/ports/../node_type", rdonly),
		   "4: RNIC\n");
	check_text(openat(AT_FDCWD, IBDEV "/node_type", rdonly), "4: RNIC\n");
	check_text(open(IBDEV "/node_guid", rdonly), FAKE_GUID_TEXT);
	check_text(open(IBDEV "/sys_image_guid", rdonly), FAKE_GUID_TEXT);
	check_text(open(IBDEV "/ports/1/gids/0", rdonly), FAKE_GID_TEXT);
	check_text(open(IBDEV "/ports/1/gids/1", rdonly),
		   "0000:0000:0000:0000:0000:0000:0000:0000\n");
	check_fails(open(IBDEV "/ports/1/gids/128", rdonly), ENOENT);
	check_fails(open(IBDEV "/ports/1/gids/1x", rdonly), ENOENT);
	check_fails(open(IBDEV "/ports/1/gid_attrs/types/128", rdonly), ENOENT);
	check_fails(open(IBDEV "/ports/1/gid_attrs/ndevs/128", rdonly), ENOENT);
	check_text(open(IBDEV "/ports/1/gids/127", rdonly), FAKE_GID_TEXT);
	check_text(open(IBDEV "/ports/1/gid_attrs/types/127", rdonly), "RoCE v2\n");
	check_text(open(IBDEV "/ports/1/gid_attrs/ndevs/127", rdonly), "lo\n");
	check_text(open(IBDEV "/ports/1/gid_attrs/types/0", rdonly), "RoCE v2\n");
	check_unreadable(open(IBDEV "/ports/1/gid_attrs/types/3", rdonly));
	check_unreadable(open(IBDEV "/ports/1/gid_attrs/ndevs/3", rdonly));
	check_text(open(IBDEV "/ports/1/state", rdonly), "4: ACTIVE\n");
	check_text(open(IBDEV "/ports/1/phys_state", rdonly), "5: LinkUp\n");
	check_text(open(IBDEV "/ports/1/rate", rdonly), "10 Gb/sec (4X SDR)\n");
	check_text(open(IBDEV "/ports/1/pkeys/0", rdonly), "0xffff\n");
	check_text(open(IBDEV "/ports/1/counters/port_xmit_data", rdonly), "12345678901\n");
	check_text(open(IBDEV "/ports/1/counters/symbol_error", rdonly), "0\n");
	check_text(open(IBDEV "/ports/1/hw_counters/sessions", rdonly), "0\n");
	check_fails(open(IBDEV "/ports/1/counters/nothing", rdonly), ENOENT);
	check_fails(open(IBDEV "/ports/2/state", rdonly), ENOENT);
	check_fails(open(IBDEV "/ports/2/gids/0", rdonly), ENOENT);
	check_fails(open(IBDEV "/ports/2/counters/port_xmit_data", rdonly), ENOENT);
	check_fails(open(IBDEV "/nothing", rdonly), ENOENT);
	check_fails(open("/sys/class/infinibandage", rdonly), ENOENT);
	check_fails(open(IBDEV "/node_type/", rdonly), ENOTDIR);
	check_fails(open(IBDEV "/ports/1/gids/0/", rdonly), ENOTDIR);
	check_fails(open(IBDEV "/ports/1/counters/x/port_xmit_data", rdonly), ENOENT);

	/* As in the kernel's sysfs, no file can be written or made. */
	check_fails(open(IBDEV "/node_desc", O_WRONLY), EACCES);
	check_fails(open(IBDEV "/node_desc", O_RDONLY | O_TRUNC), EACCES);
	check_fails(open(IBDEV "/new", O_WRONLY | O_CREAT, 0600), EACCES);

	dir = open(IBDEV, O_RDONLY | O_DIRECTORY);
	check(dir >= 0);
	check_text(openat(dir, "node_type", rdonly), "4: RNIC\n");
	check_text(openat64(dir, "node_guid", rdonly), FAKE_GUID_TEXT);
	check_text(openat(dir, "ports/1/../1/gids/0", rdonly), FAKE_GID_TEXT);
	check(!close(dir));
	check_fails(openat(dir, "node_type", rdonly), EBADF);
}

static void test_streams(void)
{
	FILE *fp = fopen("/dev/null", "r");

	check_stream(fopen(IBDEV "/node_type", "r"), "4: RNIC\n");
	check_stream(fopen64(IBDEV "/node_guid", "re"), FAKE_GUID_TEXT);
	check_stream(freopen(IBDEV "/node_type", "r", fp), "4: RNIC\n");
	check(!fopen(IBDEV "/node_desc", "w") && errno == EACCES);
	check(!fopen(IBDEV "/node_desc", "r+") && errno == EACCES);
	check(!fopen(IBDEV "/nothing", "r") && errno == ENOENT);
}

static int not_hidden(const struct dirent *de)
{
	return de->d_name[0] != '.';
}

static void test_directories(void)
{
	struct dirent **list, *de;
	bool seen = false;
	glob_t g;
	DIR *dir = opendir("/sys/class/infiniband_verbs");
	int n;

	check(dir);
	while ((de = readdir(dir)))
		seen |= !strcmp(de->d_name, "uverbs0");
	check(seen);
	check_text(openat(dirfd(dir), "uverbs0/dev", O_RDONLY), "231:192\n");
	closedir(dir);

	n = scandir("/sys/class/infiniband", &list, not_hidden, alphasort);
	check(n == 1 && !strcmp(list[0]->d_name, "sctpiw0"));
	check(scandirat(AT_FDCWD, "/dev/infiniband", &list, not_hidden, alphasort) == 2);

	check(!glob("/sys/class/infiniband/*/node_guid", 0, NULL, &g));
	check(g.gl_pathc == 1 && !strcmp(g.gl_pathv[0], IBDEV "/node_guid"));
	check(!(g.gl_flags & GLOB_ALTDIRFUNC));
	globfree(&g);
	check(glob("/sys/class/infiniband/*/nothing", 0, NULL, &g) == GLOB_NOMATCH);
	check(!glob("/dev/nul*", 0, NULL, &g) && g.gl_pathc == 1);
	globfree(&g);
}

static int not_first(const struct dirent *de)
{
	return strcmp(de->d_name, "lo") != 0 && not_hidden(de);
}

/* Reads one entry, and checks its name. */
static void check_next(DIR *dir, const char *name)
{
	struct dirent *de = readdir(dir);

	check(name ? de && !strcmp(de->d_name, name) : !de);
}

/* Only interfaces with a GID are listed: here lo, which has GID 0 and is the only one. */
static void test_interfaces(void)
{
	struct dirent **list;
	struct dirent64 *de64;
	DIR *dir = opendir(IBDEV "/device/net");
	long pos;
	int fd;

	check(dir);
	check_next(dir, ".");
	check_next(dir, "..");
	pos = telldir(dir);
	check_next(dir, "lo");
	check_next(dir, NULL);
	seekdir(dir, pos);
	de64 = readdir64(dir);
	check(de64 && !strcmp(de64->d_name, "lo") && de64->d_type == DT_LNK);
	rewinddir(dir);
	check_next(dir, ".");
	check(!closedir(dir));
	dir = opendir(IBDEV "/device");
	check(dir && readdir(dir) && !closedir(dir));
	fd = open("/sys/class/infiniband_verbs/uverbs0/device/net/", O_RDONLY | O_DIRECTORY);
	dir = fdopendir(fd);
	check(dir);
	check_next(dir, ".");
	check_next(dir, "..");
	check_next(dir, "lo");
	check_next(dir, NULL);
	check(!closedir(dir));
	check(scandir(IBDEV "/device/net", &list, not_hidden, alphasort) == 1);
	check(!strcmp(list[0]->d_name, "lo"));
	check(scandirat(AT_FDCWD, IBDEV "/device/net", &list, not_first, alphasort) == 0);
	check(scandir64(IBDEV "/device/net", (struct dirent64 ***)&list, NULL, NULL) == 3);
}

static void test_names(void)
{
	char buf[PATH_MAX], *p;
	volatile size_t len = sizeof(buf);

	check(realpath(IBDEV "/ports/./1", buf) == buf && !strcmp(buf, IBDEV "/ports/1"));
	p = canonicalize_file_name("/sys/class/infiniband_verbs/uverbs0/device");
	check(p && !strcmp(p, IBDEV "/device"));
	free(p);
	p = realpath(IBDEV "/device/net", NULL);
	check(p && !strcmp(p, "/sys/class/net"));
	free(p);
	check(!realpath(IBDEV "/nothing", buf) && errno == ENOENT);
	check(readlink(IBDEV "/device/net", buf, len) == 14);
	check(!memcmp(buf, "/sys/class/net", 14));
	check(readlinkat(AT_FDCWD, IBDEV "/device/net", buf, len) == 14);
	check(access(IBDEV "/device/net/lo", F_OK) == 0);
}

static void check_device(const struct stat *st, unsigned int ma, unsigned int mi)
{
	check(S_ISCHR(st->st_mode));
	check(major(st->st_rdev) == ma && minor(st->st_rdev) == mi);
}

static void test_stat(void)
{
	struct stat64 st64;
	struct statx stx;
	struct stat st;
	int fd;

	check(!stat(UVERBS, &st));
	check_device(&st, 231, 192);
	check(!lstat("/dev/infiniband/rdma_cm", &st));
	check_device(&st, 10, 124);
	check(!stat64(UVERBS, &st64) && S_ISCHR(st64.st_mode));
	check(!fstatat(AT_FDCWD, UVERBS, &st, 0));
	check_device(&st, 231, 192);
	check(!statx(AT_FDCWD, UVERBS, 0, STATX_BASIC_STATS, &stx));
	check(S_ISCHR(stx.stx_mode) && stx.stx_rdev_major == 231 && stx.stx_rdev_minor == 192);
	check(!stat(IBDEV, &st) && S_ISDIR(st.st_mode));
	check(!stat(IBDEV "/device/net", &st) && S_ISDIR(st.st_mode));
	check(!lstat(IBDEV "/device/net", &st) && S_ISLNK(st.st_mode));
	check_fails(stat(IBDEV "/nothing", &st), ENOENT);

	fd = open(UVERBS, O_RDWR | O_CLOEXEC);
	check(fd >= 0);
	check(!fstat(fd, &st));
	check_device(&st, 231, 192);
	check(!fstat64(fd, &st64) && S_ISCHR(st64.st_mode));
	check(!fstatat(fd, "", &st, AT_EMPTY_PATH));
	check_device(&st, 231, 192);
	check(!statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx));
	check(S_ISCHR(stx.stx_mode) && stx.stx_rdev_minor == 192);
	check(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	check(!close(fd));
	check(open("/dev/null", O_RDONLY) == fd);
	check(!fstat(fd, &st) && minor(st.st_rdev) == 3);
	check(!close(fd));

	check(!access(UVERBS, R_OK | W_OK));
	check(!access(IBDEV "/node_type", R_OK));
	check_fails(access(IBDEV "/node_type", W_OK), EACCES);
	check_fails(faccessat(AT_FDCWD, IBDEV "/nothing", F_OK, 0), ENOENT);
	check(!eaccess(IBDEV, R_OK | X_OK));
}

/*
 * In a child of fork(), the device is another one. Its directory is younger, for each function that
 * reads the time.
 */
static void test_forked_device(void)
{
	struct statx before_x, after_x;
	struct stat before, after;

	check(!stat(IBDEV, &before) && !statx(AT_FDCWD, IBDEV, 0, STATX_BASIC_STATS, &before_x));
	check(before.st_mtim.tv_sec == before_x.stx_mtime.tv_sec);
	fake()->forks = 3;
	check(!stat(IBDEV, &after) && !statx(AT_FDCWD, IBDEV, 0, STATX_BASIC_STATS, &after_x));
	check(after.st_mtim.tv_sec == before.st_mtim.tv_sec + 3);
	check(after_x.stx_mtime.tv_sec == before_x.stx_mtime.tv_sec + 3);
	fake()->forks = 0;
}

/*
 * Inside the tree, a relative path out of the tree can be written like any other: created, and
 * truncated.
 */
static void test_written_outside(void)
{
	char path[] = "/tmp/test_sysfs.XXXXXX", relative[64];
	int fd = mkstemp(path);

	check(fd >= 0 && write(fd, "a longer text\n", 14) == 14 && !close(fd));
	check(!chdir(IBDEV "/ports/1"));
	snprintf(relative, sizeof(relative), "../../../../../..%s", path);
	for (int made = 0; made < 2; made++) {
		FILE *fp = fopen(relative, "w");

		check(fp && fputs("short\n", fp) >= 0 && !fclose(fp));
		check_text(open(path, O_RDONLY), "short\n");
		check(!unlink(path));
	}
	check(!chdir("/"));
}

static void test_working_directory(void)
{
	int fd;

	check(!chdir(IBDEV "/ports/1"));
	check_text(open("state", O_RDONLY), "4: ACTIVE\n");
	check_text(open("gids/0", O_RDONLY), FAKE_GID_TEXT);
	check_stream(fopen("../../node_guid", "r"), FAKE_GUID_TEXT);
	/* A relative path may lead from the device's files to the host's. */
	fd = open("../../../../net", O_RDONLY | O_DIRECTORY);
	check(fd >= 0);
	check(!close(fd));
	fd = open("/sys/class/infiniband/../net", O_RDONLY | O_DIRECTORY);
	check(fd >= 0);
	check(!close(fd));

	fd = open("/sys/class/infiniband", O_RDONLY | O_DIRECTORY);
	check(!chdir("/"));
	check_fails(open("state", O_RDONLY), ENOENT);
	check(!fchdir(fd));
	check_text(open("sctpiw0/node_guid", O_RDONLY), FAKE_GUID_TEXT);
	check(!chdir("/"));
	check(!close(fd));
}

static void test_netlink(void)
{
	int fd;

	check_fails(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA), EPROTONOSUPPORT);
	/*
	 * The kernel, with or without RDMA drivers, would fail with ESOCKTNOSUPPORT for a wrong
	 * type.
	 */
	check_fails(socket(AF_NETLINK, SOCK_STREAM, NETLINK_RDMA), EPROTONOSUPPORT);
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	check(fd >= 0 && !close(fd));
}

/*
 * Successful calls preserve errno, although the first of them loads the RNIC. Otherwise a program
 * that prints errno later, by mistake, would name an error that it has not caused.
 */
static void test_errno(void)
{
	static const char *const files[] = { "/sys/class/infiniband/sctpiw0/node_guid",
					     "/sys/class/infiniband/sctpiw0/ports/1/state",
					     "/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs0" };
	struct stat st;
	FILE *fp;

	errno = EXDEV;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int fd = open(files[i], i < 2 ? O_RDONLY : O_RDWR);
		char buf[64];

		check(fd >= 0 && errno == EXDEV);
		check(!fstat(fd, &st) && !stat(files[i], &st) && errno == EXDEV);
		check(!access(files[i], R_OK) && errno == EXDEV);
		if (i < 2)
			check(read(fd, buf, sizeof(buf)) > 0 && errno == EXDEV);
		check(!close(fd) && errno == EXDEV);
	}
	fp = fopen(files[0], "r");
	check(fp && errno == EXDEV);
	fclose(fp);
	check(signal(SIGSEGV, SIG_DFL) != SIG_ERR && errno == EXDEV);
}

int main(void)
{
	test_errno(); /* must be first, since it loads the RNIC */
	test_open();
	test_streams();
	test_directories();
	test_interfaces();
	test_names();
	test_stat();
	test_forked_device();
	test_working_directory();
	test_written_outside();
	test_netlink();
	return 0;
}
