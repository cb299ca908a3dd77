/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/id_port.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "sys/sys.h"
#include "util/sockaddr.h"

#define RANGE "/proc/sys/net/ipv4/ip_local_port_range"
#define NAMESPACE "/proc/thread-self/ns/net"
/* Maximum ports, or ranges of ports of one process, to skip as other processes have them. */
#define OTHERS_MAX 64

static struct {
	pthread_mutex_t lock;
	unsigned int first, last; /* range of ephemeral ports; 0: not read yet */
	unsigned int next;	  /* port at which the next search starts */
	unsigned int n;		  /* number of taken ports */
	/* the namespace's file while a port is reserved; otherwise -errno or -1 */
	int fd;
	uint8_t taken[(UINT16_MAX + 1) / 8];
} ports = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static bool is_own(unsigned int port)
{
	return ports.taken[port / 8] & 1u << port % 8;
}

static void read_range(void)
{
	unsigned int first = 0, last = 0;
	char text[64] = "";
	uint32_t dice = 0;
	int fd;

	if (ports.first)
		return;
	fd = sys_open(RANGE, O_RDONLY);
	if (fd >= 0)
		sys_read(fd, text, sizeof(text) - 1);
	sys_close(fd);
	if (sscanf(text, "%u %u", &first, &last) != 2 || !first || first > last ||
	    last > UINT16_MAX) {
		first = 32768; /* Linux's default */
		last = 60999;
	}
	sys_random(&dice, sizeof(dice));
	ports.first = first;
	ports.last = last;
	ports.next = first + dice % (last - first + 1);
}

static int open_namespace(void)
{
	return sys_open(NAMESPACE, O_RDONLY);
}

/* True if any socket is bound to the port, at any address. */
static bool has_socket(uint16_t port)
{
	int family = AF_INET6, fd = sys_socket(AF_INET6, SOCK_DGRAM, 0), ret;
	struct sockaddr_storage any;

	if (fd < 0) {
		family = AF_INET;
		fd = sys_socket(AF_INET, SOCK_DGRAM, 0);
	}
	if (family == AF_INET6) /* the socket is for IPv4, too, regardless of net.ipv6.bindv6only */
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
	sockaddr_any(&any, family, port);
	ret = sys_bind(fd, (struct sockaddr *)&any, sockaddr_len((struct sockaddr *)&any));
	sys_close(fd);
	return ret == -EADDRINUSE;
}

/*
 * Locks the port's byte. If two processes try this for one port at once, both may fail. Returns 0,
 * or the number of consecutive ports, from this one on, that cannot be used.
 */
static unsigned int claim(uint16_t port)
{
	off_t to;

	if (sys_lock_byte(ports.fd, port, true))
		return 1;
	to = sys_locked_to(ports.fd, port);
	if (to == port && !has_socket(port))
		return 0;
	sys_lock_byte(ports.fd, port, false);
	return to > port ? (unsigned int)(to - port) : 1;
}

/* Returns a port that this process and, if on_host, other processes have not reserved; or 0. */
static uint16_t find(bool on_host)
{
	unsigned int span = ports.last - ports.first + 1, others = 0, step;

	for (unsigned int i = 0; i < span && others < OTHERS_MAX; i += step) {
		unsigned int port = ports.first + (ports.next - ports.first + i) % span;

		step = 1;
		if (is_own(port))
			continue;
		step = on_host ? claim((uint16_t)port) : 0;
		if (!step)
			return (uint16_t)port;
		others++;
	}
	return 0;
}

static uint16_t find_any(void)
{
	uint16_t port = find(true);

	if (!port)
		port = find(false);
	if (port)
		ports.next = port == ports.last ? ports.first : port + 1u;
	return port;
}

uint16_t id_port_take(uint16_t port)
{
	pthread_mutex_lock(&ports.lock);
	read_range();
	if (ports.fd < 0)
		ports.fd = sys_keep(open_namespace());
	if (!port)
		port = find_any();
	else
		sys_lock_byte(ports.fd, port, true);
	if (port) {
		ports.taken[port / 8] |= (uint8_t)(1u << port % 8);
		ports.n++;
	}
	pthread_mutex_unlock(&ports.lock);
	return port;
}

static void close_namespace(void)
{
	sys_close(ports.fd);
	ports.fd = -1;
}

void id_port_give(uint16_t port)
{
	pthread_mutex_lock(&ports.lock);
	ports.taken[port / 8] &= (uint8_t) ~(1u << port % 8);
	sys_lock_byte(ports.fd, port, false);
	if (!--ports.n)
		close_namespace();
	pthread_mutex_unlock(&ports.lock);
}

/* True if another process has locked the port. This process may not have the file open yet. */
static bool is_locked(uint16_t port)
{
	int fd = open_namespace();
	bool locked = fd >= 0 && sys_locked_to(fd, port) > port;

	sys_close(fd);
	return locked;
}

bool id_port_is_taken(uint16_t port)
{
	bool taken;

	pthread_mutex_lock(&ports.lock);
	read_range();
	taken = is_own(port) || (port >= ports.first && port <= ports.last && is_locked(port));
	pthread_mutex_unlock(&ports.lock);
	return taken;
}

void id_port_forget(void)
{
	close_namespace();
	memset(ports.taken, 0, sizeof(ports.taken));
	ports.n = 0;
}
