/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checks if the process at HOST's port accepts the key or the certificate of this host: performs a
 * DTLS handshake, as the RDMA device does. A listener of sctpiw doctor does not answer this
 * handshake.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "config/config_certs.h"
#include "config/config_keys.h"
#include "launcher/doctor.h"
#include "launcher/doctor_report.h"
#include "net/dtls_gnutls.h"
#include "net/dtls_handshake.h"
#include "net/dtls_why.h"
#include "sys/sys.h"
#include "util/sockaddr.h"

#define PATIENCE (3 * NSEC_PER_SEC)
#define DATAGRAM 65536u

/* ---- the handshake ---- */

static void transmit(void *ctx, const uint8_t *data, size_t len)
{
	const int *fd = ctx;
	struct iovec iov = { (void *)(uintptr_t)data, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	sys_sendmsg(*fd, &msg, MSG_NOSIGNAL);
}

/* Passes a datagram to the handshake. Skips records that contain data. */
static enum dtls_progress take(struct dtls_handshake *h, const uint8_t *data, size_t len)
{
	enum dtls_progress progress = DTLS_GOES_ON;
	struct dtls_header head;

	while (progress == DTLS_GOES_ON && dtls_header_get(data, len, &head)) {
		size_t whole = DTLS_HEADER + head.len;

		if (head.type != DTLS_DATA)
			progress = dtls_handshake_feed(h, data, whole);
		data += whole;
		len -= whole;
	}
	return progress;
}

/* Continues the handshake to its end, or until a timeout. *error: -errno of the socket, or 0. */
static enum dtls_progress complete(struct dtls_handshake *h, int fd, int *error)
{
	static uint8_t buf[DATAGRAM];
	enum dtls_progress progress = DTLS_GOES_ON;
	uint64_t until = sys_now() + PATIENCE, now;

	while (progress == DTLS_GOES_ON && (now = sys_now()) < until) {
		uint64_t wait = (dtls_handshake_wait(h) + 1) * NSEC_PER_MSEC;
		struct pollfd fds = { .fd = fd, .events = POLLIN };
		struct iovec iov = { buf, sizeof(buf) };
		struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
		ssize_t n;

		if (sys_ppoll(&fds, 1, wait < until - now ? wait : until - now) <= 0) {
			progress = dtls_handshake_timeout(h);
			continue;
		}
		n = sys_recvmsg(fd, &msg, MSG_DONTWAIT);
		if (n >= 0) {
			progress = take(h, buf, (size_t)n);
		} else if (n != -EAGAIN && n != -EINTR) {
			*error = (int)n;
			break;
		}
	}
	return progress;
}

/* Sends a close_notify alert, so that the peer can free the session. */
static void say_farewell(struct dtls_handshake *h, int *fd)
{
	uint8_t record[2 + DTLS_OVERHEAD];
	struct dtls_cipher *tx, *rx;
	size_t front, len;

	if (!dtls_handshake_keys(h, &tx, &rx))
		return;
	front = dtls_cipher_front(tx);
	record[front] = 1;     /* alert level: warning */
	record[front + 1] = 0; /* alert description: close_notify */
	len = dtls_seal(tx, DTLS_ALERT, record, 2);
	transmit(fd, record, len);
	dtls_cipher_free(tx);
	dtls_cipher_free(rx);
}

/* ---- the result ---- */

static void say_silence(const struct doctor *d, int error)
{
	if (error == -ECONNREFUSED)
		doctor_failure("start the program there, or see which port it has",
			       "%s is reached, but no process has its UDP port %u", d->host,
			       d->port);
	else if (error)
		doctor_failure("see to the route, and to firewalls that reject UDP",
			       "UDP to %s, port %u: %s", d->host, d->port, strerror(-error));
	else
		doctor_warning("if a program has that port, give it the key or certificate as well",
			       "nobody at %s, port %u, answers a request with %s", d->host, d->port,
			       *d->settings.config.key ? "a key" : "a certificate");
}

static void say(struct doctor *d, struct dtls_handshake *h, const struct dtls_credentials *c,
		enum dtls_progress progress, int error)
{
	char who[128], text[DTLS_WHY_TEXT];

	d->has_process = progress == DTLS_DONE ||
			 (progress == DTLS_FAILED && dtls_why_is_refusal(dtls_handshake_why(h)));
	snprintf(who, sizeof(who), "%.80s, port %u,", d->host, d->port);
	if (progress == DTLS_DONE) {
		doctor_ok("%s has the %s \"%s\", and takes ours: packets are sealed with %s", who,
			  dtls_handshake_by_key(h) ? "key" : "certificate",
			  dtls_handshake_identity(h), dtls_handshake_cipher(h));
	} else if (progress == DTLS_GOES_ON) {
		say_silence(d, error);
	} else {
		dtls_why_write(h, c, who, text);
		doctor_failure(d->has_process ?
				       "a process reads its files when it begins: start it anew" :
				       NULL,
			       "%s", text);
	}
}

static void ask(struct doctor *d, struct dtls_credentials *c)
{
	const struct sockaddr *peer = (const struct sockaddr *)&d->peer;
	int fd = sys_socket(peer->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), error = 0;
	const struct dtls_out out = { transmit, &fd, sockaddr_ip(peer) };
	enum dtls_progress progress;
	struct dtls_handshake *h;

	if (fd >= 0)
		error = sys_connect(fd, peer, sockaddr_len(peer));
	if (fd < 0 || error) {
		doctor_failure(NULL, "no socket: %s", strerror(fd < 0 ? -fd : -error));
		if (fd >= 0)
			sys_close(fd);
		return;
	}
	h = dtls_handshake_connect(c, &out);
	if (h) {
		progress = complete(h, fd, &error);
		say(d, h, c, progress, error);
		if (progress == DTLS_DONE)
			say_farewell(h, &fd);
	}
	dtls_handshake_free(h);
	sys_close(fd);
}

void doctor_session(struct doctor *d)
{
	const struct config *config = &d->settings.config;
	struct config_keys keys = { 0 };
	struct config_certs certs = { 0 };
	struct dtls_credentials *c = NULL;
	struct config_error why = { "no memory" };

	if ((!*config->key || config_keys_read(config->key, &keys, &why)) &&
	    (!*config->cert || config_certs_read(config, &certs, &why)) && dtls_gnutls_load(&why))
		c = dtls_credentials_new(*config->key ? &keys : NULL, *config->cert ? &certs : NULL,
					 &why);
	if (c)
		ask(d, c);
	else
		doctor_failure("there is no device until this is mended", "%s", why.text);
	dtls_credentials_free(c);
	config_keys_forget(&keys);
	config_certs_forget(&certs);
}
