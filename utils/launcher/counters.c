/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* "sctpiw counters": prints the counters in the format of ethtool -S, or as JSON. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "launcher/fields.h"
#include "launcher/launcher.h"
#include "launcher/stat.h"

static void print_lines(char *text)
{
	struct fields f;

	while (fields_next(&text, &f)) {
		if (!strcmp(f.kind, "process"))
			printf("process %s %s:\n", fields_get(&f, "pid"),
			       fields_get(&f, "command"));
		for (size_t i = 0; i < f.n && !strcmp(f.kind, "counter"); i++)
			printf("     %s: %s\n", f.name[i], f.value[i]);
	}
}

/* Prints the members of the line "process", and an object with the process's counters. */
static void print_json(char *text)
{
	const char *separator = ",\"counters\":{";
	struct json_line l;

	putchar('{');
	while (json_next(&text, &l)) {
		if (!strcmp(l.kind, "process")) {
			fputs(l.members, stdout);
		} else if (!strcmp(l.kind, "counter")) {
			printf("%s%s", separator, l.members);
			separator = ",";
		}
	}
	fputs("}}", stdout);
}

int counters_run(pid_t pid, bool json)
{
	struct answers answers;
	int status;

	stat_ask(pid, json ? "json counters" : "text counters", &answers);
	if (json && (answers.n || !pid))
		putchar('[');
	for (size_t i = 0; i < answers.n; i++) {
		if (i)
			putchar(json ? ',' : '\n');
		if (json)
			print_json(answers.at[i].text);
		else
			print_lines(answers.at[i].text);
	}
	if (json && (answers.n || !pid))
		puts("]");
	status = stat_status(&answers);
	ask_free(&answers);
	return status;
}
