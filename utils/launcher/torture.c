/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/torture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/json.h"
#include "launcher/launcher.h"

#define STEP_MS 10    /* interval between two checks of a program that prints nothing */
#define EXIT_FAULTY 1 /* exit status if a run crashed or hung */
/* bytes of an output line that are parsed; the rest of a longer line is ignored */
#define LINE_MAX_BYTES 4096
#define FIRED "sctpiw: fault 1 (line 1) fired for the 1st time"

struct outcome {
	bool fired, hung;
	char call[64]; /* name of the call that failed */
	int status;    /* status from waitpid() */
	double seconds;
};

struct counts {
	unsigned int runs, succeeded, failed, crashed, hung;
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- signals ---- */

static volatile sig_atomic_t running; /* process group of the running program; 0: no program runs */

/*
 * Kills the program, and then this process. The program is in a process group of its own, so
 * signals of the terminal do not reach it.
 */
static void end_with_program(int sig)
{
	if (running > 0)
		kill(-running, SIGKILL);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void take_program_along(void)
{
	const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct sigaction take = { .sa_handler = end_with_program };
	struct sigaction old;

	/* A signal that was ignored at the start, for example under nohup, stays ignored. */
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &take, NULL);
}

/* ---- one run ---- */

/*
 * Checks if a line of the program's standard error reports a fault. If so, stores the name of the
 * failed call, which is in brackets at the end of the line.
 */
static void look_at_line(struct outcome *o, const char *line)
{
	const char *call = strrchr(line, '[');

	if (!strstr(line, FIRED)) /* the program may have printed the beginning of the line */
		return;
	o->fired = true;
	if (call)
		snprintf(o->call, sizeof(o->call), "%.*s", (int)strcspn(call + 1, "]"), call + 1);
}

struct line {
	char text[LINE_MAX_BYTES];
	size_t len;
};

/* Reads the output that is available. Returns false at the end of the output. */
static bool take_output(int fd, struct line *l, struct outcome *o)
{
	char buf[4096];
	ssize_t n = read(fd, buf, sizeof(buf));

	for (ssize_t i = 0; i < n; i++) {
		if (buf[i] == '\n') {
			l->text[l->len] = '\0';
			look_at_line(o, l->text);
			l->len = 0;
		} else if (l->len < sizeof(l->text) - 1) {
			l->text[l->len++] = buf[i];
		}
	}
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Executes the program, in the child. Standard error is the pipe `out`; drops standard output. */
static void execute(char **argv, int out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	running = 0;
	setpgid(0, 0);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execvp(argv[0], argv);
	_exit(errno == ENOENT || errno == ENOTDIR ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

/* Waits until the program ends. After the timeout, kills the program with all its children. */
static void attend(pid_t pid, int fd, double timeout, struct outcome *o)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	double end = now() + timeout;
	struct line l = { .len = 0 };

	while (waitpid(pid, &o->status, WNOHANG) == 0) {
		if (now() >= end && !o->hung) {
			o->hung = true;
			kill(-pid, SIGKILL);
		}
		if (poll(&pfd, 1, STEP_MS) > 0 && !take_output(fd, &l, o))
			pfd.fd = -1; /* the program has closed its standard error */
	}
	kill(-pid, SIGKILL); /* kills the remaining children */
	running = 0;
	for (pfd.fd = fd; poll(&pfd, 1, 0) > 0 && take_output(fd, &l, o);)
		;
}

/* Runs the program with this rule ("": no faults). On error, calls complain(), returns false. */
static bool run_once(const char *rule, char **argv, double timeout, struct outcome *o)
{
	double begin = now();
	int fds[2];
	pid_t pid;

	memset(o, 0, sizeof(*o));
	if (setenv("SCTPIW_FAULTS", rule, 1) || setenv("SCTPIW_FAULT_SEED", "1", 1) ||
	    pipe2(fds, O_CLOEXEC)) {
		complain("%s", strerror(errno));
		return false;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		complain("%s", strerror(errno));
	if (!pid)
		execute(argv, fds[1]);
	close(fds[1]);
	if (pid > 0) {
		setpgid(pid, pid);
		running = pid;
		attend(pid, fds[0], timeout, o);
	}
	close(fds[0]);
	o->seconds = now() - begin;
	return pid > 0;
}

/* ---- the report ---- */

static const char *describe(const struct outcome *o, char buf[64])
{
	if (o->hung)
		return "hung";
	if (WIFSIGNALED(o->status))
		snprintf(buf, 64, "crashed: SIG%s", sigabbrev_np(WTERMSIG(o->status)));
	else
		snprintf(buf, 64, "exit %d", WEXITSTATUS(o->status));
	return buf;
}

static void count(struct counts *c, const struct outcome *o)
{
	c->runs++;
	if (o->hung)
		c->hung++;
	else if (WIFSIGNALED(o->status))
		c->crashed++;
	else if (WEXITSTATUS(o->status))
		c->failed++;
	else
		c->succeeded++;
}

static void print_json(const struct outcome *o, const char *rule, bool first)
{
	printf("%s\n  { \"rule\": ", first ? "" : ",");
	json_string(rule);
	printf(", \"call\": ");
	json_string(o->call);
	if (o->hung || !WIFSIGNALED(o->status))
		printf(", \"signal\": null");
	else
		printf(", \"signal\": \"SIG%s\"", sigabbrev_np(WTERMSIG(o->status)));
	if (o->hung || WIFSIGNALED(o->status))
		printf(", \"status\": null");
	else
		printf(", \"status\": %d", WEXITSTATUS(o->status));
	printf(", \"hung\": %s, \"seconds\": %.3f }", o->hung ? "true" : "false", o->seconds);
}

static void print(const struct options *options, const struct outcome *o, const char *rule,
		  bool first)
{
	char buf[64];

	if (options->json) {
		print_json(o, rule, first);
		return;
	}
	printf("%-36s %-22s %-18s %.2f s\n", rule, o->call, describe(o, buf), o->seconds);
}

/* ---- all runs ---- */

static const char *ordinal(unsigned int n)
{
	if (n % 100 >= 11 && n % 100 <= 13)
		return "th";
	return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

/* Reports that the program has no call that could fail. Returns the exit status. */
static int complain_unused(const char *cmd)
{
	complain(
		"%s calls neither verbs nor rdma_cm, so nothing was tested: the program does not use the device, or does not find it; sctpiw doctor -- %s looks for the reason",
		cmd, cmd);
	return EXIT_BROKEN;
}

/*
 * Runs the program again and again, and makes its 1st, 2nd, ... call fail, until a run has no call
 * with this number. Returns 0, or the exit status.
 */
static int torture_calls(const struct options *options, char **argv, struct counts *c)
{
	struct outcome o;
	char rule[96];

	for (unsigned int n = 1; n <= options->max; n++) {
		snprintf(rule, sizeof(rule), "%u%s call: fail with %s", n, ordinal(n),
			 options->error);
		if (!run_once(rule, argv, options->timeout, &o))
			return EXIT_BROKEN;
		if (!o.fired && !o.hung && WIFEXITED(o.status))
			return c->runs ? 0 : complain_unused(argv[0]);
		print(options, &o, rule, !c->runs);
		count(c, &o);
	}
	complain("only the first %u calls were tried: --max=N tries more", options->max);
	return 0;
}

/*
 * Checks that the program succeeds without faults. Returns 0. If not, calls complain() and returns
 * the exit status.
 */
static int try_out(const struct options *options, char **argv)
{
	struct outcome o;
	char buf[64];

	if (!run_once("", argv, options->timeout, &o))
		return EXIT_BROKEN;
	if (!o.hung && WIFEXITED(o.status) && !WEXITSTATUS(o.status))
		return 0;
	complain(
		"%s fails even without a fault (%s after %.1f s): mend it first, so that it ends with exit status 0%s",
		argv[0], describe(&o, buf), o.seconds,
		o.hung ? ", or give it more time by --timeout" : "");
	if (WIFEXITED(o.status) && WEXITSTATUS(o.status) >= EXIT_CANNOT_RUN)
		return WEXITSTATUS(o.status);
	return EXIT_BROKEN;
}

int torture_run(const struct options *options, char **argv)
{
	struct counts c = { 0 };
	int status;

	take_program_along();
	status = try_out(options, argv);
	if (status)
		return status;
	if (options->json)
		putchar('[');
	status = torture_calls(options, argv, &c);
	if (options->json)
		puts("\n]");
	else
		printf("%u runs with a fault: %u ended with an error, %u with success; %u crashed, %u hung\n",
		       c.runs, c.failed, c.succeeded, c.crashed, c.hung);
	if (status)
		return status;
	return c.crashed || c.hung ? EXIT_FAULTY : EXIT_SUCCESS;
}
