/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: peer_to_peer.cm_channels --peer-to-peer send -- */
/* Event channels of the connection manager: moves of ids between channels, waits, and closing. */
#define _GNU_SOURCE
#include "cm.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void resolve(struct rdma_cm_id *id)
{
	struct sockaddr_storage to = cm_loopback(AF_INET, htons(9));

	CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 100), 0);
}

static void test_migrate(void)
{
	struct rdma_event_channel *x = cm_channel(), *y = cm_channel();
	struct rdma_cm_id *a = cm_id(x), *b = cm_id(x);
	struct rdma_cm_event *event;

	resolve(a);
	resolve(b);
	cm_expect(x, RDMA_CM_EVENT_ADDR_RESOLVED, 0); /* a's event */
	CHECK_EQ(rdma_resolve_route(a, 100), 0);
	CHECK_EQ(rdma_migrate_id(a, y), 0);
	CHECK_EQ(rdma_migrate_id(b, y), 0);
	cm_expect_none(x, 0);
	event = cm_event(y, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	CHECK(event->id == a && a->channel == y);
	rdma_ack_cm_event(event);
	CHECK_EQ(rdma_migrate_id(b, x), 0);
	cm_expect_none(y, 0);
	event = cm_event(x, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	CHECK(event->id == b);
	rdma_ack_cm_event(event);
	CHECK_EQ(rdma_resolve_route(b, 100), 0);
	CHECK_EQ(rdma_migrate_id(b, y), 0);
	CHECK_EQ(rdma_migrate_id(b, y), 0); /* the id is on that channel already */
	/*
	 * Neither call waits: the event that was read is acknowledged, and the unread event
	 * vanishes.
	 */
	CHECK_EQ(rdma_destroy_id(b), 0);
	cm_expect_none(y, 0);
	CHECK_EQ(rdma_destroy_id(a), 0);
	rdma_destroy_event_channel(x);
	rdma_destroy_event_channel(y);
}

/* The requests of a listener move with it. */
static void test_migrate_listener(void)
{
	struct rdma_event_channel *x = cm_channel();
	struct rdma_cm_id *id, *b;
	struct cm_link l;

	cm_link_open(&l);
	id = cm_link_another(&l);
	CHECK_EQ(cm_connect(id), 0);
	sleep_ms(50);
	CHECK_EQ(rdma_migrate_id(l.listener, x), 0);
	cm_expect_none(l.listening, 0);
	b = cm_request(x);
	cm_add_qp(b);
	CHECK_EQ(cm_accept(b), 0);
	cm_expect(x, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_destroy(b);
	cm_destroy(id);
	CHECK_EQ(rdma_migrate_id(l.listener, l.listening), 0);
	rdma_destroy_event_channel(x);
	cm_link_close(&l);
}

static _Atomic bool destroyed;

static void *destroy(void *id)
{
	CHECK_EQ(rdma_destroy_id(id), 0);
	destroyed = true;
	return NULL;
}

static void test_destroy_waits_for_acks(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *id = cm_id(channel);
	struct rdma_cm_event *event;
	pthread_t thread;

	resolve(id);
	event = cm_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	destroyed = false;
	CHECK_EQ(pthread_create(&thread, NULL, destroy, id), 0);
	sleep_ms(200);
	CHECK(!destroyed);
	rdma_ack_cm_event(event);
	pthread_join(thread, NULL);
	CHECK(destroyed);
	rdma_destroy_event_channel(channel);
}

static void test_nonblocking(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_event *event;
	struct sockaddr_storage to;
	struct rdma_cm_id *a, *b = NULL;
	struct cm_link l;
	int established = 0;

	cm_link_open(&l);
	CHECK_EQ(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
	CHECK_EQ(rdma_migrate_id(l.listener, channel), 0);
	to = cm_address_of(l.listener, AF_INET);
	a = cm_id(channel);
	CHECK_ERRNO(rdma_get_cm_event(channel, &event), EAGAIN);
	CHECK_EQ(rdma_resolve_addr(a, NULL, (struct sockaddr *)&to, 2000), 0);
	while (established < 2) {
		struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };
		enum rdma_cm_event_type type;
		struct rdma_cm_id *id;

		CHECK_EQ(poll(&pfd, 1, WAIT_SECONDS * 1000), 1);
		CHECK_EQ(rdma_get_cm_event(channel, &event), 0);
		type = event->event;
		id = event->id;
		CHECK_EQ(event->status, 0);
		rdma_ack_cm_event(event);
		switch (type) {
		case RDMA_CM_EVENT_ADDR_RESOLVED:
			CHECK_EQ(rdma_resolve_route(id, 2000), 0);
			break;
		case RDMA_CM_EVENT_ROUTE_RESOLVED:
			cm_add_qp(id);
			CHECK_EQ(cm_connect(id), 0);
			break;
		case RDMA_CM_EVENT_CONNECT_REQUEST:
			b = id;
			cm_add_qp(id);
			CHECK_EQ(cm_accept(id), 0);
			break;
		default:
			CHECK_EQ(type, RDMA_CM_EVENT_ESTABLISHED);
			established++;
		}
	}
	CHECK_ERRNO(rdma_get_cm_event(channel, &event), EAGAIN);
	cm_transfer(a, b);
	cm_destroy(a);
	cm_destroy(b);
	CHECK_EQ(rdma_migrate_id(l.listener, l.listening), 0);
	rdma_destroy_event_channel(channel);
	cm_link_close(&l);
}

#define UNREAD 5000

static void test_many_unread_events(void)
{
	static struct rdma_cm_id *id[UNREAD];
	struct rdma_event_channel *channel = cm_channel();

	for (int i = 0; i < UNREAD; i++) {
		id[i] = cm_id(channel);
		resolve(id[i]);
	}
	for (int i = 0; i < UNREAD / 2; i++) {
		struct rdma_cm_event *event = cm_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);

		CHECK(event->id == id[i]);
		rdma_ack_cm_event(event);
	}
	for (int i = 0; i < UNREAD; i++)
		CHECK_EQ(rdma_destroy_id(id[i]), 0);
	cm_expect_none(channel, 0);
	rdma_destroy_event_channel(channel);
}

/* Closing a channel ends the connections of all of its ids. */
static void test_close_channel_with_ids(void)
{
	struct cm_link l;

	cm_link_open(&l);
	rdma_destroy_event_channel(l.active);
	cm_expect(l.passive, RDMA_CM_EVENT_DISCONNECTED, 0);
	l.a->channel = l.active = cm_channel();
	rdma_destroy_qp(l.a);
	CHECK(rdma_destroy_id(l.a)); /* no such id exists */
	l.a = cm_id(l.active);
	cm_link_close(&l);
}

static void test_dup(void)
{
	struct cm_link l;
	int fd;

	cm_link_open(&l);
	fd = dup(l.active->fd);
	CHECK(fd >= 0);
	CHECK_EQ(close(l.active->fd), 0);
	l.active->fd = fd;
	fd = fcntl(l.passive->fd, F_DUPFD_CLOEXEC, 500);
	CHECK_EQ(fd, 500);
	CHECK_EQ(dup2(l.active->fd, 501), 501);
	CHECK_EQ(close(501), 0);
	CHECK_EQ(close(l.passive->fd), 0);
	l.passive->fd = fd;
	cm_transfer(l.a, l.b);
	CHECK_EQ(rdma_disconnect(l.a), 0);
	cm_expect(l.active, RDMA_CM_EVENT_DISCONNECTED, 0);
	cm_expect(l.passive, RDMA_CM_EVENT_DISCONNECTED, 0);
	cm_link_close(&l);
}

/*
 * Commands of the kernel's ABI. Their header <rdma/rdma_user_cm.h> conflicts with librdmacm's
 * header.
 */
#define CMD_CREATE_ID 0
#define CMD_DESTROY_ID 1
#define CMD_GET_EVENT 12

struct create_id {
	uint32_t cmd;
	uint16_t in, out; /* bytes of the rest, and of the answer */
	uint64_t uid, response;
	uint16_t ps;
	uint8_t qp_type, reserved[5];
};

struct destroy_id {
	uint32_t cmd;
	uint16_t in, out;
	uint64_t response;
	uint32_t id, reserved;
};

struct get_event {
	uint32_t cmd;
	uint16_t in, out;
	uint64_t response;
};

/* Returns the command that makes an id, with its answer at this address. */
static struct create_id create_command(uint64_t response)
{
	return (struct create_id){
		.cmd = CMD_CREATE_ID,
		.in = sizeof(struct create_id) - 8,
		.out = 4,
		.uid = 1,
		.response = response,
		.ps = RDMA_PS_TCP,
		.qp_type = IBV_QPT_RC,
	};
}

/* Sends two commands whose answer goes to a bad address. */
static void answer_to(int fd, uint64_t response)
{
	struct create_id create = create_command(response);
	struct get_event event = {
		.cmd = CMD_GET_EVENT,
		.in = sizeof(event) - 8,
		.out = 336,
		.response = response,
	};

	CHECK_ERRNO(write(fd, &create, sizeof(create)), EFAULT);
	CHECK_ERRNO(write(fd, &event, sizeof(event)), EFAULT);
}

/*
 * Requests answers at bad addresses on a new channel, with an event that no such command may take.
 */
static void *use_bad_addresses(void *arg)
{
	long page = sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, 2 * (size_t)page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t bad[] = {
		0,
		0x10,
		(uintptr_t)memory,
		(uintptr_t)memory + (size_t)page - 2,
#ifndef SCTPIW_SANITIZED /* AddressSanitizer has no shadow for these addresses */
#ifdef __x86_64__
		UINT64_C(0x0000800000000000),
		UINT64_C(0x8000000000000000),
#endif
		UINT64_C(0xfffffffffffff000),
#endif
	};
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *id = cm_id(channel);

	CHECK(memory != MAP_FAILED);
	CHECK_EQ(mprotect(memory + page, (size_t)page, PROT_NONE), 0);
	resolve(id);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		answer_to(channel->fd, bad[i]);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	CHECK_EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
	munmap(memory, 2 * (size_t)page);
	return NULL;
}

static void *use_bad_addresses_blocked(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	return use_bad_addresses(arg);
}

static void on_fault(int sig)
{
	_exit(7);
}

/*
 * The error is EFAULT, as with the kernel's device, whatever handlers of fault signals the program
 * has. A child sets its own handlers.
 */
static void test_bad_addresses(void)
{
	struct sigaction sa = { .sa_handler = on_fault }, now;
	pthread_t thread;
	int status;
	pid_t pid;

	use_bad_addresses(NULL);
	CHECK_EQ(pthread_create(&thread, NULL, use_bad_addresses_blocked, NULL), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	pid = fork();
	if (!pid) {
		CHECK_EQ(sigaction(SIGSEGV, &sa, NULL), 0);
		use_bad_addresses(NULL);
		CHECK_EQ(sigaction(SIGSEGV, NULL, &now), 0);
		CHECK(now.sa_handler == on_fault);
		*(volatile char *)mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
		_exit(1);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/*
 * Prevents this thread from checking the types of its descriptors. Returns false without filters,
 * as in qemu-user.
 */
static bool forbid_questions(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_fstat
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fstat, 2, 0),
#endif
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void *command_without_questions(void *arg)
{
	struct rdma_event_channel *channel = arg;
	uint32_t answer = 0;
	struct create_id create = create_command((uintptr_t)&answer);
	struct rdma_cm_id *id;

	if (!forbid_questions()) {
		printf("SKIP a thread without fstat(): no filters here\n");
		return NULL;
	}
	id = cm_id(channel);
	resolve(id);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	CHECK_EQ(rdma_destroy_id(id), 0);
	/*
	 * A write by the program itself counts only if the descriptor is known to be the channel's.
	 */
	CHECK_ERRNO(write(channel->fd, &create, sizeof(create)) < 0, EBADF);
	CHECK_EQ(answer, 0);
	return NULL;
}

/* A command of librdmacm needs no check of the descriptor. */
static void test_no_questions(void)
{
	struct rdma_event_channel *channel = cm_channel();
	pthread_t thread;

	CHECK(cm_device());
	CHECK_EQ(pthread_create(&thread, NULL, command_without_questions, channel), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	rdma_destroy_event_channel(channel);
}

/*
 * Gives a pipe the number of a channel's descriptor, by raw system calls. Returns the pipe's other
 * end.
 */
static int replace_by_pipe(int fd)
{
	int ends[2];

	CHECK_EQ(pipe(ends), 0);
	CHECK_EQ(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	CHECK_EQ(syscall(SYS_close, fd), 0);
	CHECK_EQ(syscall(SYS_dup3, ends[1], fd, 0), fd);
	CHECK_EQ(close(ends[1]), 0);
	return ends[0];
}

/*
 * A foreign descriptor gets all that the program writes to it, whatever the contents. It gets no
 * command of librdmacm for the channel.
 */
static void test_stranger(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *id = cm_id(channel);
	uint32_t answer = 0;
	struct create_id create = create_command((uintptr_t)&answer), got;
	struct rdma_cm_event *event;
	int other;

	CHECK(cm_device()); /* opening a device detects channels whose descriptors are gone */
	other = replace_by_pipe(channel->fd);
	/* The channel works as before. No call reads the foreign descriptor, which would block. */
	CHECK_ERRNO(rdma_get_cm_event(channel, &event), EBADF);
	resolve(id);
	CHECK_EQ(rdma_get_cm_event(channel, &event), 0);
	CHECK_EQ(event->event, RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK_EQ(rdma_ack_cm_event(event), 0);
	CHECK_ERRNO(read(other, &got, sizeof(got)) < 0, EAGAIN);
	CHECK_EQ(write(channel->fd, &create, sizeof(create)), sizeof(create));
	CHECK_EQ(read(other, &got, sizeof(got)), sizeof(got));
	CHECK(!memcmp(&got, &create, sizeof(got)) && !answer);
	CHECK_EQ(close(channel->fd), 0);
	CHECK_EQ(read(other, &got, sizeof(got)), 0);
	CHECK_ERRNO(rdma_destroy_id(id), EBADF);
	close(other);
}

/*
 * The command of rdma_write_cm_event(), in librdmacm since 58. rdma_resolve_addrinfo() ends with
 * it.
 */
static void write_event(int fd, uint32_t id, uint32_t status)
{
	const struct {
		uint32_t cmd;
		uint16_t in, out;
		uint32_t id, reserved, event, status;
		uint64_t arg;
	} req = { .cmd = 24, .in = 24, .id = id, .event = 18, .status = status, .arg = 1ull << 40 };

	CHECK_EQ(write(fd, &req, sizeof(req)), sizeof(req));
}

/*
 * Events that a program itself writes come in order, with their values, and vanish with their id.
 */
static void test_written_events(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct {
		uint64_t uid;
		uint32_t id, event, status, arg[2], rest[77];
	} event;
	struct get_event get = { CMD_GET_EVENT, sizeof(get) - 8, sizeof(event), (uintptr_t)&event };
	uint32_t id, reported = 0;
	struct create_id create = create_command((uintptr_t)&id);
	struct destroy_id destroy = { CMD_DESTROY_ID, 16, 4, (uintptr_t)&reported, 0, 0 };

	CHECK_EQ(write(channel->fd, &create, sizeof(create)), sizeof(create));
	for (uint32_t i = 1; i <= 3; i++)
		write_event(channel->fd, id, i);
	for (uint32_t i = 1; i <= 2; i++) {
		CHECK_EQ(write(channel->fd, &get, sizeof(get)), sizeof(get));
		CHECK_EQ(event.uid, create.uid);
		CHECK_EQ(event.id, id);
		CHECK_EQ(event.event, 18);
		CHECK_EQ(event.status, i);
		CHECK(!event.arg[0] && event.arg[1] == 1 << 8);
	}
	destroy.id = id;
	CHECK_EQ(write(channel->fd, &destroy, sizeof(destroy)), sizeof(destroy));
	CHECK_EQ(reported, 2);
	cm_expect_none(channel, 0);
	rdma_destroy_event_channel(channel);
}

/* The child of a fork() cannot use its parent's channel. */
static void test_child(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *id = cm_id(channel), *another;
	int status;
	pid_t pid = fork();

	if (!pid) {
		CHECK_ERRNO(rdma_create_id(channel, &another, NULL, RDMA_PS_TCP), EIO);
		CHECK_ERRNO(rdma_destroy_id(id), EIO);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "migrate", test_migrate },
		{ "migrate_listener", test_migrate_listener },
		{ "destroy_waits_for_acks", test_destroy_waits_for_acks },
		{ "nonblocking", test_nonblocking },
		{ "many_unread_events", test_many_unread_events },
		{ "close_channel_with_ids", test_close_channel_with_ids },
		{ "dup", test_dup },
		{ "bad_addresses", test_bad_addresses },
		{ "no_questions", test_no_questions },
		{ "stranger", test_stranger },
		{ "written_events", test_written_events },
		{ "child", test_child },
	};

	return RUN_TESTS(argc, argv, tests);
}
