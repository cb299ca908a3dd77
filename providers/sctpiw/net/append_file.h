/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file to which several processes append records without locks. Each call appends either a whole
 * record or nothing. A lock of the caller protects the descriptor.
 */
#ifndef SCTPIW_NET_APPEND_FILE_H
#define SCTPIW_NET_APPEND_FILE_H

#include <stddef.h>

/*
 * Opens path for appending. Creates the file with mode 0600 if it is missing. An existing file must
 * be a regular file. A symbolic link is refused, since another user may have created it. Returns
 * the descriptor, or a negative number with the reason as text in *error.
 */
int append_file_open(const char *path, const char **error);

/*
 * Appends len bytes. Returns 0, or -errno. After an error, the bytes already written are removed,
 * unless another process has appended a record after them.
 */
int append_file_write(int fd, const void *data, size_t len);

#endif
