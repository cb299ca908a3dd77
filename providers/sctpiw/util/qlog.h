/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Trace events as records of a qlog file (draft-ietf-quic-qlog-main-schema, version 0.3), in its
 * streaming form JSON-SEQ (RFC 7464). Each record is the octet 0x1E, a JSON object and a newline.
 * This code only formats records; it does no I/O.
 */
#ifndef SCTPIW_UTIL_QLOG_H
#define SCTPIW_UTIL_QLOG_H

#include <stddef.h>
#include <stdint.h>

#include "util/trace.h"

/* Maximum length of a record in bytes. Long texts are cut to fit. */
#define QLOG_RECORD_MAX 8192u

/*
 * Writes the first record of a process, which precedes its events, to buf of QLOG_RECORD_MAX bytes.
 * Returns its length. `name` is the program's name for human readers. `group` is the group_id of
 * the process's events, since several processes may write to one file. `reference` is the origin of
 * the events' times, in ns since 1970.
 */
size_t qlog_header(char *buf, const char *name, const char *group, uint64_t reference);

/*
 * Writes the record of one event to buf of QLOG_RECORD_MAX bytes. Returns its length. `time` is in
 * ns since `reference`. values has one value for each field of the event.
 */
size_t qlog_event(char *buf, const char *group, uint64_t time, enum trace_id id,
		  const union trace_value *values);

#endif
