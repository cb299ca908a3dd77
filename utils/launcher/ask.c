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

#include "launcher/fields.h"
#include "launcher/launcher.h"
#include "sys/control.h"
#include "sys/sys.h"

#define PATIENCE 5 /* seconds to wait for the next byte of a process */
#define PATIENCE_IN_ALL 10
#define ANSWER_MAX (64u << 20) /* bytes; the line of a queue pair has about 400 */

/* The result of a request to a process. */
enum outcome {
	ASK_ANSWERED,
	ASK_NOT_THERE, /* there is no socket, or its process has ended */
	ASK_FOREIGN,   /* the process belongs to another user */
	ASK_SILENT,
	ASK_REFUSED,  /* the process does not support the request */
	ASK_NONSENSE, /* the answer is invalid, or incomplete */
};

struct incoming {
	int fd;
	pid_t pid;
	bool json; /* the answer is in the format json */
	char *text;
	size_t len, size; /* number of bytes read, and number of bytes allocated */
	size_t at;	  /* offset of the next line to check */
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

/* Reads more of the answer. Returns false if no bytes were received, or if out of memory. */
static bool read_more(struct incoming *in)
{
	char *bigger;
	ssize_t n;

	if (in->size - in->len <= CONTROL_LINE_MAX) {
		in->size = in->size ? 2 * in->size : 1 << 16;
		bigger = realloc(in->text, in->size);
		if (!bigger)
			return false;
		in->text = bigger;
	}
	n = read(in->fd, in->text + in->len, in->size - in->len - 1);
	if (n <= 0)
		return false;
	in->len += (size_t)n;
	in->text[in->len] = '\0';
	return true;
}

/*
 * Checks the complete lines. The answer is printed on a terminal or read by programs, perhaps with
 * root's privileges. So the answer is rejected if it contains a line that the device would not
 * write. Returns true when *outcome is final.
 */
static bool judge_lines(struct incoming *in, enum outcome *outcome)
{
	char *line, *newline;

	*outcome = ASK_NONSENSE;
	while ((newline = memchr(in->text + in->at, '\n', in->len - in->at))) {
		size_t len = (size_t)(newline - in->text) - in->at;

		line = in->text + in->at;
		if (!fields_are_sound(line, len, in->json, in->pid))
			return true;
		if (!strncmp(line, "end", 3) || !strncmp(line, "{\"end\"", 6)) {
			*line = '\0';
			*outcome = ASK_ANSWERED;
			return true;
		}
		if (!strncmp(line, "error", 5) || !strncmp(line, "{\"error\"", 8)) {
			*outcome = ASK_REFUSED;
			return true;
		}
		in->at += len + 1;
	}
	return in->len - in->at > CONTROL_LINE_MAX || in->len > ANSWER_MAX;
}

/* Reads the answer up to the line that marks its end, and removes this line. */
static enum outcome receive(int fd, pid_t pid, bool json, char **out)
{
	struct incoming in = { .fd = fd, .pid = pid, .json = json };
	uint64_t end = sys_now() + PATIENCE_IN_ALL * NSEC_PER_SEC;
	enum outcome outcome = ASK_SILENT;

	while (sys_now() < end && read_more(&in)) {
		if (judge_lines(&in, &outcome))
			break;
		outcome = ASK_SILENT;
	}
	if (outcome == ASK_ANSWERED)
		*out = in.text;
	else
		free(in.text);
	return outcome;
}

static enum outcome converse(int fd, pid_t pid, const char *request, char **out)
{
	char line[CONTROL_REQUEST_MAX];
	int n = snprintf(line, sizeof(line), "%d %s\n", CONTROL_VERSION, request);

	if (send(fd, line, (size_t)n, MSG_NOSIGNAL) != n)
		return ASK_SILENT;
	return receive(fd, pid, *request == 'j', out);
}

/* Sends the request to the process's socket in dir, a directory of the user uid. */
static enum outcome ask_at(const char *dir, pid_t pid, uid_t uid, const char *request, char **out)
{
	struct sockaddr_un addr;
	enum outcome outcome;
	char name[24];
	int fd;

	snprintf(name, sizeof(name), "%d", (int)pid);
	if (!control_address(dir, name, &addr))
		return ASK_NOT_THERE;
	fd = open_socket();
	if (fd < 0)
		return ASK_SILENT;
	if (!connect(fd, (const struct sockaddr *)&addr, sizeof(addr))) {
		outcome = is_of(fd, uid) ? converse(fd, pid, request, out) : ASK_FOREIGN;
	} else if (errno == ECONNREFUSED) {
		/*
		 * The process ended without removing its socket. In another user's directory, root
		 * does not remove the socket: that user might replace the socket by a link.
		 */
		if (uid == geteuid())
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

/* ---- processes and their directories ---- */

/*
 * Writes the i-th directory that may contain sockets. Returns false if the directory is not private
 * to the user, or is the same as an earlier one.
 */
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

bool ask_has_place(uid_t uid)
{
	char dir[CONTROL_PATH_MAX];

	for (unsigned int i = 0; i < CONTROL_DIRS; i++) {
		if (!control_dir(i, uid, dir))
			continue;
		if (!control_dir_is_private(dir, uid))
			*strrchr(dir, '/') = '\0';
		if (!access(dir, W_OK))
			return true;
	}
	return false;
}

/* True if the process is in another mount namespace, for example in a container. */
static bool is_in_container(pid_t pid)
{
	char path[64], theirs[64], ours[64];
	ssize_t n = readlink("/proc/self/ns/mnt", ours, sizeof(ours));

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return n > 0 && readlink(path, theirs, sizeof(theirs)) > 0 &&
	       memcmp(ours, theirs, (size_t)n) != 0;
}

/* Prints the reason why a process has no socket. */
static void complain_of_absence(pid_t pid, uid_t uid)
{
	if (is_in_container(pid))
		complain(
			"process %d has other files than this process, as in a container: run this command in there",
			(int)pid);
	else if (!ask_has_place(uid))
		complain("process %d does not have the device, or " ASK_NO_PLACE, (int)pid);
	else
		complain(
			"process %d does not have the device: it was not started by \"sctpiw run\", or has not opened it yet",
			(int)pid);
}

/* Prints the reason why a process of the user has not answered. */
static void complain_of(pid_t pid, uid_t uid, enum outcome outcome)
{
	switch (outcome) {
	case ASK_NOT_THERE:
		complain_of_absence(pid, uid);
		break;
	case ASK_FOREIGN:
		complain("process %d is another user's: only that user and root have access",
			 (int)pid);
		break;
	case ASK_REFUSED:
		complain("process %d does not know this request: it has another version of sctpiw",
			 (int)pid);
		break;
	case ASK_NONSENSE:
		complain("process %d sends an answer that is not the device's, or more than %u MiB",
			 (int)pid, ANSWER_MAX >> 20);
		break;
	default:
		complain("process %d does not answer: it is stopped, or ends just now", (int)pid);
		break;
	}
}

/*
 * Gets the effective user of a process, or -1 if that is unknown. Returns false if the process does
 * not exist.
 */
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
	/* /proc may hide processes of other users. */
	else if (!kill(pid, 0) || errno == EPERM)
		*uid = (uid_t)-1;
	else
		return false;
	return true;
}

bool ask_process(pid_t pid, const char *request, struct answers *out, bool quiet)
{
	enum outcome outcome = ASK_NOT_THERE;
	char dir[CONTROL_PATH_MAX], *text = NULL;
	uid_t uid;

	*out = (struct answers){ 0 };
	if (!find_user(pid, &uid)) {
		if (!quiet)
			complain("there is no process %d", (int)pid);
		return false;
	}
	if (uid != geteuid() && geteuid())
		outcome = ASK_FOREIGN;
	for (unsigned int i = 0; i < CONTROL_DIRS && outcome == ASK_NOT_THERE; i++) {
		if (find_dir(i, uid, dir))
			outcome = ask_at(dir, pid, uid, request, &text);
	}
	if (outcome == ASK_ANSWERED)
		return add(out, pid, text);
	if (!quiet)
		complain_of(pid, uid, outcome);
	return false;
}

/* Returns the process number that is the name of a socket, or 0 for another name. */
static pid_t name_to_pid(const char *name, bool *fresh)
{
	char *end;
	long pid = *name >= '1' && *name <= '9' ? strtol(name, &end, 10) : 0;

	if (pid <= 0 || pid > INT32_MAX)
		return 0;
	*fresh = !strcmp(end, ".new") || !strcmp(end, ".unused");
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
		/* the socket does not listen yet, or the file is no socket (kernel-abi/unused.h) */
		if (fresh) {
			if (kill(pid, 0) && errno == ESRCH &&
			    control_address(dir, entry->d_name, &addr))
				unlink(addr.sun_path);
			continue;
		}
		outcome = ask_at(dir, pid, geteuid(), request, &text);
		if (outcome == ASK_ANSWERED && add(out, pid, text))
			continue;
		if (outcome != ASK_NOT_THERE) {
			complain_of(pid, geteuid(), outcome);
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
