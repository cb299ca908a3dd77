/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Trace points. A module reports an event of trace_events.h. Installed sinks write the event down:
 * the log, and net/trace_file.c. Each event is also a USDT probe of the same name for debuggers,
 * provider sctpiw (trace.c). The layers without I/O include only this header.
 *
 * With tracing off, a trace point is a load of trace_users and a branch that is not taken; its
 * arguments are not computed. A trace point may stand anywhere, under any lock: sinks take no lock
 * but their own.
 */
#ifndef SCTPIW_UTIL_TRACE_H
#define SCTPIW_UTIL_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

/* An unknown number; its field is left out. */
#define TRACE_NONE UINT64_MAX
/* The time of an event whose caller has no time: the sink reads its own clock. */
#define TRACE_NOW UINT64_MAX
#define TRACE_FIELDS_MAX 11

/* Each event has a struct, such as struct trace_packet_sent. Each of its fields has eight bytes. */
#define TRACE_C_NUMBER uint64_t
#define TRACE_C_SIGNED int64_t
#define TRACE_C_HEX uint64_t
#define TRACE_C_QPN uint64_t
#define TRACE_C_TIME uint64_t
#define TRACE_C_FLAG uint64_t
#define TRACE_C_TEXT const char *
#define TRACE_C_ADDR const struct ip_addr *
#define TRACE_EVENT(id, category, type, level, line, doc) struct trace_##id {
#define TRACE_FIELD(id, kind, field, key, doc) TRACE_C_##kind field;
#define TRACE_END(id)                                                                              \
	}                                                                                          \
	;
#include "util/trace_events.h"
#undef TRACE_EVENT
#undef TRACE_FIELD
#undef TRACE_END

/* Event numbers: trace_id_packet_sent and so on. */
enum trace_id {
#define TRACE_EVENT(id, category, type, level, line, doc) trace_id_##id,
#define TRACE_FIELD(id, kind, field, key, doc)
#define TRACE_END(id)
#include "util/trace_events.h"
#undef TRACE_EVENT
#undef TRACE_FIELD
#undef TRACE_END
	TRACE_IDS
};

/* A field's value: number for all kinds but TEXT and ADDR. */
union trace_value {
	uint64_t number;
	const char *text;
	const struct ip_addr *addr;
};

enum trace_kind {
	TRACE_KIND_NUMBER,
	TRACE_KIND_SIGNED,
	TRACE_KIND_HEX,
	TRACE_KIND_QPN,
	TRACE_KIND_TIME,
	TRACE_KIND_FLAG,
	TRACE_KIND_TEXT,
	TRACE_KIND_ADDR,
};

enum trace_level { TRACE_LEVEL_QUIET, TRACE_LEVEL_LOG };

struct trace_field {
	const char *name; /* in the log line and in code */
	const char *key;  /* in a trace file */
	enum trace_kind kind;
	const char *doc;
};

/* The description of an event in trace_events.h. */
struct trace_info {
	const char *id;
	const char *category, *type; /* name in a trace file, joined by a colon */
	enum trace_level level;
	const char *line; /* log line, with {field} placeholders; "": none */
	const char *doc;
	const struct trace_field *fields;
	unsigned int n_fields;
};

extern const struct trace_info trace_infos[TRACE_IDS];

/*
 * A receiver of events. The caller of trace_install() owns the sink, which must outlive every trace
 * point that may still run.
 */
struct trace_sink {
	_Atomic(struct trace_sink *) next; /* links the installed sinks */
	/*
	 * Any thread calls write(), with any lock held. now is the time of the event in ns of
	 * sys_now(), or TRACE_NOW. values has one value for each field of the event, and is valid
	 * until write() returns.
	 */
	void (*write)(struct trace_sink *sink, enum trace_id id, uint64_t now,
		      const union trace_value *values);
};

/*
 * Number of installed sinks and of debuggers attached to a probe; the kernel counts the debuggers.
 * While 0, trace points do nothing.
 */
extern unsigned short trace_users;

static inline bool trace_enabled(void)
{
	return __builtin_expect(__atomic_load_n(&trace_users, __ATOMIC_RELAXED), 0);
}

/* One thread at a time may install or remove sinks; trace points may run meanwhile. */
void trace_install(struct trace_sink *sink);
/* Removes an installed sink. A thread inside a trace point may still call the sink. */
void trace_remove(struct trace_sink *sink);

/* For TRACE() only. fields points to the struct trace_ID of this event. */
void trace_emit(enum trace_id id, uint64_t now, const void *fields);

/* TRACE(packet_lost, now, .assoc = a->local_tag, .tsn = tsn); unnamed fields are 0. */
#define TRACE(id, now, ...)                                                                        \
	do {                                                                                       \
		if (trace_enabled())                                                               \
			trace_emit(trace_id_##id, now, &(const struct trace_##id){ __VA_ARGS__ }); \
	} while (0)

/* Writes the log line of an event, or "", to buf of size bytes. Returns its length. */
unsigned int trace_line(char *buf, unsigned int size, enum trace_id id,
			const union trace_value *values);

/* True if this value is known and should be shown. */
bool trace_is_known(enum trace_kind kind, const union trace_value *value);

#define TRACE_ADDR_TEXT 64
/* Writes "10.0.0.1" or "fe80::1%2" to buf of TRACE_ADDR_TEXT bytes, and returns buf. */
const char *trace_addr_text(const struct ip_addr *addr, char *buf);

#endif
