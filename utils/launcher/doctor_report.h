/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reports of the checks in doctor.h: lines for people, or an array of objects in JSON. Lines for
 * people have warnings and failures at the end.
 */
#ifndef UTILS_LAUNCHER_DOCTOR_REPORT_H
#define UTILS_LAUNCHER_DOCTOR_REPORT_H

#include <stdbool.h>

/* Begins the report. */
void doctor_begin(bool json);

/*
 * Prints the warnings and failures so far, and their numbers. Later warnings and failures are
 * printed at once.
 */
void doctor_conclude(void);

/* Ends the report. Returns the number of its failures. */
unsigned int doctor_end(void);

/* The lines from now on are those of the check of this name. */
void doctor_look_at(const char *check);

/* A line each. The remedy is a sentence without a full stop, or NULL if there is none. */
void doctor_ok(const char *format, ...) __attribute__((format(printf, 1, 2)));
void doctor_warning(const char *remedy, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void doctor_failure(const char *remedy, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Gives the next line a number, which JSON has and the text need not have. */
void doctor_number(const char *name, double value);

/* What complain() is to do during a check: its line is the failure. For complain_to(). */
void doctor_complaint(const char *text);

#endif
