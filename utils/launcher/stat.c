/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/fields.h"
#include "launcher/launcher.h"
#include "launcher/table.h"

#define N_ITEMS(array) (sizeof(array) / sizeof((array)[0]))

bool stat_ask(pid_t pid, const char *request, struct answers *out)
{
	bool ok = true;

	if (pid) {
		ok = ask_process(pid, request, out, false);
	} else {
		ask_all(request, out);
		if (!out->n && !out->failed && !ask_has_place(geteuid()))
			complain("no process of yours has the device, or it " ASK_NO_PLACE);
		else if (!out->n && !out->failed)
			complain(
				"no process of yours has the device: \"sctpiw run -- CMD\" gives it to one");
	}
	return ok && out->n;
}

int stat_status(const struct answers *answers)
{
	return answers->n && !answers->failed ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- tables ---- */

enum { COLUMNS_MAX = 16 };

/* A table for lines of one kind. Its first column is the process number. */
struct kind {
	const char *kind;
	/* number of columns, and number of the first columns that identify a row */
	size_t n, n_keys;
	struct table_column columns[COLUMNS_MAX];
	/* names of the fields in the columns; NULL stands for the process number */
	const char *names[COLUMNS_MAX];
};

#define TEXT(title_)                                                                               \
	{                                                                                          \
		.title = (title_), .text = true                                                    \
	}
#define NUMBER(title_)                                                                             \
	{                                                                                          \
		.title = (title_)                                                                  \
	}

static const struct kind kinds[] = {
	{
		"process",
		15,
		2,
		{ NUMBER("PID"), TEXT("COMMAND"), TEXT("LLP"), NUMBER("QPS"), NUMBER("ASSOCS"),
		  NUMBER("CQS"), NUMBER("MRS"), NUMBER("SENT-MSGS"), NUMBER("SENT-BYTES"),
		  NUMBER("RECV-MSGS"), NUMBER("RECV-BYTES"), NUMBER("LOST"), NUMBER("RESENT"),
		  NUMBER("TIMEOUTS"), NUMBER("ERRORS") },
		{ NULL, "command", "llp", "qps", "associations", "cqs", "mrs", "sent_messages",
		  "sent_bytes", "received_messages", "received_bytes", "lost", "resent", "timeouts",
		  "errors" },
	},
	{
		"qp",
		13,
		2,
		{ NUMBER("PID"), NUMBER("QP"), TEXT("TYPE"), TEXT("STATE"), TEXT("PEER"),
		  NUMBER("SENT-MSGS"), NUMBER("SENT-BYTES"), NUMBER("RECV-MSGS"),
		  NUMBER("RECV-BYTES"), NUMBER("SEND-WRS"), NUMBER("RECV-WRS"),
		  NUMBER("UNEXPECTED"), TEXT("ERROR") },
		{ NULL, "num", "type", "state", "peer", "sent_messages", "sent_bytes",
		  "received_messages", "received_bytes", "send_wrs", "receive_wrs", "unexpected",
		  "error" },
	},
	{
		"association",
		16,
		3,
		{ NUMBER("PID"), NUMBER("PORT"), TEXT("PEER"), TEXT("KEY"), TEXT("STATE"),
		  NUMBER("STREAMS"), NUMBER("SESSIONS"), NUMBER("RTT-MS"), NUMBER("CWND"),
		  NUMBER("RWND"), NUMBER("FLIGHT"), NUMBER("MTU"), NUMBER("PATHS"), NUMBER("LOST"),
		  NUMBER("RESENT"), NUMBER("TIMEOUTS") },
		{ NULL, "port", "peer", "peer_key", "state", "streams", "sessions", "rtt_ns",
		  "cwnd", "peer_rwnd", "flight", "mtu", "paths", "lost", "resent", "timeouts" },
	},
	{
		"path",
		15,
		3,
		{ NUMBER("PID"), NUMBER("PORT"), TEXT("TO"), TEXT("FROM"), TEXT("PEER"),
		  TEXT("STATE"), TEXT("PRIMARY"), NUMBER("RTT-MS"), NUMBER("CWND"), NUMBER("MTU"),
		  NUMBER("SENT-BYTES"), NUMBER("SENT-PKTS"), NUMBER("RECV-PKTS"), NUMBER("LOST"),
		  NUMBER("ERRORS") },
		{ NULL, "port", "remote", "local", "peer", "state", "primary", "rtt_ns", "cwnd",
		  "mtu", "sent_bytes", "sent_packets", "received_packets", "lost", "errors" },
	},
	{
		"cq",
		6,
		1,
		{ NUMBER("PID"), NUMBER("CQ-ENTRIES"), NUMBER("WAITING"), NUMBER("QUEUES"),
		  TEXT("ARMED"), TEXT("OVERFLOWN") },
		{ NULL, "entries", "waiting", "queues", "armed", "overflown" },
	},
	{
		"mr",
		6,
		2,
		{ NUMBER("PID"), TEXT("MR-KEY"), TEXT("TYPE"), NUMBER("LENGTH"), TEXT("ACCESS"),
		  TEXT("VALID") },
		{ NULL, "key", "type", "length", "access", "valid" },
	},
	{
		"fault",
		6,
		2,
		{ NUMBER("PID"), NUMBER("FAULT"), NUMBER("SEEN"), NUMBER("FIRED"), NUMBER("SEED"),
		  TEXT("RULE") },
		{ NULL, "num", "seen", "fired", "seed", "rule" },
	},
};

/* Adds a cell with the value of a field. Converts times from ns to ms. */
static void add_field(struct table *t, const struct fields *f, const char *name)
{
	const char *value = fields_get(f, name);
	char text[32];

	if (value && strlen(name) > 3 && !strcmp(name + strlen(name) - 3, "_ns")) {
		snprintf(text, sizeof(text), "%.3f", (double)strtoull(value, NULL, 10) / 1e6);
		value = text;
	}
	table_add(t, value);
}

static void add_row(struct table *t, const struct kind *k, pid_t pid, const struct fields *f)
{
	char number[24];

	snprintf(number, sizeof(number), "%d", (int)pid);
	table_add(t, number);
	for (size_t i = 1; i < k->n; i++)
		add_field(t, f, k->names[i]);
}

static void print_tables(const struct answers *answers)
{
	struct table tables[N_ITEMS(kinds)];
	struct fields f;

	for (size_t i = 0; i < N_ITEMS(kinds); i++)
		table_begin(&tables[i], kinds[i].columns, kinds[i].n, kinds[i].n_keys);
	for (size_t a = 0; a < answers->n; a++) {
		char *text = answers->at[a].text;

		while (fields_next(&text, &f)) {
			for (size_t i = 0; i < N_ITEMS(kinds); i++) {
				if (!strcmp(kinds[i].kind, f.kind))
					add_row(&tables[i], &kinds[i], answers->at[a].pid, &f);
			}
		}
	}
	for (size_t i = 0; i < N_ITEMS(kinds); i++) {
		if (!tables[i].n_cells)
			continue;
		if (i)
			putchar('\n');
		table_print(&tables[i]);
	}
}

/* ---- JSON ---- */

/* Ends the open array, and begins the following arrays, up to the array of this kind. */
static void open_array(size_t *opened, size_t kind)
{
	while (*opened < kind) {
		printf("%s,\"%s\":[", *opened ? "]" : "", kinds[*opened + 1].kind);
		++*opened;
	}
}

/* Prints a process as an object: members of the line "process", and an array per other kind. */
static void print_process(char *text)
{
	size_t opened = 0, lines = 0;
	struct json_line l;

	putchar('{');
	while (json_next(&text, &l)) {
		for (size_t i = 0; i < N_ITEMS(kinds); i++) {
			if (strcmp(l.kind, kinds[i].kind))
				continue;
			if (opened != i)
				lines = 0;
			open_array(&opened, i);
			printf(i ? "%s{%s}" : "%s%s", lines++ ? "," : "", l.members);
		}
	}
	open_array(&opened, N_ITEMS(kinds) - 1);
	fputs("]}", stdout);
}

void stat_print_json(const struct answers *answers)
{
	putchar('[');
	for (size_t i = 0; i < answers->n; i++) {
		fputs(i ? "," : "", stdout);
		print_process(answers->at[i].text);
	}
	puts("]");
}

int stat_run(pid_t pid, bool json)
{
	struct answers answers;
	int status;

	if (stat_ask(pid, json ? "json stat" : "text stat", &answers) || (json && !pid)) {
		if (json)
			stat_print_json(&answers);
		else
			print_tables(&answers);
	}
	status = stat_status(&answers);
	ask_free(&answers);
	return status;
}
