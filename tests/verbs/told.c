/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages at the default log level about a program's errors: one line with the cause and the
 * remedy. Also the errno, for programs that print it themselves.
 */
#define _GNU_SOURCE
#include "out_of_band.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cm.h"

static int told_fd, stderr_fd;

/* From now on, collects the output to standard error. */
static void listen_to_it(void)
{
	told_fd = memfd_create("stderr", MFD_CLOEXEC);
	stderr_fd = dup(STDERR_FILENO);
	CHECK(told_fd >= 0 && stderr_fd >= 0);
	CHECK_EQ(dup2(told_fd, STDERR_FILENO), STDERR_FILENO);
}

/*
 * Ends this, and checks that the output was one line with both words. NULL: checks that it was
 * empty.
 */
static void expect_told(const char *cause, const char *remedy)
{
	char text[2048] = "", *end;

	CHECK_EQ(dup2(stderr_fd, STDERR_FILENO), STDERR_FILENO);
	CHECK(pread(told_fd, text, sizeof(text) - 1, 0) >= 0);
	close(told_fd);
	close(stderr_fd);
	end = strchr(text, '\n');
	if (cause ? !end || end[1] || !strstr(text, cause) || !strstr(text, remedy) : *text) {
		fprintf(stderr, "%s", text);
		CHECK(!"one line, with cause and remedy");
	}
	if (cause)
		CHECK(!strncmp(text, "sctpiw: ", 8));
}

/*
 * The peer's GID has another IP family than the local GID, as with ibv_rc_pingpong -g 0 and -g 1,
 * or is missing.
 */
static void expect_no_way(struct side *s, const struct where *to, const char *v6, const char *v4)
{
	struct ibv_qp_attr attr = rtr_attr(to);
	uint8_t *gid = attr.ah_attr.grh.dgid.raw;
	bool is_v4 = gid[10] == 0xff && !gid[0];

	if (is_v4) {
		CHECK_EQ(inet_pton(AF_INET6, v6, gid), 1);
	} else {
		memset(gid, 0, 10);
		memset(gid + 10, 0xff, 2);
		CHECK_EQ(inet_pton(AF_INET, v4, gid + 12), 1);
	}
	listen_to_it();
	CHECK_EQ(ibv_modify_qp(s->qp, &attr, RTR_MASK), EINVAL);
	expect_told(is_v4 ? "the peer is of IPv6" : "the peer is of IPv4", "one family of IP");
	CHECK(!ibv_create_ah(s->qp->pd, &attr.ah_attr)); /* with the same line, at a limited rate */
	memset(gid, 0, 16);
	listen_to_it();
	CHECK_EQ(ibv_modify_qp(s->qp, &attr, RTR_MASK), EINVAL);
	expect_told("is ::, which no host has", "GID index");
}

/* A QP is connected with the index of a missing GID, or without an index. */
static void test_gid_index(void)
{
	struct side a, b;
	struct ibv_qp_attr attr;
	struct where to;
	int error;

	oob_open();
	open_side(&a);
	open_side(&b);
	CHECK_EQ(to_init(&a), 0);
	CHECK_EQ(to_init(&b), 0);
	to = where_is(&b);
	attr = rtr_attr(&to);
	attr.ah_attr.grh.sgid_index = 77;
	listen_to_it();
	errno = 0;
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, RTR_MASK), EINVAL);
	error = errno;
	expect_told("no GID with the index 77", "sctpiw list");
	CHECK_EQ(error, EINVAL);

	attr = rtr_attr(&to);
	attr.ah_attr.is_global = 0;
	attr.ah_attr.dlid = 1;
	listen_to_it();
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, RTR_MASK), EINVAL);
	expect_told("without a GID", "GID index");

	/* An address handle without a GRH is invalid, too. */
	listen_to_it();
	errno = 0;
	CHECK(!ibv_create_ah(a.qp->pd, &attr.ah_attr));
	error = errno;
	expect_told("destination of an address handle is given without a GID", "--personality ib");
	CHECK_EQ(error, EINVAL);
	expect_no_way(&a, &to, "2001:db8::1", "192.0.2.1");

	attr = rtr_attr(&to);
	listen_to_it();
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, RTR_MASK), 0);
	expect_told(NULL, NULL);
	close_pair(&a, &b);
}

/* Another program has the UDP port of a listener. Repeated attempts get no second line. */
static void test_port_taken(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	socklen_t len = sizeof(addr);
	struct rdma_cm_id *id;
	char cause[32];
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	CHECK(channel && fd >= 0);
	CHECK_EQ(bind(fd, (struct sockaddr *)&addr, len), 0);
	CHECK_EQ(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	CHECK_EQ(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	snprintf(cause, sizeof(cause), "UDP port %u is taken", ntohs(addr.sin_port));
	listen_to_it();
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&addr), -1);
		CHECK_EQ(errno, EADDRINUSE);
	}
	expect_told(cause, "use another port");
	close(fd);
	CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&addr), 0);
	CHECK_EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

static void *wait_for_ever(void *unused)
{
	poll(NULL, 0, -1);
	return NULL;
}

/*
 * Not under ThreadSanitizer, which ignores calls in the preload library, and reports a thread that
 * is cancelled there. The report needs descriptors.
 */
static void cancel(pthread_t thread)
{
#ifndef __SANITIZE_THREAD__
	void *result;

	CHECK_EQ(pthread_cancel(thread), 0);
	CHECK_EQ(pthread_join(thread, &result), 0);
	CHECK(result == PTHREAD_CANCELED);
#else
	(void)thread;
#endif
}

/* A process without free descriptors: there is a line, and threads can still be cancelled. */
static void test_no_descriptors(void)
{
	struct rlimit limit, less;
	pthread_t thread;
	int lowest;

	oob_open();
	CHECK_EQ(pthread_create(&thread, NULL, wait_for_ever, NULL), 0);
	listen_to_it();
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	lowest = dup(STDIN_FILENO);
	CHECK(lowest >= 0);
	close(lowest);
	less = limit;
	less.rlim_cur = (rlim_t)lowest;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &less), 0);
	CHECK_FAILS(ibv_create_comp_channel(ctx), EMFILE);
	cancel(thread);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	expect_told("Too many open files", "ulimit -n");
}

/*
 * A verb that fails sets errno, as a system call does. A verb that succeeds does not change errno.
 */
static void test_errno(void)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	union ibv_gid gid;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct ibv_context *other;
	struct side s;

	oob_open();
	open_side(&s);
	errno = ENOTTY;
	CHECK_EQ(ibv_modify_qp(s.qp, &attr, IBV_QP_STATE), EINVAL);
	CHECK_EQ(errno, EINVAL);
	errno = ENOTTY;
	CHECK(ibv_query_port(s.qp->context, 2, &port) > 0);
	CHECK_EQ(errno, EINVAL);
	errno = ENOTTY;
	CHECK_EQ(ibv_dealloc_pd(s.pd), EBUSY);
	CHECK_EQ(errno, EBUSY);
	errno = 0;
	other = ibv_open_device(s.qp->context->device);
	CHECK(other && !errno);
	CHECK_EQ(ibv_close_device(other), 0);
	CHECK_EQ(ibv_query_device(s.qp->context, &device), 0);
	CHECK_EQ(ibv_query_port(s.qp->context, 1, &port), 0);
	CHECK_EQ(ibv_query_gid(s.qp->context, 1, 0, &gid), 0);
	CHECK_EQ(to_init(&s), 0);
	CHECK_EQ(errno, 0);
	close_side(&s);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "gid_index", test_gid_index },
		{ "port_taken", test_port_taken },
		{ "no_descriptors", test_no_descriptors },
		{ "errno", test_errno },
	};

	return RUN_TESTS(argc, argv, tests);
}
