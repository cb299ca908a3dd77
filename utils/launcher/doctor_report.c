/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/doctor_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "launcher/json.h"
#include "util/printable.h"

#define NUMBERS 8
#define TEXT_LEN 4096 /* bytes of a line and its final zero; the rest is cut */

static const struct {
	const char *text; /* in lines */
	const char *json;
} words[] = { { "ok", "ok" }, { "warning", "warning" }, { "FAILURE", "failure" } };
enum status { OK, WARNING, FAILURE };

static struct {
	bool json;
	const char *check;
	unsigned int lines, failures, numbers;
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
}

unsigned int doctor_end(void)
{
	if (report.json)
		puts(report.lines ? "\n]" : "]");
	return report.failures;
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

/* Prints a line at once, as the next one may take a while, and the listener's has no end. */
static void say(enum status status, const char *remedy, const char *format, va_list args)
{
	char text[TEXT_LEN];

	vsnprintf(text, sizeof(text), format, args);
	printable_make(text); /* the names of others' processes are in it, and what peers answer */
	if (report.json)
		print_json(status, text, remedy);
	else
		printf("%-8s %-14s %s%s%s\n", words[status].text, report.check, text,
		       remedy ? ": " : "", remedy ? remedy : "");
	fflush(stdout);
	report.lines++;
	report.failures += status == FAILURE;
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
