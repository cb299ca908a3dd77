/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What is said of handshakes: who was accepted, and why somebody was not. */
#include "log/log.h"
#include "net/dtls_peer.h"
#include "util/sockaddr.h"

/* ns. Between two lines about handshakes that have failed: anybody can make them fail. */
#define SAY_TIME NSEC_PER_SEC
/* ns. Between two of an address with the same cause. */
#define SAY_AGAIN (10 * NSEC_PER_SEC)

void dtls_say_up(const struct dtls_peer *peer, const struct dtls_handshake *h)
{
	char text[SOCKADDR_TEXT];

	sockaddr_text_ip(&peer->addr.remote, peer->addr.udp_port, text);
	if (dtls_handshake_by_key(h))
		log_info("port %u: %s has the key \"%s\" %s, and packets are sealed with %s",
			 peer->port->number, text, dtls_handshake_identity(h),
			 peer->next_server ? "of our file" : "that we asked with",
			 dtls_handshake_cipher(h));
	else
		log_info("port %u: %s has the certificate \"%s\", and packets are sealed with %s",
			 peer->port->number, text, dtls_handshake_identity(h),
			 dtls_handshake_cipher(h));
}

/* ---- certificates ---- */

static const char *const words_of_ours[] = {
	[DTLS_WHY_CERT_CA] = "is of no authority in the ca file of this process",
	[DTLS_WHY_CERT_EXPIRED] = "has expired, or the clock of this host is wrong",
	[DTLS_WHY_CERT_EARLY] = "is not valid yet, or the clock of this host is wrong",
	[DTLS_WHY_CERT_PURPOSE] = "is not for both servers and clients of TLS",
	[DTLS_WHY_CERT_NAME] =
		"has no subjectAltName of that IP address, and there is no cert-names = any here",
	[DTLS_WHY_CERT_OTHER] = "is not accepted",
};

static const char *const words_of_theirs[] = {
	[DTLS_WHY_REFUSED_CERT_CA] = "is of no authority in its ca file",
	[DTLS_WHY_REFUSED_CERT_TIME] = "has expired or is not valid yet, by the clock there",
	[DTLS_WHY_REFUSED_CERT_PURPOSE] = "is not for both servers and clients of TLS",
	[DTLS_WHY_REFUSED_CERT_NAME] =
		"has no subjectAltName of the IP address seen there, and there is no cert-names = any",
	[DTLS_WHY_REFUSED_CERT_OTHER] = "is not accepted there",
};

static void say_certificate(const struct dtls_peer *peer, const char *text)
{
	const struct dtls_handshake *h = peer->next;
	enum dtls_why why = dtls_handshake_why(h);
	const char *detail = dtls_handshake_text(h);

	if (why >= DTLS_WHY_REFUSED_CERT_CA)
		log_error("%s refuses the certificate of this process, which %s", text,
			  words_of_theirs[why]);
	else
		log_error("port %u: %s has the certificate \"%s\", which %s%s%s%s",
			  peer->port->number, text, dtls_handshake_identity(h), words_of_ours[why],
			  *detail ? " (" : "", detail, *detail ? ")" : "");
}

/* ---- failures ---- */

static void say(const struct dtls_peer *peer, const char *text)
{
	const struct dtls_handshake *h = peer->next;
	const char *name = dtls_handshake_identity(h);
	const char *kind = dtls_credentials_kind(peer->port->dtls->credentials);
	unsigned int port = peer->port->number;

	switch (dtls_handshake_why(h)) {
	case DTLS_WHY_NO_IDENTITY:
		log_error(
			"port %u: %s asks with the key \"%s\", which the key file of this process "
			"does not have: both need that line",
			port, text, name);
		break;
	case DTLS_WHY_OTHER_KEY:
		log_error("port %u: %s asks with another key of the name \"%s\" than that of this "
			  "process: both need the same line",
			  port, text, name);
		break;
	case DTLS_WHY_REFUSED_NAME:
		log_error(
			"%s refuses: its key file does not have the key \"%s\" of this process: both "
			"need that line",
			text, name);
		break;
	case DTLS_WHY_REFUSED_KEY:
		log_error(
			"%s refuses: it has another key of the name \"%s\" than this process: both "
			"need the same line",
			text, name);
		break;
	case DTLS_WHY_NO_SUITE:
		log_error("port %u: %s does not ask with %s, which is what this process has: both "
			  "need a key, or both a certificate",
			  port, text, kind);
		break;
	case DTLS_WHY_REFUSED_SUITE:
		log_error("%s refuses: it does not take %s, which is what this process has: both "
			  "need a key, or both a certificate",
			  text, kind);
		break;
	case DTLS_WHY_CERT_NONE:
		log_error("port %u: %s shows no certificate, which this process asks for", port,
			  text);
		break;
	case DTLS_WHY_ERROR:
		log_info("port %u: no session with %s: %s", port, text, dtls_handshake_text(h));
		break;
	case DTLS_WHY_NOT:
	case DTLS_WHY_SILENCE:
		log_debug("port %u: no session with %s", port, text);
		break;
	default:
		say_certificate(peer, text);
		break;
	}
}

void dtls_say_failed(const struct dtls_peer *peer, uint64_t now)
{
	struct dtls *d = peer->port->dtls;
	struct dtls_remote *remote = dtls_remote_of(d, &peer->addr.remote);
	enum dtls_why why = dtls_handshake_why(peer->next);
	char text[SOCKADDR_TEXT];

	if (now < d->say_at || (remote->said == why && now < remote->said_until))
		return;
	d->say_at = now + SAY_TIME;
	remote->said = why;
	remote->said_until = now + SAY_AGAIN;
	say(peer, sockaddr_text_ip(&peer->addr.remote, peer->addr.udp_port, text));
}
