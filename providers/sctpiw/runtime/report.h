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

/* An answer that is not complete yet. */
struct report {
	bool json;
	/* The current part; the remaining parts follow it. NULL: the answer is complete. */
	const struct report_part *part;
	unsigned int step; /* number of lines of the current part that were written */
	/* index of the shard whose QPs, associations or paths are currently written */
	unsigned int shard;
	/* position in a list of objects; guarded by the locks of all shards */
	struct list_node mark;
	struct conn_paths_info paths; /* paths of the current association */
	unsigned int path;	      /* index of the next path of that association */
	uint32_t fault;		      /* number of the last rule that was written or skipped */
	struct faults_result result;  /* result of a request that changes the rules */
};

/* Size in bytes of the buffer for report_more(). */
#define REPORT_ROOM (16 * CONTROL_LINE_MAX)

/* Call this once, before all other functions. */
void report_init(struct report *r);
/*
 * Performs a request, which is one line without its newline, and begins the answer. Takes the
 * shard's lock if the request changes something.
 */
void report_begin(struct report *r, struct shard *s, const char *request);
/*
 * Writes the next lines of the answer to buf, of REPORT_ROOM bytes. Returns their length in bytes,
 * or 0 if the answer is complete. Copies at most 16 objects under the shard's lock, and formats
 * them without it. Takes the lock itself.
 */
size_t report_more(struct report *r, struct shard *s, char *buf);
/* Discards the rest of the answer. Needs the locks of all shards. */
void report_drop(struct report *r);

#define REPORT_SUMMARY_MAX 400 /* maximum length in bytes */
/*
 * Writes one line without a newline: the amounts of data sent, lost and resent, and the rates.
 * Needs the locks of all shards.
 */
void report_summary(struct shard *s, char text[REPORT_SUMMARY_MAX]);

#endif
