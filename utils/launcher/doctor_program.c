/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Checks the program of doctor -- CMD, into which the preload library must be loaded. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/doctor.h"
#include "launcher/doctor_child.h"
#include "launcher/doctor_install.h"
#include "launcher/doctor_report.h"
#include "launcher/launcher.h"
#include "launcher/reach.h"

/* Returns the remedy for an obstacle of reach.c, which a word in its text identifies. */
static const char *remedy_of(const char *obstacle)
{
	static const struct {
		const char *word, *remedy;
	} remedies[] = {
		{ "static", "link it dynamically (Go: with cgo; Rust: not for a musl target)" },
		{ "musl", "build it for glibc" },
		{ "setuid", "run a copy that is not setuid (cp keeps no such bit)" },
		{ "setgid", "run a copy that is not setgid (cp keeps no such bit)" },
		{ "capabilities", "run a copy, which has none, and give the user the capabilities: "
				  "setpriv --ambient-caps" },
		{ "", "build it for the architecture of this sctpiw" },
	};
	size_t i = 0;

	while (!strstr(obstacle, remedies[i].word))
		i++;
	return remedies[i].remedy;
}

/* Makes the dynamic loader print the libraries that it would load. */
static int list_libraries(void *arg)
{
	struct reach *r = arg;

	/* As ldd does. The loader's option --list would stop at the first missing library. */
	setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
	execl(r->loader, r->loader, r->path, NULL);
	return EXIT_NOT_FOUND;
}

/*
 * Parses the loader's lines "NAME => PATH (ADDRESS)", and reports missing libraries. Returns true
 * if one of the lines is about libibverbs.
 */
static bool look_at_libraries(const struct doctor *d, const char *program, char *text)
{
	bool found = false;
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *name = line + strspn(line, " \t"), *arrow = strstr(name, " => "), *end;

		if (!arrow)
			continue;
		*arrow = '\0';
		if (!strcmp(arrow + 4, "not found")) {
			doctor_failure(
				"install its package, or name its directory in LD_LIBRARY_PATH",
				"%s needs %s, which is not there", program, name);
			continue;
		}
		if (strcmp(name, "libibverbs.so.1"))
			continue;
		end = strstr(arrow + 4, " (0x");
		if (end)
			*end = '\0';
		doctor_judge_libibverbs(d, arrow + 4, program);
		found = true;
	}
	return found;
}

/* Checks a program into which the preload library can be loaded. */
static void look_inside(const struct doctor *d, struct reach *r)
{
	static char text[65536];
	int status;

	if (!*r->loader) {
		doctor_failure("it has to begin with #! or be an ELF file", "%s is no program",
			       r->path);
		return;
	}
	if (access(r->loader, X_OK)) {
		doctor_failure("install the C library that it was built for",
			       "%s wants the dynamic loader %s: %s", r->path, r->loader,
			       strerror(errno));
		return;
	}
	status = doctor_child(list_libraries, r, text, sizeof(text));
	if (look_at_libraries(d, r->path, text))
		return;
	if (status < 0 || !WIFEXITED(status) || WEXITSTATUS(status) == EXIT_NOT_FOUND)
		doctor_warning(NULL, "%s does not list the libraries of %s", r->loader, r->path);
	else
		doctor_ok("%s is not linked with libibverbs; it has the device if it loads "
			  "libibverbs later, or starts a program that does",
			  r->path);
}

void doctor_program(struct doctor *d)
{
	const char *cmd = d->cmd[0];
	struct reach r;
	struct stat st;

	if (!reach_look(cmd, &r)) {
		if (!*r.path)
			doctor_failure("name its path, or install it",
				       "%s is in no directory of PATH", cmd);
		else
			doctor_failure(r.scripts ?
					       "install that interpreter, or mend the first line" :
					       "name a program that is there and may be read",
				       "%s%s%s: %s", r.scripts ? cmd : "",
				       r.scripts ? " is a script for " : "", r.path,
				       strerror(errno));
		return;
	}
	if (strchr(cmd, '/') && (stat(cmd, &st) || !S_ISREG(st.st_mode) || access(cmd, X_OK))) {
		doctor_failure("name a file, and give it the right to be executed: chmod +x",
			       "%s is not a program that may be executed", cmd);
		return;
	}
	if (r.scripts)
		doctor_ok("%s is a script, which %s runs", cmd, r.path);
	if (r.obstacle)
		doctor_failure(remedy_of(r.obstacle), "%s %s: it does not see the device", r.path,
			       r.obstacle);
	else
		look_inside(d, &r);
}
