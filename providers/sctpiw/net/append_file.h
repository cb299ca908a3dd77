/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file to which several processes append records without coordination. A call writes a whole
 * record or nothing. The owner's lock guards the file.
 */
#ifndef SCTPIW_NET_APPEND_FILE_H
#define SCTPIW_NET_APPEND_FILE_H

#include <stddef.h>

/*
 * Opens path for appending, and creates a missing file with mode 0600. An existing file must be a
 * regular file. A symbolic link is refused, since another user may have made it. Returns the
 * descriptor, or a negative number; *error is then the reason in words.
 */
int append_file_open(const char *path, const char **error);

/*
 * Appends len bytes. Returns 0, or -errno. After an error the file has none of the bytes, unless
 * another process has already appended after them.
 */
int append_file_write(int fd, const void *data, size_t len);

#endif
