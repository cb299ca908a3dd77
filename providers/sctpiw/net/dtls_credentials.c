/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/dtls_credentials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/config.h"
#include "config/config_certs.h"
#include "config/config_keys.h"
#include "log/log.h"
#include "net/dtls_gnutls.h"

/*
 * All sessions have fresh secrets (forward secrecy) and authenticated encryption. GnuTLS lacks the
 * suites ECDHE-PSK with AES-GCM (RFC 8442), and processors have instructions for AES. So DHE-PSK,
 * with finite-field Diffie-Hellman, comes first.
 */
#define OF_ALL                                                                                     \
	":+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:+AEAD"                                      \
	":+GROUP-X25519:+GROUP-SECP256R1:+COMP-NULL:%PROFILE_MEDIUM"
/*
 * The group ffdhe2048 is not negotiated (RFC 7919), but set by the server (fill_keys()). This saves
 * time. With a negotiated group, GnuTLS 3.7 uses exponents of 2047 bits instead of about 256. It
 * also checks, with another exponentiation, that the peer's public key is in the subgroup of prime
 * order. This check is not needed: the prime is safe, and each exponent is used once. A peer
 * without the key learns nothing from the secret.
 */
#define GROUP_BITS 2048 /* a client accepts no shorter prime */
#define OF_KEYS ":+DHE-PSK:+ECDHE-PSK"
/*
 * Certificates may also use these groups. Signatures with SHA-1 are not allowed. RSA keys must have
 * at least 2048 bits.
 */
#define OF_CERTS                                                                                   \
	":+GROUP-SECP384R1:+GROUP-SECP521R1:+CTYPE-X509"                                           \
	":+SIGN-ECDSA-SHA256:+SIGN-ECDSA-SHA384:+SIGN-ECDSA-SHA512:+SIGN-EDDSA-ED25519"            \
	":+SIGN-RSA-PSS-RSAE-SHA256:+SIGN-RSA-PSS-RSAE-SHA384:+SIGN-RSA-PSS-RSAE-SHA512"           \
	":+SIGN-RSA-PSS-SHA256:+SIGN-RSA-PSS-SHA384:+SIGN-RSA-PSS-SHA512"                          \
	":+SIGN-RSA-SHA256:+SIGN-RSA-SHA384:+SIGN-RSA-SHA512"
#define DTLS "NONE:+VERS-DTLS1.2"
#define ECDHE ":+ECDHE-ECDSA:+ECDHE-RSA"

#define PURPOSES 2u
/*
 * Maximum bytes of a handshake message. The longest message is a chain of certificates. The limit
 * is needed since GnuTLS allocates the length that the peer announces.
 */
#define MESSAGE_OF_KEYS 4096u
#define MESSAGE_OF_CERTS 16384u

struct dtls_credentials {
	gnutls_psk_client_credentials_t client; /* NULL: no keys */
	gnutls_psk_server_credentials_t server;
	gnutls_dh_params_t group;	       /* Diffie-Hellman group that the server uses */
	gnutls_certificate_credentials_t cert; /* NULL: no certificate */
	gnutls_priority_t priorities;
	struct config_keys keys;
	bool any_name;
};

static const char *const purposes[PURPOSES] = { GNUTLS_KP_TLS_WWW_SERVER,
						GNUTLS_KP_TLS_WWW_CLIENT };

/* ---- keys ---- */

static void set_identity(struct dtls_verdict *v, const char *name)
{
	size_t n;

	for (n = 0; n < DTLS_IDENTITY_MAX && name[n]; n++)
		v->identity[n] = name[n] >= ' ' && name[n] < 127 && name[n] != '"' ? name[n] : '?';
	v->identity[n] = 0;
}

/* Callback of the server: finds the key of an identity. */
static int find_key(gnutls_session_t session, const char *name, gnutls_datum_t *key)
{
	struct dtls_verdict *v = gnutls.session_get_ptr(session);
	const struct config_keys *keys = &v->credentials->keys;

	set_identity(v, name);
	for (unsigned int i = 0; i < keys->n; i++) {
		if (strcmp(keys->key[i].identity, name) != 0)
			continue;
		/*
		 * Allocate with GnuTLS's malloc, since GnuTLS frees the block. It could not free a
		 * block of the arena (allocator.c).
		 */
		key->data = (*gnutls.malloc)(keys->key[i].len);
		if (!key->data)
			return -1;
		key->size = (unsigned int)keys->key[i].len;
		memcpy(key->data, keys->key[i].bytes, key->size);
		return 0;
	}
	v->why = DTLS_WHY_NO_IDENTITY;
	return -1;
}

static bool fill_keys(struct dtls_credentials *c)
{
	const gnutls_datum_t key = { c->keys.key[0].bytes, (unsigned int)c->keys.key[0].len };

	if (gnutls.psk_allocate_client_credentials(&c->client) ||
	    gnutls.psk_set_client_credentials(c->client, c->keys.key[0].identity, &key,
					      GNUTLS_PSK_KEY_RAW) ||
	    gnutls.psk_allocate_server_credentials(&c->server) ||
	    gnutls.dh_params_init(&c->group) ||
	    gnutls.dh_params_import_raw2(c->group, gnutls.ffdhe_2048_group_prime,
					 gnutls.ffdhe_2048_group_generator,
					 *gnutls.ffdhe_2048_key_bits))
		return false;
	gnutls.psk_set_server_dh_params(c->server, c->group);
	gnutls.psk_set_server_credentials_function(c->server, find_key);
	return true;
}

/* ---- the peer's certificate ---- */

static void write_time(time_t when, char text[DTLS_DETAIL_MAX])
{
	struct tm tm;

	if (when == (time_t)-1 || !gmtime_r(&when, &tm) ||
	    !strftime(text, DTLS_DETAIL_MAX, "%Y-%m-%d %H:%M UTC", &tm))
		strcpy(text, "a time that cannot be read");
}

/*
 * Returns why a certificate is not valid now, and writes the time of its expiry or start to detail.
 * If not this certificate but one above it in the chain is invalid, writes a note to detail.
 */
static enum dtls_why judge_time(gnutls_x509_crt_t crt, unsigned int status, char *detail)
{
	time_t now = time(NULL), from = gnutls.x509_crt_get_activation_time(crt),
	       until = gnutls.x509_crt_get_expiration_time(crt);

	if (until < now)
		write_time(until, detail);
	else if (from > now)
		write_time(from, detail);
	else
		strcpy(detail, "one above it is");
	return status & GNUTLS_CERT_EXPIRED ? DTLS_WHY_CERT_EXPIRED : DTLS_WHY_CERT_EARLY;
}

static const char *other_fault(unsigned int status)
{
	static const struct {
		unsigned int status;
		const char *text;
	} faults[] = {
		{ GNUTLS_CERT_SIGNER_NOT_CA, "it is signed by one that is no authority" },
		{ GNUTLS_CERT_SIGNATURE_FAILURE, "a signature is wrong" },
		{ GNUTLS_CERT_INSECURE_ALGORITHM,
		  "it is of a weak algorithm, or its key is short" },
		{ GNUTLS_CERT_SIGNER_CONSTRAINTS_FAILURE, "its authority may not sign such names" },
		{ GNUTLS_CERT_UNKNOWN_CRIT_EXTENSIONS, "it has an unknown critical extension" },
		{ GNUTLS_CERT_REVOKED, "it is revoked" },
	};

	for (unsigned int i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (status & faults[i].status)
			return faults[i].text;
	}
	return "its chain of certificates is not valid";
}

/*
 * Each side may be TLS client in one session and TLS server in the next. So a certificate must be
 * for both purposes, or state no purpose.
 */
static bool is_for_both(gnutls_x509_crt_t crt)
{
	for (unsigned int i = 0; i < PURPOSES; i++) {
		if (!gnutls.x509_crt_check_key_purpose(crt, purposes[i], 0))
			return false;
	}
	return true;
}

/* Returns the address as certificates contain it: 4 or 16 bytes. */
static gnutls_typed_vdata_st address_of(const struct ip_addr *addr)
{
	unsigned int skipped = ip_addr_is_v4(addr) ? 12 : 0;

	return (gnutls_typed_vdata_st){ GNUTLS_DT_IP_ADDRESS,
					(unsigned char *)(uintptr_t)(addr->b + skipped),
					16 - skipped };
}

static enum dtls_why judge(gnutls_session_t session, gnutls_x509_crt_t crt, struct dtls_verdict *v)
{
	gnutls_typed_vdata_st asked[] = {
		{ GNUTLS_DT_KEY_PURPOSE_OID, (unsigned char *)(uintptr_t)purposes[0], 0 },
		address_of(&v->peer),
	};
	unsigned int status = 0;
	int ret;

	ret = gnutls.certificate_verify_peers(session, asked, v->credentials->any_name ? 1 : 2,
					      &status);
	if (ret) {
		snprintf(v->detail, sizeof(v->detail), "%s", gnutls.strerror(ret));
		return DTLS_WHY_CERT_OTHER;
	}
	if (status & GNUTLS_CERT_SIGNER_NOT_FOUND)
		return DTLS_WHY_CERT_CA;
	if (status & (GNUTLS_CERT_EXPIRED | GNUTLS_CERT_NOT_ACTIVATED))
		return judge_time(crt, status, v->detail);
	if (status & GNUTLS_CERT_PURPOSE_MISMATCH || !is_for_both(crt))
		return DTLS_WHY_CERT_PURPOSE;
	if (status & GNUTLS_CERT_UNEXPECTED_OWNER)
		return DTLS_WHY_CERT_NAME;
	if (!status)
		return DTLS_WHY_NOT;
	strcpy(v->detail, other_fault(status));
	return DTLS_WHY_CERT_OTHER;
}

/* Writes the subject of a certificate, such as "CN=node1,O=Lab", to v. */
static void name_subject(gnutls_x509_crt_t crt, struct dtls_verdict *v)
{
	char name[512] = "";
	size_t len = sizeof(name);

	if (gnutls.x509_crt_get_dn(crt, name, &len))
		strcpy(name, "a subject that is too long");
	set_identity(v, *name ? name : "no subject");
}

/* GnuTLS calls this to verify the peer's certificate, before the handshake continues. */
static int look(gnutls_session_t session)
{
	struct dtls_verdict *v = gnutls.session_get_ptr(session);
	unsigned int n = 0;
	const gnutls_datum_t *chain = gnutls.certificate_get_peers(session, &n);
	gnutls_x509_crt_t crt;

	v->why = chain && n ? DTLS_WHY_CERT_OTHER : DTLS_WHY_CERT_NONE;
	if (!chain || !n || gnutls.x509_crt_init(&crt))
		return -1;
	if (gnutls.x509_crt_import(crt, &chain[0], GNUTLS_X509_FMT_DER)) {
		strcpy(v->detail, "it cannot be read");
	} else {
		name_subject(crt, v);
		v->why = judge(session, crt, v);
	}
	gnutls.x509_crt_deinit(crt);
	return v->why == DTLS_WHY_NOT ? 0 : -1;
}

/* ---- the local certificate ---- */

static gnutls_datum_t datum(const char *text, size_t len)
{
	return (gnutls_datum_t){ (unsigned char *)(uintptr_t)text, (unsigned int)len };
}

/* Warns of faults for which peers will refuse the local certificate. Its owner can replace it. */
static void warn_of_ours(const gnutls_datum_t *cert)
{
	struct dtls_verdict v = { .why = DTLS_WHY_NOT };
	time_t now = time(NULL);
	char when[DTLS_DETAIL_MAX];
	gnutls_x509_crt_t crt;

	if (gnutls.x509_crt_init(&crt))
		return;
	if (!gnutls.x509_crt_import(crt, cert, GNUTLS_X509_FMT_PEM)) {
		name_subject(crt, &v);
		write_time(gnutls.x509_crt_get_expiration_time(crt), when);
		if (gnutls.x509_crt_get_expiration_time(crt) < now)
			log_error("warning: cert: \"%s\" has expired, on %s: peers will refuse it",
				  v.identity, when);
		write_time(gnutls.x509_crt_get_activation_time(crt), when);
		if (gnutls.x509_crt_get_activation_time(crt) > now)
			log_error(
				"warning: cert: \"%s\" is not valid before %s: peers will refuse it, unless the "
				"clock of this host is wrong",
				v.identity, when);
		if (!is_for_both(crt))
			log_error(
				"warning: cert: \"%s\" is not for servers and clients of TLS: peers will "
				"refuse it",
				v.identity);
	}
	gnutls.x509_crt_deinit(crt);
}

static bool fill_certs(struct dtls_credentials *c, const struct config_certs *certs,
		       struct config_error *why)
{
	const gnutls_datum_t cert = datum(certs->cert, certs->cert_len),
			     key = datum(certs->key, certs->key_len),
			     ca = datum(certs->ca, certs->ca_len);
	int ret;

	if (gnutls.certificate_allocate_credentials(&c->cert))
		return false;
	ret = gnutls.certificate_set_x509_key_mem2(c->cert, &cert, &key, GNUTLS_X509_FMT_PEM, NULL,
						   0);
	if (ret == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
		return config_refuse(
			why, "cert-key: that is not the private key of the certificate of cert");
	if (ret < 0)
		return config_refuse(why, "cert, cert-key: they cannot be used: %s",
				     gnutls.strerror(ret));
	ret = gnutls.certificate_set_x509_trust_mem(c->cert, &ca, GNUTLS_X509_FMT_PEM);
	if (ret <= 0)
		return config_refuse(why, "ca: there is no certificate that can be used%s%s",
				     ret ? ": " : "", ret ? gnutls.strerror(ret) : "");
	gnutls.certificate_set_verify_function(c->cert, look);
	warn_of_ours(&cert);
	return true;
}

/* ---- both ---- */

static bool fill(struct dtls_credentials *c, const struct config_certs *certs,
		 struct config_error *why)
{
	/* Certificates are preferred, since a certificate identifies its owner. */
	const char *priorities = DTLS OF_KEYS OF_ALL ":+CTYPE-ALL:+SIGN-ALL";

	if (certs)
		priorities = c->keys.n ? DTLS ECDHE OF_KEYS OF_ALL OF_CERTS :
					 DTLS ECDHE OF_ALL OF_CERTS;
	return !gnutls.priority_init(&c->priorities, priorities, NULL) &&
	       (!c->keys.n || fill_keys(c)) && (!certs || fill_certs(c, certs, why));
}

struct dtls_credentials *dtls_credentials_new(const struct config_keys *keys,
					      const struct config_certs *certs,
					      struct config_error *why)
{
	struct dtls_credentials *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	if (keys)
		c->keys = *keys;
	c->any_name = certs && certs->any_name;
	if (fill(c, certs, why))
		return c;
	dtls_credentials_free(c);
	return NULL;
}

void dtls_credentials_free(struct dtls_credentials *c)
{
	if (!c)
		return;
	if (c->client)
		gnutls.psk_free_client_credentials(c->client);
	if (c->server)
		gnutls.psk_free_server_credentials(c->server);
	if (c->group)
		gnutls.dh_params_deinit(c->group);
	if (c->cert)
		gnutls.certificate_free_credentials(c->cert);
	if (c->priorities)
		gnutls.priority_deinit(c->priorities);
	config_keys_forget(&c->keys);
	free(c);
}

const char *dtls_credentials_kind(const struct dtls_credentials *c)
{
	if (!c->cert)
		return "a key";
	return c->keys.n ? "a key and a certificate" : "a certificate";
}

const char *dtls_credentials_identity(const struct dtls_credentials *c)
{
	return c->keys.key[0].identity;
}

bool dtls_credentials_use(struct dtls_credentials *c, struct gnutls_session_int *session,
			  bool server, struct dtls_verdict *v)
{
	v->credentials = c;
	if (!server)
		set_identity(v, dtls_credentials_identity(c));
	gnutls.session_set_ptr(session, v);
	gnutls.handshake_set_max_packet_length(session,
					       c->cert ? MESSAGE_OF_CERTS : MESSAGE_OF_KEYS);
	if (gnutls.priority_set(session, c->priorities))
		return false;
	if (!server) /* otherwise a host policy could demand longer primes than keys use */
		gnutls.dh_set_prime_bits(session, GROUP_BITS);
	if (c->keys.n && gnutls.credentials_set(session, GNUTLS_CRD_PSK,
						server ? (void *)c->server : (void *)c->client))
		return false;
	if (!c->cert)
		return true;
	if (server)
		gnutls.certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
	/*
	 * Do not send the list of authorities: a client whose certificate has another authority
	 * would then send no certificate, and the fault could not be reported.
	 */
	gnutls.certificate_send_x509_rdn_sequence(session, 1);
	return !gnutls.credentials_set(session, GNUTLS_CRD_CERTIFICATE, c->cert);
}
