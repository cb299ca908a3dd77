/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "launcher/json.h"

#include <ctype.h>
#include <stdio.h>

void json_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(isprint((unsigned char)*text) ? *text : '?');
	}
	putchar('"');
}
