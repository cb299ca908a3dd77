/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Measures the throughput of the kernel's SCTP between two processes of one host, without sctpiw.
 * It is the ceiling for --llp kernel: one-to-one sockets, unordered messages with PPID 16, and one
 * sctp_sendv() or sctp_recvv() for each message.
 *
 *   kernel-ceiling BYTES COUNT     prints the receiver's MB/s (10^6)
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/sctp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SOCKET_BUFFER (4 << 20)
#define DDP_PPID 16

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int open_socket(void)
{
	struct sctp_initmsg init = { .sinit_num_ostreams = 16, .sinit_max_instreams = 16 };
	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP);
	int size = SOCKET_BUFFER, one = 1;

	if (fd < 0)
		die("socket");
	if (setsockopt(fd, IPPROTO_SCTP, SCTP_INITMSG, &init, sizeof(init)) ||
	    setsockopt(fd, IPPROTO_SCTP, SCTP_NODELAY, &one, sizeof(one)))
		die("setsockopt");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	return fd;
}

static void *make_buffer(size_t size)
{
	void *buf = malloc(size);

	if (!buf)
		die("malloc");
	memset(buf, 0xa5, size);
	return buf;
}

static void send_all(const struct sockaddr_in *to, size_t size, unsigned long count)
{
	struct sctp_sndinfo info = { .snd_flags = SCTP_UNORDERED, .snd_ppid = htonl(DDP_PPID) };
	struct iovec iov = { make_buffer(size), size };
	int fd = open_socket();

	if (connect(fd, (const struct sockaddr *)to, sizeof(*to)))
		die("connect");
	for (unsigned long i = 0; i < count; i++) {
		if (sctp_sendv(fd, &iov, 1, NULL, 0, &info, sizeof(info), SCTP_SENDV_SNDINFO, 0) <
		    0)
			die("sctp_sendv");
	}
	close(fd);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static double receive_all(int listener, size_t size, unsigned long count)
{
	struct iovec iov = { make_buffer(size), size };
	unsigned long long want = (unsigned long long)size * count, got = 0;
	int fd = accept(listener, NULL, NULL);
	double begin;

	if (fd < 0)
		die("accept");
	begin = now();
	while (got < want) {
		struct sctp_rcvinfo info;
		socklen_t info_len = sizeof(info);
		unsigned int type = 0;
		int flags = 0;
		ssize_t n = sctp_recvv(fd, &iov, 1, NULL, NULL, &info, &info_len, &type, &flags);

		if (n <= 0)
			die("sctp_recvv");
		got += (unsigned long long)n;
	}
	return (double)got / (now() - begin) / 1e6;
}

int main(int argc, char **argv)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(addr);
	size_t size = argc == 3 ? strtoul(argv[1], NULL, 0) : 0;
	unsigned long count = argc == 3 ? strtoul(argv[2], NULL, 0) : 0;
	int listener, status;
	pid_t child;

	if (!size || !count) {
		fprintf(stderr, "usage: kernel-ceiling BYTES COUNT\n");
		return 2;
	}
	listener = open_socket();
	if (bind(listener, (struct sockaddr *)&addr, sizeof(addr)) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&addr, &len))
		die("listen");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		send_all(&addr, size, count);
		_exit(0);
	}
	printf("%.0f\n", receive_all(listener, size, count));
	if (waitpid(child, &status, 0) != child || status)
		return 1;
	return 0;
}
