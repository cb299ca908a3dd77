/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The lines of an answer (sys/control.h). */
#ifndef UTILS_LAUNCHER_FIELDS_H
#define UTILS_LAUNCHER_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FIELDS_MAX 64

/*
 * Whether a process of this number could write this line, without its newline, in the form json or
 * text. Such a line has printable ASCII only, and is not too long. In the form json the line is an
 * object of one member, whose members are strings, numbers and flags. The line "process" has the
 * number.
 */
bool fields_are_sound(const char *line, size_t len, bool json, pid_t pid);

/* A line of the form text. */
struct fields {
	const char *kind;
	const char *name[FIELDS_MAX], *value[FIELDS_MAX];
	size_t n;
};

/*
 * Takes the next line apart, in its place; *text is behind it then, and what f points to lives as
 * long as the text. False: there is none.
 */
bool fields_next(char **text, struct fields *f);
/* The value of this name; NULL: there is none. */
const char *fields_get(const struct fields *f, const char *name);
/* The same as a number; 0 if there is none. */
unsigned long long fields_number(const struct fields *f, const char *name);

/* A line of the form json. */
struct json_line {
	const char *kind;
	const char *members; /* those of the object that tells of it, without its braces */
};

/* As fields_next(). */
bool json_next(char **text, struct json_line *l);

#endif
