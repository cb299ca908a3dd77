/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Checks the installation: the files of sctpiw, the libraries of rdma-core, and the device. */
#define _GNU_SOURCE
#include "launcher/doctor_install.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/doctor_child.h"
#include "launcher/doctor_report.h"
#include "launcher/environment.h"
#include "launcher/launcher.h"
#include "launcher/list.h"

/* beginning of a symbol version of libibverbs, which ends with the number of the private ABI */
#define PRIVATE_ABI "IBVERBS_PRIVATE_"
#define ABI_MAX 1000

void doctor_parts(struct doctor *d)
{
	d->has_parts = parts_find(&d->parts, d->provider);
	if (d->has_parts)
		doctor_ok("%s and %s", d->parts.preload, d->parts.provider);
}

/* ---- libibverbs ---- */

/*
 * Returns the number of the private ABI in the file of a library. Returns -1 if the file has none,
 * or cannot be read.
 */
static int private_abi(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), abi = -1;
	struct stat st;
	char *text;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && st.st_size > 0) {
		text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (text != MAP_FAILED) {
			const char *at =
				memmem(text, (size_t)st.st_size, PRIVATE_ABI, strlen(PRIVATE_ABI));

			/* atoi() is safe: the table of names contains a final zero. */
			if (at)
				abi = atoi(at + strlen(PRIVATE_ABI));
			munmap(text, (size_t)st.st_size);
		}
	}
	close(fd);
	return abi;
}

/* True if the provider has the file that a libibverbs with this private ABI loads. */
static bool provider_has(const struct doctor *d, int abi)
{
	int len = (int)(strlen(d->parts.provider) - strlen(PROVIDER_SUFFIX));
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%.*s-rdmav%d.so", len, d->parts.provider, abi) <
		       (int)sizeof(path) &&
	       !access(path, R_OK);
}

/* Writes the numbers of all private ABIs that the provider supports. */
static void provider_abis(const struct doctor *d, char *out, size_t size)
{
	size_t used = 0;

	*out = '\0';
	for (int abi = 1; abi < ABI_MAX; abi++) {
		if (used < size && provider_has(d, abi))
			used += (size_t)snprintf(out + used, size - used, "%s%d", used ? ", " : "",
						 abi);
	}
}

void doctor_judge_libibverbs(const struct doctor *d, const char *file, const char *who)
{
	int abi = private_abi(file);
	const char *linked = who ? " is linked with " : "";
	char known[256];

	if (abi < 0) {
		doctor_failure("install the libibverbs of rdma-core v36 or later",
			       "%s%s%s, which has no private ABI", who ? who : "", linked, file);
	} else if (!d->has_parts) {
		doctor_ok("%s%s%s, private ABI %d", who ? who : "", linked, file, abi);
	} else if (provider_has(d, abi)) {
		doctor_ok("%s%s%s, whose private ABI %d this provider has", who ? who : "", linked,
			  file, abi);
	} else {
		provider_abis(d, known, sizeof(known));
		doctor_failure("install an sctpiw that knows it",
			       "%s%s%s, whose private ABI is %d; this provider has %s",
			       who ? who : "", linked, file, abi, known);
	}
}

/* Loads a library as programs do, and writes the path of its file. Returns false on failure. */
static bool find_library(const char *name, char path[PATH_MAX])
{
	void *lib = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map;

	if (!lib || dlinfo(lib, RTLD_DI_LINKMAP, &map))
		return false;
	snprintf(path, PATH_MAX, "%s", map->l_name);
	dlclose(lib);
	return true;
}

void doctor_libibverbs(struct doctor *d)
{
	char path[PATH_MAX];

	if (find_library("libibverbs.so.1", path))
		doctor_judge_libibverbs(d, path, NULL);
	else
		doctor_failure("install it: apt install libibverbs1, or dnf install libibverbs",
			       "%s", dlerror());
}

void doctor_librdmacm(struct doctor *d)
{
	char path[PATH_MAX];

	if (find_library("librdmacm.so.1", path))
		doctor_ok("%s", path);
	else
		doctor_warning(
			"programs of the RDMA CM want apt install librdmacm1, or dnf install "
			"librdmacm",
			"%s", dlerror());
}

/* ---- the device ---- */

#define WARNING "sctpiw: warning: "

/*
 * Runs "sctpiw list", but without the messages of the setting `log`. A child does this, so that the
 * doctor's own environment stays without the device.
 */
static int list_device(void *arg)
{
	struct doctor *d = arg;

	return !setenv("SCTPIW_LOG", "error", 1) && environment_set(&d->parts) ? list_run(false) :
										 EXIT_BROKEN;
}

/* Parses a line of the output of "sctpiw list" that describes a GID. */
static void take_gid(struct doctor *d, const char *line)
{
	struct doctor_gid *gid = &d->gids[d->n_gids];
	char text[INET6_ADDRSTRLEN];
	struct in6_addr ip;

	if (d->n_gids == DOCTOR_GIDS ||
	    sscanf(line, "gid %*[^/]/%*u/%u %45s netdev %15s", &gid->index, text, gid->netdev) !=
		    3 ||
	    inet_pton(AF_INET6, text, &ip) != 1)
		return;
	memcpy(gid->ip.b, &ip, sizeof(gid->ip.b));
	d->n_gids++;
	doctor_number("index", gid->index);
	doctor_ok("GID %u is %s, of %s", gid->index, text, gid->netdev);
}

/* Reports the output of "sctpiw list". Returns true if it shows a device. */
static bool take_list(struct doctor *d, char *text)
{
	bool found = false;
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!strncmp(line, "device ", 7)) {
			found = true;
			doctor_ok("%s", line + 7);
		} else if (!strncmp(line, "link ", 5) && strstr(line, " state ACTIVE")) {
			doctor_ok("port %s", line + 5);
		} else if (!strncmp(line, "link ", 5)) {
			doctor_failure(
				"give an interface an address, and set it up: ip link set lo up",
				"port %s", line + 5);
		} else if (!strncmp(line, "gid ", 4)) {
			take_gid(d, line);
		} else if (!strncmp(line, WARNING, strlen(WARNING))) {
			doctor_warning(NULL, "%s", line + strlen(WARNING));
		} else if (!strncmp(line, "sctpiw", 6)) {
			doctor_failure(NULL, "%s", line);
			found = true;
		}
	}
	return found;
}

void doctor_device(struct doctor *d)
{
	static char text[65536];
	int status = doctor_child(list_device, d, text, sizeof(text));

	if (status >= 0 && WIFSIGNALED(status))
		doctor_failure("see sctpiw run --log debug -- ibv_devinfo",
			       "a program that looks for the device is ended by %s",
			       strsignal(WTERMSIG(status)));
	else if (!take_list(d, text))
		doctor_failure("see sctpiw run --log debug -- ibv_devinfo",
			       "a program that looks for the device finds none");
}
