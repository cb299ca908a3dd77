/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sends requests to the control sockets (sys/control.h) of processes with the device. */
#ifndef UTILS_LAUNCHER_ASK_H
#define UTILS_LAUNCHER_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct answer {
	pid_t pid;
	char *text; /* whole lines without the line that ends the answer, and a final zero */
};

struct answers {
	struct answer *at; /* in ascending order of process numbers */
	size_t n;
	bool failed; /* a process did not answer; the reason was printed on standard error */
};

/* True if a process of the user can have a control socket, in an existing or a new directory. */
bool ask_has_place(uid_t uid);
/* End of a message if ask_has_place() is false. */
#define ASK_NO_PLACE                                                                                      \
	"has no place for its control socket: let it write to /tmp, to /dev/shm, or to a directory that " \
	"XDG_RUNTIME_DIR names"

/*
 * Sends the request to one process. If it does not answer, returns false, and prints the reason on
 * standard error unless quiet is set.
 */
bool ask_process(pid_t pid, const char *request, struct answers *out, bool quiet);
/*
 * Sends the request to all processes of this user. Ended processes are no failure: their sockets
 * are removed.
 */
void ask_all(const char *request, struct answers *out);
void ask_free(struct answers *answers);

#endif
