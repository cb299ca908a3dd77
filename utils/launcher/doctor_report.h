/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reports of the checks in doctor.h: lines of text, or an array of objects in JSON. The text has
 * warnings and failures at the end.
 */
#ifndef UTILS_LAUNCHER_DOCTOR_REPORT_H
#define UTILS_LAUNCHER_DOCTOR_REPORT_H

#include <stdbool.h>

void doctor_begin(bool json);

/*
 * Prints the warnings and failures so far, and their numbers. Later warnings and failures are
 * printed at once.
 */
void doctor_conclude(void);

/* Ends the report. Returns the number of its failures. */
unsigned int doctor_end(void);

/* The following lines belong to the check of this name. */
void doctor_look_at(const char *check);

/* These report a line. The remedy is a sentence without a full stop, or NULL. */
void doctor_ok(const char *format, ...) __attribute__((format(printf, 1, 2)));
void doctor_warning(const char *remedy, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void doctor_failure(const char *remedy, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds a number to the next line, for JSON. The text may omit this number. */
void doctor_number(const char *name, double value);

/* For complain_to() during a check: reports the text as a failure. */
void doctor_complaint(const char *text);

#endif
