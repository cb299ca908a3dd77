/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef SCTPIW_CONFIG_CONFIG_FILE_H
#define SCTPIW_CONFIG_CONFIG_FILE_H

#include <stddef.h>

struct config_error;

/*
 * Reads a file, but no pipe or socket, since every process must be able to read it. what: its
 * contents, for errors. The caller frees the text, which has no final zero. Returns NULL, with err
 * set, after an error.
 */
char *config_file_read(const char *path, const char *what, size_t *len, struct config_error *err);

#endif
