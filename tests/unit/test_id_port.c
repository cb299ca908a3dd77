/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* Ports of ids in several processes of a host (net/id_port.h): no two ids have the same port. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/id_port.h"

#define PORTS 100
#define SOCKETS 40

static unsigned int first, last; /* the ephemeral ports */
static uint16_t taken[UINT16_MAX + 1];

static int setup(void **state)
{
	FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%u %u", &first, &last), 2);
	fclose(f);
	return 0;
}

static void take(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		taken[i] = id_port_take(0);
		assert_in_range(taken[i], first, last);
		assert_true(id_port_is_taken(taken[i]));
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(taken[i], taken[k]);
	}
}

static void give(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		id_port_give(taken[i]);
}

/* Another process, which takes ports and ends on request. */
struct other {
	pid_t pid;
	int say;
	uint16_t port[PORTS];
};

static struct other other_takes(unsigned int n, void (*run)(void))
{
	struct other o = { 0 };
	int hear[2], say[2];
	char end;

	assert_int_equal(pipe(hear), 0);
	assert_int_equal(pipe(say), 0);
	o.pid = fork();
	if (!o.pid) {
		close(say[1]);
		id_port_forget();
		if (run)
			run();
		take(n);
		if (write(hear[1], taken, sizeof(o.port)) != sizeof(o.port))
			_exit(1);
		_exit(read(say[0], &end, 1) != 1);
	}
	close(hear[1]);
	close(say[0]);
	o.say = say[1];
	assert_int_equal(read(hear[0], o.port, sizeof(o.port)), sizeof(o.port));
	close(hear[0]);
	return o;
}

static void other_ends(const struct other *o)
{
	int status;

	assert_int_equal(write(o->say, "", 1), 1);
	close(o->say);
	assert_int_equal(waitpid(o->pid, &status, 0), o->pid);
	assert_int_equal(status, 0);
}

static void test_one_process(void **state)
{
	uint16_t before;

	take(PORTS);
	give(PORTS);
	before = taken[PORTS - 1];
	for (int i = 0; i < PORTS; i++)
		assert_false(id_port_is_taken(taken[i]));
	/* Returned ports are reused last. */
	take(PORTS);
	for (int i = 0; i < PORTS; i++)
		assert_int_not_equal(taken[i], before);
	give(PORTS);
	/* The process can also take a given port, outside the range and without a socket. */
	assert_int_equal(id_port_take(1), 1);
	assert_true(id_port_is_taken(1));
	id_port_give(1);
	assert_false(id_port_is_taken(1));
}

static void test_processes(void **state)
{
	struct other a, b;

	take(PORTS);
	a = other_takes(PORTS, NULL);
	b = other_takes(PORTS, NULL);
	for (int i = 0; i < PORTS; i++) {
		assert_true(id_port_is_taken(a.port[i]) && id_port_is_taken(b.port[i]));
		for (int k = 0; k < PORTS; k++) {
			assert_int_not_equal(taken[i], a.port[k]);
			assert_int_not_equal(taken[i], b.port[k]);
			assert_int_not_equal(a.port[i], b.port[k]);
		}
	}
	give(PORTS);
	/* A process without its own ports sees the ports of other processes. */
	assert_true(id_port_is_taken(a.port[0]));
	other_ends(&a);
	assert_false(id_port_is_taken(a.port[0]));
	assert_true(id_port_is_taken(b.port[0]));
	other_ends(&b);
}

/* Ports of any socket on the host, at any address, are skipped. */
static void test_sockets(void **state)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	uint16_t port = id_port_take(0);
	int fd[SOCKETS];

	id_port_give(port);
	for (unsigned int i = 0; i < SOCKETS; i++) {
		fd[i] = socket(AF_INET, SOCK_DGRAM, 0);
		addr.sin_port =
			htons((uint16_t)(first + (port - first + 1 + i) % (last - first + 1)));
		addr.sin_addr.s_addr = htonl(i & 1 ? INADDR_LOOPBACK : INADDR_ANY);
		if (bind(fd[i], (struct sockaddr *)&addr, sizeof(addr))) /* port in use */
			assert_true(fd[i] >= 0);
	}
	take(2);
	for (unsigned int i = 0; i < 2; i++)
		assert_true((last - first + 1 + taken[i] - port) % (last - first + 1) > SOCKETS);
	give(2);
	for (unsigned int i = 0; i < SOCKETS; i++)
		close(fd[i]);
}

static void lock_all(void)
{
	struct flock l = { .l_type = F_RDLCK };

	if (fcntl(open("/proc/self/ns/net", O_RDONLY), F_OFD_SETLK, &l))
		_exit(1);
}

/*
 * A process that locks all ports does not prevent others from taking ports. The call fails when all
 * are taken.
 */
static void test_all_taken(void **state)
{
	unsigned int n = last - first + 1;
	struct other o = other_takes(0, lock_all);

	take(PORTS);
	for (unsigned int i = PORTS; i < n; i++)
		taken[i] = id_port_take(0);
	assert_true(taken[n - 1]);
	assert_int_equal(id_port_take(0), 0);
	id_port_give(taken[n / 2]);
	assert_int_equal(id_port_take(0), taken[n / 2]);
	give(n);
	other_ends(&o);
}

/* Another network namespace has its own ports. */
static void in_namespace(void)
{
	uint16_t *const all = taken;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		_exit(0);
	for (unsigned int i = 0; i < PORTS; i++)
		if (id_port_is_taken(all[i]))
			_exit(1);
}

static void test_namespaces(void **state)
{
	int status;
	pid_t pid;

	take(PORTS);
	pid = fork();
	if (!pid) {
		id_port_forget();
		in_namespace();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	give(PORTS);
}

/* A port of an IPv4 socket is skipped even where IPv6 sockets are IPv6-only by default. */
static void beside_ipv4(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	unsigned int before;
	int fd, own;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return;
	fd = open("/proc/sys/net/ipv6/bindv6only", O_WRONLY);
	if (fd < 0)
		return;
	before = id_port_take(0);
	addr.sin_port = htons((uint16_t)(before < last ? before + 1 : first));
	own = socket(AF_INET, SOCK_DGRAM, 0);
	if (write(fd, "1", 1) != 1 || bind(own, (struct sockaddr *)&addr, sizeof(addr)) ||
	    htons(id_port_take(0)) == addr.sin_port)
		_exit(1);
}

static void test_v6only(void **state)
{
	struct other o = other_takes(0, beside_ipv4);

	other_ends(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_process), cmocka_unit_test(test_processes),
		cmocka_unit_test(test_sockets),	    cmocka_unit_test(test_all_taken),
		cmocka_unit_test(test_namespaces),  cmocka_unit_test(test_v6only),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
