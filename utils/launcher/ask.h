/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Asks processes that have the device, at their control sockets (sys/control.h). */
#ifndef UTILS_LAUNCHER_ASK_H
#define UTILS_LAUNCHER_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What a process has answered. */
struct answer {
	pid_t pid;
	char *text; /* whole lines, without the one that ends the answer, and a final zero */
};

struct answers {
	struct answer *at; /* by ascending number of the process */
	size_t n;
	bool failed; /* a process did not answer, and a line on standard error says why */
};

/* Whether a process of the user can have a control socket, in an existing or a new directory. */
bool ask_has_place(uid_t uid);
/* The end of a message if not. */
#define ASK_NO_PLACE                                                                                      \
	"has no place for its control socket: let it write to /tmp, to /dev/shm, or to a directory that " \
	"XDG_RUNTIME_DIR names"

/*
 * Asks one process. False: it has not answered, and unless quiet is set a line on standard error says
 * why.
 */
bool ask_process(pid_t pid, const char *request, struct answers *out, bool quiet);
/*
 * Asks all processes of this user. Those that are gone are no failure: what they have left behind is
 * removed.
 */
void ask_all(const char *request, struct answers *out);
void ask_free(struct answers *answers);

#endif
