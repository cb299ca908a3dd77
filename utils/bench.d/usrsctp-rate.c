/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Measures the bandwidth of usrsctp over UDP, without an upper layer. usrsctp is another SCTP in
 * user space.
 *
 *   usrsctp-rate rx ADDRESS PORT                  the receiver; ends with the sender
 *   usrsctp-rate tx ADDRESS PORT BYTES SECONDS    bandwidth of unordered messages of BYTES
 *
 * ADDRESS is an IPv4 address. PORT is both the SCTP port and the UDP port of the receiver. The UDP
 * port of the sender is PORT + 1.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <usrsctp.h>

#include "arguments.h"
#include "samples.h"

#define RECEIVE_BUFFER (4 << 20) /* bytes; the RNIC requests the same size */
/* bytes; data that is still in this buffer at the end counts as sent */
#define SEND_BUFFER (1 << 18)
#define MESSAGE_MAX (1 << 20)

static uint8_t message[MESSAGE_MAX];

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "usrsctp-rate: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct socket *open_socket(uint16_t udp_port, uint16_t peer_udp_port)
{
	struct sctp_udpencaps encaps = { .sue_address.ss_family = AF_INET,
					 .sue_port = htons(peer_udp_port) };
	struct socket *so;

	usrsctp_init(udp_port, NULL, NULL);
	usrsctp_sysctl_set_sctp_no_csum_on_loopback(0);
	usrsctp_sysctl_set_sctp_sendspace(SEND_BUFFER);
	usrsctp_sysctl_set_sctp_recvspace(RECEIVE_BUFFER);
	so = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
	if (!so)
		die("usrsctp_socket");
	if (usrsctp_setsockopt(so, IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, &encaps,
			       sizeof(encaps)))
		die("SCTP_REMOTE_UDP_ENCAPS_PORT");
	return so;
}

static void receive(struct sockaddr_in in, uint16_t port)
{
	struct socket *listener = open_socket(port, port + 1), *so;
	struct sctp_rcvinfo info;
	socklen_t info_len, from_len;
	unsigned int type;
	int flags;

	if (usrsctp_bind(listener, (struct sockaddr *)&in, sizeof(in)) ||
	    usrsctp_listen(listener, 1))
		die("usrsctp_listen");
	so = usrsctp_accept(listener, NULL, NULL);
	if (!so)
		die("usrsctp_accept");
	do {
		info_len = sizeof(info);
		from_len = 0;
		flags = 0;
	} while (usrsctp_recvv(so, message, sizeof(message), NULL, &from_len, &info, &info_len,
			       &type, &flags) > 0);
}

static void transmit(struct sockaddr_in in, uint16_t port, size_t bytes, double seconds)
{
	struct socket *so = open_socket(port + 1, port);
	struct sctp_sndinfo info = { .snd_flags = SCTP_UNORDERED };
	struct linger abort_it = { .l_onoff = 1 };
	uint64_t sent = 0;
	double begin;

	if (usrsctp_connect(so, (struct sockaddr *)&in, sizeof(in)))
		die("usrsctp_connect");
	begin = now();
	while (now() - begin < seconds) {
		if (usrsctp_sendv(so, message, bytes, NULL, 0, &info, sizeof(info),
				  SCTP_SENDV_SNDINFO, 0) < 0)
			die("usrsctp_sendv");
		sent += bytes;
	}
	printf("%zu bytes: %.3f Gbit/s\n", bytes, sent * 8 / (now() - begin) / 1e9);
	usrsctp_setsockopt(so, SOL_SOCKET, SO_LINGER, &abort_it, sizeof(abort_it));
	usrsctp_close(so);
}

int main(int argc, char **argv)
{
	bool rx = argc == 4 && !strcmp(argv[1], "rx"), tx = argc == 6 && !strcmp(argv[1], "tx");
	struct sockaddr_in in = { .sin_family = AF_INET };

	if ((!rx && !tx) || inet_pton(AF_INET, argv[2], &in.sin_addr) != 1) {
		fprintf(stderr, "usage: usrsctp-rate rx ADDRESS PORT\n"
				"       usrsctp-rate tx ADDRESS PORT BYTES SECONDS\n");
		return 2;
	}
	in.sin_port = htons(number(argv[3], 1, 65534));
	if (rx)
		receive(in, ntohs(in.sin_port));
	else
		transmit(in, ntohs(in.sin_port), number(argv[4], 1, MESSAGE_MAX),
			 number(argv[5], 1, 3600));
	return 0;
}
