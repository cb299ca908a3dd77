/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * AES-GCM of libipsec-mb, Intel's library for x86. On a processor with VAES (vector AES), this
 * library takes a third of GnuTLS's time (decision 46). The library is optional. No lock.
 */
#ifndef SCTPIW_NET_DTLS_IPSEC_MB_H
#define SCTPIW_NET_DTLS_IPSEC_MB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/dtls_aead.h"

/*
 * Loads the library if it is installed. Called in a process with a key or a certificate, by one
 * thread at a time. The library stays loaded. The log at level debug shows whether it is used.
 */
void dtls_gcm_load(void);

/* An AES-GCM key. */
struct dtls_gcm;

/*
 * Returns NULL when out of memory, or for another suite. Returns NULL also if the processor has no
 * AES instructions, the library is not loaded, or this program was built without the library or for
 * another version.
 */
struct dtls_gcm *dtls_gcm_new(enum dtls_suite suite, const uint8_t *key);
void dtls_gcm_free(struct dtls_gcm *g);

/* Like dtls_aead_seal() and dtls_aead_open(). */
void dtls_gcm_seal(struct dtls_gcm *g, const struct dtls_aead_input *in, uint8_t *p, size_t len);
bool dtls_gcm_open(struct dtls_gcm *g, const struct dtls_aead_input *in, uint8_t *p, size_t len);

#endif
