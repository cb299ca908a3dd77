/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/trace_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log/log.h"
#include "net/append_file.h"
#include "sys/sys.h"
#include "util/qlog.h"

#define FLUSH_AT (64u << 10)

struct trace_file {
	struct trace_sink sink;
	pthread_mutex_t lock; /* protects the rest; no other lock is taken while it is held */
	int fd;		      /* -1: the trace has ended */
	char group[16];	      /* process number, the group_id of each record */
	uint64_t start;	      /* ns of sys_now(); time 0 of the records */
	uint64_t last;	      /* time of the last record; the next one is not earlier */
	bool begun;	      /* the header is in buf, or written */
	size_t used;	      /* bytes of buf */
	char path[CONFIG_PATH_LEN];
	char buf[FLUSH_AT + 2 * QLOG_RECORD_MAX];
};

static void begin(struct trace_file *t)
{
	char name[48];
	struct timespec ts;
	uint64_t wall;

	clock_gettime(CLOCK_REALTIME, &ts);
	wall = (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
	snprintf(name, sizeof(name), "%s, process %s", program_invocation_short_name, t->group);
	t->used += qlog_header(t->buf + t->used, name, t->group, wall - (sys_now() - t->start));
	t->begun = true;
}

/* Writes the buffer. Returns 0, or -errno if that has failed; the trace then has ended. */
static int write_out(struct trace_file *t)
{
	int ret = t->used && t->fd >= 0 ? append_file_write(t->fd, t->buf, t->used) : 0;

	t->used = 0;
	if (!ret)
		return 0;
	sys_close(t->fd);
	t->fd = -1;
	return ret;
}

/* Logs the end of the trace. The caller must not hold the lock, since the log may take locks. */
static void tell(struct trace_file *t, int error)
{
	if (!error)
		return;
	trace_remove(&t->sink);
	log_error("the trace in %s ends here: %s", t->path, log_reason(-error));
}

static void write_event(struct trace_sink *sink, enum trace_id id, uint64_t now,
			const union trace_value *values)
{
	struct trace_file *t = (struct trace_file *)(void *)sink; /* its first member */
	int error = 0, saved = errno;

	pthread_mutex_lock(&t->lock);
	if (t->fd >= 0) {
		if (!t->begun)
			begin(t);
		if (now == TRACE_NOW)
			now = sys_now();
		/*
		 * A shard reads the clock once a pass, so its time may be earlier than that of a
		 * post.
		 */
		if (now < t->last)
			now = t->last;
		t->last = now;
		t->used += qlog_event(t->buf + t->used, t->group, now - t->start, id, values);
		if (t->used >= FLUSH_AT)
			error = write_out(t);
	}
	pthread_mutex_unlock(&t->lock);
	tell(t, error);
	errno = saved;
}

void trace_file_flush(struct trace_file *t)
{
	int error;

	pthread_mutex_lock(&t->lock);
	error = write_out(t);
	pthread_mutex_unlock(&t->lock);
	tell(t, error);
}

struct trace_file *trace_file_open(const char *path, struct config_error *why)
{
	struct trace_file *t = malloc(sizeof(*t));
	const char *error = strerror(ENOMEM);

	if (t) {
		memset(t, 0, offsetof(struct trace_file, buf));
		t->fd = append_file_open(path, &error);
	}
	if (!t || t->fd < 0) {
		snprintf(why->text, sizeof(why->text), "cannot write the trace: %.300s: %s", path,
			 error);
		free(t);
		return NULL;
	}
	snprintf(t->path, sizeof(t->path), "%s", path);
	snprintf(t->group, sizeof(t->group), "%d", (int)getpid());
	t->start = t->last = sys_now();
	t->sink.write = write_event;
	pthread_mutex_init(&t->lock, NULL);
	trace_install(&t->sink);
	return t;
}

void trace_file_free(struct trace_file *t)
{
	if (!t)
		return;
	if (t->fd >= 0) {
		trace_remove(&t->sink);
		sys_close(t->fd);
	}
	free(t);
}
