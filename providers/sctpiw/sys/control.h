/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The control socket, an AF_UNIX stream socket at which tools query a process that has the device.
 * Both the launcher and the RNIC include this file. docs/control.md describes the socket for users.
 *
 * Place: The name of the socket is the process number (pid). Its directory is the first of these
 * directories that exists or can be created, belongs to the user, and is writable only by the user:
 *	$XDG_RUNTIME_DIR/sctpiw
 *	/run/user/UID/sctpiw
 *	/tmp/sctpiw-UID
 *	/dev/shm/sctpiw-UID	(also writable in containers with a read-only root)
 * The socket appears under this name once it listens; before that, its name is NUMBER.new. Its mode
 * is 0600. It serves only clients of the same user and of root (SO_PEERCRED). A socket that refuses
 * connections belongs to a dead process, and may be removed.
 *
 * Protocol: The client sends one line, "1 FORM REQUEST\n", of at most CONTROL_REQUEST_MAX bytes. 1
 * is the version. FORM is the form of the answer:
 *
 *	json	Each line of the answer is an object with one member. The member's name is the kind
 *		of the line. Its value is an object with the data, such as {"qp":{"num":17,...}}.
 *	text	Each line has the same contents as words, separated by tabs:
 *		qp<TAB>num<TAB>17<TAB>...
 *
 * REQUEST is one of these requests, with its arguments:
 *
 *	stat		a line "process", then lines "qp", "association", "cq", "mr", "fault"
 *	counters	a line "process", then a line "counter" for each counter
 *	fault list	a line "process", then a line "fault" for each rule (docs/faults.md)
 *	fault add RULES	adds rules. The answer is a line "process", then a line "fault" for each
 *			added rule. If no rule was added, a line "refused" has the reason in the
 *			member "text"
 *	fault remove N	removes rule N, or all rules if N is "all". The answer is a line "removed"
 *			with the number of removed rules in the member "faults", or "refused"
 *
 * The last line of a complete answer has the kind "end". The answer to an invalid request ends with
 * a line of the kind "error", which has the reason in the member "text". Then the process closes
 * the connection. It serves one client at a time; other clients wait. Kinds and members may be
 * added without a new version, so clients must ignore unknown kinds and members.
 */
#ifndef SCTPIW_SYS_CONTROL_H
#define SCTPIW_SYS_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/un.h>

#define CONTROL_VERSION 1
#define CONTROL_REQUEST_MAX 1024 /* bytes, including the newline */
/* Maximum bytes of a line of an answer, including the newline. */
#define CONTROL_LINE_MAX 1024
#define CONTROL_PATH_MAX sizeof(((struct sockaddr_un *)0)->sun_path)

/* Number of the directories listed above. The first has index 0. */
#define CONTROL_DIRS 4
/*
 * Writes the name of the directory with this index for this user. Returns false if XDG_RUNTIME_DIR
 * is needed but not set, or if the name is too long for a socket address.
 */
bool control_dir(unsigned int index, uid_t uid, char dir[CONTROL_PATH_MAX]);
/* True if dir is a directory that belongs to this user, and that no other user may write to. */
bool control_dir_is_private(const char *dir, uid_t uid);
/* Sets *addr to the address of the socket `name` in dir. Returns false if its path is too long. */
bool control_address(const char *dir, const char *name, struct sockaddr_un *addr);

#endif
