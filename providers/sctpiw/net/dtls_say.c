/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Log messages about handshakes: their success, and the reasons of failures. */
#include "log/log.h"
#include "net/dtls_peer.h"
#include "net/dtls_why.h"
#include "util/sockaddr.h"

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

void dtls_say_failed(const struct dtls_peer *peer)
{
	enum dtls_why why = dtls_handshake_why(peer->next);
	unsigned int port = peer->port->number;
	char text[DTLS_WHY_TEXT], who[SOCKADDR_TEXT];

	sockaddr_text_ip(&peer->addr.remote, peer->addr.udp_port, who);
	dtls_why_write(peer->next, peer->port->dtls->credentials, who, text);
	if (dtls_why_is_refusal(why))
		log_error("port %u: %s", port, text);
	else if (why == DTLS_WHY_ERROR)
		log_info("port %u: %s", port, text);
	else
		log_debug("port %u: %s", port, text);
}
