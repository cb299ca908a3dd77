/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "runtime/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rnic.h"
#include "sys/sys.h"

#define PATIENCE NSEC_PER_SEC /* time limit for a client that neither sends nor reads */

void control_init(struct control *c)
{
	memset(c, 0, sizeof(*c));
	c->sock.fd = c->client_fd = -1;
	report_init(&c->report);
}

void control_open(struct control *c)
{
	control_socket_open(&c->sock);
}

void control_remove(const struct control *c)
{
	control_socket_remove(&c->sock);
}

void control_forget(struct control *c)
{
	report_drop(&c->report);
	sys_close(c->client_fd);
	c->client_fd = -1;
	control_socket_forget(&c->sock);
}

struct pollfd control_wanted(const struct control *c)
{
	if (c->client_fd < 0)
		return (struct pollfd){ .fd = c->sock.fd, .events = POLLIN };
	return (struct pollfd){
		.fd = c->client_fd,
		.events = c->asked ? POLLOUT : POLLIN,
	};
}

static void drop_client(struct shard *s)
{
	struct control *c = &s->control;

	rnic_enter(s->rnic);
	report_drop(&c->report);
	rnic_leave(s->rnic);
	sys_close(c->client_fd);
	c->client_fd = -1;
}

static bool take_client(struct control *c, uint64_t now)
{
	int fd = control_socket_accept(&c->sock);

	if (fd < 0)
		return false;
	if (!c->answer)
		c->answer = malloc(REPORT_ROOM);
	if (!c->answer) {
		sys_close(fd);
		return false;
	}
	c->client_fd = sys_keep(fd);
	c->since = now;
	c->asked = false;
	c->request_len = c->answer_len = c->answer_sent = 0;
	return true;
}

/* The result of one step of serving the client. */
enum step {
	STEP_DONE,  /* the step made progress */
	STEP_WAITS, /* the client must send or read first */
	STEP_OVER,  /* the client has disconnected, or has received its whole answer */
};

static enum step waits_or_over(ssize_t n)
{
	return n == -EAGAIN || n == -EINTR ? STEP_WAITS : STEP_OVER;
}

static enum step take_request(struct shard *s)
{
	struct control *c = &s->control;
	ssize_t n = sys_read(c->client_fd, c->request + c->request_len,
			     sizeof(c->request) - c->request_len);
	char *newline;

	if (n <= 0)
		return n ? waits_or_over(n) : STEP_OVER;
	c->request_len += (size_t)n;
	newline = memchr(c->request, '\n', c->request_len);
	if (newline) {
		*newline = '\0';
		report_begin(&c->report, s, c->request);
		c->asked = true;
		return STEP_DONE;
	}
	return c->request_len < sizeof(c->request) ? STEP_DONE : STEP_OVER;
}

static enum step send_answer(struct control *c)
{
	struct iovec iov = {
		.iov_base = c->answer + c->answer_sent,
		.iov_len = c->answer_len - c->answer_sent,
	};
	const struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	/* MSG_NOSIGNAL: a client that has gone must not cause a SIGPIPE in the application. */
	ssize_t n = sys_sendmsg(c->client_fd, &msg, MSG_NOSIGNAL);

	if (n < 0)
		return waits_or_over(n);
	c->answer_sent += (size_t)n;
	return STEP_DONE;
}

/* Sends one piece of the answer per call, so that packets from the network do not wait long. */
static enum step serve_client(struct shard *s)
{
	struct control *c = &s->control;
	enum step what = c->asked ? STEP_DONE : take_request(s);

	if (what != STEP_DONE || !c->asked)
		return what;
	if (c->answer_sent == c->answer_len) {
		c->answer_sent = 0;
		c->answer_len = report_more(&c->report, s, c->answer);
	}
	what = send_answer(c);
	if (what == STEP_DONE && c->answer_sent == c->answer_len && !c->report.part)
		return STEP_OVER;
	return what;
}

void control_serve(struct shard *s, bool ready, uint64_t now)
{
	struct control *c = &s->control;
	enum step what = STEP_WAITS;

	if (c->client_fd < 0 && !take_client(c, now))
		return;
	if (ready)
		what = serve_client(s);
	if (what == STEP_DONE)
		c->since = now;
	else if (what == STEP_OVER || now - c->since >= PATIENCE)
		drop_client(s);
}
