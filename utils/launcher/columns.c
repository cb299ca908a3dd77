/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "launcher/columns.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH 80

size_t columns_width(void)
{
	const char *text = getenv("COLUMNS");
	unsigned long width = text ? strtoul(text, NULL, 10) : 0;
	struct winsize size;

	if (width)
		return width;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return WIDTH;
}

void columns_print(FILE *out, const char *text, size_t at, size_t indent)
{
	size_t width = columns_width();

	while (*text) {
		size_t blanks = strspn(text, " "), word = strcspn(text + blanks, " ");

		if (at > indent && at + blanks + word > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
			text += blanks;
			blanks = 0;
		}
		fprintf(out, "%.*s", (int)(blanks + word), text);
		at += blanks + word;
		text += blanks + word;
	}
}
