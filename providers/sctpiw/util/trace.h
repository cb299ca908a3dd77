/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Trace points. Code reports the events that trace_events.h lists. Installed sinks receive the
 * events: the log, and net/trace_file.c. Each event is also a USDT probe for debuggers, with the
 * event's name and the provider sctpiw (trace.c). Layers that do no I/O include only this header.
 *
 * While tracing is off, a trace point costs a load of trace_users and a branch that is not taken.
 * Its arguments are not computed. A trace point may be anywhere, under any lock, since sinks take
 * only their own locks.
 */
#ifndef SCTPIW_UTIL_TRACE_H
#define SCTPIW_UTIL_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

/* The value of an unknown number; its field is omitted. */
#define TRACE_NONE UINT64_MAX
/* The time of an event whose caller does not know the time. The sink reads its own clock then. */
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

/* The numbers of the events, for example trace_id_packet_sent. */
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

/* The value of a field. TEXT and ADDR use their own members, all other kinds use number. */
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
	const char *name; /* name in the log line and in code */
	const char *key;  /* name in a trace file */
	enum trace_kind kind;
	const char *doc;
};

/* The description of an event, from trace_events.h. */
struct trace_info {
	const char *id;
	const char *category, *type; /* "category:type" is the event's name in a trace file */
	enum trace_level level;
	const char *line; /* log line, with {field} placeholders; "": no log line */
	const char *doc;
	const struct trace_field *fields;
	unsigned int n_fields;
};

extern const struct trace_info trace_infos[TRACE_IDS];

/*
 * A receiver of events. The caller of trace_install() owns the sink. The sink must live until no
 * trace point can run any more.
 */
struct trace_sink {
	_Atomic(struct trace_sink *) next; /* next installed sink */
	/*
	 * Any thread may call write(), with any lock held. `now` is the time of the event in ns of
	 * sys_now(), or TRACE_NOW. values has one value for each field of the event. It is valid
	 * until write() returns.
	 */
	void (*write)(struct trace_sink *sink, enum trace_id id, uint64_t now,
		      const union trace_value *values);
};

/*
 * Number of installed sinks, plus the number of debuggers attached to probes, which the kernel
 * counts. While the number is 0, trace points do nothing.
 */
extern unsigned short trace_users;

static inline bool trace_enabled(void)
{
	return __builtin_expect(__atomic_load_n(&trace_users, __ATOMIC_RELAXED), 0);
}

/*
 * Installs a sink. Only one thread at a time may install or remove sinks. Trace points may run at
 * the same time.
 */
void trace_install(struct trace_sink *sink);
/* Removes an installed sink. A thread inside a trace point may still call it afterwards. */
void trace_remove(struct trace_sink *sink);

/* Only for TRACE(). `fields` points to the struct of this event. */
void trace_emit(enum trace_id id, uint64_t now, const void *fields);

/* Example: TRACE(packet_lost, now, .assoc = a->local_tag, .tsn = tsn). Other fields are 0. */
#define TRACE(id, now, ...)                                                                        \
	do {                                                                                       \
		if (trace_enabled())                                                               \
			trace_emit(trace_id_##id, now, &(const struct trace_##id){ __VA_ARGS__ }); \
	} while (0)

/* Writes the log line of an event, or "", to buf of size bytes. Returns the line's length. */
unsigned int trace_line(char *buf, unsigned int size, enum trace_id id,
			const union trace_value *values);

/* True if this value is known, and so should be printed. */
bool trace_is_known(enum trace_kind kind, const union trace_value *value);

#define TRACE_ADDR_TEXT 64
/* Writes "10.0.0.1" or "fe80::1%2" to buf of TRACE_ADDR_TEXT bytes, and returns buf. */
const char *trace_addr_text(const struct ip_addr *addr, char *buf);

#endif
