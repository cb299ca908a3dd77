/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Measures the maximum speed of UDP on this machine, with which an RNIC over UDP can be compared.
 * The program does only the work that such an RNIC cannot avoid. It computes a CRC32C of each
 * packet on both sides, and copies the payload once.
 *
 *   udp-ceiling rx ADDRESS PORT                        the receiver; ends with the sender
 *   udp-ceiling tx ADDRESS PORT BYTES COUNT SECONDS    bandwidth; COUNT segments of BYTES in a send
 *   udp-ceiling lat ADDRESS PORT BYTES COUNT           half the time of COUNT round trips
 *
 * ADDRESS is an IPv4 or IPv6 address.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "util/crc32c.h"

#include "arguments.h"
#include "samples.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define DATAGRAM_MAX 65507 /* 65,535 minus the headers of IPv4 and UDP */
#define SENDS_IN_FLIGHT 8
#define SOCKET_BUFFER (4 << 20)
#define LOST_AFTER 1.0 /* seconds without an answer after which a message counts as lost */

/* The first byte of a datagram is its type. The other bytes have no meaning. */
enum kind {
	KIND_ECHO = 'e',
	KIND_DATA = 'd',
	KIND_END = 'x',
};

static uint8_t packet[65536];
static uint8_t final[65536];
static volatile uint32_t checksum; /* keeps the compiler from removing the CRC */

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "udp-ceiling: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void check(const uint8_t *data, size_t len, size_t segment)
{
	uint32_t sum = 0;

	for (size_t at = 0; at < len; at += segment)
		sum ^= crc32c(data + at, len - at < segment ? len - at : segment);
	checksum = sum;
}

static int open_socket(const char *address, const char *port, bool listen_there)
{
	uint16_t p = htons(number(port, 1, 65535));
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = p };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = p };
	struct sockaddr *sa = (struct sockaddr *)&in;
	socklen_t len = sizeof(in);
	int size = SOCKET_BUFFER;
	int fd;

	if (inet_pton(AF_INET6, address, &in6.sin6_addr) == 1) {
		sa = (struct sockaddr *)&in6;
		len = sizeof(in6);
	} else if (inet_pton(AF_INET, address, &in.sin_addr) != 1) {
		fprintf(stderr, "udp-ceiling: %s is not an address\n", address);
		exit(2);
	}
	fd = socket(sa->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die("socket");
	/* Ignore errors: smaller buffers work, too. */
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (listen_there ? bind(fd, sa, len) : connect(fd, sa, len))
		die(listen_there ? "bind" : "connect");
	return fd;
}

/*
 * Returns the size of the segments that UDP_GRO has joined. If the message is one segment, returns
 * its whole length.
 */
static size_t segment_size(struct msghdr *msg, size_t whole)
{
	struct cmsghdr *c;
	int size;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
			memcpy(&size, CMSG_DATA(c), sizeof(size));
			if (size > 0)
				return size;
		}
	}
	return whole;
}

static void receive(int fd)
{
	struct sockaddr_storage from;
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = packet, .iov_len = sizeof(packet) };
	uint64_t received = 0;
	int on = 1;

	setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof(on));
	for (;;) {
		struct msghdr msg = {
			.msg_name = &from,
			.msg_namelen = sizeof(from),
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control),
		};
		ssize_t len = recvmsg(fd, &msg, MSG_DONTWAIT);

		if (len <= 0)
			continue;
		switch (packet[0]) {
		case KIND_END:
			return;
		case KIND_ECHO:
			sendto(fd, packet, len, 0, (void *)&from, msg.msg_namelen);
			break;
		case KIND_DATA:
			check(packet, len, segment_size(&msg, len));
			memcpy(final, packet, len);
			received += len;
			sendto(fd, &received, sizeof(received), 0, (void *)&from, msg.msg_namelen);
			break;
		}
	}
}

/*
 * Measures the bandwidth. The receiver answers each send with the number of bytes that it has
 * received. This limits the bytes in flight.
 */
static void bandwidth(int fd, size_t bytes, unsigned int count, double seconds)
{
	size_t len = bytes * count;
	uint64_t sent = 0, received = 0, answer;
	double begin = now(), heard = begin, t;

	if (len > DATAGRAM_MAX) {
		fprintf(stderr, "udp-ceiling: a send of %zu bytes, and %u is the most\n", len,
			DATAGRAM_MAX);
		exit(2);
	}
	if (count > 1) {
		int segment = bytes;

		if (setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)))
			die("UDP_SEGMENT");
	}
	memset(packet, KIND_DATA, sizeof(packet));
	while ((t = now()) - begin < seconds) {
		if (sent - received >= SENDS_IN_FLIGHT * len) {
			if (recv(fd, &answer, sizeof(answer), MSG_DONTWAIT) == sizeof(answer)) {
				received = answer;
				heard = t;
			} else if (t - heard > LOST_AFTER) {
				fprintf(stderr, "udp-ceiling: no answer\n");
				exit(1);
			}
			continue;
		}
		check(packet, len, bytes);
		if (send(fd, packet, len, 0) < 0)
			die("send");
		sent += len;
	}
	printf("%zu bytes x %u: %.1f Gbit/s\n", bytes, count, received * 8 / (now() - begin) / 1e9);
}

static void latency(int fd, size_t bytes, unsigned int count)
{
	double *trips = calloc(count, sizeof(*trips));

	if (!trips)
		die("calloc");
	memset(packet, KIND_ECHO, bytes);
	for (unsigned int i = 0; i < count; i++) {
		double sent = now();

		if (send(fd, packet, bytes, 0) < 0)
			die("send");
		while (recv(fd, final, sizeof(final), MSG_DONTWAIT) < 0) {
			if (now() - sent > LOST_AFTER) {
				fprintf(stderr, "udp-ceiling: no answer\n");
				exit(1);
			}
		}
		trips[i] = now() - sent;
	}
	report_samples(trips, count);
	free(trips);
}

static int usage(void)
{
	fprintf(stderr, "usage: udp-ceiling rx ADDRESS PORT\n"
			"       udp-ceiling tx ADDRESS PORT BYTES COUNT SECONDS\n"
			"       udp-ceiling lat ADDRESS PORT BYTES COUNT\n");
	return 2;
}

int main(int argc, char **argv)
{
	int off = 0;
	int fd;

	if (argc == 4 && !strcmp(argv[1], "rx")) {
		receive(open_socket(argv[2], argv[3], true));
		return 0;
	}
	if (argc == 7 && !strcmp(argv[1], "tx")) {
		fd = open_socket(argv[2], argv[3], false);
		bandwidth(fd, number(argv[4], 1, DATAGRAM_MAX), number(argv[5], 1, 64),
			  number(argv[6], 1, 3600));
	} else if (argc == 6 && !strcmp(argv[1], "lat")) {
		fd = open_socket(argv[2], argv[3], false);
		latency(fd, number(argv[4], 1, DATAGRAM_MAX), number(argv[5], 1, 10000000));
	} else {
		return usage();
	}
	/* Disables segmentation, since the last datagram must not be split. */
	setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &off, sizeof(off));
	packet[0] = KIND_END;
	send(fd, packet, 1, 0);
	return 0;
}
