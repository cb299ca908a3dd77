/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef SCTPIW_CONFIG_CONFIG_FILE_H
#define SCTPIW_CONFIG_CONFIG_FILE_H

#include <stddef.h>

struct config_error;

/*
 * Reads a file. Refuses pipes and sockets, since several processes read the file, and each must get
 * the same contents. what: kind of contents, for error messages. Returns the text without a final
 * zero, which the caller frees. Returns NULL and sets err if there is an error.
 */
char *config_file_read(const char *path, const char *what, size_t *len, struct config_error *err);

#endif
