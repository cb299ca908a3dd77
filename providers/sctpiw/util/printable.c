/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/printable.h"

#include <stdbool.h>

void printable_make(char *text)
{
	for (unsigned char *p = (unsigned char *)text; *p; p++) {
		/* a control character from U+0080 to U+009F, in UTF-8 */
		bool c1 = p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0;

		if (*p < ' ' || *p == 0x7f || c1)
			*p = '?';
		if (c1)
			*++p = '?';
	}
}
