/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Authentication of this process and its peers: keys that both sides know, certificates, or both.
 * Certificates are mutual: each side sends its own, and verifies the peer's. An authority in the
 * local file must have signed the peer's certificate. The certificate must be valid now, for
 * servers and clients of TLS, and for the peer's address. The owner's lock.
 */
#ifndef SCTPIW_NET_DTLS_CREDENTIALS_H
#define SCTPIW_NET_DTLS_CREDENTIALS_H

#include <stdbool.h>

#include "util/addr.h"

#define DTLS_IDENTITY_MAX 128u /* maximum bytes of a printed identity */
#define DTLS_DETAIL_MAX 64u

struct config_certs;
struct config_error;
struct config_keys;
struct gnutls_session_int; /* gnutls_session_t points to it */

/* Reasons why a handshake failed. */
enum dtls_why {
	DTLS_WHY_NOT,	  /* no failure */
	DTLS_WHY_SILENCE, /* no answer came in time */
	DTLS_WHY_ERROR,	  /* dtls_handshake_text() returns the error */
	/* Faults that this side finds; the peer gets an alert. */
	DTLS_WHY_NO_IDENTITY,  /* this side has no key for that identity */
	DTLS_WHY_OTHER_KEY,    /* the peer has another key for that identity */
	DTLS_WHY_NO_SUITE,     /* one side has a key, and the other a certificate */
	DTLS_WHY_CERT_NONE,    /* the peer sent no certificate */
	DTLS_WHY_CERT_CA,      /* the certificate's authority is not in the local file */
	DTLS_WHY_CERT_EXPIRED, /* detail: when it expired */
	DTLS_WHY_CERT_EARLY,   /* detail: when it becomes valid */
	DTLS_WHY_CERT_PURPOSE, /* the certificate is not for servers and clients of TLS */
	DTLS_WHY_CERT_NAME,    /* the certificate is not for the peer's address */
	DTLS_WHY_CERT_OTHER,   /* detail: the fault */
	/* The same faults of this side, reported by the peer. */
	DTLS_WHY_REFUSED_NAME, /* the peer does not know the local identity */
	DTLS_WHY_REFUSED_KEY,
	DTLS_WHY_REFUSED_SUITE,
	DTLS_WHY_REFUSED_CERT_CA,
	DTLS_WHY_REFUSED_CERT_TIME,
	DTLS_WHY_REFUSED_CERT_PURPOSE,
	DTLS_WHY_REFUSED_CERT_NAME,
	DTLS_WHY_REFUSED_CERT_OTHER,
};
/* True if one side refuses the other. */
static inline bool dtls_why_is_refusal(enum dtls_why why)
{
	return why > DTLS_WHY_ERROR;
}

/* Credentials for all handshakes, in GnuTLS's form. */
struct dtls_credentials;
/*
 * Only one of keys and certs may be NULL. Both may be freed afterwards. Returns NULL when out of
 * memory, or if why has a fault of a certificate. Logs a warning if peers will refuse the local
 * certificate.
 */
struct dtls_credentials *dtls_credentials_new(const struct config_keys *keys,
					      const struct config_certs *certs,
					      struct config_error *why);
void dtls_credentials_free(struct dtls_credentials *c);
/* Returns "a key", "a certificate" or "a key and a certificate". */
const char *dtls_credentials_kind(const struct dtls_credentials *c);
/* Returns the identity that this side sends as client; "" without a key. */
const char *dtls_credentials_identity(const struct dtls_credentials *c);

/* Findings of a handshake about its peer. */
struct dtls_verdict {
	const struct dtls_credentials *credentials;
	struct ip_addr peer; /* the peer's address */
	enum dtls_why why;
	char identity[DTLS_IDENTITY_MAX + 1]; /* printable; "" until it is known */
	char detail[DTLS_DETAIL_MAX];	      /* details of why, or "" */
};
/*
 * Sets the credentials of a session. v gets the findings, and must outlive the session. Returns
 * false when out of memory.
 */
bool dtls_credentials_use(struct dtls_credentials *c, struct gnutls_session_int *session,
			  bool server, struct dtls_verdict *v);

#endif
