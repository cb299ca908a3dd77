/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Trace events as lines of the log. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/time.h"
#include "util/trace.h"

bool trace_is_known(enum trace_kind kind, const union trace_value *value)
{
	if (kind == TRACE_KIND_TEXT)
		return value->text;
	if (kind == TRACE_KIND_ADDR)
		return value->addr;
	if (kind == TRACE_KIND_SIGNED)
		return true;
	return value->number != TRACE_NONE;
}

const char *trace_addr_text(const struct ip_addr *addr, char *buf)
{
	size_t n;

	if (ip_addr_is_v4(addr)) {
		inet_ntop(AF_INET, addr->b + 12, buf, TRACE_ADDR_TEXT);
		return buf;
	}
	inet_ntop(AF_INET6, addr->b, buf, TRACE_ADDR_TEXT);
	n = strlen(buf);
	if (addr->scope_id)
		snprintf(buf + n, TRACE_ADDR_TEXT - n, "%%%u", addr->scope_id);
	return buf;
}

/* Writes a value of a log line. Returns the result of snprintf(). */
static int put_value(char *buf, size_t size, enum trace_kind kind, const union trace_value *v)
{
	char text[TRACE_ADDR_TEXT];

	if (!trace_is_known(kind, v))
		return snprintf(buf, size, "-");
	switch (kind) {
	case TRACE_KIND_SIGNED:
		return snprintf(buf, size, "%" PRId64, (int64_t)v->number);
	case TRACE_KIND_HEX:
		return snprintf(buf, size, "0x%08" PRIx64, v->number);
	case TRACE_KIND_QPN:
		return snprintf(buf, size, "0x%06" PRIx64, v->number);
	case TRACE_KIND_TIME:
		return snprintf(buf, size, "%llu.%06llu ms", v->number / NSEC_PER_MSEC,
				v->number % NSEC_PER_MSEC);
	case TRACE_KIND_TEXT:
		return snprintf(buf, size, "%s", v->text);
	case TRACE_KIND_ADDR:
		return snprintf(buf, size, "%s", trace_addr_text(v->addr, text));
	case TRACE_KIND_NUMBER:
	case TRACE_KIND_FLAG:
		break;
	}
	return snprintf(buf, size, "%" PRIu64, v->number);
}

/* Writes the value of a field whose name has n bytes. Returns the number of characters. */
static int put_field(char *buf, size_t size, const struct trace_info *info, const char *name,
		     size_t n, const union trace_value *values)
{
	for (unsigned int i = 0; i < info->n_fields; i++) {
		const struct trace_field *f = &info->fields[i];

		if (!strncmp(f->name, name, n) && !f->name[n])
			return put_value(buf, size, f->kind, &values[i]);
	}
	return 0;
}

unsigned int trace_line(char *buf, unsigned int size, enum trace_id id,
			const union trace_value *values)
{
	const struct trace_info *info = &trace_infos[id];
	const char *p = info->line;
	unsigned int used = 0;

	while (*p && used + 1 < size) {
		size_t n = strcspn(p, "{");

		if (n) {
			n = n < size - used - 1 ? n : size - used - 1;
			memcpy(buf + used, p, n);
			used += (unsigned int)n;
			p += n;
			continue;
		}
		n = strcspn(p, "}");
		used += (unsigned int)put_field(buf + used, size - used, info, p + 1, n - 1,
						values);
		p += n + 1;
	}
	used = used < size ? used : size - 1;
	buf[used] = '\0';
	return used;
}
