/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/dtls_ipsec_mb.h"

#ifdef SCTPIW_IPSEC_MB
#include <dlfcn.h>
#include <intel-ipsec-mb.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"

#define ALIGNMENT 64u /* alignment of a key, in bytes, that the library requires */

/* Functions for one key length. pre is NULL if they cannot be used. */
struct functions {
	aes_gcm_pre_t pre;
	aes_gcm_enc_dec_t enc, dec;
};

static struct functions aes_128, aes_256;

struct dtls_gcm {
	alignas(ALIGNMENT) struct gcm_key_data key;
	const struct functions *f;
};

/*
 * Functions that are looked up by name. The manager, whose layout depends on the library's version,
 * has the others.
 */
struct library {
	__typeof__(&imb_get_version) version;
	__typeof__(&alloc_mb_mgr) alloc;
	__typeof__(&free_mb_mgr) free;
	__typeof__(&init_mb_mgr_auto) init;
};

static bool look_up(void *handle, const char *name, void *function)
{
	void *found = dlsym(handle, name);

	memcpy(function, &found, sizeof(found));
	return found;
}

static bool load(struct library *l)
{
	char name[32];
	void *handle;

	snprintf(name, sizeof(name), "libIPSec_MB.so.%d", IMB_VERSION_NUM >> 16);
	handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	return handle && look_up(handle, "imb_get_version", &l->version) &&
	       look_up(handle, "alloc_mb_mgr", &l->alloc) &&
	       look_up(handle, "free_mb_mgr", &l->free) &&
	       look_up(handle, "init_mb_mgr_auto", &l->init);
}

/* Loads the library. Returns NULL, or the reason why the library cannot be used. */
static const char *prepare(void)
{
	struct library l;
	IMB_MGR *mgr;

	if (!load(&l))
		return "it is not there";
	if (l.version() >> 8 != IMB_VERSION_NUM >> 8)
		return "its version is another one";
	mgr = l.alloc(0);
	if (!mgr)
		return "there is no memory";
	l.init(mgr, NULL);
	if (!mgr->imb_errno && mgr->features & IMB_FEATURE_AESNI) {
		aes_128 = (struct functions){ mgr->gcm128_pre, mgr->gcm128_enc, mgr->gcm128_dec };
		aes_256 = (struct functions){ mgr->gcm256_pre, mgr->gcm256_enc, mgr->gcm256_dec };
	}
	l.free(mgr);
	return aes_128.pre ? NULL : "the processor has no instructions for AES";
}

void dtls_gcm_load(void)
{
	const char *why = aes_128.pre ? NULL : prepare();

	if (why)
		log_debug("AES-GCM is not that of libipsec-mb %s: %s", IMB_VERSION_STR, why);
	else
		log_debug("AES-GCM is that of libipsec-mb %s", IMB_VERSION_STR);
}

struct dtls_gcm *dtls_gcm_new(enum dtls_suite suite, const uint8_t *key)
{
	const struct functions *f = suite == DTLS_AES_128_GCM ? &aes_128 : &aes_256;
	struct dtls_gcm *g;

	if (suite == DTLS_CHACHA20_POLY1305 || !f->pre)
		return NULL;
	g = aligned_alloc(ALIGNMENT, sizeof(*g));
	if (!g)
		return NULL;
	g->f = f;
	f->pre(key, &g->key);
	return g;
}

void dtls_gcm_free(struct dtls_gcm *g)
{
	explicit_bzero(g, sizeof(*g));
	free(g);
}

void dtls_gcm_seal(struct dtls_gcm *g, const struct dtls_aead_input *in, uint8_t *p, size_t len)
{
	struct gcm_context_data context;

	g->f->enc(&g->key, &context, p, p, len, in->nonce, in->aad, sizeof(in->aad), p + len,
		  DTLS_TAG);
}

bool dtls_gcm_open(struct dtls_gcm *g, const struct dtls_aead_input *in, uint8_t *p, size_t len)
{
	struct gcm_context_data context;
	uint8_t tag[DTLS_TAG] = { 0 };
	unsigned int differ = 0;

	g->f->dec(&g->key, &context, p, p, len, in->nonce, in->aad, sizeof(in->aad), tag, DTLS_TAG);
	/* Compares all bytes, so that the time does not depend on the tag. */
	for (unsigned int i = 0; i < DTLS_TAG; i++)
		differ |= (unsigned int)(tag[i] ^ p[len + i]);
	return !differ;
}

#else /* built without the library's header */

void dtls_gcm_load(void)
{
}

struct dtls_gcm *dtls_gcm_new(enum dtls_suite suite, const uint8_t *key)
{
	return NULL;
}

void dtls_gcm_free(struct dtls_gcm *g)
{
}

void dtls_gcm_seal(struct dtls_gcm *g, const struct dtls_aead_input *in, uint8_t *p, size_t len)
{
}

bool dtls_gcm_open(struct dtls_gcm *g, const struct dtls_aead_input *in, uint8_t *p, size_t len)
{
	return false;
}
#endif
