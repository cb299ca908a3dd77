/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who this process is to others, and whom it accepts: keys that both sides know, certificates, or both. Certificates are mutual:
 * each side shows its own, and the other side looks whether an authority of its file has signed it, whether it is valid now, for
 * servers and clients of TLS, and for the address that the peer has. The owner's lock.
 */
#ifndef SCTPIW_NET_DTLS_CREDENTIALS_H
#define SCTPIW_NET_DTLS_CREDENTIALS_H

#include <stdbool.h>

#include "util/addr.h"

#define DTLS_IDENTITY_MAX 128u /* bytes of an identity as it is shown */
#define DTLS_DETAIL_MAX 64u

struct config_certs;
struct config_error;
struct config_keys;
struct gnutls_session_int; /* a gnutls_session_t points to it */

/* Why a handshake has failed. */
enum dtls_why {
	DTLS_WHY_NOT,	  /* it has not */
	DTLS_WHY_SILENCE, /* nothing came back in time */
	DTLS_WHY_ERROR,	  /* dtls_handshake_text() says what */
	/* What this side does not accept; the peer is told by an alert. */
	DTLS_WHY_NO_IDENTITY, /* it named an identity that this side has no key for */
	DTLS_WHY_OTHER_KEY,   /* its key for that identity is not ours */
	DTLS_WHY_NO_SUITE,    /* it has a key and this side a certificate, or the other way round */
	DTLS_WHY_CERT_NONE,   /* it has shown no certificate */
	DTLS_WHY_CERT_CA,     /* its certificate is of an authority that is not in our file */
	DTLS_WHY_CERT_EXPIRED, /* detail: when */
	DTLS_WHY_CERT_EARLY,   /* detail: from when on it is valid */
	DTLS_WHY_CERT_PURPOSE, /* it is not for servers and clients of TLS */
	DTLS_WHY_CERT_NAME,    /* it is not for the address of the peer */
	DTLS_WHY_CERT_OTHER,   /* detail: what else */
	/* The same, said by the peer of what this side has. */
	DTLS_WHY_REFUSED_NAME, /* it does not know our identity */
	DTLS_WHY_REFUSED_KEY,
	DTLS_WHY_REFUSED_SUITE,
	DTLS_WHY_REFUSED_CERT_CA,
	DTLS_WHY_REFUSED_CERT_TIME,
	DTLS_WHY_REFUSED_CERT_PURPOSE,
	DTLS_WHY_REFUSED_CERT_NAME,
	DTLS_WHY_REFUSED_CERT_OTHER,
};
/* Whether one side does not accept the other one. */
static inline bool dtls_why_is_refusal(enum dtls_why why)
{
	return why > DTLS_WHY_ERROR;
}

/* As GnuTLS has them, for all handshakes. */
struct dtls_credentials;
/*
 * keys, certs: NULL: none, but not both; they may go then. NULL: no memory, or why says what is wrong with a certificate. A
 * certificate of ours that peers will refuse gets a warning.
 */
struct dtls_credentials *dtls_credentials_new(const struct config_keys *keys,
					      const struct config_certs *certs,
					      struct config_error *why);
void dtls_credentials_free(struct dtls_credentials *c);
/* "a key", "a certificate", "a key and a certificate": what there is. */
const char *dtls_credentials_kind(const struct dtls_credentials *c);
/* The identity that this side asks with; "" without a key. */
const char *dtls_credentials_identity(const struct dtls_credentials *c);

/* What a handshake finds out about its peer. */
struct dtls_verdict {
	const struct dtls_credentials *credentials;
	struct ip_addr peer; /* its address */
	enum dtls_why why;
	char identity[DTLS_IDENTITY_MAX + 1]; /* fit to be printed; "" while it is not known */
	char detail[DTLS_DETAIL_MAX];	      /* of why, or "" */
};
/* Has that session use the credentials. v: what becomes of it; it lives as long as the session. false: no memory. */
bool dtls_credentials_use(struct dtls_credentials *c, struct gnutls_session_int *session,
			  bool server, struct dtls_verdict *v);

#endif
