/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Parses the lines of an answer (sys/control.h). */
#ifndef UTILS_LAUNCHER_FIELDS_H
#define UTILS_LAUNCHER_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FIELDS_MAX 64

/*
 * True if a process with this number could have written this line, which has no newline. The line
 * must consist of printable ASCII and must not be too long. In the format json, it must be an
 * object with one member. The value of this member is an object whose members are strings, numbers
 * and flags. A line "process" must contain the process number.
 */
bool fields_are_sound(const char *line, size_t len, bool json, pid_t pid);

/* A line of an answer in the format text. */
struct fields {
	const char *kind;
	const char *name[FIELDS_MAX], *value[FIELDS_MAX];
	size_t n;
};

/*
 * Splits the next line of *text in place, and moves *text to the line after it. The pointers in f
 * are valid as long as the text exists. Returns false at the end.
 */
bool fields_next(char **text, struct fields *f);
/* Returns the value of the field with this name, or NULL. */
const char *fields_get(const struct fields *f, const char *name);
/* Returns the value of the field with this name as a number, or 0 if there is no such field. */
unsigned long long fields_number(const struct fields *f, const char *name);

/* A line of an answer in the format json. */
struct json_line {
	const char *kind;
	const char *members; /* the members of the inner object, without its braces */
};

/* Does the same as fields_next(), for the format json. */
bool json_next(char **text, struct json_line *l);

#endif
