/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef SCTPIW_CONFIG_CONFIG_FILE_H
#define SCTPIW_CONFIG_CONFIG_FILE_H

#include <stddef.h>

struct config_error;

/*
 * Reads a file that every process may read again; what: what it has, for errors. The caller frees the text, which has
 * no final zero. NULL: err says why, and names the file.
 */
char *config_file_read(const char *path, const char *what, size_t *len, struct config_error *err);

#endif
