/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: several.cm_process --engines 3 -- */
/*
 * Connections and their processes: the effects of fork(), closed descriptors, and the possible
 * number of connections. cm_gone.c has the end of a process. Each case runs in a separate process,
 * which makes new RDMA objects.
 */
#define _GNU_SOURCE
#include "child.h"
#include "cm.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Accepts connections, and serves them until `in` is closed. */
static void serve(struct rdma_event_channel *channel, int in)
{
	struct pollfd pfd[] = { { channel->fd, POLLIN, 0 }, { in, POLLIN, 0 } };
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;

	for (;;) {
		CHECK(poll(pfd, 2, -1) > 0);
		if (!pfd[0].revents)
			return;
		CHECK_EQ(rdma_get_cm_event(channel, &event), 0);
		type = event->event;
		id = event->id;
		rdma_ack_cm_event(event);
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
			cm_add_qp(id);
			CHECK_EQ(cm_accept(id), 0);
		} else if (type == RDMA_CM_EVENT_DISCONNECTED) {
			cm_destroy(id);
		} else {
			CHECK_EQ(type, RDMA_CM_EVENT_ESTABLISHED);
		}
	}
}

static void server(int in, int out)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *listener = cm_listener(channel, AF_INET, 0);

	child_say(out, rdma_get_src_port(listener));
	serve(channel, in);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
}

/* UDP sockets without SCTP */

static int udp_socket(struct sockaddr_storage *addr)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(*addr);

	*addr = cm_loopback(AF_INET, 0);
	CHECK(fd >= 0);
	CHECK_EQ(bind(fd, (struct sockaddr *)addr, sizeof(struct sockaddr_in)), 0);
	CHECK_EQ(getsockname(fd, (struct sockaddr *)addr, &len), 0);
	return fd;
}

static void expect_unreachable(const struct sockaddr_storage *to)
{
	struct rdma_event_channel *channel;
	double begun = now_seconds();
	struct rdma_cm_id *id;

	CHECK_EQ(setenv("SCTPIW_SILENT_LIMIT", "3", 1), 0);
	channel = cm_channel();
	id = cm_resolved(channel, to);
	CHECK_EQ(cm_connect(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	CHECK(now_seconds() - begun < 6);
	cm_expect_none(channel, 20);
	cm_destroy(id);
	rdma_destroy_event_channel(channel);
}

static void test_silent_peer(void)
{
	struct sockaddr_storage to;
	int fd = udp_socket(&to);

	expect_unreachable(&to);
	close(fd);
}

/* Sends noise, and then returns all datagrams. */
static void *babble(void *arg)
{
	int fd = *(int *)arg;
	struct sockaddr_storage from;
	uint8_t buf[2048], noise[200];
	unsigned int seed = 1;

	for (;;) {
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *)&from, &len);

		if (n <= 1)
			return NULL;
		fill(noise, sizeof(noise), seed++);
		sendto(fd, noise, seed * 37 % sizeof(noise), 0, (struct sockaddr *)&from, len);
		sendto(fd, buf, n, 0, (struct sockaddr *)&from, len);
	}
}

static void test_babbling_peer(void)
{
	struct sockaddr_storage to;
	int fd = udp_socket(&to);
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, babble, &fd), 0);
	expect_unreachable(&to);
	CHECK_EQ(sendto(fd, "", 1, 0, (struct sockaddr *)&to, sizeof(struct sockaddr_in)), 1);
	pthread_join(thread, NULL);
	close(fd);
}

/* Many connections */

#define THREADS 8
#define ROUNDS 50

static struct sockaddr_storage target;

static void connect_once(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id = cm_resolved(channel, &target);

	CHECK_EQ(cm_connect(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	CHECK_EQ(rdma_disconnect(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, 0);
	cm_destroy(id);
}

static void *connector(void *arg)
{
	struct rdma_event_channel *channel = cm_channel();

	for (int i = 0; i < ROUNDS; i++)
		connect_once(channel);
	rdma_destroy_event_channel(channel);
	return NULL;
}

static void connect_from_threads(uint16_t port)
{
	pthread_t thread[THREADS];

	target = cm_loopback(AF_INET, port);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, connector, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void test_threads_to_process(void)
{
	struct child c = child_start(server);

	connect_from_threads(child_hear(c.from));
	close(c.to);
	c.to = -1;
	CHECK_EQ(child_end(&c), 0);
}

struct service {
	struct rdma_event_channel *channel;
	int in;
};

static void *serve_thread(void *arg)
{
	struct service *s = arg;

	serve(s->channel, s->in);
	return NULL;
}

static void test_threads_to_self(void)
{
	struct service s = { .channel = cm_channel() };
	struct rdma_cm_id *listener = cm_listener(s.channel, AF_INET, 0);
	pthread_t thread;
	int stop[2];

	CHECK(!pipe(stop));
	s.in = stop[0];
	CHECK_EQ(pthread_create(&thread, NULL, serve_thread, &s), 0);
	connect_from_threads(rdma_get_src_port(listener));
	close(stop[1]);
	pthread_join(thread, NULL);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(s.channel);
}

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 8192; fd++)
		n += syscall(SYS_fcntl, fd, F_GETFD) >= 0; /* the device's own descriptors, too */
	return n;
}

static int listed_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *d;
	int n = 0;

	CHECK(dir);
	while ((d = readdir(dir)))
		n += *d->d_name != '.' && atoi(d->d_name) != dirfd(dir);
	closedir(dir);
	return n;
}

struct usage {
	int fds;
	long kib;
};

/* Associations without sessions, and their sockets, are gone after some seconds. */
static struct usage settled(void)
{
	sleep_ms(4000);
	return (struct usage){ open_descriptors(), resident_kib() };
}

static void connect_use_close(struct cm_link *l, int i)
{
	struct rdma_cm_id *a = cm_link_another(l), *b;

	CHECK_EQ(cm_connect(a), 0);
	b = cm_request(l->listening);
	cm_add_qp(b);
	CHECK_EQ(cm_accept(b), 0);
	cm_expect(l->listening, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_expect(l->active, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_transfer(a, b);
	cm_transfer(b, a);
	/* One side, the other side, or neither side ends the connection. */
	if (i % 3)
		CHECK_EQ(rdma_disconnect(i % 3 == 1 ? a : b), 0);
	cm_destroy(a);
	cm_destroy(b);
}

/* Pools grow to the maximum that was needed at the same time. Only a leak grows in both halves. */
static void test_nothing_grows(void)
{
	struct usage before = { 0 }, half = { 0 }, after;
	struct cm_link l, other;

	cm_link_open(&l);
	for (int i = 0; i < 1000; i++) {
		connect_use_close(&l, i);
		/* Every tenth time, with a new association and endpoint. */
		if (i % 10 == 0) {
			cm_link_open(&other);
			cm_link_close(&other);
		}
		if (i == 300)
			before = settled();
		if (i == 650)
			half = settled();
	}
	after = settled();
	cm_link_close(&l);
	fprintf(stderr, "descriptors %d, after %d; KiB %ld, %ld, after %ld\n", before.fds,
		after.fds, before.kib, half.kib, after.kib);
	CHECK_EQ(before.fds, after.fds);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	CHECK(half.kib - before.kib < 512 || after.kib - half.kib < 512);
#endif
}

/* Fork */

static void test_fork(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_context *ctx;
	struct cm_link l;
	struct ibv_pd *pd;
	int status;
	pid_t pid;

	cm_link_open(&l);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		struct rdma_cm_event *event;

		/*
		 * The child cannot reach the parent's objects, and the parent's connections are
		 * unaffected.
		 */
		CHECK(rdma_disconnect(l.a));
		CHECK_EQ(fcntl(l.active->fd, F_SETFL, O_NONBLOCK), 0);
		CHECK(rdma_get_cm_event(l.active, &event));
		CHECK_EQ(fcntl(l.active->fd, F_SETFL, 0), 0);
		close(l.active->fd);
		ctx = open_device();
		pd = ibv_alloc_pd(ctx);
		CHECK(pd);
		CHECK_EQ(ibv_dealloc_pd(pd), 0);
		CHECK_EQ(ibv_close_device(ctx), 0);
		channel = cm_channel();
		id = cm_listener(channel, AF_INET, 0);
		CHECK_EQ(rdma_destroy_id(id), 0);
		rdma_destroy_event_channel(channel);
		exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	cm_expect_none(l.passive, 100);
	cm_transfer(l.a, l.b);
	cm_transfer(l.b, l.a);
	CHECK_EQ(rdma_disconnect(l.a), 0);
	cm_expect(l.active, RDMA_CM_EVENT_DISCONNECTED, 0);
	cm_link_close(&l);
}

/*
 * Makes a connection with all objects. Then a child does the same, for depth generations, while
 * they exist.
 */
static void connect_anew(struct ibv_context *before, int depth)
{
	struct cm_link l;
	int status;
	pid_t pid;

	cm_link_open(&l);
	CHECK(l.a->verbs && l.a->verbs == l.b->verbs && l.a->verbs != before);
	cm_transfer(l.a, l.b);
	if (depth) {
		pid = fork();
		CHECK(pid >= 0);
		if (!pid) {
			connect_anew(l.a->verbs, depth - 1);
			exit(0);
		}
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK_EQ(status, 0);
	}
	cm_transfer(l.b, l.a);
	cm_link_close(&l);
}

/*
 * librdmacm keeps its devices open. The child's device is a different one, which the child finds
 * and opens. So a child connects without regard to its parent, and so does a child of that child.
 */
static void test_fork_and_connect(void)
{
	connect_anew(NULL, 2);
}

/* Descriptors */

static void close_by_range(void)
{
	CHECK_EQ(close_range(3, ~0u, 0), 0);
}

static void close_from(void)
{
	closefrom(3);
}

static void close_one_by_one(void)
{
	for (int fd = 3; fd < 70000; fd++)
		close(fd);
}

/* Opens the application's own files, which get the lowest free descriptors. */
#define FILES 64

static void open_files(int *fd)
{
	for (int i = 0; i < FILES; i++) {
		char path[] = "/tmp/sctpiw-cm-XXXXXX";

		fd[i] = mkstemp(path);
		CHECK(fd[i] >= 0);
		unlink(path);
	}
}

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static void closes_all(int in, void (*close_all)(void))
{
	struct rdma_event_channel *channel = cm_channel();
	struct sockaddr_storage to = cm_loopback(AF_INET, child_hear(in));
	struct rdma_cm_id *id = cm_resolved(channel, &to);
	struct cm_link l;
	int fd[FILES];
	double cpu;

	CHECK_EQ(cm_connect(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	close_all();
	open_files(fd);
	sleep_ms(100);
	cpu = cpu_seconds();
	sleep_ms(500);
	CHECK(cpu_seconds() - cpu < 0.1);
	/* The process can start again. */
	cm_link_open(&l);
	cm_transfer(l.a, l.b);
	cm_link_close(&l);
	for (int i = 0; i < FILES; i++) {
		CHECK_EQ(lseek(fd[i], 0, SEEK_END), 0);
		CHECK_EQ(close(fd[i]), 0);
	}
}

static void closes_by_range(int in, int out)
{
	closes_all(in, close_by_range);
}

static void closes_from(int in, int out)
{
	closes_all(in, close_from);
}

static void closes_one_by_one(int in, int out)
{
	closes_all(in, close_one_by_one);
}

/* Closing a channel's descriptor ends its connections, as if the program had closed only that. */
static void closed_all(void (*run)(int in, int out))
{
	struct child c = child_start(run);
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *listener = cm_listener(channel, AF_INET, 0), *id;

	child_say(c.to, rdma_get_src_port(listener));
	id = cm_request(channel);
	cm_add_qp(id);
	CHECK_EQ(cm_accept(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, 0);
	CHECK_EQ(child_end(&c), 0);
	cm_destroy(id);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
}

static void test_close_range(void)
{
	closed_all(closes_by_range);
}

static void test_closefrom(void)
{
	closed_all(closes_from);
}

static void test_close_each(void)
{
	closed_all(closes_one_by_one);
}

/*
 * A program that lists its open descriptors finds only its own descriptors, and the same list after
 * all objects are closed. The device's own descriptors, which the device closes later, are not in
 * the list.
 */
static void test_own_descriptors_alone(void)
{
	struct cm_link l;
	int before, seen;

	cm_link_open(&l);
	cm_link_close(&l); /* librdmacm keeps the device open */
	before = listed_descriptors();
	cm_link_open(&l);
	cm_transfer(l.a, l.b);
	seen = listed_descriptors();
	CHECK(seen > before && seen < open_descriptors());
	cm_link_close(&l);
	CHECK_EQ(listed_descriptors(), before);
	CHECK(before < open_descriptors());
}

static void test_no_standard_streams(void)
{
	struct cm_link l;

	close(0);
	close(1);
	close(2);
	cm_link_open(&l);
	CHECK(l.active->fd > 2 && l.a->verbs->cmd_fd > 2 && l.a->verbs->async_fd > 2);
	for (int i = 0; i < 3; i++)
		CHECK(fcntl(i, F_GETFD) < 0);
	cm_transfer(l.a, l.b);
	cm_link_close(&l);
}

/*
 * Makes RDMA objects until n descriptors are in use. Returns 0, or the errno of the call that
 * failed.
 */
static int try_with(rlim_t n)
{
	struct rlimit limit = { n, n };
	struct sockaddr_storage addr = cm_loopback(AF_INET, 0);
	struct rdma_event_channel *channel;
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };
	struct rdma_cm_id *listener, *id;
	struct rdma_cm_event *event;

	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	errno = 0;
	channel = rdma_create_event_channel();
	if (!channel || rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&addr) || rdma_listen(listener, 0) ||
	    rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return errno;
	addr = cm_address_of(listener, AF_INET);
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, 1000))
		return errno;
	event = NULL;
	CHECK_EQ(rdma_get_cm_event(channel, &event), 0);
	/* The device is open by now. If a call fails, librdmacm returns -1 and sets errno. */
	if (event->event != RDMA_CM_EVENT_ADDR_RESOLVED)
		return event->status == -1 ? errno : -event->status;
	rdma_ack_cm_event(event);
	if (rdma_create_qp(id, NULL, &attr))
		return errno;
	return 0;
}

static void test_few_descriptors(void)
{
	bool worked = false;
	int status;

	for (int n = 3; n < 64; n++) {
		pid_t pid = fork();

		if (!pid) {
			close_range(3, ~0u, 0);
			freopen("/dev/null", "w", stderr);
			_exit(try_with(n));
		}
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK(WIFEXITED(status));
		/* librdmacm returns ENODEV if it could not open the device. */
		status = WEXITSTATUS(status);
		if (status && status != EMFILE && status != ENODEV)
			fprintf(stderr, "%d descriptors: errno %d\n", n, status);
		CHECK(!status || status == EMFILE || status == ENODEV);
		CHECK(!worked || !status);
		worked |= !status;
	}
	CHECK(worked);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "silent_peer", test_silent_peer },
		{ "babbling_peer", test_babbling_peer },
		{ "threads_to_process", test_threads_to_process },
		{ "threads_to_self", test_threads_to_self },
		{ "nothing_grows", test_nothing_grows },
		{ "fork", test_fork },
		{ "fork_and_connect", test_fork_and_connect },
		{ "close_range", test_close_range },
		{ "closefrom", test_closefrom },
		{ "close_each", test_close_each },
		{ "own_descriptors_alone", test_own_descriptors_alone },
		{ "no_standard_streams", test_no_standard_streams },
		{ "few_descriptors", test_few_descriptors },
	};

	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
