/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * AES-GCM of libipsec-mb, Intel's library for x86. On a processor with VAES it takes a third of
 * GnuTLS's time (decision 46). The library is optional. No lock.
 */
#ifndef SCTPIW_NET_DTLS_IPSEC_MB_H
#define SCTPIW_NET_DTLS_IPSEC_MB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/dtls_aead.h"

/*
 * Loads the library, if it exists, for a process with a key or a certificate; in one thread at a
 * time. It stays loaded. The log shows at level debug whether it is used.
 */
void dtls_gcm_load(void);

/* One key of AES-GCM. */
struct dtls_gcm;

/*
 * Returns NULL when out of memory, for another suite, or if the processor has no instructions for
 * AES. Also returns NULL if the library is not loaded, or this program was built without it or for
 * another version.
 */
struct dtls_gcm *dtls_gcm_new(enum dtls_suite suite, const uint8_t *key);
void dtls_gcm_free(struct dtls_gcm *g);

/* As dtls_aead_seal() and dtls_aead_open(). */
void dtls_gcm_seal(struct dtls_gcm *g, const struct dtls_aead_input *in, uint8_t *p, size_t len);
bool dtls_gcm_open(struct dtls_gcm *g, const struct dtls_aead_input *in, uint8_t *p, size_t len);

#endif
