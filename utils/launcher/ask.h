/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sends requests to the control sockets (sys/control.h) of processes that have the device. */
#ifndef UTILS_LAUNCHER_ASK_H
#define UTILS_LAUNCHER_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct answer {
	pid_t pid;
	/* the lines of the answer, without the line that marks its end, and a final zero */
	char *text;
};

struct answers {
	struct answer *at; /* in ascending order of process numbers */
	size_t n;
	/* at least one process did not answer, and the reason was printed on standard error */
	bool failed;
};

/*
 * True if a process of the user can make a control socket, because a directory for it exists or can
 * be made.
 */
bool ask_has_place(uid_t uid);
/* The end of an error message if ask_has_place() returns false. */
#define ASK_NO_PLACE                                                                                      \
	"has no place for its control socket: let it write to /tmp, to /dev/shm, or to a directory that " \
	"XDG_RUNTIME_DIR names"

/*
 * Sends the request to one process. If the process does not answer, returns false, and prints the
 * reason on standard error unless `quiet` is set.
 */
bool ask_process(pid_t pid, const char *request, struct answers *out, bool quiet);
/*
 * Sends the request to all processes of this user. A process that has ended is not a failure; its
 * socket is removed.
 */
void ask_all(const char *request, struct answers *out);
void ask_free(struct answers *answers);

#endif
