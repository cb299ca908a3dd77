/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What is said of handshakes: who was accepted, and why somebody was not. */
#include "log/log.h"
#include "net/dtls_peer.h"
#include "net/dtls_why.h"
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

static void say(const struct dtls_peer *peer, const char *who)
{
	enum dtls_why why = dtls_handshake_why(peer->next);
	unsigned int port = peer->port->number;
	char text[DTLS_WHY_TEXT];

	dtls_why_write(peer->next, peer->port->dtls->credentials, who, text);
	if (dtls_why_is_refusal(why))
		log_error("port %u: %s", port, text);
	else if (why == DTLS_WHY_ERROR)
		log_info("port %u: %s", port, text);
	else
		log_debug("port %u: %s", port, text);
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
