/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/doctor_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/columns.h"
#include "launcher/json.h"
#include "util/printable.h"

#define NUMBERS 8
/* bytes of a line with its final zero; the rest of a longer line is cut off */
#define TEXT_LEN 4096
#define INDENT 24 /* column in which the text of a line begins */

static const struct {
	const char *text; /* the text of the warnings or failures, in lines */
	const char *json;
} words[] = { { "ok", "ok" }, { "warning", "warning" }, { "FAILURE", "failure" } };
enum status { OK, WARNING, FAILURE, STATUSES };

static struct {
	bool json;
	const char *check;
	unsigned int lines, count[STATUSES], numbers;
	/* Lines that are printed at the end: one stream per status. NULL: print lines at once. */
	struct held {
		FILE *out;
		char *text;
		size_t len;
	} held[STATUSES];
	struct {
		const char *name;
		double value;
	} number[NUMBERS];
} report;

void doctor_begin(bool json)
{
	report.json = json;
	if (json)
		putchar('[');
	for (unsigned int i = WARNING; i < STATUSES && !json; i++)
		report.held[i].out = open_memstream(&report.held[i].text, &report.held[i].len);
}

static void print_held(struct held *h)
{
	if (!h->out)
		return;
	fclose(h->out);
	fputs(h->text, stdout);
	free(h->text);
	*h = (struct held){ 0 };
}

static const char *plural(unsigned int n)
{
	return n == 1 ? "" : "s";
}

void doctor_conclude(void)
{
	unsigned int warnings = report.count[WARNING], failures = report.count[FAILURE];

	if (report.json)
		return;
	if (warnings || failures)
		putchar('\n');
	print_held(&report.held[WARNING]);
	print_held(&report.held[FAILURE]);
	printf("\n%u failure%s, %u warning%s\n", failures, plural(failures), warnings,
	       plural(warnings));
	fflush(stdout);
}

unsigned int doctor_end(void)
{
	if (report.json)
		puts(report.lines ? "\n]" : "]");
	return report.count[FAILURE];
}

void doctor_look_at(const char *check)
{
	report.check = check;
}

void doctor_number(const char *name, double value)
{
	if (report.numbers == NUMBERS)
		return;
	report.number[report.numbers].name = name;
	report.number[report.numbers++].value = value;
}

static void print_json(enum status status, const char *text, const char *remedy)
{
	printf("%s\n{\"check\":", report.lines ? "," : "");
	json_string(report.check);
	fputs(",\"status\":", stdout);
	json_string(words[status].json);
	fputs(",\"text\":", stdout);
	json_string(text);
	if (remedy) {
		fputs(",\"remedy\":", stdout);
		json_string(remedy);
	}
	for (unsigned int i = 0; i < report.numbers; i++)
		printf(",\"%s\":%.10g", report.number[i].name, report.number[i].value);
	putchar('}');
}

static void print_text(enum status status, const char *text, const char *remedy)
{
	FILE *out = report.held[status].out ? report.held[status].out : stdout;
	char whole[2 * TEXT_LEN];

	snprintf(whole, sizeof(whole), "%s%s%s", text, remedy ? ": " : "", remedy ? remedy : "");
	fprintf(out, "%-8s %-14s ", words[status].text, report.check);
	columns_print(out, whole, INDENT, INDENT);
	putc('\n', out);
}

/*
 * Reports a line. Prints the line at once, unless it is held back for the end. Output is flushed,
 * since the next check may take long, and the listener does not end.
 */
static void say(enum status status, const char *remedy, const char *format, va_list args)
{
	char text[TEXT_LEN];

	vsnprintf(text, sizeof(text), format, args);
	printable_make(text); /* text may contain names of peers, or of other users' processes */
	if (report.json)
		print_json(status, text, remedy);
	else
		print_text(status, text, remedy);
	fflush(stdout);
	report.lines++;
	report.count[status]++;
	report.numbers = 0;
}

void doctor_ok(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(OK, NULL, format, args);
	va_end(args);
}

void doctor_warning(const char *remedy, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(WARNING, remedy, format, args);
	va_end(args);
}

void doctor_failure(const char *remedy, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(FAILURE, remedy, format, args);
	va_end(args);
}

void doctor_complaint(const char *text)
{
	doctor_failure(NULL, "%s", text);
}
