/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Files with secrets. No lock. */
#ifndef SCTPIW_CONFIG_CONFIG_PRIVATE_H
#define SCTPIW_CONFIG_CONFIG_PRIVATE_H

#include <stddef.h>

#define CONFIG_PRIVATE_SIZE 65536 /* maximum bytes of such a file, plus 1 */

struct config_error;

/*
 * Reads a regular file of this user or root that nobody else may use. setting: its name, for
 * errors. Returns the text without a final zero, for config_private_free(). Returns NULL with
 * reason and remedy in err after an error.
 */
char *config_private_read(const char *setting, const char *path, size_t *len,
			  struct config_error *err);
/* Overwrites and frees the text. Ignores NULL. */
void config_private_free(char *text);

#endif
