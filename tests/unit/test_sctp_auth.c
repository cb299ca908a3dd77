/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Keys and HMACs of authenticated chunks, against values computed by Python's hmac; the offers of
 * peers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "conformance/rows.h"
#include "sctp/auth.h"
#include "wire/sctp_asconf.h"
#include "wire/sctp_init.h"

static const uint8_t list[] = { 0x80, 3, 0, 6, 0xc1, 0x80 };
static const uint8_t longer_list[] = { 0x80, 3, 0, 7, 0xc1, 0x80, 0x0f };
static const uint8_t extensions[] = { 0x80, 8, 0, 7, 0xc1, 0x80, 0x0f };
static const uint8_t both[] = { 0x80, 4, 0, 8, 0, 3, 0, 1 };
static const uint8_t both_turned[] = { 0x80, 4, 0, 8, 0, 1, 0, 3 };
static const uint8_t sha1_alone[] = { 0x80, 4, 0, 6, 0, 1 };

static struct sctp_auth_random random_from(uint8_t first, uint8_t step)
{
	struct sctp_auth_random r = { { 0x80, 2, 0, 36 } };

	for (unsigned int i = 0; i < WIRE_SCTP_RANDOM_LEN; i++)
		r.raw[4 + i] = (uint8_t)(first + step * i);
	return r;
}

static void check(const struct sctp_auth *auth, uint16_t hmac, const char *hex)
{
	static const uint8_t asconf[] = { 0xc1, 1, 0, 16, 0, 0, 0, 7, 0, 5, 0, 8, 0, 0, 0, 0 };
	struct sctp_auth with = *auth;
	uint8_t p[SCTP_AUTH_MAX + sizeof(asconf)];
	char text[2 * SCTP_AUTH_SHA256 + 1] = "";
	size_t len;

	with.hmac = hmac;
	len = sctp_auth_put(&with, p);
	memcpy(p + len, asconf, sizeof(asconf));
	assert_int_equal(get_be16(p + 4), 0); /* Shared Key Identifier */
	assert_int_equal(get_be16(p + 6), hmac);
	sctp_auth_sign(&with, p, len + sizeof(asconf));
	for (size_t i = WIRE_SCTP_AUTH_LEN; i < len; i++)
		sprintf(text + 2 * (i - WIRE_SCTP_AUTH_LEN), "%02x", p[i]);
	assert_string_equal(text, hex);
}

static void vector(const struct wire_sctp_init *theirs, const char *sha1, const char *sha256)
{
	const struct sctp_auth_random ours = random_from(1, 1);
	struct sctp_auth auth;

	sctp_auth_agree(&auth, &ours, theirs);
	check(&auth, WIRE_SCTP_HMAC_SHA1, sha1);
	check(&auth, WIRE_SCTP_HMAC_SHA256, sha256);
}

/*
 * The smaller key vector comes first; a shorter vector is smaller. Missing parameters are omitted.
 */
static void test_vectors(void **state)
{
	const struct sctp_auth_random other = random_from(64, 1), zeros = random_from(0, 0),
				      ones = random_from(255, 0);
	struct wire_sctp_init theirs = { .random = other.raw };

	ROWS("4895-6.1-03 4895-6.2-02 4895-6.2-03 4895-3.3-01");
	theirs.chunks = longer_list;
	theirs.hmacs = both_turned;
	vector(&theirs, "b3e308e8372895cccb47a0c0fcb080567bea5e96",
	       "5849c22bcd2cb66e9ae6691378eec8566a0903f9984adbf95059f989e786c22f");
	theirs.chunks = NULL;
	theirs.hmacs = sha1_alone;
	vector(&theirs, "5018945fe5a1d8c8a5cae5fbbf0a000c53216271",
	       "217d9607dff50010da8422152a69d19e32a86d2c8ba425252055ba0a07f1eb30");
	theirs.chunks = list;
	theirs.hmacs = both;
	theirs.random = zeros.raw;
	vector(&theirs, "73b173a9e241693abceba1fa2e6e48e5bf06097c",
	       "939c6f87345902ee3f209ac366c0e99a1ee28a1a63e14d2d171e128a08462937");
	theirs.random = ones.raw;
	vector(&theirs, "881f07a7fd90bbcb93ecc39645ec8d7de4eab189",
	       "adbd7c8306f8159e8f1ab8571c00501503f804b22c8010243617c043596462d6");
}

/* Both sides compute the same key, and use the HMAC that the other side prefers. */
static void test_both_sides(void **state)
{
	const struct sctp_auth_random one = random_from(7, 3), two = random_from(9, 5);
	struct wire_sctp_init first = { 0 }, second = { 0 };
	struct sctp_auth a, b;

	ROWS("4895-6.1-02");
	sctp_auth_tell(&one, &first);
	sctp_auth_tell(&two, &second);
	second.hmacs = both_turned;
	sctp_auth_agree(&a, &one, &second);
	assert_int_equal(a.hmac, WIRE_SCTP_HMAC_SHA1);
	sctp_auth_tell(&two, &second);
	sctp_auth_agree(&a, &one, &second);
	sctp_auth_agree(&b, &two, &first);
	assert_int_equal(a.hmac, WIRE_SCTP_HMAC_SHA256);
	assert_memory_equal(&a, &b, sizeof(a));
}

static void test_offers(void **state)
{
	static const uint8_t ignored[] = { 0x80, 3, 0, 8, 1, 2, 14, 15 };
	static const uint8_t data[] = { 0x80, 3, 0, 6, 0xc1, 0 };
	static const uint8_t strange[] = { 0x80, 4, 0, 8, 0, 2, 0, 9 };
	static const uint8_t no_asconf[] = { 0x80, 8, 0, 5, 0x0f };
	struct sctp_auth_random r = random_from(1, 1);
	struct wire_sctp_init init = { 0 }, good = { 0 };

	ROWS("4895-3.2-02 4895-6.1-01 5061-6-01");
	assert_int_equal(sctp_auth_offer(&init), SCTP_AUTH_NONE);
	sctp_auth_tell(&r, &good);
	init = good;
	assert_int_equal(sctp_auth_offer(&init), SCTP_AUTH_GOOD);
	init.chunks = ignored;
	assert_int_equal(sctp_auth_offer(&init), SCTP_AUTH_GOOD);
	init.chunks = NULL;
	assert_int_equal(sctp_auth_offer(&init), SCTP_AUTH_GOOD);
	init.chunks = data;
	assert_int_equal(sctp_auth_offer(&init), SCTP_AUTH_MORE);
	init = good;
	init.extensions = no_asconf;
	assert_int_equal(sctp_auth_offer(&init), SCTP_AUTH_NONE);
	init.extensions = extensions;
	init.hmacs = strange;
	assert_int_equal(sctp_auth_offer(&init), SCTP_AUTH_BROKEN);
	init.hmacs = NULL;
	assert_int_equal(sctp_auth_offer(&init), SCTP_AUTH_BROKEN);
	init.extensions = NULL;
	assert_int_equal(sctp_auth_offer(&init), SCTP_AUTH_NONE);
	init = good;
	init.random = NULL;
	assert_int_equal(sctp_auth_offer(&init), SCTP_AUTH_BROKEN);
	init = good;
	r.raw[3] = 35;
	assert_int_equal(sctp_auth_offer(&init), SCTP_AUTH_BROKEN);
}

/* The codec of ASCONF returns the written values, and reads nothing beyond them. */
static void test_asconf_codec(void **state)
{
	const struct ip_addr v4 = { .b = { [10] = 0xff, 0xff, 10, 0, 0, 9 } };
	const struct ip_addr v6 = { .b = { 0xfd, 1, [15] = 7 } };
	uint8_t p[128] = { 0 };
	size_t len = WIRE_SCTP_ASCONF_LEN, i;
	struct wire_sctp_chunk c = { .type = WIRE_SCTP_ASCONF, .raw = p };
	struct wire_sctp_asconf_param param;
	struct wire_sctp_asconf asconf;
	const uint8_t *q;

	put_be32(p + 4, 77);
	len += wire_sctp_addr_put(p + len, &v6);
	len += wire_sctp_asconf_put(p + len, WIRE_SCTP_ADD_IP, 1, &v4);
	len += wire_sctp_asconf_put(p + len, WIRE_SCTP_DELETE_IP, 2, &v6);
	len += wire_sctp_asconf_error_put(p + len, 3, 0xa0, (const uint8_t *)"abcde", 5);
	c.len = (uint16_t)len;
	assert_true(wire_sctp_asconf_get(&c, &asconf));
	assert_int_equal(asconf.serial, 77);
	assert_true(ip_addr_equal(&asconf.address, &v6));
	q = asconf.params;
	assert_true(wire_sctp_asconf_next(&q, asconf.end, &param));
	assert_int_equal(param.type, WIRE_SCTP_ADD_IP);
	assert_int_equal(param.id, 1);
	assert_true(param.has_address && ip_addr_equal(&param.address, &v4));
	assert_true(wire_sctp_asconf_next(&q, asconf.end, &param));
	assert_true(param.id == 2 && param.has_address && ip_addr_equal(&param.address, &v6));
	assert_true(wire_sctp_asconf_next(&q, asconf.end, &param));
	assert_true(param.id == 3 && !param.has_address && param.len == 17);
	assert_false(wire_sctp_asconf_next(&q, asconf.end, &param));
	for (i = 4; i < len; i++) {
		c.len = (uint16_t)i;
		if (wire_sctp_asconf_get(&c, &asconf)) {
			assert_true(i >= 28);
			for (q = asconf.params; wire_sctp_asconf_next(&q, asconf.end, &param);)
				assert_true(param.raw + param.len <= p + i);
		}
	}
	/* A Host Name Address is not valid. */
	put_be16(p + 8, WIRE_SCTP_PARAM_HOST_NAME);
	c.len = (uint16_t)len;
	assert_false(wire_sctp_asconf_get(&c, &asconf));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_both_sides),
		cmocka_unit_test(test_offers),
		cmocka_unit_test(test_asconf_codec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
