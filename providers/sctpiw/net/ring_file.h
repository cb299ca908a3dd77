/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file of limited size to which several processes append records (append_file.h). If the next
 * record would make the file too long, PATH becomes PATH.1, PATH.1 becomes PATH.2, and so on. The
 * oldest file is removed, and a new one begins at PATH. So PATH is always the current file.
 *
 * A writer locks the file before it checks the length, and unlocks it after the write. So no file
 * is longer than its limit, except one with a single longer record. Other processes wait for
 * RING_FILE_PATIENCE at most, since the writer may have been stopped. Then they rename its file,
 * and continue in a new one. The writer may still write the record that it has found room for. No
 * record is lost or cut. The owner's lock guards the struct.
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
	uint64_t limit;	    /* bytes of a file; 0: no limit, and one file */
	unsigned int files; /* maximum number of files, with the one at path */
	dev_t dev;	    /* device and inode of fd */
	ino_t ino;
	char path[CONFIG_PATH_LEN];
};

/* Opens the file. Returns 0, or a negative number with the reason in words in *error. */
int ring_file_open(struct ring_file *r, const char *path, uint64_t limit, unsigned int files,
		   const char **error);

/*
 * Call this before len bytes are appended to r->fd. It makes room for them, or finds the file that
 * another process has begun. It sets r->fresh if this process has not written to that file. Returns
 * 0, or -errno. After 0, no other process writes before ring_file_done().
 */
int ring_file_prepare(struct ring_file *r, size_t len);
/* Call this after the write. */
void ring_file_done(struct ring_file *r);

void ring_file_close(struct ring_file *r);

#endif
