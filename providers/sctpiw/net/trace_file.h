/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The events of this process in the file of --trace, as a qlog (util/qlog.h). Several processes may
 * append records to one file. The header of a process has its process number as group_id, which
 * each of its events repeats. A child of fork() has no device, and writes nothing until it opens
 * the device. Then it is a process like any other.
 */
#ifndef SCTPIW_NET_TRACE_FILE_H
#define SCTPIW_NET_TRACE_FILE_H

#include "config/config.h"

struct trace_file;

/*
 * Opens the file and installs the sink, which turns on the trace points. The header is written with
 * the first event. Returns NULL if the file cannot be written, with the reason in *why.
 */
struct trace_file *trace_file_open(const char *path, struct config_error *why);

/* Writes the buffered records; no lock is needed. A failure is logged, and ends the trace. */
void trace_file_flush(struct trace_file *t);

/*
 * Ends the trace and frees it, without writing the buffer. No other thread of the process may be at
 * a trace point: the RNIC did not come up, or this is a child of fork().
 */
void trace_file_free(struct trace_file *t);

#endif
