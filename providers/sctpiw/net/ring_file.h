/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file of limited size that several processes append records to (append_file.h). When what comes
 * next would make it too long, the file at PATH becomes PATH.1, that one PATH.2, and so on; the
 * oldest goes, and a new file begins at PATH. So PATH is always the one that is written to.
 *
 * No process waits for another one, since that may be stopped. Whoever finds the file full takes its
 * lock and renames; who does not get the lock writes once more to the full file, and looks again next
 * time. So a file may be longer than its limit by what the others write while it is renamed, but
 * no record is lost or cut. The owner's lock guards the struct.
 */
#ifndef SCTPIW_NET_RING_FILE_H
#define SCTPIW_NET_RING_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "config/config.h"

struct ring_file {
	int fd;
	bool fresh;	    /* this process has not written to it yet */
	uint64_t limit;	    /* bytes of a file; 0: none, and there is one file */
	unsigned int files; /* how many there may be, the one at path among them */
	dev_t dev;	    /* which file fd is */
	ino_t ino;
	char path[CONFIG_PATH_LEN];
};

/* Opens the file. 0, or a negative number, and why in words in *error. */
int ring_file_open(struct ring_file *r, const char *path, uint64_t limit, unsigned int files,
		   const char **error);

/*
 * To be called before len bytes are appended to r->fd: makes room for them, or finds the file that
 * another process has begun. r->fresh says whether it is one that this process has not written to. 0
 * or -errno.
 */
int ring_file_prepare(struct ring_file *r, size_t len);

void ring_file_close(struct ring_file *r);

#endif
