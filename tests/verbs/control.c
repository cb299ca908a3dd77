/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The control socket of this process: its answers about known objects, to several clients, while
 * other threads work. Also clients that it does not serve.
 */
#define _GNU_SOURCE
#include "child.h"
#include "ud_steps.h"

#include <dirent.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MAX (1 << 20)
#define MANY 300 /* QPs, more than an answer writes at once */
#define ASKERS 20
#define DESCRIPTORS 8192 /* the device's descriptors are lower */

static char dir[64]; /* the runtime directory */
static char answer[ANSWER_MAX];

static void socket_name(pid_t pid, struct sockaddr_un *addr)
{
	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(addr->sun_path, sizeof(addr->sun_path), "%s/sctpiw/%d", dir, (int)pid);
}

static int connect_to(pid_t pid)
{
	const struct timeval limit = { .tv_sec = WAIT_SECONDS };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr;

	CHECK(fd >= 0);
	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)), 0);
	socket_name(pid, &addr);
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	close(fd);
	return -1;
}

static void request(int fd, const char *text)
{
	CHECK_EQ(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Reads until the process closes the connection. Returns the number of bytes. */
static size_t receive(int fd, char *buf)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	size_t len = 0;
	ssize_t n;

	do {
		CHECK_EQ(poll(&pfd, 1, WAIT_SECONDS * 1000), 1);
		n = read(fd, buf + len, ANSWER_MAX - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	buf[len] = '\0';
	close(fd);
	return len;
}

/* Requests an answer of this process, which must be complete. */
static void ask(const char *text)
{
	int fd = connect_to(getpid());
	size_t len;

	CHECK(fd >= 0);
	request(fd, text);
	len = receive(fd, answer);
	CHECK(len > 4 &&
	      (!strcmp(answer + len - 4, "end\n") || !strcmp(answer + len - 11, "{\"end\":{}}\n")));
}

/* Returns the value of a member in the line of this kind with this text, or NULL. */
static const char *member(const char *kind, const char *with, const char *name)
{
	static char value[256];
	char *line, *text = strdup(answer), *rest = text, *at, *end, key[64];

	snprintf(key, sizeof(key), "\t%s\t", name);
	*value = '\0';
	while ((line = strsep(&rest, "\n")) && !*value) {
		if (strncmp(line, kind, strlen(kind)) || line[strlen(kind)] != '\t' ||
		    !strstr(line, with))
			continue;
		at = strstr(line, key);
		if (!at)
			break;
		at += strlen(key);
		end = strchrnul(at, '\t');
		snprintf(value, sizeof(value), "%.*s", (int)(end - at), at);
	}
	free(text);
	return *value ? value : NULL;
}

static const char *of_qp(const struct ibv_qp *qp, const char *name)
{
	char with[32];

	snprintf(with, sizeof(with), "\tnum\t%u\t", qp->qp_num);
	return member("qp", with, name);
}

static int64_t number(const char *text)
{
	CHECK(text);
	return strtoll(text, NULL, 10);
}

/* Checks a counter of a QP, once it has this value: the last acknowledgement may be on its way. */
static void expect_of_qp(const struct ibv_qp *qp, const char *name, int64_t value)
{
	double end = now_seconds() + WAIT_SECONDS;

	do {
		ask("1 text stat\n");
	} while (number(of_qp(qp, name)) != value && now_seconds() < end);
	CHECK_EQ(number(of_qp(qp, name)), value);
}

static unsigned int lines(const char *begin)
{
	unsigned int n = 0;

	for (const char *at = answer; (at = strstr(at, begin)); at++)
		n += at == answer || at[-1] == '\n';
	return n;
}

/* ---- answers ---- */

/* Messages and bytes of each kind of work request, at both ends. */
static void test_numbers(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	for (int i = 0; i < 3; i++) {
		sge = sge_of(p.b.mr, p.b.buf, 1000);
		CHECK_EQ(post_recv(&p.b, 1, &sge, 1), 0);
		sge = sge_of(p.a.mr, p.a.buf, 100);
		CHECK_EQ(post_send(&p.a, 1, &sge, 1, IBV_SEND_SIGNALED), 0);
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	}
	CHECK_EQ(access_remote(&p, IBV_WR_RDMA_WRITE, address(p.b.buf), p.b.mr->rkey, 200000), 0);
	CHECK_EQ(access_remote(&p, IBV_WR_RDMA_READ, address(p.b.buf), p.b.mr->rkey, 70000), 0);
	/* Three Sends, a Write, a Read Request. */
	expect_of_qp(p.a.qp, "sent_messages", 5);
	expect_of_qp(p.a.qp, "sent_bytes", 300 + 200000);
	expect_of_qp(p.a.qp, "received_messages", 1);
	expect_of_qp(p.a.qp, "received_bytes", 70000);
	expect_of_qp(p.b.qp, "received_messages", 5);
	expect_of_qp(p.b.qp, "received_bytes", 300 + 200000);
	expect_of_qp(p.b.qp, "sent_messages", 1);
	expect_of_qp(p.b.qp, "sent_bytes", 70000);
	CHECK(!strcmp(of_qp(p.a.qp, "state"), "RTS"));
	CHECK(!strcmp(of_qp(p.a.qp, "type"), "RC"));
	CHECK(!of_qp(p.a.qp, "error"));
	/* Both ends are in this process. */
	CHECK_EQ(number(member("process", "", "pid")), getpid());
	CHECK_EQ(number(member("process", "", "sent_messages")), 6);
	CHECK_EQ(number(member("process", "", "sent_bytes")), 300 + 200000 + 70000);
	CHECK_EQ(number(member("process", "", "qps")), lines("qp\t"));
	CHECK_EQ(number(member("process", "", "cqs")), lines("cq\t"));
	CHECK_EQ(number(member("process", "", "mrs")), lines("mr\t"));
	CHECK_EQ(number(member("process", "", "associations")), lines("association\t"));
	CHECK_EQ(lines("association\t"), 2);
	CHECK(!strcmp(member("association", "", "state"), "ESTABLISHED"));
	CHECK_EQ(number(member("association", "", "sessions")), 1);
	CHECK_EQ(number(member("mr", "", "length")), SIDE_BUF);
	ask("1 text counters\n");
	CHECK_EQ(number(member("counter", "iwOutRdmaSends", "iwOutRdmaSends")), 3);
	CHECK_EQ(number(member("counter", "iwOutRdmaWrites", "iwOutRdmaWrites")), 1);
	CHECK_EQ(number(member("counter", "iwInRdmaReads", "iwInRdmaReads")), 1);
	pair_close(&p);
	ask("1 text stat\n");
	CHECK_EQ(lines("qp\t"), 0);
	CHECK_EQ(lines("mr\t"), 0);
	/* The bytes of closed objects still count. */
	CHECK_EQ(number(member("process", "", "sent_bytes")), 300 + 200000 + 70000);
}

/* A Send that waits for a receive. */
static void test_waits(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	sge = sge_of(p.a.mr, p.a.buf, 100);
	CHECK_EQ(post_send(&p.a, 1, &sge, 1, IBV_SEND_SIGNALED), 0);
	expect_of_qp(p.b.qp, "unexpected", 1);
	expect_of_qp(p.a.qp, "send_wrs", 1);
	CHECK_EQ(number(of_qp(p.b.qp, "receive_wrs")), 0);
	sge = sge_of(p.b.mr, p.b.buf, 1000);
	CHECK_EQ(post_recv(&p.b, 1, &sge, 1), 0);
	CHECK_EQ(post_recv(&p.b, 2, &sge, 1), 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	expect_of_qp(p.b.qp, "unexpected", 0);
	expect_of_qp(p.a.qp, "send_wrs", 0);
	expect_of_qp(p.b.qp, "receive_wrs", 1);
	pair_close(&p);
}

/* The cause of a QP's error state. */
static void test_error(void)
{
	struct pair p;

	pair_open(&p, NULL);
	CHECK_EQ(access_remote(&p, IBV_WR_RDMA_WRITE, address(p.b.buf), p.b.mr->rkey + 256, 100),
		 IBV_WC_REM_ACCESS_ERR);
	expect_broken(&p);
	ask("1 text stat\n");
	CHECK(!strcmp(of_qp(p.a.qp, "state"), "ERR"));
	CHECK(!strcmp(of_qp(p.a.qp, "error"), "remote access error"));
	CHECK(strstr(of_qp(p.b.qp, "error"), "no such STag"));
	CHECK_EQ(number(member("process", "", "errors")), 2);
	pair_close(&p);
}

/* More objects than an answer writes at once: each is listed once. */
static void test_many(void)
{
	struct ibv_qp *qps[MANY];
	struct side s;

	oob_open();
	open_side(&s);
	for (int i = 0; i < MANY; i++)
		qps[i] = new_qp(&s);
	ask("1 text stat\n");
	CHECK_EQ(lines("qp\t"), MANY + 1);
	for (int i = 0; i < MANY; i++)
		CHECK(of_qp(qps[i], "state"));
	ask("1 json stat\n");
	CHECK_EQ(lines("{\"qp\":{\"num\":"), MANY + 1);
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(ibv_destroy_qp(qps[i]), 0);
	close_side(&s);
}

/* ---- while others work ---- */

static atomic_bool done;

static void *make_and_free(void *arg)
{
	struct side *s = arg;
	struct ibv_qp *qps[40];
	struct ibv_mr *mrs[40];

	while (!atomic_load(&done)) {
		for (int i = 0; i < 40; i++) {
			qps[i] = new_qp(s);
			mrs[i] = ibv_reg_mr(s->pd, s->buf, 4096, IBV_ACCESS_LOCAL_WRITE);
			CHECK(mrs[i]);
		}
		for (int i = 0; i < 40; i++) {
			CHECK_EQ(ibv_destroy_qp(qps[i]), 0);
			CHECK_EQ(ibv_dereg_mr(mrs[i]), 0);
		}
	}
	return NULL;
}

/* During Writes, objects come and go. */
static void test_while_busy(void)
{
	struct stream stream;
	pthread_t thread;
	struct side s;
	struct pair p;

	oob_open();
	open_side(&s);
	pair_open(&p, NULL);
	stream_start(&stream, &p, address(p.b.buf), p.b.mr->rkey, 4096, 100);
	CHECK_EQ(pthread_create(&thread, NULL, make_and_free, &s), 0);
	for (int i = 0; i < 100; i++) {
		ask(i % 2 ? "1 text stat\n" : "1 text counters\n");
		if (i % 2) {
			CHECK_EQ(number(of_qp(p.a.qp, "num")), p.a.qp->qp_num);
			CHECK_EQ(number(of_qp(p.b.qp, "num")), p.b.qp->qp_num);
		}
	}
	atomic_store(&done, true);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_EQ(ibv_dereg_mr(p.b.mr), 0);
	p.b.mr = NULL;
	stream_join(&stream);
	pair_close(&p);
	close_side(&s);
}

/* ---- clients ---- */

/* An invalid request gets one line, and ends the connection. */
static void test_no_request(void)
{
	static const char *const requests[] = {
		"\n",		"2 json stat\n",   "1 json\n",	    "1 json nonsense\n",
		"1 xml stat\n", "1 json stat 5\n", "1  json stat\n"
	};
	char longest[2000];
	int fd;

	oob_open();
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		fd = connect_to(getpid());
		request(fd, requests[i]);
		receive(fd, answer);
		CHECK(!strncmp(answer, "{\"error\":{\"text\":\"", 18));
		CHECK(strchr(answer, '\n') == answer + strlen(answer) - 1);
	}
	fd = connect_to(getpid());
	request(fd, "1 text nonsense\n");
	receive(fd, answer);
	CHECK(!strncmp(answer, "error\ttext\t", 11));
	/* Longer than any request. */
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	fd = connect_to(getpid());
	request(fd, longest);
	shutdown(fd, SHUT_WR);
	while (read(fd, answer, sizeof(answer)) > 0)
		;
	close(fd);
	ask("1 text stat\n");
}

/* Several clients at once. Some send nothing, or close their connection: the others are served. */
static void test_askers(void)
{
	int fds[ASKERS], silent, gone;
	struct side s;

	oob_open();
	open_side(&s);
	silent = connect_to(getpid());
	gone = connect_to(getpid());
	request(gone, "1 json stat\n");
	close(gone);
	gone = connect_to(getpid());
	request(gone, "1 json st");
	close(gone);
	for (int i = 0; i < ASKERS; i++) {
		/* The backlog is shorter than this number. */
		fds[i] = connect_to(getpid());
		CHECK(fds[i] >= 0);
		request(fds[i], "1 text stat\n");
	}
	for (int i = 0; i < ASKERS; i++) {
		receive(fds[i], answer);
		CHECK_EQ(lines("qp\t"), 1);
	}
	close(silent);
	close_side(&s);
}

/*
 * A client that does not read an answer longer than a socket's buffer does not block other clients.
 */
static void test_does_not_read(void)
{
	struct ibv_qp *qps[MANY];
	int fd, small = 1;
	struct side s;

	oob_open();
	open_side(&s);
	for (int i = 0; i < MANY; i++)
		qps[i] = new_qp(&s);
	fd = connect_to(getpid());
	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	for (int i = 0; i < 3; i++)
		request(fd, "1 json stat\n");
	ask("1 text stat\n");
	CHECK_EQ(lines("qp\t"), MANY + 1);
	receive(fd, answer);
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(ibv_destroy_qp(qps[i]), 0);
	close_side(&s);
}

/* ---- other processes ---- */

static void check_child(pid_t pid)
{
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* True if a descriptor of this process is a listening AF_UNIX socket. */
static bool listens(void)
{
	int family, listening;

	for (int fd = 0; fd < DESCRIPTORS; fd++) {
		socklen_t len = sizeof(family), size = sizeof(listening);

		if (!getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len) && family == AF_UNIX &&
		    !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) && listening)
			return true;
	}
	return false;
}

/*
 * The child of a fork() has its own socket if it has its own device. This process keeps its socket.
 */
static void test_fork(void)
{
	struct ibv_context *own;
	struct stat st;
	struct sockaddr_un addr;
	pid_t pid;
	int fd;

	oob_open();
	ask("1 text stat\n");
	socket_name(getpid(), &addr);
	CHECK_EQ(stat(addr.sun_path, &st), 0);
	CHECK_EQ(st.st_mode & 0777, 0600);
	CHECK(listens());
	pid = fork();
	if (!pid) { /* without the device */
		CHECK_EQ(connect_to(getpid()), -1);
		/* The parent's socket refuses connections after the parent's end. */
		CHECK(!listens());
		exit(0);
	}
	check_child(pid);
	ask("1 text stat\n");
	pid = fork();
	if (!pid) { /* with a device of its own */
		own = open_device();
		ask("1 text stat\n");
		CHECK_EQ(number(member("process", "", "pid")), getpid());
		fd = connect_to(getppid());
		CHECK(fd >= 0);
		close(fd);
		CHECK(own);
		exit(0);
	}
	check_child(pid);
	socket_name(pid, &addr);
	CHECK_EQ(access(addr.sun_path, F_OK), -1);
	ask("1 text stat\n");
}

static int64_t of_process(const char *field)
{
	ask("1 text stat\n");
	return number(member("process", "", field));
}

/* Datagrams count as messages of the process and of the queue pair. */
static void test_datagrams(void)
{
	struct side a, b;
	struct ibv_wc wc;

	oob_open();
	ud_pair(&a, &b);
	ud_recv(&b, 1, GRH + 100);
	tell(&a, &b, QKEY, 100);
	expect_wc(b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(of_process("sent_messages"), 1);
	CHECK_EQ(of_process("sent_bytes"), 100);
	CHECK_EQ(of_process("received_messages"), 1);
	CHECK_EQ(of_process("received_bytes"), 100);
	close_pair(&a, &b);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "numbers", test_numbers },
		{ "datagrams", test_datagrams },
		{ "waits", test_waits },
		{ "error", test_error },
		{ "many", test_many },
		{ "while_busy", test_while_busy },
		{ "no_request", test_no_request },
		{ "askers", test_askers },
		{ "does_not_read", test_does_not_read },
		{ "fork", test_fork },
	};
	char sockets[80];
	int status;

	strcpy(dir, "/tmp/sctpiw-test-XXXXXX");
	CHECK(mkdtemp(dir));
	setenv("XDG_RUNTIME_DIR", dir, 1);
	status = run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
	/* Both directories must be empty: processes remove their sockets. */
	snprintf(sockets, sizeof(sockets), "%s/sctpiw", dir);
	if (rmdir(sockets) || rmdir(dir)) {
		perror(sockets);
		status = status ? status : 1;
	}
	return status;
}
