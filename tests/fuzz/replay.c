/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Runs a fuzz target without a fuzzer, on the inputs in the given files and directories. Earlier
 * findings thus stay tests in every build.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "fixture/input.h"

static unsigned int runs;

static void replay_file(const char *path, size_t size)
{
	FILE *f = fopen(path, "rb");
	/* In its own heap block, so that a sanitizer detects reads beyond its end. */
	uint8_t *data = malloc(size ? size : 1);

	if (!f || !data || fread(data, 1, size, f) != size) {
		perror(path);
		exit(1);
	}
	fclose(f);
	printf("%s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	runs++;
}

static void replay(const char *path)
{
	struct stat st;
	struct dirent *entry;
	DIR *dir;

	if (stat(path, &st)) {
		perror(path);
		exit(1);
	}
	if (!S_ISDIR(st.st_mode)) {
		replay_file(path, (size_t)st.st_size);
		return;
	}
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		char name[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		replay(name);
	}
	if (dir)
		closedir(dir);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	printf("%u inputs\n", runs);
	return runs ? 0 : 1;
}
