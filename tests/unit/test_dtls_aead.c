/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* WRAP: dtls_gcm_new */
/* VALGRIND: yes */
/* The ciphers of records, by both libraries: each opens only the records that the other seals. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "net/dtls_gnutls.h"
#include "net/dtls_ipsec_mb.h"

#define LONGEST 16384u

static const enum dtls_suite suites[] = { DTLS_AES_128_GCM, DTLS_AES_256_GCM,
					  DTLS_CHACHA20_POLY1305 };
static const size_t lengths[] = { 0, 1, 15, 16, 17, 63, 64, 255, 1400, 4097, LONGEST };
static const struct dtls_aead_input input = { "twelve bytes", "thirteen of i" };
static const uint8_t secret[32] = "0123456789abcdef0123456789abcdef";

static bool gnutls_alone; /* libipsec-mb is missing */
static uint8_t plain[LONGEST], sealed[2][LONGEST + DTLS_TAG];

struct dtls_gcm *__real_dtls_gcm_new(enum dtls_suite suite, const uint8_t *key);
struct dtls_gcm *__wrap_dtls_gcm_new(enum dtls_suite suite, const uint8_t *key);
struct dtls_gcm *__wrap_dtls_gcm_new(enum dtls_suite suite, const uint8_t *key)
{
	return gnutls_alone ? NULL : __real_dtls_gcm_new(suite, key);
}

static struct dtls_aead *aead(enum dtls_suite suite, bool alone)
{
	struct dtls_aead *a;

	gnutls_alone = alone;
	a = dtls_aead_new(suite, secret);
	assert_non_null(a);
	return a;
}

static int setup(void **state)
{
	struct config_error why;

	assert_true(dtls_gnutls_load(&why));
	dtls_gcm_load();
	for (size_t i = 0; i < LONGEST; i++)
		plain[i] = (uint8_t)(i * 2654435761u >> 11);
	return 0;
}

/* Without the library, the other cases test less. */
static void test_library(void **state)
{
#ifdef SCTPIW_IPSEC_MB
	struct dtls_gcm *g;

	for (unsigned int i = 0; i < 2; i++) {
		g = __real_dtls_gcm_new(suites[i], secret);
		if (!g) {
			puts("SKIP libipsec-mb is not here, or does not know this processor");
			skip();
		}
		dtls_gcm_free(g);
	}
#else
	puts("SKIP the development package of libipsec-mb was not here when cmake ran");
	skip();
#endif
}

static void test_both(void **state)
{
	for (unsigned int s = 0; s < 3; s++) {
		struct dtls_aead *a[] = { aead(suites[s], false), aead(suites[s], true) };

		for (unsigned int i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			size_t len = lengths[i];

			for (int n = 0; n < 2; n++) {
				memcpy(sealed[n], plain, len);
				assert_true(dtls_aead_seal(a[n], &input, sealed[n], len));
			}
			assert_memory_equal(sealed[0], sealed[1], len + DTLS_TAG);
			assert_true(len < 15 || memcmp(sealed[0], plain, len) != 0);
			for (int n = 0; n < 2; n++) {
				assert_true(dtls_aead_open(a[n], &input, sealed[n], len));
				assert_memory_equal(sealed[n], plain, len);
			}
		}
		dtls_aead_free(a[0]);
		dtls_aead_free(a[1]);
	}
}

/* One wrong bit, in the record or in the data that both sides know. */
static void test_forged(void **state)
{
	const size_t len = 100;
	struct dtls_aead_input in;

	for (unsigned int s = 0; s < 6; s++) {
		struct dtls_aead *a = aead(suites[s / 2], s & 1);

		for (size_t bit = 0; bit < 8 * (len + DTLS_TAG + sizeof(in)); bit++) {
			size_t at = bit / 8;

			in = input;
			memcpy(sealed[0], plain, len);
			assert_true(dtls_aead_seal(a, &in, sealed[0], len));
			if (at < len + DTLS_TAG)
				sealed[0][at] ^= (uint8_t)(1u << bit % 8);
			else
				((uint8_t *)&in)[at - len - DTLS_TAG] ^= (uint8_t)(1u << bit % 8);
			assert_false(dtls_aead_open(a, &in, sealed[0], len));
		}
		dtls_aead_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_both),
		cmocka_unit_test(test_forged),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
