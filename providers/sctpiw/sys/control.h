/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The control socket: a stream socket of AF_UNIX, by which tools query a process with the device.
 * The launcher and the RNIC share this file. docs/control.md describes the same for users.
 *
 * Place: The socket's name is the number of its process. Its directory is the first of these that
 * exists or can be created, belongs to the user, and is writable by nobody else:
 *	$XDG_RUNTIME_DIR/sctpiw
 *	/run/user/UID/sctpiw
 *	/tmp/sctpiw-UID
 *	/dev/shm/sctpiw-UID	writable in containers with a read-only root
 * The socket appears once it listens, has mode 0600, and serves peers with the same user id, and
 * root (SO_PEERCRED). A socket that refuses connections belongs to a dead process, and may be
 * removed. NUMBER.new does not listen yet.
 *
 * Protocol: The client sends one line, "1 FORM REQUEST\n", of up to CONTROL_REQUEST_MAX bytes: the
 * version, the form of the answer, and the request with its arguments.
 *
 *	json	each line of the answer is an object with one member. Its name is the kind of the
 *		line, and its value an object with the data, such as {"qp":{"num":17,...}}
 *	text	the same as words with tabs between them: qp<TAB>num<TAB>17<TAB>...
 *
 *	stat		a line "process", then lines "qp", "association", "cq", "mr", "fault"
 *	counters	a line "process", then a line "counter" for each counter
 *	fault list	a line "process", then a line "fault" for each rule (docs/faults.md)
 *	fault add RULES	the same for the added rules; or, if none was added, a line "refused" with
 *			the reason in member "text"
 *	fault remove N	a line "removed" with the number in member "faults", or "refused"; N may be
 *			"all"
 *
 * The last line has the kind "end": the answer is complete. After an invalid request, a line of the
 * kind "error" replaces it, with the reason in member "text". Names and kinds may be added to a
 * version; clients ignore unknown ones. The process then closes the connection. It serves one
 * client at a time; the others wait.
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

/* Number of the directories above, which have the indexes from 0. */
#define CONTROL_DIRS 4
/*
 * Writes the name of a directory for this user. Returns false if the variable is missing, or the
 * name is too long for an address.
 */
bool control_dir(unsigned int index, uid_t uid, char dir[CONTROL_PATH_MAX]);
/* True if dir is a directory of this user, and nobody else may write to it. */
bool control_dir_is_private(const char *dir, uid_t uid);
/* Makes the address of a socket. Returns false if its name is too long. */
bool control_address(const char *dir, const char *name, struct sockaddr_un *addr);

#endif
