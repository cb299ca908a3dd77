/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Files with something that nobody else may know. No lock. */
#ifndef SCTPIW_CONFIG_CONFIG_PRIVATE_H
#define SCTPIW_CONFIG_CONFIG_PRIVATE_H

#include <stddef.h>

#define CONFIG_PRIVATE_SIZE 65536 /* bytes of such a file, and one more */

struct config_error;

/*
 * Reads a regular file of this user or root that nobody else may use. setting: its name, for errors. NULL: err says why, and
 * the remedy. The caller gives the text, which has no final zero, to config_private_free().
 */
char *config_private_read(const char *setting, const char *path, size_t *len,
			  struct config_error *err);
/* Overwrites it first. NULL: nothing happens. */
void config_private_free(char *text);

#endif
