/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Trace points. A module says that something has happened, by an event of trace_events.h; sinks
 * that were installed from outside write it down (the log, net/trace_file.c), and so may a debugger
 * by a USDT probe of the same name, provider sctpiw (trace.c). The layers that do no I/O stay so:
 * they know this header alone.
 *
 * Switched off, a trace point is a load of trace_users and a branch that is not taken; its
 * arguments are not computed. It may stand anywhere, under any lock: sinks take no lock but their
 * own.
 */
#ifndef SCTPIW_UTIL_TRACE_H
#define SCTPIW_UTIL_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

/* A number that is not known: the field is left out. */
#define TRACE_NONE UINT64_MAX
/* As the time of an event where the caller has none: the sink reads its own clock. */
#define TRACE_NOW UINT64_MAX
#define TRACE_FIELDS_MAX 11

/* One struct an event, struct trace_packet_sent, with its fields, each of eight bytes. */
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

/* Their numbers, trace_id_packet_sent and so on. */
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
	const char *name; /* in the line and in code */
	const char *key;  /* in a trace file */
	enum trace_kind kind;
	const char *doc;
};

/* What the list says of an event. */
struct trace_info {
	const char *id;
	const char *category, *type; /* its name in a trace file, joined by a colon */
	enum trace_level level;
	const char *line; /* of the log, with {field}s; "": none */
	const char *doc;
	const struct trace_field *fields;
	unsigned int n_fields;
};

extern const struct trace_info trace_infos[TRACE_IDS];

/*
 * Takes events. Whoever installs it owns it; it must outlive every trace point that may still run.
 */
struct trace_sink {
	_Atomic(struct trace_sink *) next; /* the list of those installed */
	/*
	 * Any thread calls this, with any lock held. now is the time of the event in ns of
	 * sys_now(), or TRACE_NOW; values has one value for each field of the event, and is gone
	 * when the call returns.
	 */
	void (*write)(struct trace_sink *sink, enum trace_id id, uint64_t now,
		      const union trace_value *values);
};

/*
 * Sinks that are installed and debuggers that are attached to a probe; the kernel counts the
 * latter. 0: trace points do nothing.
 */
extern unsigned short trace_users;

static inline bool trace_enabled(void)
{
	return __builtin_expect(__atomic_load_n(&trace_users, __ATOMIC_RELAXED), 0);
}

/* Both by one thread at a time; trace points may run meanwhile. */
void trace_install(struct trace_sink *sink);
/* Of one that is installed. A thread that is inside a trace point just now may still call it. */
void trace_remove(struct trace_sink *sink);

/* For TRACE() alone: fields is a struct trace_ID of this event. */
void trace_emit(enum trace_id id, uint64_t now, const void *fields);

/* TRACE(packet_lost, now, .assoc = a->local_tag, .tsn = tsn); fields that are not named are 0. */
#define TRACE(id, now, ...)                                                                        \
	do {                                                                                       \
		if (trace_enabled())                                                               \
			trace_emit(trace_id_##id, now, &(const struct trace_##id){ __VA_ARGS__ }); \
	} while (0)

/* The line of the log for this event, into buf of size bytes; its length, "" if it has none. */
unsigned int trace_line(char *buf, unsigned int size, enum trace_id id,
			const union trace_value *values);

/* Whether this value is known, and is to be shown. */
bool trace_is_known(enum trace_kind kind, const union trace_value *value);

#define TRACE_ADDR_TEXT 64
/* "10.0.0.1", "fe80::1%2", into buf of TRACE_ADDR_TEXT bytes; returns it. */
const char *trace_addr_text(const struct ip_addr *addr, char *buf);

#endif
