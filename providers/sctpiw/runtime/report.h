/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the process says of its device: the answers at the control socket (sys/control.h), and the
 * line of the setting summary.
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

/* An answer that is being written. */
struct report {
	bool json;
	/* The parts that are still to come, one behind the other; NULL: the answer is whole. */
	const struct report_part *part;
	unsigned int step;     /* lines of the part that were written */
	unsigned int shard;    /* of the RNIC, whose QPs, associations or paths are being written */
	struct list_node mark; /* where a walk through objects has come to. Locks of all shards */
	struct conn_paths_info paths; /* of the association whose paths are being written */
	unsigned int path;	      /* the next of them */
	uint32_t fault;		      /* the rule that was written last; those up to it are not */
	struct faults_result result;  /* of a request that changes the rules */
};

/* How many bytes report_more() needs. */
#define REPORT_ROOM (16 * CONTROL_LINE_MAX)

/* To be called once, before anything else. */
void report_init(struct report *r);
/*
 * Does what a request asks for, which is a line without its newline, and begins the answer. Takes the shard's lock if
 * it changes something.
 */
void report_begin(struct report *r, struct shard *s, const char *request);
/*
 * Writes the next lines of the answer to buf, of REPORT_ROOM bytes; returns their length; 0: it is
 * whole. Takes the shard's lock itself, for a moment: what is told of 16 objects is copied under it, and
 * written without it.
 */
size_t report_more(struct report *r, struct shard *s, char *buf);
/* Nobody wants the rest any more. Locks of all shards. */
void report_drop(struct report *r);

#define REPORT_SUMMARY_MAX 400 /* bytes */
/* Writes what was sent, lost, resent, and how fast, as a line without a newline. Locks of all shards. */
void report_summary(struct shard *s, char text[REPORT_SUMMARY_MAX]);

#endif
