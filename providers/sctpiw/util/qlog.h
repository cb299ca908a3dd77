/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Trace events as records of a qlog file (draft-ietf-quic-qlog-main-schema, version 0.3), in its
 * streaming form JSON-SEQ (RFC 7464): each record is the octet 0x1E, a JSON object and a newline.
 * Nothing here does I/O.
 */
#ifndef SCTPIW_UTIL_QLOG_H
#define SCTPIW_UTIL_QLOG_H

#include <stddef.h>
#include <stdint.h>

#include "util/trace.h"

/* No record is longer, in bytes: long texts are cut. */
#define QLOG_RECORD_MAX 8192u

/*
 * The record that the events of a process stand behind, into buf of QLOG_RECORD_MAX bytes; returns
 * its length. name tells people which program it is; group is the group_id of its events, as
 * several processes may write to one file; reference is the time that those of the events count
 * from, in ns since 1970.
 */
size_t qlog_header(char *buf, const char *name, const char *group, uint64_t reference);

/* One event, likewise; time is in ns since the reference. values are those of its fields. */
size_t qlog_event(char *buf, const char *group, uint64_t time, enum trace_id id,
		  const union trace_value *values);

#endif
