/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * AES-GCM of libipsec-mb, Intel's library for x86, which takes a third of GnuTLS's time on a processor with VAES (decision 46).
 * It is not needed. No lock.
 */
#ifndef SCTPIW_NET_DTLS_IPSEC_MB_H
#define SCTPIW_NET_DTLS_IPSEC_MB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/dtls_aead.h"

/*
 * Loads the library, if it is there, when a process has a key or a certificate; by one thread at a time. It stays loaded. The
 * log says at debug whether it is used.
 */
void dtls_gcm_load(void);

/* One key of AES-GCM. */
struct dtls_gcm;

/*
 * NULL: the suite is another, the library was not loaded or not there when this was built, its version is not the one that
 * we were built with, the processor has no instructions for AES, or there is no memory.
 */
struct dtls_gcm *dtls_gcm_new(enum dtls_suite suite, const uint8_t *key);
void dtls_gcm_free(struct dtls_gcm *g);

/* As dtls_aead_seal() and dtls_aead_open(). */
void dtls_gcm_seal(struct dtls_gcm *g, const struct dtls_aead_input *in, uint8_t *p, size_t len);
bool dtls_gcm_open(struct dtls_gcm *g, const struct dtls_aead_input *in, uint8_t *p, size_t len);

#endif
