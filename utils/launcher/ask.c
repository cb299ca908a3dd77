/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/ask.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "sys/control.h"

#define PATIENCE 5 /* seconds that a process may be silent */

/* What came of asking a process. */
enum outcome {
	ASK_ANSWERED,
	ASK_NOT_THERE, /* there is no socket, or one that a process has left behind */
	ASK_FOREIGN,   /* it is another user's */
	ASK_SILENT,
	ASK_REFUSED, /* it does not know the request */
};

/* ---- one connection ---- */

static int open_socket(void)
{
	const struct timeval patience = { .tv_sec = PATIENCE };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	return fd;
}

static bool is_of(int fd, uid_t uid)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) && peer.uid == uid;
}

/* The last line of a text that ends with a newline. */
static char *last_line(char *text, size_t len)
{
	char *before = len > 1 ? memrchr(text, '\n', len - 1) : NULL;

	return before ? before + 1 : text;
}

/* Reads until the line that ends the answer has come, and takes that off. */
static enum outcome receive(int fd, char **out)
{
	size_t len = 0, size = 1 << 16;
	char *text = malloc(size), *bigger, *last;
	ssize_t n;

	while (text && (n = read(fd, text + len, size - len - 1)) > 0) {
		len += (size_t)n;
		text[len] = '\0';
		last = text[len - 1] == '\n' ? last_line(text, len) : NULL;
		if (last && (!strncmp(last, "end", 3) || !strncmp(last, "{\"end\"", 6))) {
			*last = '\0';
			*out = text;
			return ASK_ANSWERED;
		}
		if (last && (!strncmp(last, "error", 5) || !strncmp(last, "{\"error\"", 8))) {
			free(text);
			return ASK_REFUSED;
		}
		if (size - len > 1)
			continue;
		bigger = realloc(text, size *= 2);
		if (!bigger)
			break;
		text = bigger;
	}
	free(text);
	return ASK_SILENT;
}

static enum outcome converse(int fd, const char *request, char **out)
{
	char line[CONTROL_REQUEST_MAX];
	int n = snprintf(line, sizeof(line), "%d %s\n", CONTROL_VERSION, request);

	if (send(fd, line, (size_t)n, MSG_NOSIGNAL) != n)
		return ASK_SILENT;
	return receive(fd, out);
}

/* Asks whoever listens at the socket of that name in dir, which belongs to the user. */
static enum outcome ask_at(const char *dir, const char *name, uid_t uid, const char *request,
			   char **out)
{
	struct sockaddr_un addr;
	enum outcome outcome;
	int fd;

	if (!control_address(dir, name, &addr))
		return ASK_NOT_THERE;
	fd = open_socket();
	if (fd < 0)
		return ASK_SILENT;
	if (!connect(fd, (const struct sockaddr *)&addr, sizeof(addr))) {
		outcome = is_of(fd, uid) ? converse(fd, request, out) : ASK_FOREIGN;
	} else if (errno == ECONNREFUSED) {
		/* Whoever made it did not live to remove it. */
		unlink(addr.sun_path);
		outcome = ASK_NOT_THERE;
	} else {
		outcome = errno == EACCES ? ASK_FOREIGN :
			  errno == ENOENT ? ASK_NOT_THERE :
					    ASK_SILENT;
	}
	close(fd);
	return outcome;
}

/* ---- which ones ---- */

/* The i-th directory of sockets, if it is the user's and was not there before under its name. */
static bool find_dir(unsigned int i, uid_t uid, char dir[CONTROL_PATH_MAX])
{
	char earlier[CONTROL_PATH_MAX];

	if (!control_dir(i, uid, dir) || !control_dir_is_private(dir, uid))
		return false;
	for (unsigned int j = 0; j < i; j++) {
		if (control_dir(j, uid, earlier) && !strcmp(earlier, dir))
			return false;
	}
	return true;
}

static bool add(struct answers *out, pid_t pid, char *text)
{
	struct answer *at = realloc(out->at, (out->n + 1) * sizeof(*at));

	if (!at) {
		free(text);
		return false;
	}
	out->at = at;
	at[out->n++] = (struct answer){ pid, text };
	return true;
}

/* Says why a process has not answered. */
static void complain_of(pid_t pid, enum outcome outcome)
{
	switch (outcome) {
	case ASK_NOT_THERE:
		complain(
			"process %d does not have the device: it was not started by \"sctpiw run\", or has not opened it yet",
			(int)pid);
		break;
	case ASK_FOREIGN:
		complain("process %d is another user's: that user and root may ask it", (int)pid);
		break;
	case ASK_REFUSED:
		complain("process %d does not know this request: it has another version of sctpiw",
			 (int)pid);
		break;
	default:
		complain("process %d does not answer: it is stopped, or ends just now", (int)pid);
		break;
	}
}

/* The effective user of a process. False: there is no such process. */
static bool find_user(pid_t pid, uid_t *uid)
{
	char path[64], line[256];
	unsigned int effective;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "Uid: %*u %u", &effective) == 1;
	if (f)
		fclose(f);
	if (found)
		*uid = effective;
	/* /proc may be closed to other users. */
	else if (!kill(pid, 0) || errno == EPERM)
		*uid = (uid_t)-1;
	else
		return false;
	return true;
}

bool ask_process(pid_t pid, const char *request, struct answers *out, bool quiet)
{
	enum outcome outcome = ASK_NOT_THERE;
	char dir[CONTROL_PATH_MAX], name[24];
	char *text = NULL;
	uid_t uid;

	*out = (struct answers){ 0 };
	if (!find_user(pid, &uid)) {
		if (!quiet)
			complain("there is no process %d", (int)pid);
		return false;
	}
	snprintf(name, sizeof(name), "%d", (int)pid);
	if (uid != geteuid() && geteuid())
		outcome = ASK_FOREIGN;
	for (unsigned int i = 0; i < CONTROL_DIRS && outcome == ASK_NOT_THERE; i++) {
		if (find_dir(i, uid, dir))
			outcome = ask_at(dir, name, uid, request, &text);
	}
	if (outcome == ASK_ANSWERED)
		return add(out, pid, text);
	if (!quiet)
		complain_of(pid, outcome);
	return false;
}

/* The number of the process that a socket is named after; 0: the name is none of ours. */
static pid_t name_to_pid(const char *name, bool *fresh)
{
	char *end;
	long pid = *name >= '1' && *name <= '9' ? strtol(name, &end, 10) : 0;

	if (pid <= 0 || pid > INT32_MAX)
		return 0;
	*fresh = !strcmp(end, ".new");
	return *end && !*fresh ? 0 : (pid_t)pid;
}

static void ask_dir(const char *dir, const char *request, struct answers *out)
{
	struct dirent *entry;
	DIR *d = opendir(dir);
	enum outcome outcome;
	struct sockaddr_un addr;
	bool fresh;
	char *text;
	pid_t pid;

	while (d && (entry = readdir(d))) {
		pid = name_to_pid(entry->d_name, &fresh);
		if (!pid)
			continue;
		if (fresh) { /* it does not listen yet, or never will */
			if (kill(pid, 0) && errno == ESRCH &&
			    control_address(dir, entry->d_name, &addr))
				unlink(addr.sun_path);
			continue;
		}
		outcome = ask_at(dir, entry->d_name, geteuid(), request, &text);
		if (outcome == ASK_ANSWERED && add(out, pid, text))
			continue;
		if (outcome != ASK_NOT_THERE) {
			complain_of(pid, outcome);
			out->failed = true;
		}
	}
	if (d)
		closedir(d);
}

static int by_pid(const void *a, const void *b)
{
	pid_t x = ((const struct answer *)a)->pid, y = ((const struct answer *)b)->pid;

	return (x > y) - (x < y);
}

void ask_all(const char *request, struct answers *out)
{
	char dir[CONTROL_PATH_MAX];

	*out = (struct answers){ 0 };
	for (unsigned int i = 0; i < CONTROL_DIRS; i++) {
		if (find_dir(i, geteuid(), dir))
			ask_dir(dir, request, out);
	}
	if (out->n)
		qsort(out->at, out->n, sizeof(*out->at), by_pid);
}

void ask_free(struct answers *answers)
{
	for (size_t i = 0; i < answers->n; i++)
		free(answers->at[i].text);
	free(answers->at);
}
