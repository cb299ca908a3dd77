/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writes the trace events of this process to the file of --trace, in qlog format (util/qlog.h).
 * Several processes may append records to one file. So each process writes a header, whose group_id
 * is the process number, and each event repeats this group_id. The child of fork() has no device,
 * and writes nothing until it opens the device. Then it writes its own header.
 */
#ifndef SCTPIW_NET_TRACE_FILE_H
#define SCTPIW_NET_TRACE_FILE_H

#include "config/config.h"

struct trace_file;

/*
 * Opens the file and turns on the trace points. The header is written together with the first
 * event. Returns NULL if the file cannot be opened or memory is lacking, with the reason in *why.
 */
struct trace_file *trace_file_open(const char *path, struct config_error *why);

/* Writes the buffered records. Takes its own lock. A failure is logged, and ends the trace. */
void trace_file_flush(struct trace_file *t);

/*
 * Ends the trace and frees t without writing the buffer. No other thread may be at a trace point.
 * So call this only if the RNIC failed to start, or in the child of fork().
 */
void trace_file_free(struct trace_file *t);

#endif
