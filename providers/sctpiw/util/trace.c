/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An active trace point fires its USDT probe, if <sys/sdt.h> existed at build time, and calls the
 * sinks. This file is compiled without LTO, because the assembler code of the probes refers to the
 * symbols below by name.
 */
#include "util/trace.h"

#include <stdatomic.h>
#include <string.h>

_Static_assert(sizeof(void *) == sizeof(uint64_t), "all fields of an event have one size");

/*
 * The semaphore of all probes. For each attached probe, the kernel adds one to the variable at its
 * offset in the file. So the variable must not be in .bss, which is not in the file.
 */
unsigned short trace_users __attribute__((section(".probes"), used));

static _Atomic(struct trace_sink *) sinks;

/* ---- the list of events as data ---- */

#define TRACE_EVENT(id_, category_, type_, level_, line_, doc_)                                    \
	static const struct trace_field fields_##id_[] = {
#define TRACE_FIELD(id_, kind_, field_, key_, doc_)                                                \
	{ .name = #field_, .key = key_, .kind = TRACE_KIND_##kind_, .doc = doc_ },
#define TRACE_END(id_)                                                                             \
	}                                                                                          \
	;                                                                                          \
	_Static_assert(sizeof(struct trace_##id_) <= TRACE_FIELDS_MAX * sizeof(union trace_value), \
		       "too many fields");
#include "util/trace_events.h"
#undef TRACE_EVENT
#undef TRACE_FIELD
#undef TRACE_END

const struct trace_info trace_infos[TRACE_IDS] = {
#define TRACE_EVENT(id_, category_, type_, level_, line_, doc_)                                    \
	[trace_id_##id_] = {                                                                       \
		.id = #id_,                                                                        \
		.category = #category_,                                                            \
		.type = #type_,                                                                    \
		.level = TRACE_LEVEL_##level_,                                                     \
		.line = line_,                                                                     \
		.doc = doc_,                                                                       \
		.fields = fields_##id_,                                                            \
		.n_fields = sizeof(fields_##id_) / sizeof(fields_##id_[0]),                        \
	},
#define TRACE_FIELD(id_, kind_, field_, key_, doc_)
#define TRACE_END(id_)
#include "util/trace_events.h"
#undef TRACE_EVENT
#undef TRACE_FIELD
#undef TRACE_END
};

/* ---- probes ---- */

#if __has_include(<sys/sdt.h>)
#define _SDT_HAS_SEMAPHORES 1
/* Each probe needs a semaphore with its name. All these names are aliases of one variable. */
#define TRACE_EVENT(id_, category_, type_, level_, line_, doc_)                                    \
	extern unsigned short sctpiw_##id_##_semaphore                                             \
		__attribute__((alias("trace_users"), visibility("hidden"), used));
#define TRACE_FIELD(id_, kind_, field_, key_, doc_)
#define TRACE_END(id_)
#include "util/trace_events.h"
#undef TRACE_EVENT
#include <sys/sdt.h>

/*
 * Fires the probe of an event. The arguments are the time, the fields in their order, and zeros up
 * to 12 arguments.
 */
static void fire(enum trace_id id, uint64_t now, const union trace_value v[TRACE_FIELDS_MAX])
{
	switch (id) {
#define TRACE_EVENT(id_, category_, type_, level_, line_, doc_)                                    \
	case trace_id_##id_:                                                                       \
		STAP_PROBE12(sctpiw, id_, now, v[0].number, v[1].number, v[2].number, v[3].number, \
			     v[4].number, v[5].number, v[6].number, v[7].number, v[8].number,      \
			     v[9].number, v[10].number);                                           \
		break;
#include "util/trace_events.h"
#undef TRACE_EVENT
#undef TRACE_FIELD
#undef TRACE_END
	case TRACE_IDS:
		break;
	}
}
#else
static void fire(enum trace_id id, uint64_t now, const union trace_value v[TRACE_FIELDS_MAX])
{
}
#endif

/* ---- sinks ---- */

void trace_install(struct trace_sink *sink)
{
	atomic_store_explicit(&sink->next, atomic_load(&sinks), memory_order_relaxed);
	atomic_store(&sinks, sink);
	__atomic_fetch_add(&trace_users, 1, __ATOMIC_SEQ_CST);
}

void trace_remove(struct trace_sink *sink)
{
	_Atomic(struct trace_sink *) *at = &sinks;
	struct trace_sink *s;

	while ((s = atomic_load(at)) != sink)
		at = &s->next;
	/* sink->next stays unchanged, since another thread may be in this sink. */
	atomic_store(at, atomic_load(&sink->next));
	__atomic_fetch_sub(&trace_users, 1, __ATOMIC_SEQ_CST);
}

void trace_emit(enum trace_id id, uint64_t now, const void *fields)
{
	union trace_value values[TRACE_FIELDS_MAX] = { { 0 } };
	struct trace_sink *s;

	memcpy(values, fields, trace_infos[id].n_fields * sizeof(values[0]));
	fire(id, now, values);
	for (s = atomic_load_explicit(&sinks, memory_order_acquire); s;
	     s = atomic_load_explicit(&s->next, memory_order_acquire))
		s->write(s, id, now, values);
}
