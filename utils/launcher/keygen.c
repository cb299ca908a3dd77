/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/keygen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "sys/sys.h"

#define KEY_LEN 32 /* length of a key in bytes */
#define NAME_LEN 4 /* random bytes in an identity */

/* Writes each byte as two hexadecimal digits, and then a final zero. */
static void write_hex(char *to, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sprintf(to + 2 * i, "%02x", bytes[i]);
}

/* Makes a line of a key file, which has a unique identity and the key. */
static bool make_line(char line[2 * (KEY_LEN + NAME_LEN) + 8])
{
	uint8_t bytes[KEY_LEN + NAME_LEN];
	int error = sys_random(bytes, sizeof(bytes));
	char *p;

	if (error) {
		complain("random bytes: %s", strerror(-error));
		return false;
	}
	p = stpcpy(line, "key-");
	write_hex(p, bytes, NAME_LEN);
	p = stpcpy(p + 2 * NAME_LEN, " ");
	write_hex(p, bytes + NAME_LEN, KEY_LEN);
	strcpy(p + 2 * KEY_LEN, "\n");
	explicit_bzero(bytes, sizeof(bytes));
	return true;
}

/* Writes a new file. Fails if the file exists, since programs may be using its key. */
static int write_file(const char *path, const char *line)
{
	static const char head[] =
		"# Keys of sctpiw (docs/security.md): an identity and a key a line.\n"
		"# This host connects with the first key, and accepts all keys.\n";
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out) {
		complain("%s: %s%s", path, strerror(errno),
			 errno == EEXIST ? ": 'sctpiw keygen >>FILE' adds a key to it" : "");
		return EXIT_FAILURE;
	}
	fputs(head, out);
	fputs(line, out);
	if (!fclose(out))
		return EXIT_SUCCESS;
	complain("%s: %s", path, strerror(errno));
	unlink(path);
	return EXIT_FAILURE;
}

int keygen_run(char **words)
{
	char line[2 * (KEY_LEN + NAME_LEN) + 8];
	int status = EXIT_SUCCESS;

	if (words[0] && words[1]) {
		complain("takes one file: take %s away", words[1]);
		return EXIT_USAGE;
	}
	if (!make_line(line))
		return EXIT_FAILURE;
	if (words[0])
		status = write_file(words[0], line);
	else
		fputs(line, stdout);
	explicit_bzero(line, sizeof(line));
	return status;
}
