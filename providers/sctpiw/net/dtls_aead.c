/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/dtls_aead.h"

#include <stdlib.h>

#include "net/dtls_gnutls.h"
#include "net/dtls_ipsec_mb.h"

struct dtls_aead {
	struct dtls_gcm *gcm;	      /* of libipsec-mb, or NULL */
	gnutls_aead_cipher_hd_t aead; /* of GnuTLS, if gcm is NULL */
};

static const struct {
	gnutls_cipher_algorithm_t algorithm;
	size_t key_len;
} ciphers[] = {
	[DTLS_AES_128_GCM] = { GNUTLS_CIPHER_AES_128_GCM, 16 },
	[DTLS_AES_256_GCM] = { GNUTLS_CIPHER_AES_256_GCM, 32 },
	[DTLS_CHACHA20_POLY1305] = { GNUTLS_CIPHER_CHACHA20_POLY1305, 32 },
};

size_t dtls_aead_key_len(enum dtls_suite suite)
{
	return ciphers[suite].key_len;
}

struct dtls_aead *dtls_aead_new(enum dtls_suite suite, const uint8_t *key)
{
	gnutls_datum_t datum = { (unsigned char *)(uintptr_t)key,
				 (unsigned int)ciphers[suite].key_len };
	struct dtls_aead *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->gcm = dtls_gcm_new(suite, key);
	if (a->gcm || !gnutls.aead_cipher_init(&a->aead, ciphers[suite].algorithm, &datum))
		return a;
	free(a);
	return NULL;
}

void dtls_aead_free(struct dtls_aead *a)
{
	if (!a)
		return;
	if (a->gcm)
		dtls_gcm_free(a->gcm);
	else
		gnutls.aead_cipher_deinit(a->aead);
	free(a);
}

bool dtls_aead_seal(struct dtls_aead *a, const struct dtls_aead_input *in, uint8_t *p, size_t len)
{
	size_t sealed = len + DTLS_TAG;

	if (!a->gcm)
		return !gnutls.aead_cipher_encrypt(a->aead, in->nonce, sizeof(in->nonce), in->aad,
						   sizeof(in->aad), DTLS_TAG, p, len, p, &sealed);
	dtls_gcm_seal(a->gcm, in, p, len);
	return true;
}

bool dtls_aead_open(struct dtls_aead *a, const struct dtls_aead_input *in, uint8_t *p, size_t len)
{
	size_t opened = len;

	if (!a->gcm)
		return !gnutls.aead_cipher_decrypt(a->aead, in->nonce, sizeof(in->nonce), in->aad,
						   sizeof(in->aad), DTLS_TAG, p, len + DTLS_TAG, p,
						   &opened);
	return dtls_gcm_open(a->gcm, in, p, len);
}
