/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The lines of an answer (sys/control.h). */
#ifndef UTILS_LAUNCHER_FIELDS_H
#define UTILS_LAUNCHER_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FIELDS_MAX 64

/*
 * True if a process of this number could write this line, without its newline, in the format json
 * or text. Such a line has only printable ASCII, and is not too long. In the format json, the line
 * is an object of one member, whose members are strings, numbers and flags. The line "process" has
 * the number.
 */
bool fields_are_sound(const char *line, size_t len, bool json, pid_t pid);

/* A line in the format text. */
struct fields {
	const char *kind;
	const char *name[FIELDS_MAX], *value[FIELDS_MAX];
	size_t n;
};

/*
 * Splits the next line in place, and moves *text to the line after it. The pointers in f live as
 * long as the text. Returns false at the end.
 */
bool fields_next(char **text, struct fields *f);
/* Returns the value of this name, or NULL. */
const char *fields_get(const struct fields *f, const char *name);
/* Returns the value of this name as a number, or 0. */
unsigned long long fields_number(const struct fields *f, const char *name);

/* A line in the format json. */
struct json_line {
	const char *kind;
	const char *members; /* the members of the inner object, without its braces */
};

/* As fields_next(). */
bool json_next(char **text, struct json_line *l);

#endif
