/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reports about the device: the answers at the control socket (sys/control.h), and the line of the
 * setting summary.
 */
#ifndef SCTPIW_RUNTIME_REPORT_H
#define SCTPIW_RUNTIME_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/control.h"
#include "util/list.h"

#include "conn/inspect.h"
#include "runtime/faults.h"

struct shard;

/* An unfinished answer. */
struct report {
	bool json;
	/* The remaining parts, one after the other; NULL: the answer is complete. */
	const struct report_part *part;
	unsigned int step; /* number of written lines of the part */
	unsigned int
		shard; /* index of the shard whose QPs, associations or paths are being written */
	struct list_node mark;	      /* position of a walk through objects; locks of all shards */
	struct conn_paths_info paths; /* of the association whose paths are being written */
	unsigned int path;	      /* index of the next path */
	uint32_t fault;		      /* number of the last rule that was written, or is skipped */
	struct faults_result result;  /* of a request that changes the rules */
};

/* Bytes that report_more() needs. */
#define REPORT_ROOM (16 * CONTROL_LINE_MAX)

/* Call this once, before all other functions. */
void report_init(struct report *r);
/*
 * Performs a request, which is a line without its newline, and begins the answer. Takes the shard's
 * lock if the request changes anything.
 */
void report_begin(struct report *r, struct shard *s, const char *request);
/*
 * Writes the next lines of the answer to buf, of REPORT_ROOM bytes. Returns their length in bytes,
 * or 0 at the end. Takes the shard's lock itself, for a moment: it copies 16 objects under the
 * lock, and formats them without it.
 */
size_t report_more(struct report *r, struct shard *s, char *buf);
/* Drops the rest of the answer. Needs the locks of all shards. */
void report_drop(struct report *r);

#define REPORT_SUMMARY_MAX 400 /* bytes */
/*
 * Writes a line without a newline: data sent, lost and resent, and the rates. Needs the locks of
 * all shards.
 */
void report_summary(struct shard *s, char text[REPORT_SUMMARY_MAX]);

#endif
