/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* "sctpiw stat --watch": prints the activity of processes repeatedly, as rates. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launcher/fields.h"
#include "launcher/launcher.h"
#include "launcher/stat.h"
#include "launcher/table.h"

#define N_ITEMS(array) (sizeof(array) / sizeof((array)[0]))
/* moves a terminal's cursor to the first line, and clears the screen */
#define CLEAR "\033[H\033[J"

/* The fields from which rates are computed, and their divisors. */
static const struct {
	const char *name;
	double unit;
} fields[] = {
	{ "sent_messages", 1 },
	{ "sent_bytes", 1e6 },
	{ "received_messages", 1 },
	{ "received_bytes", 1e6 },
	{ "sent_packets", 1 },
	{ "received_packets", 1 },
	{ "lost", 1 },
	{ "resent", 1 },
	{ "errors", 1 },
};

static const struct table_column columns[] = {
	{ .title = "PID" },	    { .title = "COMMAND", .text = true },
	{ .title = "SENT-MSGS/S" }, { .title = "SENT-MB/S" },
	{ .title = "RECV-MSGS/S" }, { .title = "RECV-MB/S" },
	{ .title = "SENT-PKTS/S" }, { .title = "RECV-PKTS/S" },
	{ .title = "LOST/S" },	    { .title = "RESENT/S" },
	{ .title = "ERRORS/S" },
};
_Static_assert(N_ITEMS(columns) == 2 + N_ITEMS(fields), "a column for each rate");

/* The counts in the last answer of a process. */
struct sample {
	pid_t pid;
	unsigned long long time; /* time of the answer, ns */
	unsigned long long counts[N_ITEMS(fields)];
};

struct samples {
	struct sample *at;
	size_t n;
};

static void take(struct samples *samples, pid_t pid, const struct fields *f)
{
	struct sample *at = realloc(samples->at, (samples->n + 1) * sizeof(*at)), *new;

	if (!at)
		abort();
	samples->at = at;
	new = &at[samples->n++];
	new->pid = pid;
	new->time = fields_number(f, "time_ns");
	for (size_t i = 0; i < N_ITEMS(fields); i++)
		new->counts[i] = fields_number(f, fields[i].name);
}

static const struct sample *find(const struct samples *samples, pid_t pid)
{
	for (size_t i = 0; i < samples->n; i++) {
		if (samples->at[i].pid == pid)
			return &samples->at[i];
	}
	return NULL;
}

static void add_row(struct table *t, const char *command, const struct sample *old,
		    const struct sample *new)
{
	double seconds = (double)(new->time - old->time) / 1e9;
	char text[32];

	snprintf(text, sizeof(text), "%d", (int)new->pid);
	table_add(t, text);
	table_add(t, command);
	for (size_t i = 0; i < N_ITEMS(fields); i++) {
		snprintf(text, sizeof(text), fields[i].unit > 1 ? "%.1f" : "%.0f",
			 (double)(new->counts[i] - old->counts[i]) / fields[i].unit / seconds);
		table_add(t, text);
	}
}

/* Prints a row for each process that also answered before, and stores the new counts. */
static void print_rates(const struct answers *answers, struct samples *samples, bool terminal)
{
	struct samples now = { NULL, 0 };
	struct fields f;
	struct table t;

	table_begin(&t, columns, N_ITEMS(columns), 2);
	for (size_t i = 0; i < answers->n; i++) {
		char *text = answers->at[i].text;
		const struct sample *old = find(samples, answers->at[i].pid);

		if (!fields_next(&text, &f))
			continue;
		take(&now, answers->at[i].pid, &f);
		/* Lower counts mean that another process has got the same number. */
		if (old && now.at[now.n - 1].time > old->time &&
		    now.at[now.n - 1].counts[0] >= old->counts[0])
			add_row(&t, fields_get(&f, "command"), old, &now.at[now.n - 1]);
	}
	if (terminal)
		fputs(CLEAR, stdout);
	if (t.n_cells || terminal)
		table_print(&t);
	if (t.n_cells && !terminal)
		putchar('\n');
	free(samples->at);
	*samples = now;
}

int watch_run(pid_t pid, bool json, double seconds)
{
	struct timespec pause = { .tv_sec = (time_t)seconds };
	const char *request = json ? "json stat" : "text counters";
	struct samples samples = { NULL, 0 };
	struct answers answers;
	bool answered = false, terminal = isatty(STDOUT_FILENO);

	/* so that the terminal receives the whole table at once */
	setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
	pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
	for (;;) {
		if (pid && !ask_process(pid, request, &answers, answered))
			break;
		if (!pid)
			ask_all(request, &answers);
		answered = answered || answers.n;
		if (json)
			stat_print_json(&answers);
		else
			print_rates(&answers, &samples, terminal);
		ask_free(&answers);
		if (fflush(stdout)) /* the reader of the output has gone */
			break;
		nanosleep(&pause, NULL);
	}
	free(samples.at);
	return answered ? EXIT_SUCCESS : EXIT_FAILURE;
}
