/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reads files with secrets. The functions need no lock. */
#ifndef SCTPIW_CONFIG_CONFIG_PRIVATE_H
#define SCTPIW_CONFIG_CONFIG_PRIVATE_H

#include <stddef.h>

#define CONFIG_PRIVATE_SIZE 65536 /* bytes; files must be shorter */

struct config_error;

/*
 * Reads a regular file that belongs to this user or root, and that no other user may access.
 * setting: name of the setting, for error messages. Returns the text without a final zero; free it
 * with config_private_free(). After an error, returns NULL, and sets err to the reason and the
 * remedy.
 */
char *config_private_read(const char *setting, const char *path, size_t *len,
			  struct config_error *err);
/* Overwrites and frees the text. Ignores NULL. */
void config_private_free(char *text);

#endif
