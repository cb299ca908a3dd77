/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Checks the limits of the process, and shared memory, which some programs use as well. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "launcher/doctor.h"
#include "launcher/doctor_report.h"

#define SHM "/dev/shm"
#define FILES_NEEDED 32 /* open files: about ten for the device, and a few for the program */
/* open files that are enough for some connections, each with a channel of its own */
#define FILES_ENOUGH 128
#define SHM_LITTLE (16ull << 20)

/* Returns a limit as text: "unlimited", or the number. */
static const char *limit_text(rlim_t limit, char text[32])
{
	if (limit == RLIM_INFINITY)
		return "unlimited";
	snprintf(text, 32, "%llu", (unsigned long long)limit);
	return text;
}

void doctor_open_files(struct doctor *d)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	char text[32];

	getrlimit(RLIMIT_NOFILE, &limit);
	limit_text(limit.rlim_cur, text);
	if (limit.rlim_cur < FILES_NEEDED)
		doctor_failure("ulimit -n 1024",
			       "a process may have %s descriptors; the device needs some ten, and "
			       "each connection's channels one or two",
			       text);
	else if (limit.rlim_cur < FILES_ENOUGH)
		doctor_warning("ulimit -n 1024",
			       "a process may have %s descriptors, enough for few connections with "
			       "channels of their own",
			       text);
	else
		doctor_ok("a process may have %s descriptors",
			  limit.rlim_cur == RLIM_INFINITY ? "any number of" : text);
}

void doctor_file_size(struct doctor *d)
{
	const struct config *c = &d->settings.config;
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	char text[32];

	getrlimit(RLIMIT_FSIZE, &limit);
	if (limit.rlim_cur == RLIM_INFINITY)
		doctor_ok("a file may have any size");
	else if (d->has_settings && (*c->capture || *c->trace))
		doctor_warning("ulimit -f unlimited", "captures and traces end at %s bytes",
			       limit_text(limit.rlim_cur, text));
	else
		doctor_ok("files end at %s bytes, which only captures and traces would notice",
			  limit_text(limit.rlim_cur, text));
}

void doctor_memlock(struct doctor *d)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	char text[32];

	getrlimit(RLIMIT_MEMLOCK, &limit);
	doctor_ok("%s bytes, which does not matter: the device locks no memory",
		  limit_text(limit.rlim_cur, text));
}

void doctor_shm(struct doctor *d)
{
	static const char *const remedy =
		"mount a tmpfs there (docker run --shm-size 1g); the device does without, but Open "
		"MPI, UCX and PyTorch do not";
	struct statvfs st;
	unsigned long long room;

	if (access(SHM, W_OK | X_OK) || statvfs(SHM, &st)) {
		doctor_warning(remedy, SHM ": %s", strerror(errno));
		return;
	}
	room = (unsigned long long)st.f_bavail * st.f_frsize;
	doctor_number("bytes", (double)room);
	if (st.f_flag & ST_RDONLY)
		doctor_warning(remedy, SHM " is read-only");
	else if (room < SHM_LITTLE)
		doctor_warning(remedy, SHM " has %llu KiB left", room >> 10);
	else
		doctor_ok(SHM " has %llu MiB left", room >> 20);
}
