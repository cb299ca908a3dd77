/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds system calls that a filter (seccomp) refuses. Tries each call without any effect. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/doctor.h"
#include "launcher/doctor_child.h"
#include "launcher/doctor_report.h"

#include <linux/netlink.h>

#define NONE (-1L) /* an invalid descriptor and invalid flags */

/* The system calls that the device makes, except for those that every program makes. */
static const struct tried {
	const char *name;
	long number, arguments[6];
	/* libc works without this call if the kernel lacks it, but not if a filter refuses it */
	bool may_lack;
} tried[] = {
	{ "socket(AF_INET)", SYS_socket, { AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0 } },
	{ "socket(AF_NETLINK)", SYS_socket, { AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE } },
	{ "bind", SYS_bind, { NONE } },
	{ "connect", SYS_connect, { NONE } },
	{ "getsockname", SYS_getsockname, { NONE } },
	{ "setsockopt", SYS_setsockopt, { NONE } },
	{ "getsockopt", SYS_getsockopt, { NONE } },
	{ "sendmsg", SYS_sendmsg, { NONE } },
	{ "recvmsg", SYS_recvmsg, { NONE } },
	{ "recvmmsg", SYS_recvmmsg, { NONE } },
	{ "sendmmsg", SYS_sendmmsg, { NONE } },
	{ "epoll_create1", SYS_epoll_create1, { NONE } },
	{ "epoll_ctl", SYS_epoll_ctl, { NONE } },
	{ "epoll_pwait", SYS_epoll_pwait, { NONE } },
	{ "eventfd2", SYS_eventfd2, { 0, NONE } },
	{ "timerfd_create", SYS_timerfd_create, { NONE } },
	{ "timerfd_settime", SYS_timerfd_settime, { NONE } },
	{ "pipe2", SYS_pipe2, { 0, NONE } },
	{ "ppoll", SYS_ppoll, { 0, NONE } },
	{ "fcntl", SYS_fcntl, { NONE } },
	{ "getrandom", SYS_getrandom, { 0, 0, NONE } },
	{ "prlimit64", SYS_prlimit64, { 0, NONE } },
	{ "tgkill", SYS_tgkill, { NONE } },
	{ "clone3", SYS_clone3, { 0, 0 }, .may_lack = true },
};
enum { TRIED = sizeof(tried) / sizeof(tried[0]) };

static bool is_refused(const struct tried *t)
{
	const long *a = t->arguments;

	if (syscall(t->number, a[0], a[1], a[2], a[3], a[4], a[5]) >= 0)
		return false;
	return errno == EPERM || errno == EACCES || (errno == ENOSYS && !t->may_lack);
}

/*
 * Makes all calls from number *arg on. For each call, prints its number before the call. After the
 * call, prints 1 if the call was refused, or 0. If a call ends this process, its number is the end
 * of the output.
 */
static int try_all(void *arg)
{
	prctl(PR_SET_DUMPABLE, 0);
	for (unsigned int i = *(unsigned int *)arg; i < TRIED; i++) {
		printf("%u", i);
		fflush(stdout);
		printf(" %d\n", is_refused(&tried[i]));
		fflush(stdout);
	}
	return 0;
}

/*
 * Parses the output of try_all(), whose first call was number `from`. Returns the number of the
 * first call that was not made yet.
 */
static unsigned int take(const char *text, bool refused[TRIED], unsigned int from)
{
	unsigned int i, next = from;
	int used, yes;

	while (sscanf(text, "%u%n", &i, &used) == 1 && i < TRIED) {
		text += used;
		next = i + 1;
		/* If the second number of a call is missing, the call has ended the process. */
		if (sscanf(text, " %d%n", &yes, &used) != 1)
			yes = 1, used = (int)strlen(text);
		refused[i] = yes;
		text += used;
	}
	return next;
}

void doctor_syscalls(struct doctor *d)
{
	bool refused[TRIED] = { 0 };
	char text[4096] = "", names[1024] = "";
	unsigned int next = 0;
	size_t used = 0;

	while (next < TRIED) {
		unsigned int from = next;

		if (doctor_child(try_all, &from, text, sizeof(text)) < 0) {
			doctor_failure(NULL, "no process can be made to try them: %s",
				       strerror(errno));
			return;
		}
		next = take(text, refused, from);
		if (next == from)
			break;
	}
	for (unsigned int i = 0; i < TRIED; i++) {
		if (refused[i] && used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? ", " : "", tried[i].name);
	}
	if (used)
		doctor_failure("permit them in the seccomp profile of the container or service",
			       "refused: %s", names);
	else
		doctor_ok("none that the device needs is refused");
}
