/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How tools ask a process that has the device: by a stream socket of AF_UNIX, its control socket.
 * The launcher and the RNIC share this file. docs/control.md has the same for people.
 *
 * Where. The socket has the number of its process for a name. It stands in the first of these
 * directories that can be made or is there, belongs to the user, and can be written to by nobody
 * else:
 *	$XDG_RUNTIME_DIR/sctpiw
 *	/run/user/UID/sctpiw
 *	/tmp/sctpiw-UID
 *	/dev/shm/sctpiw-UID	containers with a read-only root can write there
 * It is there once it listens, has mode 0600, and serves peers of the same user id and of root
 * (SO_PEERCRED). A socket that refuses connections is one that a process has left behind, and may
 * be removed. NUMBER.new is one that does not listen yet.
 *
 * What. The asker sends one line, "1 FORM REQUEST\n", of up to CONTROL_REQUEST_MAX bytes: the
 * version, then how the answer is to be written, then the request and its arguments.
 *
 *	json	each line of the answer is an object with one member: its name is the kind of the
 *		line, and its value an object of what there is to say, such as {"qp":{"num":17,...}}
 *	text	the same as words with tabs between them: qp<TAB>num<TAB>17<TAB>...
 *
 *	stat		a line "process", then lines "qp", "association", "cq", "mr", "fault"
 *	counters	a line "process", then a line "counter" for each
 *	fault list	a line "process", then a line "fault" for each rule (docs/faults.md)
 *	fault add RULES	the same of those that were added, or a line "refused" whose member "text" says why none was
 *	fault remove N	a line "removed" whose member "faults" says how many, or "refused"; N may be "all"
 *
 * The last line is of the kind "end": the answer is whole. In its place stands a line of the kind
 * "error", whose member "text" says why, if the request is not understood. Names and kinds may be
 * added to a version; who asks passes over those that it does not know. Then the process closes the
 * connection. It serves one asker at a time; the others wait.
 */
#ifndef SCTPIW_SYS_CONTROL_H
#define SCTPIW_SYS_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/un.h>

#define CONTROL_VERSION 1
#define CONTROL_REQUEST_MAX 1024 /* bytes, with the newline */
/* No line of an answer is longer, in bytes with the newline. */
#define CONTROL_LINE_MAX 1024
#define CONTROL_PATH_MAX sizeof(((struct sockaddr_un *)0)->sun_path)

/* The directories in turn, by index. */
#define CONTROL_DIRS 4
/*
 * Writes the name of a directory for this user; false: there is none (no variable, or too long a name
 * for an address).
 */
bool control_dir(unsigned int index, uid_t uid, char dir[CONTROL_PATH_MAX]);
/* Whether dir is a directory that belongs to this user, and that nobody else may write to. */
bool control_dir_is_private(const char *dir, uid_t uid);
/* Makes the address of a socket. False: its name is too long. */
bool control_address(const char *dir, const char *name, struct sockaddr_un *addr);

#endif
