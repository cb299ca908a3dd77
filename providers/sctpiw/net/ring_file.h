/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file of limited size that several processes append records to (append_file.h). When what comes
 * next would make it too long, the file at PATH becomes PATH.1, that one PATH.2, and so on; the
 * oldest goes, and a new file begins at PATH. So PATH is always the one that is written to.
 *
 * Whoever writes has the lock of the file from before it looks at the file's length until it has written,
 * so that no file is longer than its limit, but one that consists of a single longer record. The others wait,
 * for RING_FILE_PATIENCE at most: the process that has the lock may have been stopped. Then they rename its file,
 * and go on in a new one, while it may still write what it has found room for. No record is lost or cut. The
 * owner's lock guards the struct.
 */
#ifndef SCTPIW_NET_RING_FILE_H
#define SCTPIW_NET_RING_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "config/config.h"
#include "util/time.h"

#define RING_FILE_PATIENCE NSEC_PER_SEC

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
 * another process has begun. r->fresh says whether it is one that this process has not written to. 0:
 * nobody else writes before ring_file_done(); or -errno.
 */
int ring_file_prepare(struct ring_file *r, size_t len);
/* What ring_file_prepare() was called for is written. */
void ring_file_done(struct ring_file *r);

void ring_file_close(struct ring_file *r);

#endif
