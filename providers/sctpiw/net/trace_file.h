/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The events of this process in the file of --trace, as a qlog (util/qlog.h). Several processes may
 * append to one file, each its own records: a header with its process number as group_id, which
 * each of its events repeats. A child of fork() writes nothing, as it has no device, until it opens
 * the device itself; then it is a process like any other.
 */
#ifndef SCTPIW_NET_TRACE_FILE_H
#define SCTPIW_NET_TRACE_FILE_H

#include "config/config.h"

struct trace_file;

/*
 * Opens the file and installs the sink: trace points are on from here. The header is written with
 * the first event. NULL: why says why the file cannot be written.
 */
struct trace_file *trace_file_open(const char *path, struct config_error *why);

/*
 * Writes what has been noted down; no lock is needed. If the file cannot be written any more, a
 * line says so and the trace ends.
 */
void trace_file_flush(struct trace_file *t);

/*
 * Ends the trace and frees it, without writing what is left. No other thread of the process may be
 * at a trace point: the RNIC did not come up, or this is a child of fork().
 */
void trace_file_free(struct trace_file *t);

#endif
