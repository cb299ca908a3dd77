/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/qlog.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/time.h"

#define RECORD_SEPARATOR '\x1e'
#define TEXT_MAX 400u /* maximum characters of a text; a character may take six bytes */

/* A record under construction. Excess text is dropped, but any record fits QLOG_RECORD_MAX. */
struct record {
	char *buf;
	size_t used;
};

static __attribute__((format(printf, 2, 3))) void put(struct record *r, const char *format, ...)
{
	size_t left = QLOG_RECORD_MAX - r->used;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(r->buf + r->used, left, format, args);
	va_end(args);
	if (n > 0)
		r->used += (size_t)n < left ? (size_t)n : left - 1;
}

/* Writes a JSON string. Bytes beyond ASCII need not be valid UTF-8, and become question marks. */
static void put_text(struct record *r, const char *text)
{
	put(r, "\"");
	for (size_t i = 0; text[i] && i < TEXT_MAX; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			put(r, "\\%c", c);
		else if (c < ' ')
			put(r, "\\u%04x", c);
		else
			put(r, "%c", c < 0x7f ? c : '?');
	}
	put(r, "\"");
}

/* Writes a time in milliseconds, the unit of qlog. */
static void put_time(struct record *r, uint64_t ns)
{
	put(r, "%llu.%06llu", ns / NSEC_PER_MSEC, ns % NSEC_PER_MSEC);
}

static void put_value(struct record *r, enum trace_kind kind, const union trace_value *v)
{
	char addr[TRACE_ADDR_TEXT];

	switch (kind) {
	case TRACE_KIND_NUMBER:
		put(r, "%" PRIu64, v->number);
		break;
	case TRACE_KIND_SIGNED:
		put(r, "%" PRId64, (int64_t)v->number);
		break;
	case TRACE_KIND_HEX:
		put(r, "\"0x%08" PRIx64 "\"", v->number);
		break;
	case TRACE_KIND_QPN:
		put(r, "\"0x%06" PRIx64 "\"", v->number);
		break;
	case TRACE_KIND_TIME:
		put_time(r, v->number);
		break;
	case TRACE_KIND_FLAG:
		put(r, v->number ? "true" : "false");
		break;
	case TRACE_KIND_TEXT:
		put_text(r, v->text);
		break;
	case TRACE_KIND_ADDR:
		put_text(r, trace_addr_text(v->addr, addr));
		break;
	}
}

/* Returns the length of the object's name in a key: 3 for "raw.length", 0 for "length". */
static size_t object_len(const char *key)
{
	size_t n = strcspn(key, ".");

	return key[n] ? n : 0;
}

/* Writes the members of "data". Consecutive fields of one object share that JSON object. */
static void put_fields(struct record *r, const struct trace_info *info,
		       const union trace_value *values)
{
	const char *object = "", *comma = "";
	size_t len = 0;

	for (unsigned int i = 0; i < info->n_fields; i++) {
		const struct trace_field *f = &info->fields[i];
		size_t n = object_len(f->key);

		if (!trace_is_known(f->kind, &values[i]))
			continue;
		if (len && (n != len || strncmp(f->key, object, n))) {
			put(r, "}");
			len = 0;
		}
		put(r, "%s", comma);
		if (n && !len)
			put(r, "\"%.*s\":{", (int)n, f->key);
		object = f->key;
		len = n;
		put(r, "\"%s\":", f->key + (n ? n + 1 : 0));
		put_value(r, f->kind, &values[i]);
		comma = ",";
	}
	put(r, len ? "}}" : "}");
}

static size_t finish(struct record *r)
{
	put(r, "}\n");
	return r->used;
}

size_t qlog_header(char *buf, const char *name, const char *group, uint64_t reference)
{
	struct record r = { .buf = buf };

	put(&r,
	    "%c{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"title\":\"sctpiw\",\"trace\":{",
	    RECORD_SEPARATOR);
	put(&r, "\"title\":");
	put_text(&r, name);
	put(&r, ",\"vantage_point\":{\"name\":");
	put_text(&r, name);
	put(&r, ",\"type\":\"unknown\"},\"common_fields\":{\"group_id\":");
	put_text(&r, group);
	put(&r,
	    ",\"protocol_type\":[\"SCTP\",\"iWARP\"],\"time_format\":\"relative\",\"reference_time\":");
	put_time(&r, reference);
	put(&r, "}}");
	return finish(&r);
}

size_t qlog_event(char *buf, const char *group, uint64_t time, enum trace_id id,
		  const union trace_value *values)
{
	const struct trace_info *info = &trace_infos[id];
	struct record r = { .buf = buf };

	put(&r, "%c{\"time\":", RECORD_SEPARATOR);
	put_time(&r, time);
	put(&r, ",\"group_id\":");
	put_text(&r, group);
	put(&r, ",\"name\":\"%s:%s\",\"data\":{", info->category, info->type);
	put_fields(&r, info, values);
	return finish(&r);
}
