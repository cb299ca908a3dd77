/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Authentication of this process and its peers: by pre-shared keys, by certificates, or by either.
 * Certificates are mutual: each side sends its own, and verifies the peer's. The peer's certificate
 * must be signed by an authority in the local file, and be valid now. It must be for TLS servers
 * and TLS clients, and for the peer's address. A lock of the caller protects the credentials.
 */
#ifndef SCTPIW_NET_DTLS_CREDENTIALS_H
#define SCTPIW_NET_DTLS_CREDENTIALS_H

#include <stdbool.h>

#include "util/addr.h"

#define DTLS_IDENTITY_MAX 128u /* maximum bytes of a printable identity */
#define DTLS_DETAIL_MAX 64u

struct config_certs;
struct config_error;
struct config_keys;
struct gnutls_session_int; /* gnutls_session_t is a pointer to this */

/* Reasons why a handshake failed. */
enum dtls_why {
	DTLS_WHY_NOT,	  /* the handshake has not failed */
	DTLS_WHY_SILENCE, /* no answer in time */
	DTLS_WHY_ERROR,	  /* dtls_handshake_text() returns the error */
	/* Faults of the peer that the local side has found. The peer gets an alert. */
	DTLS_WHY_NO_IDENTITY,  /* the local side has no key for that identity */
	DTLS_WHY_OTHER_KEY,    /* the peer's key for that identity is another one */
	DTLS_WHY_NO_SUITE,     /* one side has only keys, and the other only certificates */
	DTLS_WHY_CERT_NONE,    /* the peer has sent no certificate */
	DTLS_WHY_CERT_CA,      /* the certificate's authority is not in the local file */
	DTLS_WHY_CERT_EXPIRED, /* detail: time at which it expired */
	DTLS_WHY_CERT_EARLY,   /* detail: time at which it becomes valid */
	DTLS_WHY_CERT_PURPOSE, /* the certificate is not for both TLS servers and clients */
	DTLS_WHY_CERT_NAME,    /* the certificate is not for the peer's address */
	DTLS_WHY_CERT_OTHER,   /* detail: text about the fault */
	/* Faults of the local side that the peer has reported by an alert. */
	DTLS_WHY_REFUSED_NAME, /* the peer does not know the local identity */
	DTLS_WHY_REFUSED_KEY,
	DTLS_WHY_REFUSED_SUITE,
	DTLS_WHY_REFUSED_CERT_CA,
	DTLS_WHY_REFUSED_CERT_TIME,
	DTLS_WHY_REFUSED_CERT_PURPOSE,
	DTLS_WHY_REFUSED_CERT_NAME,
	DTLS_WHY_REFUSED_CERT_OTHER,
};
/* True if one side has refused the other. */
static inline bool dtls_why_is_refusal(enum dtls_why why)
{
	return why > DTLS_WHY_ERROR;
}

/* The credentials for all handshakes, as GnuTLS needs them. */
struct dtls_credentials;
/*
 * keys or certs may be NULL, but not both. Both may be freed afterwards. Returns NULL when out of
 * memory, or if a certificate is wrong, with the reason in why. Logs a warning if peers will refuse
 * the local certificate.
 */
struct dtls_credentials *dtls_credentials_new(const struct config_keys *keys,
					      const struct config_certs *certs,
					      struct config_error *why);
void dtls_credentials_free(struct dtls_credentials *c);
/* Returns "a key", "a certificate" or "a key and a certificate". */
const char *dtls_credentials_kind(const struct dtls_credentials *c);
/* Returns the identity that the local side sends as client, or "" if it has no key. */
const char *dtls_credentials_identity(const struct dtls_credentials *c);

/* Results of a handshake about its peer. */
struct dtls_verdict {
	const struct dtls_credentials *credentials;
	struct ip_addr peer; /* the peer's address */
	enum dtls_why why;
	char identity[DTLS_IDENTITY_MAX + 1]; /* printable; "" until the handshake has found it */
	char detail[DTLS_DETAIL_MAX];	      /* details of the reason, or "" */
};
/*
 * Sets the credentials of a session. The handshake stores its results in v, which must stay valid
 * as long as the session. Returns false when out of memory.
 */
bool dtls_credentials_use(struct dtls_credentials *c, struct gnutls_session_int *session,
			  bool server, struct dtls_verdict *v);

#endif
