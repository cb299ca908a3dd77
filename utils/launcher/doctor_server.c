/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checks if a program that runs sctpiw listens at HOST's port: sends an INIT, as rdma_connect()
 * does. The server stores nothing about this INIT, since the cookie of its answer contains the
 * whole state (RFC 9260 5.1.3).
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "conn/unanswered.h"
#include "launcher/doctor.h"
#include "launcher/doctor_guest.h"
#include "launcher/doctor_report.h"
#include "net/dtls_record.h"
#include "sys/sys.h"
#include "util/sockaddr.h"
#include "wire/sctp_init.h"

#define TRIES 3
#define ADAPTATION 1 /* adaptation code point of DDP (RFC 5043 4.1) */
#define STREAMS 65535
#define REASON_MAX 64u	  /* maximum bytes to print of the peer's reason for an ABORT */
#define HELLO_VERIFY 3	  /* the message HelloVerifyRequest of a handshake (RFC 6347 4.2.2) */
#define PACKET_MAX 65536u /* maximum size of a packet in bytes */
#define INIT_PACKET_MAX 128u

struct asking {
	struct doctor *d;
	int fd;
	bool raw; /* send SCTP directly over IP, without UDP */
	struct wire_sctp_common head;
	struct wire_sctp_init init;
};

enum answer {
	SILENCE,
	LISTENS, /* the answer is an INIT ACK */
	REFUSES, /* the answer is an ABORT */
	STRANGE, /* the answer is an INIT ACK, but not of a server for RDMA */
};

static const char *place(const struct doctor *d)
{
	static char text[160];

	snprintf(text, sizeof(text), "%.120s, port %u", d->host, d->port);
	return text;
}

/*
 * Returns the UDP port to which programs with these settings send packets. Returns 0 if they send
 * SCTP without UDP.
 */
static uint16_t udp_port(const struct doctor *d)
{
	int port = d->has_settings ? d->settings.config.encap_port : CONFIG_ENCAP_SAME;

	return port == CONFIG_ENCAP_SAME ? d->port : (uint16_t)port;
}

/* Opens a socket to the peer. Returns 0, or -errno. The caller must close a->fd in any case. */
static int open_socket(struct asking *a, uint16_t udp)
{
	struct sockaddr_storage to;
	struct sockaddr *peer = (struct sockaddr *)&to;

	to = a->d->peer;
	sockaddr_set_port(peer, udp);
	a->raw = !udp;
	a->fd = udp ? sys_socket(peer->sa_family, SOCK_DGRAM, 0) :
		      sys_socket(peer->sa_family, SOCK_RAW, IPPROTO_SCTP);
	return a->fd < 0 ? a->fd : sys_connect(a->fd, peer, sockaddr_len(peer));
}

static int transmit(int fd, const void *data, size_t len)
{
	struct iovec iov = { (void *)(uintptr_t)data, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t ret = sys_sendmsg(fd, &msg, MSG_NOSIGNAL);

	return ret < 0 && ret != -EAGAIN ? (int)ret : 0;
}

/*
 * Waits for a packet until the time `until`. Returns the length of the packet, 0 after a timeout,
 * or -errno of the network.
 */
static int receive(int fd, uint8_t *buf, size_t size, uint64_t until)
{
	struct iovec iov = { buf, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct pollfd fds = { .fd = fd, .events = POLLIN };
	uint64_t now = sys_now();
	ssize_t n;

	if (now >= until || sys_ppoll(&fds, 1, until - now) <= 0)
		return 0;
	n = sys_recvmsg(fd, &msg, MSG_DONTWAIT);
	return n == -EAGAIN || n == -EINTR ? 0 : (int)n;
}

/* ---- INIT ---- */

static int send_init(struct asking *a)
{
	uint8_t packet[INIT_PACKET_MAX];
	size_t len = WIRE_SCTP_COMMON_LEN;

	wire_sctp_common_put(packet, &a->head);
	len += wire_sctp_init_put(packet + len, WIRE_SCTP_INIT, &a->init);
	wire_sctp_checksum_put(packet, len);
	return transmit(a->fd, packet, len);
}

/* Writes the text of the User-Initiated Abort cause of an ABORT, or "" if there is none. */
static void take_reason(const struct wire_sctp_chunk *c, char reason[REASON_MAX])
{
	const uint8_t *p = wire_sctp_value(c), *end = c->raw + c->len;
	struct wire_sctp_cause_tlv cause;
	size_t len = 0;

	while (wire_sctp_cause_next(&p, end, &cause) && cause.code == WIRE_SCTP_CAUSE_USER_ABORT)
		for (size_t i = 0; i < cause.len && len < REASON_MAX - 1; i++)
			if (isprint(cause.info[i]))
				reason[len++] = (char)cause.info[i];
	reason[len] = '\0';
}

/* Parses a received packet. Its contents are untrusted. */
static enum answer understand(const struct asking *a, const uint8_t *p, size_t len,
			      char reason[REASON_MAX])
{
	struct wire_sctp_common head;
	struct wire_sctp_chunk c;
	struct wire_sctp_init ack;
	const uint8_t *end = p + len, *chunk = p + WIRE_SCTP_COMMON_LEN;

	if (len < WIRE_SCTP_MIN_PACKET || !wire_sctp_checksum_ok(p, len))
		return SILENCE;
	wire_sctp_common_get(p, &head);
	if (head.vtag != a->init.tag || head.sport != a->head.dport ||
	    head.dport != a->head.sport || !wire_sctp_chunk_next(&chunk, end, &c))
		return SILENCE;
	if (c.type == WIRE_SCTP_ABORT) {
		take_reason(&c, reason);
		return REFUSES;
	}
	if (c.type != WIRE_SCTP_INIT_ACK || !wire_sctp_init_get(&c, &ack))
		return SILENCE;
	return ack.has_adaptation && ack.adaptation == ADAPTATION ? LISTENS : STRANGE;
}

/* Sends an INIT. Returns the kind of its answer, or -errno of the network. */
static int ask_by_init(struct asking *a, char reason[REASON_MAX])
{
	static uint8_t buf[PACKET_MAX];
	int ret = 0, n = 0;

	for (unsigned int i = 0; i < TRIES && !ret; i++) {
		uint64_t until = sys_now() + DOCTOR_PATIENCE;

		ret = send_init(a);
		while (!ret && (n = receive(a->fd, buf, sizeof(buf), until)) > 0) {
			/* The data that a raw IPv4 socket receives begins with the IP header. */
			size_t skip = a->raw && a->d->peer.ss_family == AF_INET ?
					      (size_t)(buf[0] & 15) * 4 :
					      0;

			if ((size_t)n > skip)
				ret = (int)understand(a, buf + skip, (size_t)n - skip, reason);
		}
		if (!ret && n < 0)
			ret = n;
	}
	return ret;
}

/* ---- ClientHello ---- */

/*
 * True if the peer serves only peers that have a key or a certificate. Such a peer does not answer
 * an INIT. It answers a ClientHello (RFC 6347 4.2.1) by a HelloVerifyRequest.
 */
static bool is_sealed(const struct asking *a)
{
	/* Headers of record and message: type, version or length, sequence numbers, fragments. */
	uint8_t hello[67] = { DTLS_HANDSHAKE,
			      0xfe,
			      0xff,
			      0,
			      0,
			      0,
			      0,
			      0,
			      0,
			      0,
			      0,
			      0,
			      54, /* length of the record */
			      1,
			      0,
			      0,
			      42,
			      0,
			      0,
			      0,
			      0,
			      0,
			      0,
			      0,
			      42, /* length of the handshake message */
			      0xfe,
			      0xfd };
	uint8_t buf[512];
	int n;

	/* Empty session and cookie, one cipher suite, and no compression. */
	memcpy(hello + 61, (const uint8_t[]){ 0, 2, 0, 0xa8, 1, 0 }, 6);
	if (sys_random(hello + 27, 32) || transmit(a->fd, hello, sizeof(hello)))
		return false;
	n = receive(a->fd, buf, sizeof(buf), sys_now() + DOCTOR_PATIENCE);
	return n > (int)DTLS_HEADER && buf[0] == DTLS_HANDSHAKE && buf[DTLS_HEADER] == HELLO_VERIFY;
}

/* ---- the result ---- */

/* True if the reason is that the server has this host's llp, which is not udp. */
static bool has_our_llp(const struct doctor *d, const char *reason)
{
	char ours[REASON_MAX];
	int len = snprintf(ours, sizeof(ours), UNANSWERED_LLP "%s",
			   config_carrier_name(d->settings.config.carrier));

	return d->has_settings && !strncmp(reason, ours, (size_t)len);
}

static void say_refused(const struct doctor *d, const char *reason)
{
	if (has_our_llp(d, reason))
		doctor_ok("%s: a program of sctpiw with llp = %s has this port", place(d),
			  config_carrier_name(d->settings.config.carrier));
	else if (*reason)
		doctor_failure("start both sides with the same settings",
			       "%s: the program with this port refuses: %s", place(d), reason);
	else
		doctor_failure("see which port the server listens at",
			       "%s: the host answers SCTP, but no program listens there", place(d));
}

static void say_listens(const struct doctor *d)
{
	bool sealed = d->has_settings && config_is_sealed(&d->settings.config);

	if (sealed && !d->settings.config.key_optional)
		doctor_failure("start both programs with a key or a certificate",
			       "%s: the program that listens there has neither key nor certificate",
			       place(d));
	else
		doctor_ok("%s: a program of sctpiw listens there", place(d));
}

void doctor_server(struct doctor *d)
{
	struct asking a = {
		.d = d,
		.head = { .dport = d->port },
		.init = { .a_rwnd = PACKET_MAX,
			  .os = STREAMS,
			  .mis = STREAMS,
			  .adaptation = ADAPTATION },
	};
	char reason[REASON_MAX] = "";
	int ret;

	if (d->has_process)
		return;
	ret = open_socket(&a, udp_port(d));
	if (a.raw && ret == -EPERM) /* programs without UDP also answer INITs that arrive by UDP */
		ret = open_socket(&a, d->port);
	if (!ret)
		ret = sys_random(&a.head.sport, sizeof(a.head.sport));
	if (!ret)
		ret = sys_random(&a.init.tag, sizeof(a.init.tag));
	a.head.sport |= 0xc000; /* a port in the range for private use */
	a.init.tag |= 1;	/* a verification tag must not be 0 */
	a.init.tsn = a.init.tag;
	if (!ret)
		ret = ask_by_init(&a, reason);
	d->has_process = ret > 0;
	if (ret == LISTENS) {
		say_listens(d);
	} else if (ret == REFUSES) {
		say_refused(d, reason);
	} else if (ret == STRANGE) {
		doctor_failure("see which port the server listens at",
			       "%s: the server there speaks SCTP, and no RDMA", place(d));
	} else if (a.raw) {
		doctor_failure("let IP protocol 132 pass, and start the server with the same llp",
			       "%s: nobody answers SCTP without UDP%s%s", place(d), ret ? ": " : "",
			       ret ? strerror(-ret) : "");
	} else if (!ret && is_sealed(&a)) {
		d->has_process = true;
		doctor_failure(
			"give --key, or --cert, to both programs, and to this command",
			"%s: the program there has a key or a certificate, and serves nobody without one",
			place(d));
	}
	sys_close(a.fd);
}
