/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Prints the results of the checks of doctor.h, as lines of text, or as an array of objects in
 * JSON. The text ends with the warnings and failures.
 */
#ifndef UTILS_LAUNCHER_DOCTOR_REPORT_H
#define UTILS_LAUNCHER_DOCTOR_REPORT_H

#include <stdbool.h>

void doctor_begin(bool json);

/*
 * Prints all warnings and failures that were reported so far, and their numbers. Later ones are
 * printed at once.
 */
void doctor_conclude(void);

/* Ends the report. Returns the number of failures. */
unsigned int doctor_end(void);

/* Begins a check. The lines that follow belong to it. */
void doctor_look_at(const char *check);

/* Report one line. remedy: a sentence without a full stop, or NULL. */
void doctor_ok(const char *format, ...) __attribute__((format(printf, 1, 2)));
void doctor_warning(const char *remedy, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void doctor_failure(const char *remedy, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds a number to the next line, for the output in JSON. The text may omit this number. */
void doctor_number(const char *name, double value);

/* Reports the text as a failure. Pass this function to complain_to() during a check. */
void doctor_complaint(const char *text);

#endif
