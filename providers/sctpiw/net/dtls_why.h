/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* In words, why a handshake has failed. */
#ifndef SCTPIW_NET_DTLS_WHY_H
#define SCTPIW_NET_DTLS_WHY_H

#include <stddef.h>

struct dtls_credentials;
struct dtls_handshake;

#define DTLS_WHY_TEXT 400u /* bytes of a sentence and its final zero */

/*
 * Writes a sentence without a full stop about a handshake of these credentials that has failed. who: the peer, as people
 * know it.
 */
void dtls_why_write(const struct dtls_handshake *h, const struct dtls_credentials *c,
		    const char *who, char text[DTLS_WHY_TEXT]);

#endif
