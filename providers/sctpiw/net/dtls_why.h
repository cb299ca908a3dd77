/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A text about the reason why a handshake has failed. */
#ifndef SCTPIW_NET_DTLS_WHY_H
#define SCTPIW_NET_DTLS_WHY_H

#include <stddef.h>

struct dtls_credentials;
struct dtls_handshake;

#define DTLS_WHY_TEXT 400u /* bytes of the text, including the final zero */

/*
 * Writes a sentence, without a full stop, about a failed handshake with these credentials. who:
 * printable name of the peer.
 */
void dtls_why_write(const struct dtls_handshake *h, const struct dtls_credentials *c,
		    const char *who, char text[DTLS_WHY_TEXT]);

#endif
