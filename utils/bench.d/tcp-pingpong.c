/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Measures the latency of TCP, for comparison with that of RDMA: sends one message back and forth.
 *
 *   tcp-pingpong server ADDRESS PORT BYTES spin|block         ends with the client
 *   tcp-pingpong client ADDRESS PORT BYTES spin|block COUNT   half the time of COUNT round trips
 *
 * ADDRESS is an IPv4 address. With spin, both ends poll their sockets; with block, they sleep until
 * data arrives.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "arguments.h"
#include "samples.h"

#define MESSAGE_MAX (1 << 20)

static uint8_t message[MESSAGE_MAX];

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "tcp-pingpong: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct sockaddr_in address(const char *host, const char *port)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons(number(port, 1, 65535)) };

	if (inet_pton(AF_INET, host, &in.sin_addr) != 1) {
		fprintf(stderr, "tcp-pingpong: %s is not an address\n", host);
		exit(2);
	}
	return in;
}

/* Receives a whole message. Returns false if the peer has closed the connection. */
static bool receive(int fd, size_t bytes, int flags)
{
	for (size_t at = 0; at < bytes;) {
		ssize_t n = recv(fd, message + at, bytes - at, flags);

		if (n == 0)
			return false;
		if (n > 0)
			at += n;
		else if (errno != EAGAIN)
			die("recv");
	}
	return true;
}

static void send_all(int fd, size_t bytes)
{
	for (size_t at = 0; at < bytes;) {
		ssize_t n = send(fd, message + at, bytes - at, 0);

		if (n < 0)
			die("send");
		at += n;
	}
}

static void no_delay(int fd)
{
	int on = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		die("TCP_NODELAY");
}

static void serve(struct sockaddr_in in, size_t bytes, int flags)
{
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd;

	if (listener < 0 || bind(listener, (void *)&in, sizeof(in)) || listen(listener, 1))
		die("listen");
	printf("listening\n");
	fflush(stdout);
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		die("accept");
	no_delay(fd);
	while (receive(fd, bytes, flags))
		send_all(fd, bytes);
	close(fd);
	close(listener);
}

static void measure(struct sockaddr_in in, size_t bytes, int flags, size_t count)
{
	double *trips = calloc(count, sizeof(*trips));
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (!trips || fd < 0 || connect(fd, (void *)&in, sizeof(in)))
		die("connect");
	no_delay(fd);
	for (size_t i = 0; i < count; i++) {
		double begin = now();

		send_all(fd, bytes);
		if (!receive(fd, bytes, flags)) {
			fprintf(stderr, "tcp-pingpong: the server is gone\n");
			exit(1);
		}
		trips[i] = now() - begin;
	}
	close(fd);
	report_samples(trips, count);
	free(trips);
}

int main(int argc, char **argv)
{
	bool server = argc == 6 && !strcmp(argv[1], "server");
	bool client = argc == 7 && !strcmp(argv[1], "client");
	int flags;

	if ((!server && !client) || (strcmp(argv[5], "spin") && strcmp(argv[5], "block"))) {
		fprintf(stderr, "usage: tcp-pingpong server ADDRESS PORT BYTES spin|block\n"
				"       tcp-pingpong client ADDRESS PORT BYTES spin|block COUNT\n");
		return 2;
	}
	flags = strcmp(argv[5], "spin") ? 0 : MSG_DONTWAIT;
	if (server)
		serve(address(argv[2], argv[3]), number(argv[4], 1, MESSAGE_MAX), flags);
	else
		measure(address(argv[2], argv[3]), number(argv[4], 1, MESSAGE_MAX), flags,
			number(argv[6], 1, 10000000));
	return 0;
}
