/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "log/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/sys.h"
#include "util/printable.h"
#include "util/time.h"
#include "util/trace.h"

#define LINE_MAX_LEN 512

static _Atomic int threshold = LOG_LEVEL_ERROR;
/* Number of omitted lines that no later line has reported yet. */
static _Atomic uint32_t left_out;

/*
 * The limits of a site. at_once: number of lines that may be written without a pause. interval:
 * time after which another line may be written. again: time after which a line may equal the site's
 * last line. The limit for level info is high enough for a line about each of a thousand peers,
 * since this level also lists the process's peers.
 */
static const struct {
	uint64_t at_once, interval, again; /* lines, ns, ns */
} limits[] = {
	[LOG_LEVEL_ERROR] = { 20, 10 * NSEC_PER_SEC, 10 * NSEC_PER_SEC },
	[LOG_LEVEL_INFO] = { 1000, NSEC_PER_SEC / 10, 0 },
};

/*
 * Writes a line: "sctpiw: ", head, text, end, and a newline. Cuts the text so that the line fits in
 * LINE_MAX_LEN. Replaces control characters, since parts of the text, such as a certificate's name,
 * may come from a peer.
 */
static void put(const char *head, const char *text, const char *end)
{
	char line[LINE_MAX_LEN];
	int room = LINE_MAX_LEN - 2 - (int)strlen(end);
	int n = snprintf(line, (size_t)room + 1, "sctpiw: %s%s", head, text);

	n = n < room ? n : room;
	printable_make(line);
	n += sprintf(line + n, "%s\n", end);
	sys_write(STDERR_FILENO, line, (size_t)n);
}

/* Writes a line of level debug, with the process number and the time. */
static void put_debug(const char *text)
{
	uint64_t now = sys_now();
	char head[64];

	snprintf(head, sizeof(head), "[%d %llu.%06llu] ", (int)getpid(),
		 (unsigned long long)(now / NSEC_PER_SEC),
		 (unsigned long long)(now % NSEC_PER_SEC / 1000));
	put(head, text, "");
}

static void write_event(struct trace_sink *sink, enum trace_id id, uint64_t now,
			const union trace_value *values)
{
	char line[LINE_MAX_LEN];

	if (trace_infos[id].level != TRACE_LEVEL_LOG)
		return;
	trace_line(line, sizeof(line), id, values);
	put_debug(line);
}

/* The sink that prints trace events of level TRACE_LEVEL_LOG. */
static struct trace_sink events = { .write = write_event };

void log_set_level(enum log_level level)
{
	bool was = log_enabled(LOG_LEVEL_DEBUG), is = level == LOG_LEVEL_DEBUG;

	atomic_store_explicit(&threshold, level, memory_order_relaxed);
	if (is && !was)
		trace_install(&events);
	else if (was && !is)
		trace_remove(&events);
}

bool log_enabled(enum log_level level)
{
	return (int)level <= atomic_load_explicit(&threshold, memory_order_relaxed);
}

/*
 * Counts a line against the site's limit, before the line is formatted, so that a flood of
 * different lines costs little. Returns false if the limit is reached. Sets *last if this line
 * reaches the limit. Threads that write at the same time may get one line more or one line fewer.
 */
static bool take_room(struct log_site *site, enum log_level level, uint64_t now, bool *last)
{
	uint64_t used = atomic_load(&site->used_until), interval = limits[level].interval;
	uint64_t full = now + limits[level].at_once * interval;

	used = (used > now ? used : now) + interval;
	if (used > full)
		return false;
	atomic_store(&site->used_until, used);
	*last = used + interval > full;
	return true;
}

/*
 * Reverts take_room() for a repeated line that is not written. Otherwise a peer that retries could
 * use up the limit.
 */
static void give_back_room(struct log_site *site, enum log_level level)
{
	atomic_fetch_sub(&site->used_until, limits[level].interval);
}

/* FNV-1a */
static uint32_t sum_of(const char *text)
{
	uint32_t sum = 2166136261u;

	for (; *text; text++)
		sum = (sum ^ (uint8_t)*text) * 16777619u;
	return sum;
}

/* True if the line equals the site's last line, which was written less than limits[].again ago. */
static bool is_repeated(struct log_site *site, enum log_level level, uint64_t now, const char *text)
{
	uint32_t sum = sum_of(text);

	if (atomic_exchange(&site->sum, sum) == sum && now < atomic_load(&site->again))
		return true;
	atomic_store(&site->again, now + limits[level].again);
	return false;
}

static void leave_out(struct log_site *site)
{
	atomic_fetch_add(&left_out, 1); /* first, as write_line() subtracts site->left_out */
	atomic_fetch_add(&site->left_out, 1);
}

/* Writes a line. last: the line reaches the site's limit. */
static void write_line(struct log_site *site, const char *text, bool last)
{
	uint32_t more = atomic_exchange(&site->left_out, 0);
	char end[64] = "";

	atomic_fetch_sub(&left_out, more);
	if (more)
		snprintf(end, sizeof(end), " (and %u more like this)", more);
	else if (last)
		snprintf(end, sizeof(end), " (more like this are counted, and most are left out)");
	put("", text, end);
}

void log_line(struct log_site *site, enum log_level level, const char *format, ...)
{
	bool limited = !log_enabled(LOG_LEVEL_DEBUG), last = false;
	char text[LINE_MAX_LEN];
	int saved = errno;
	va_list args;
	uint64_t now;

	if (!log_enabled(level))
		return;
	now = sys_now();
	if (limited && !take_room(site, level, now, &last)) {
		leave_out(site);
		return;
	}
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (limited && is_repeated(site, level, now, text)) {
		give_back_room(site, level);
		leave_out(site);
	} else {
		write_line(site, text, last);
	}
	errno = saved;
}

void log_end(void)
{
	uint32_t more = atomic_exchange(&left_out, 0);
	char text[64];

	snprintf(text, sizeof(text), "%u more lines like those before were left out", more);
	if (more)
		put("", text, "");
}

const char *log_reason(int error)
{
	switch (error) {
	case EMFILE:
		return "Too many open files: raise the limit of the process (ulimit -n)";
	case ENFILE:
		return "Too many open files in system: raise its limit (sysctl fs.file-max)";
	case EFBIG:
		return "File too large: raise the limit of the process (ulimit -f)";
	default:
		return strerror(error);
	}
}

void log_debug_line(const char *format, ...)
{
	int saved = errno;
	char text[LINE_MAX_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (log_enabled(LOG_LEVEL_DEBUG))
		put_debug(text);
	TRACE(message, TRACE_NOW, .text = text);
	errno = saved;
}
