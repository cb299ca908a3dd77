/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A series of files, each of limited size, to which several processes append records
 * (append_file.h). PATH is always the current file. If the next record would make PATH too long,
 * PATH is renamed to PATH.1, PATH.1 to PATH.2, and so on. The oldest file is removed, and a new
 * file is created at PATH.
 *
 * A writer locks the current file, checks its length, appends, and unlocks it. So no file exceeds
 * the limit, except a file with a single longer record. Other processes wait for the lock for at
 * most RING_FILE_PATIENCE, since the writer may have been stopped. After that they rename the
 * writer's file and continue in a new file. The stopped writer may later append its record to the
 * renamed file. No record is lost or cut. A lock of the caller protects the struct.
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
	bool fresh;	    /* this process has not written to the current file yet */
	uint64_t limit;	    /* maximum bytes of a file; 0: one file without limit */
	unsigned int files; /* maximum number of files, including PATH */
	dev_t dev;	    /* device and inode number of the file that fd has open */
	ino_t ino;
	char path[CONFIG_PATH_LEN];
};

/* Opens the file. Returns 0, or a negative number with the reason as text in *error. */
int ring_file_open(struct ring_file *r, const char *path, uint64_t limit, unsigned int files,
		   const char **error);

/*
 * Call this before you append len bytes to r->fd. Makes room for the bytes: starts a new file if
 * needed, or switches to the file that another process has started. Sets r->fresh if it opens
 * another file. Returns 0, or -errno. After 0, other processes wait until ring_file_done().
 */
int ring_file_prepare(struct ring_file *r, size_t len);
/* Call this after appending. */
void ring_file_done(struct ring_file *r);

void ring_file_close(struct ring_file *r);

#endif
