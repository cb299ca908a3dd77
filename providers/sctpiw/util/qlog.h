/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Trace events as records of a qlog file (draft-ietf-quic-qlog-main-schema, version 0.3), in its
 * streaming form JSON-SEQ (RFC 7464). Each record is the octet 0x1E, a JSON object and a newline.
 * This code does no I/O.
 */
#ifndef SCTPIW_UTIL_QLOG_H
#define SCTPIW_UTIL_QLOG_H

#include <stddef.h>
#include <stdint.h>

#include "util/trace.h"

/* Maximum length of a record in bytes; long texts are cut. */
#define QLOG_RECORD_MAX 8192u

/*
 * Writes the record that precedes the events of a process to buf of QLOG_RECORD_MAX bytes. Returns
 * its length. name is the program's name, for people. group is the group_id of the process's
 * events, since several processes may write to one file. reference is the origin of the events'
 * times, in ns since 1970.
 */
size_t qlog_header(char *buf, const char *name, const char *group, uint64_t reference);

/* Writes one event likewise. time is in ns since the reference. values has one value per field. */
size_t qlog_event(char *buf, const char *group, uint64_t time, enum trace_id id,
		  const union trace_value *values);

#endif
