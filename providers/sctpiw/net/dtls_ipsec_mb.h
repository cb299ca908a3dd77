/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * AES-GCM of libipsec-mb, Intel's library for x86, which takes a third of GnuTLS's time on a processor with VAES (decision 46).
 * It is loaded with the first key, and not needed. No lock.
 */
#ifndef SCTPIW_NET_DTLS_IPSEC_MB_H
#define SCTPIW_NET_DTLS_IPSEC_MB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/dtls_aead.h"

/* One key of AES-GCM. */
struct dtls_gcm;

/*
 * NULL: the suite is another, the library or its header was not there, its version is not the one that we were built with, the
 * processor has no instructions for AES, or there is no memory.
 */
struct dtls_gcm *dtls_gcm_new(enum dtls_suite suite, const uint8_t *key);
void dtls_gcm_free(struct dtls_gcm *g);

/* As dtls_aead_seal() and dtls_aead_open(). */
void dtls_gcm_seal(struct dtls_gcm *g, const struct dtls_aead_input *in, uint8_t *p, size_t len);
bool dtls_gcm_open(struct dtls_gcm *g, const struct dtls_aead_input *in, uint8_t *p, size_t len);

#endif
