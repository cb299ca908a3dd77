/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file that several processes append records to without asking each other: what one call writes
 * is there as a whole or not at all, and what another process writes comes before it or behind it.
 * The owner's lock guards it.
 */
#ifndef SCTPIW_NET_APPEND_FILE_H
#define SCTPIW_NET_APPEND_FILE_H

#include <stddef.h>

/*
 * Opens path for appending, and makes the file, mode 0600, if there is none. An existing file must
 * be a regular file. A symbolic link is refused, since another user may have made the link. Returns
 * the descriptor, or a negative number, and the reason in words in *error.
 */
int append_file_open(const char *path, const char **error);

/*
 * Appends len bytes. 0, or -errno: then nothing of them is in the file, unless another process has
 * already written behind them.
 */
int append_file_write(int fd, const void *data, size_t len);

#endif
