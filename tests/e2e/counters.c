/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A library for LD_PRELOAD. When the program exits, it writes the counters of its port to the file
 * $COUNTERS.PID, a line each. Counters belong to a process: other processes cannot read them.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORT "/sys/class/infiniband/sctpiw0/ports/1/"

static void write_dir(FILE *out, const char *name)
{
	char path[512], text[64];
	struct dirent *de;
	FILE *in;
	DIR *dir;

	snprintf(path, sizeof(path), PORT "%s", name);
	dir = opendir(path);
	while (dir && (de = readdir(dir))) {
		snprintf(path, sizeof(path), PORT "%s/%s", name, de->d_name);
		in = de->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (in && fgets(text, sizeof(text), in))
			fprintf(out, "%s %s", de->d_name, text);
		if (in)
			fclose(in);
	}
	if (dir)
		closedir(dir);
}

static void write_counters(void)
{
	char path[512];
	FILE *out;

	snprintf(path, sizeof(path), "%s.%d", getenv("COUNTERS"), getpid());
	out = fopen(path, "w");
	if (!out)
		return;
	write_dir(out, "counters");
	write_dir(out, "hw_counters");
	fclose(out);
}

/* The launcher also loads this library, but has no device. */
static __attribute__((constructor)) void start(void)
{
	if (getenv("COUNTERS") && !access(PORT "counters", R_OK))
		atexit(write_counters);
}
