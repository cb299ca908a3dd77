/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/dtls_gnutls.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"

#define LIBRARY "libgnutls.so.30" /* name of the library in all versions 3.x */

struct dtls_gnutls gnutls;

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define FUNCTION(name) { "gnutls_" #name, offsetof(struct dtls_gnutls, name) },
	DTLS_GNUTLS_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

bool dtls_gnutls_load(struct config_error *why)
{
	void *library, *function = NULL;

	if (gnutls.init)
		return true;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	for (size_t i = 0; library && i < sizeof(functions) / sizeof(functions[0]); i++) {
		function = dlsym(library, functions[i].name);
		if (!function)
			break;
		memcpy((char *)&gnutls + functions[i].offset, &function, sizeof(function));
	}
	if (function)
		return true;
	snprintf(why->text, sizeof(why->text), "encryption needs GnuTLS 3.7 or later: %.200s",
		 dlerror());
	gnutls.init = NULL;
	return false;
}
