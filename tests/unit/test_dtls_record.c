/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* VALGRIND: yes */
/* Records of DTLS: sealed and opened, forged, cut short, and replayed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "net/dtls_gnutls.h"
#include "net/dtls_ipsec_mb.h"
#include "net/dtls_record.h"
#include "util/bytes.h"

#define TEXT "a packet of SCTP"
#define LEN sizeof(TEXT)

static const uint8_t secret[32] = "0123456789abcdef0123456789abcdef", iv[12] = "abcdefghijk";
static struct dtls_cipher *tx, *rx;
static uint8_t record[DTLS_PLAIN_MAX + DTLS_OVERHEAD], copy[sizeof(record)];

static struct dtls_cipher *cipher(enum dtls_suite suite, uint16_t epoch)
{
	bool chacha = suite == DTLS_CHACHA20_POLY1305;
	struct dtls_cipher *c = dtls_cipher_new(
		suite, epoch, secret, suite == DTLS_AES_128_GCM ? 16 : 32, iv, chacha ? 12 : 4);

	assert_non_null(c);
	return c;
}

static void with(enum dtls_suite suite)
{
	dtls_cipher_free(tx);
	dtls_cipher_free(rx);
	tx = cipher(suite, 1);
	rx = cipher(suite, 1);
}

static int setup(void **state)
{
	struct config_error why;

	assert_true(dtls_gnutls_load(&why));
	dtls_gcm_load();
	with(DTLS_AES_128_GCM);
	return 0;
}

static int teardown(void **state)
{
	dtls_cipher_free(tx);
	dtls_cipher_free(rx);
	tx = rx = NULL;
	return 0;
}

static size_t seal(enum dtls_type type, const void *data, size_t len)
{
	memcpy(record + dtls_cipher_front(tx), data, len);
	return dtls_seal(tx, type, record, len);
}

/* Opens the record, and checks its text. */
static enum dtls_opened open_text(size_t size)
{
	struct dtls_header h;
	enum dtls_opened opened;
	uint8_t *plain;
	size_t len;

	assert_true(dtls_header_get(record, size, &h));
	opened = dtls_open(rx, &h, record, &plain, &len);
	if (opened == DTLS_OPENED) {
		assert_int_equal(len, LEN);
		assert_memory_equal(plain, TEXT, LEN);
	}
	return opened;
}

static void test_suites(void **state)
{
	static const enum dtls_suite suites[] = { DTLS_AES_128_GCM, DTLS_AES_256_GCM,
						  DTLS_CHACHA20_POLY1305 };
	struct dtls_header h;

	for (unsigned int i = 0; i < 3; i++) {
		size_t len;

		with(suites[i]);
		assert_int_equal(dtls_cipher_overhead(tx), i == 2 ? 29 : 37);
		for (uint64_t n = 0; n < 3; n++) {
			len = seal(DTLS_DATA, TEXT, LEN);
			assert_int_equal(len, LEN + dtls_cipher_overhead(tx));
			assert_null(memmem(record, len, "SCTP", 4));
			assert_true(dtls_header_get(record, len, &h));
			assert_int_equal(h.type, DTLS_DATA);
			assert_int_equal(h.epoch, 1);
			/* GnuTLS has used the first numbers of this epoch. */
			assert_int_equal(h.seq, DTLS_FIRST_SEQ + n);
			assert_int_equal(h.len, len - DTLS_HEADER);
			assert_int_equal(open_text(len), DTLS_OPENED);
		}
		assert_int_equal(dtls_cipher_used(tx), 3);
	}
}

/* Builds the nonce and the additional data by hand. */
static void test_vector(void **state)
{
	struct dtls_header h;
	size_t len = seal(DTLS_DATA, TEXT, LEN), opened = LEN;
	uint8_t nonce[12], aad[13], plain[LEN];
	gnutls_datum_t key = { (void *)(uintptr_t)secret, 16 };
	gnutls_aead_cipher_hd_t aead;

	/* RFC 5288: salt and explicit nonce; RFC 5246 6.2.3.3: number, type, version, length. */
	assert_true(dtls_header_get(record, len, &h));
	memcpy(nonce, iv, 4);
	memcpy(nonce + 4, record + DTLS_HEADER, 8);
	memcpy(aad, record + 3, 8);
	memcpy(aad + 8, "\x17\xfe\xfd", 3);
	put_be16(aad + 11, LEN);
	assert_int_equal(gnutls.aead_cipher_init(&aead, GNUTLS_CIPHER_AES_128_GCM, &key), 0);
	assert_int_equal(gnutls.aead_cipher_decrypt(aead, nonce, 12, aad, 13, 16,
						    record + DTLS_HEADER + 8, LEN + 16, plain,
						    &opened),
			 0);
	assert_memory_equal(plain, TEXT, LEN);
	gnutls.aead_cipher_deinit(aead);
}

/* A change of any bit of a record is detected. */
static void test_forged(void **state)
{
	size_t len = seal(DTLS_DATA, TEXT, LEN);
	struct dtls_header h;

	memcpy(copy, record, len);
	for (size_t bit = 0; bit < len * 8; bit++) {
		uint8_t *plain;
		size_t n;

		memcpy(record, copy, len);
		record[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (dtls_header_get(record, len, &h))
			assert_int_not_equal(dtls_open(rx, &h, record, &plain, &n), DTLS_OPENED);
	}
	memcpy(record, copy, len);
	assert_int_equal(open_text(len), DTLS_OPENED);
}

static void test_truncated(void **state)
{
	size_t len = seal(DTLS_DATA, TEXT, LEN);
	struct dtls_header h;
	uint8_t *plain, *cut;
	size_t n;

	memcpy(copy, record, len);
	for (size_t left = 0; left < len; left++) {
		/* The buffer ends here, so that a sanitizer detects a longer read. */
		cut = malloc(left + 1);
		memcpy(cut, copy, left);
		assert_false(dtls_header_get(cut, left, &h));
		if (left >= DTLS_HEADER) {
			put_be16(cut + 11, (uint16_t)(left - DTLS_HEADER));
			assert_true(dtls_header_get(cut, left, &h));
			assert_int_equal(dtls_open(rx, &h, cut, &plain, &n), DTLS_BAD);
		}
		free(cut);
	}
}

static void test_headers(void **state)
{
	size_t len = seal(DTLS_DATA, TEXT, LEN);
	struct dtls_header h;

	memcpy(copy, record, len);
	assert_true(dtls_header_get(record, sizeof(record), &h));
	record[0] = 19;
	assert_false(dtls_header_get(record, len, &h));
	record[0] = 24;
	assert_false(dtls_header_get(record, len, &h));
	memcpy(record, copy, len);
	record[1] = 3; /* TLS over TCP */
	assert_false(dtls_header_get(record, len, &h));
	/* A record of the previous or next epoch has another key. */
	for (unsigned int epoch = 0; epoch < 4; epoch++) {
		memcpy(record, copy, len);
		put_be16(record + 3, (uint16_t)epoch);
		assert_int_equal(open_text(len), epoch == 1 ? DTLS_OPENED : DTLS_BAD);
	}
	/* An alert does not pass as data. */
	len = seal(DTLS_ALERT, TEXT, LEN);
	record[0] = DTLS_DATA;
	assert_int_equal(open_text(len), DTLS_BAD);
}

static void set_number(uint64_t seq)
{
	/* Seals until the cipher has used this number of records. */
	uint8_t text[LEN] = TEXT;

	while (DTLS_FIRST_SEQ + dtls_cipher_used(tx) < seq)
		seal(DTLS_DATA, text, 1);
}

static enum dtls_opened open_number(uint64_t seq)
{
	static uint8_t kept[2000][LEN + DTLS_OVERHEAD];
	static uint64_t n;

	/* Each record is sealed once, in order, and kept. */
	if (!seq) {
		n = 0;
		return DTLS_BAD;
	}
	while (n <= seq) {
		seal(DTLS_DATA, TEXT, LEN);
		memcpy(kept[n++], record, sizeof(kept[0]));
	}
	memcpy(record, kept[seq], sizeof(kept[0]));
	return open_text(sizeof(kept[0]));
}

static void test_replays(void **state)
{
	open_number(0);
	assert_int_equal(open_number(1), DTLS_OPENED);
	assert_int_equal(open_number(1), DTLS_REPLAY);
	/* Late records inside the window are accepted once. */
	assert_int_equal(open_number(1000), DTLS_OPENED);
	assert_int_equal(open_number(1000 - DTLS_WINDOW), DTLS_OPENED);
	assert_int_equal(open_number(1000 - DTLS_WINDOW), DTLS_REPLAY);
	assert_int_equal(open_number(1000 - DTLS_WINDOW - 1), DTLS_REPLAY);
	for (uint64_t seq = 999; seq > 1000 - DTLS_WINDOW; seq--) {
		assert_int_equal(open_number(seq), DTLS_OPENED);
		assert_int_equal(open_number(seq), DTLS_REPLAY);
	}
	/* Numbers in another word, in order, and a jump over the whole window. */
	for (uint64_t seq = 1001; seq < 1200; seq++)
		assert_int_equal(open_number(seq), DTLS_OPENED);
	assert_int_equal(open_number(1100), DTLS_REPLAY);
	assert_int_equal(open_number(1900), DTLS_OPENED);
	for (uint64_t seq = 1899; seq >= 1900 - DTLS_WINDOW; seq--)
		assert_int_equal(open_number(seq), DTLS_OPENED);
	assert_int_equal(open_number(1900), DTLS_REPLAY);
}

/* A forged record does not move the window. */
static void test_forged_number(void **state)
{
	size_t len;

	set_number(DTLS_FIRST_SEQ + 10);
	len = seal(DTLS_DATA, TEXT, LEN);
	memcpy(copy, record, len);
	record[10] = 0xff; /* a number far ahead */
	record[8] = 0x7f;
	assert_int_equal(open_text(len), DTLS_BAD);
	memcpy(record, copy, len);
	assert_int_equal(open_text(len), DTLS_OPENED);
}

static void test_longest(void **state)
{
	static uint8_t data[DTLS_PLAIN_MAX];
	struct dtls_header h;
	uint8_t *plain;
	size_t len = seal(DTLS_DATA, data, sizeof(data)), n;

	assert_int_equal(len, sizeof(record));
	assert_true(dtls_header_get(record, len, &h));
	assert_int_equal(dtls_open(rx, &h, record, &plain, &n), DTLS_OPENED);
	assert_int_equal(n, sizeof(data));
	assert_null(dtls_cipher_new(DTLS_AES_256_GCM, 1, secret, 16, iv, 4));
	assert_null(dtls_cipher_new(DTLS_AES_128_GCM, 1, secret, 16, iv, 12));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_suites, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vector, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_truncated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_headers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replays, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forged_number, setup, teardown),
		cmocka_unit_test_setup_teardown(test_longest, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
