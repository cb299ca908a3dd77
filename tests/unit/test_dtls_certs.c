/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* WRAP: dtls_say_up dtls_say_failed */
/*
 * Sessions of DTLS by certificates (net/dtls_credentials.h): whom a host accepts, and the errors of
 * both sides if not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/config_keys.h"
#include "fixture/dtls_certs.h"
#include "fixture/dtls_pair.h"
#include "net/dtls_gnutls.h"

#define ADDRESS "10.0.0.1" /* address of both hosts (dtls_pair_address()) */

static struct dtls_host *const a = &dtls_hosts[0], *const b = &dtls_hosts[1];

/* The report about the last handshake of each host. */
static struct said {
	enum dtls_why why;
	char identity[DTLS_IDENTITY_MAX + 1];
	char detail[DTLS_DETAIL_MAX];
	bool by_key;
} said[2];

static struct dtls_cert ca, other_ca, node;

/* Exported, so that libraries call this function. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *ts)
{
	return dtls_pair_clock(ts);
}

static void note(const struct dtls_peer *peer, const struct dtls_handshake *h)
{
	struct said *s = &said[peer->port->number == a->number ? 0 : 1];

	s->why = dtls_handshake_why(h);
	s->by_key = dtls_handshake_by_key(h);
	snprintf(s->identity, sizeof(s->identity), "%s", dtls_handshake_identity(h));
	snprintf(s->detail, sizeof(s->detail), "%s", s->why ? dtls_handshake_text(h) : "");
}

void __wrap_dtls_say_up(const struct dtls_peer *peer, const struct dtls_handshake *h);
void __wrap_dtls_say_failed(const struct dtls_peer *peer);
void __real_dtls_say_failed(const struct dtls_peer *peer);

void __wrap_dtls_say_up(const struct dtls_peer *peer, const struct dtls_handshake *h)
{
	note(peer, h);
}

void __wrap_dtls_say_failed(const struct dtls_peer *peer)
{
	note(peer, peer->next);
	__real_dtls_say_failed(peer);
}

/* ---- hosts ---- */

static void start(struct dtls_host *h, struct dtls_cert *own, struct dtls_cert *top,
		  const char *keys, bool any_name)
{
	struct config_certs certs = own ? dtls_cert_files(own, top) : (struct config_certs){ 0 };
	struct config_keys parsed;
	struct config_error why = { "" };

	certs.any_name = any_name;
	if (keys)
		assert_true(config_keys_parse("keys", keys, strlen(keys), &parsed, &why));
	dtls_pair_stop(h);
	dtls_pair_begin(h, h == a ? 1000 : 2000,
			(struct dtls_param){ .keys = keys ? &parsed : NULL,
					     .certs = own ? &certs : NULL,
					     .why = &why,
					     .rekey = DTLS_REKEY });
}

static void both(struct dtls_cert *own)
{
	dtls_pair_teardown(NULL);
	dtls_pair_setup(NULL);
	start(a, own, &ca, NULL, false);
	start(b, own, &ca, NULL, false);
	memset(said, 0, sizeof(said));
}

static int setup(void **state)
{
	dtls_pair_setup(state);
	both(&node);
	return 0;
}

static int setup_group(void **state)
{
	dtls_cert_make(&ca, &(struct dtls_wish){ .name = "Authority" });
	dtls_cert_make(&other_ca, &(struct dtls_wish){ .name = "Other authority" });
	dtls_cert_make(&node, &(struct dtls_wish){ .name = "node \"1\"",
						   .issuer = &ca,
						   .leaf = true,
						   .address = ADDRESS });
	return 0;
}

static int teardown_group(void **state)
{
	dtls_cert_free(&ca);
	dtls_cert_free(&other_ca);
	dtls_cert_free(&node);
	return 0;
}

/* ---- accepted peers ---- */

static void test_session(void **state)
{
	dtls_pair_exchange();
	assert_int_equal(a->stats.handshakes, 1);
	assert_int_equal(b->stats.handshakes, 1);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(said[i].why, DTLS_WHY_NOT);
		assert_string_equal(said[i].identity, "CN=node \\?1\\?");
		assert_false(said[i].by_key);
	}
	assert_true(net.longest <= DTLS_HANDSHAKE_MTU);
	/* Another session, in the other direction. */
	dtls_setup_connect(dtls_pair_peer(b), net.now);
	dtls_pair_settle();
	assert_int_equal(a->stats.handshakes, 2);
	assert_int_equal(b->stats.handshakes, 2);
}

/* Keys of all kinds, each against a key of another kind. */
static void test_algorithms(void **state)
{
	static const struct {
		gnutls_pk_algorithm_t algorithm;
		unsigned int bits;
	} kinds[] = {
		{ GNUTLS_PK_RSA, 2048 },
		{ GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP384R1) },
		{ GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP521R1) },
		{ GNUTLS_PK_EDDSA_ED25519, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_ED25519) },
	};
	struct dtls_cert cert;

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		dtls_cert_make(&cert, &(struct dtls_wish){ .name = "kind",
							   .issuer = &ca,
							   .leaf = true,
							   .address = ADDRESS,
							   .algorithm = kinds[i].algorithm,
							   .bits = kinds[i].bits });
		for (unsigned int server = 0; server < 2; server++) {
			both(&node);
			start(server ? b : a, &cert, &ca, NULL, false);
			dtls_pair_exchange();
			assert_string_equal(said[!server].identity, "CN=kind");
		}
		dtls_cert_free(&cert);
	}
}

/* Makes a chain of about 6 KB, whose messages take several datagrams. */
static void make_chain(struct dtls_cert *middle, struct dtls_cert *leaf)
{
	dtls_cert_make(middle, &(struct dtls_wish){ .name = "Middle", .issuer = &ca, .names = 40 });
	dtls_cert_make(leaf, &(struct dtls_wish){ .name = "leaf",
						  .issuer = middle,
						  .leaf = true,
						  .address = ADDRESS,
						  .names = 40 });
}

static void test_chain(void **state)
{
	struct dtls_cert middle, leaf;

	make_chain(&middle, &leaf);
	both(&leaf);
	dtls_pair_exchange();
	assert_string_equal(said[0].identity, "CN=leaf");
	assert_true(net.longest <= DTLS_HANDSHAKE_MTU && net.sent > 12);
	assert_int_equal(net.now, 5 * NSEC_PER_SEC);
	/* Each datagram is lost in turn. */
	for (unsigned int i = 0; i < 22; i++) {
		both(&leaf);
		net.lost = UINT64_C(1) << i;
		dtls_pair_send_text(a, b, "hello");
		dtls_pair_pass(4 * NSEC_PER_SEC);
		dtls_pair_send_text(a, b, "more");
		dtls_pair_pass(NSEC_PER_SEC);
		assert_string_equal(b->last, "more");
		assert_int_equal(a->stats.handshakes, 1);
	}
	/* Both hosts start at once. */
	both(&leaf);
	dtls_pair_send_text(a, b, "from a");
	dtls_pair_send_text(b, a, "from b");
	dtls_pair_pass(NSEC_PER_SEC);
	dtls_pair_received(a, 1, "from b");
	dtls_pair_received(b, 1, "from a");
	dtls_cert_free(&middle);
	dtls_cert_free(&leaf);
}

static void test_loss(void **state)
{
	struct dtls_cert middle, leaf;

	make_chain(&middle, &leaf);
	for (unsigned int s = 0; s < 20; s++) {
		both(&leaf);
		net.loss = s % 2 ? 5 : 20;
		net.seed = s * 7919 + 1;
		for (unsigned int i = 0; i < (s % 2 ? 10 : 60) && !b->received; i++) {
			dtls_pair_send_text(a, b, "hello");
			dtls_pair_pass(NSEC_PER_SEC);
		}
		assert_string_equal(b->last, "hello");
	}
	dtls_cert_free(&middle);
	dtls_cert_free(&leaf);
}

/*
 * A host may trust an intermediate authority only. It then rejects other certificates of the
 * authority above.
 */
static void test_middle(void **state)
{
	struct dtls_cert middle, leaf;

	make_chain(&middle, &leaf);
	start(a, &leaf, &middle, NULL, false);
	start(b, &leaf, &middle, NULL, false);
	dtls_pair_exchange();
	start(b, &node, &middle, NULL, false);
	dtls_pair_settle();
	dtls_pair_send_text(a, b, "hello");
	dtls_pair_pass(NSEC_PER_SEC);
	assert_int_equal(said[0].why, DTLS_WHY_CERT_CA);
	dtls_cert_free(&middle);
	dtls_cert_free(&leaf);
}

static void test_any_name(void **state)
{
	struct dtls_cert cert;

	dtls_cert_make(&cert, &(struct dtls_wish){ .name = "nobody", .issuer = &ca, .leaf = true });
	start(a, &node, &ca, NULL, true);
	start(b, &cert, &ca, NULL, false);
	dtls_pair_exchange();
	assert_string_equal(said[0].identity, "CN=nobody");
	dtls_cert_free(&cert);
}

/* ---- refused peers ---- */

/*
 * One side has this certificate. `theirs` is this side's error; `ours` and `detail` are the other
 * side's.
 */
static void refused(struct dtls_cert *cert, struct dtls_cert *top, enum dtls_why ours,
		    enum dtls_why theirs, const char *detail)
{
	for (unsigned int server = 0; server < 2; server++) {
		struct dtls_host *bad = server ? b : a, *good = server ? a : b;

		both(&node);
		start(bad, cert, top, NULL, false);
		dtls_pair_send_text(a, b, "hello");
		dtls_pair_pass(2 * NSEC_PER_SEC);
		assert_int_equal(said[!server].why,
				 theirs == DTLS_WHY_NOT ? ours : said[!server].why);
		assert_int_equal(said[good == a ? 0 : 1].why, ours);
		assert_int_equal(said[bad == a ? 0 : 1].why, theirs);
		assert_non_null(strstr(said[good == a ? 0 : 1].detail, detail));
		assert_int_equal(b->received, 0);
		assert_int_equal(a->failed, 1);
		assert_int_equal(a->error, -EACCES);
		assert_int_equal(a->stats.refused, 1);
		assert_int_equal(b->stats.refused, 1);
		assert_int_equal(a->port->n + b->port->n, 0);
	}
}

static void refused_wish(struct dtls_wish wish, enum dtls_why ours, enum dtls_why theirs,
			 const char *detail)
{
	struct dtls_cert cert;

	wish.issuer = wish.issuer ? wish.issuer : &ca;
	wish.name = "bad";
	wish.leaf = true;
	dtls_cert_make(&cert, &wish);
	refused(&cert, &ca, ours, theirs, detail);
	dtls_cert_free(&cert);
}

static void test_expired(void **state)
{
	struct tm tm;
	time_t when = time(NULL) - 86400;
	char date[16];

	strftime(date, sizeof(date), "%Y-%m-%d", gmtime_r(&when, &tm));
	refused_wish((struct dtls_wish){ .address = ADDRESS, .until = -86400 },
		     DTLS_WHY_CERT_EXPIRED, DTLS_WHY_REFUSED_CERT_TIME, date);
}

static void test_early(void **state)
{
	refused_wish((struct dtls_wish){ .address = ADDRESS, .from = 86400, .until = 2 * 86400 },
		     DTLS_WHY_CERT_EARLY, DTLS_WHY_REFUSED_CERT_TIME, "UTC");
}

static void test_expired_above(void **state)
{
	struct dtls_cert middle;

	dtls_cert_make(&middle,
		       &(struct dtls_wish){ .name = "Middle", .issuer = &ca, .until = -60 });
	refused_wish((struct dtls_wish){ .address = ADDRESS, .issuer = &middle },
		     DTLS_WHY_CERT_EXPIRED, DTLS_WHY_REFUSED_CERT_TIME, "one above it is");
	dtls_cert_free(&middle);
}

static void test_name(void **state)
{
	refused_wish((struct dtls_wish){ .address = "10.0.0.2" }, DTLS_WHY_CERT_NAME,
		     DTLS_WHY_REFUSED_CERT_NAME, "");
	refused_wish((struct dtls_wish){ .names = 1 }, DTLS_WHY_CERT_NAME,
		     DTLS_WHY_REFUSED_CERT_NAME, "");
}

static void test_purpose(void **state)
{
	static const char *const purposes[] = { GNUTLS_KP_TLS_WWW_SERVER, GNUTLS_KP_TLS_WWW_CLIENT,
						GNUTLS_KP_EMAIL_PROTECTION };

	for (unsigned int i = 0; i < 3; i++)
		refused_wish((struct dtls_wish){ .address = ADDRESS, .purpose = purposes[i] },
			     DTLS_WHY_CERT_PURPOSE, DTLS_WHY_REFUSED_CERT_PURPOSE, "");
}

static void test_authority(void **state)
{
	refused_wish((struct dtls_wish){ .address = ADDRESS, .issuer = &other_ca },
		     DTLS_WHY_CERT_CA, DTLS_WHY_REFUSED_CERT_CA, "");
}

/* The issuer is no authority, or the key is too short. */
static void test_other_faults(void **state)
{
	struct dtls_cert leaf;

	refused_wish((struct dtls_wish){ .address = ADDRESS, .issuer = &node }, DTLS_WHY_CERT_OTHER,
		     DTLS_WHY_REFUSED_CERT_OTHER, "no authority");
	refused_wish(
		(struct dtls_wish){ .address = ADDRESS, .algorithm = GNUTLS_PK_RSA, .bits = 1024 },
		DTLS_WHY_CERT_OTHER, DTLS_WHY_REFUSED_CERT_OTHER, "weak");
	/* Each side trusts another authority: the client is the first to fail. */
	dtls_cert_make(&leaf, &(struct dtls_wish){ .name = "leaf",
						   .issuer = &other_ca,
						   .leaf = true,
						   .address = ADDRESS });
	both(&node);
	start(b, &leaf, &other_ca, NULL, false);
	dtls_pair_send_text(a, b, "hello");
	dtls_pair_pass(2 * NSEC_PER_SEC);
	assert_int_equal(said[0].why, DTLS_WHY_CERT_CA);
	assert_int_equal(said[1].why, DTLS_WHY_REFUSED_CERT_CA);
	dtls_cert_free(&leaf);
}

/* ---- beside keys ---- */

/*
 * A host with only a key and a host with only a certificate get no session. A host with both gets
 * sessions with all.
 */
static void test_kinds(void **state)
{
	for (unsigned int server = 0; server < 2; server++) {
		both(&node);
		start(server ? b : a, NULL, NULL, DTLS_LAB, false);
		dtls_pair_send_text(a, b, "hello");
		dtls_pair_pass(2 * NSEC_PER_SEC);
		assert_int_equal(said[0].why, DTLS_WHY_REFUSED_SUITE);
		assert_int_equal(said[1].why, DTLS_WHY_NO_SUITE);
		assert_int_equal(a->failed, 1);
		assert_int_equal(a->stats.refused + b->stats.refused, 2);
		for (unsigned int kind = 0; kind < 3; kind++) {
			both(&node);
			start(a, &node, &ca, DTLS_LAB, false);
			start(b, &node, &ca, DTLS_LAB, false);
			start(server ? b : a, kind == 1 ? NULL : &node, &ca,
			      kind == 0 ? NULL : DTLS_LAB, false);
			dtls_pair_exchange();
			assert_int_equal(said[0].by_key, kind == 1);
			assert_int_equal(said[1].by_key, kind == 1);
			assert_string_equal(said[0].identity,
					    kind == 1 ? "lab" : "CN=node \\?1\\?");
		}
	}
}

/* ---- hostile ---- */

/* Both hosts get a forged alert after each datagram of a handshake, in turn. */
static void test_forged_alert(void **state)
{
	/* certificate_expired, unknown_ca, access_denied, insufficient_security */
	static const uint8_t alerts[] = { 45, 48, 49, 71 };

	for (unsigned int i = 0; i < sizeof(alerts); i++) {
		uint8_t alert[] = { DTLS_ALERT, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 2, 0 };

		alert[14] = alerts[i];
		for (unsigned int step = 0; step < 9; step++) {
			both(&node);
			dtls_pair_send_text(a, b, "hello");
			for (unsigned int n = 0; n < step && net.count; n++)
				dtls_pair_step();
			dtls_pair_inject(a, 2000, alert, sizeof(alert));
			dtls_pair_inject(b, 1000, alert, sizeof(alert));
			dtls_pair_pass(NSEC_PER_SEC);
			assert_int_equal(a->failed, 0);
			dtls_pair_received(b, 1, "hello");
		}
	}
}

/* A host without a valid certificate starts a handshake: the existing session stays. */
static void test_stays(void **state)
{
	struct dtls_cert cert;

	dtls_cert_make(&cert, &(struct dtls_wish){ .name = "stranger",
						   .issuer = &other_ca,
						   .leaf = true,
						   .address = ADDRESS });
	dtls_pair_exchange();
	b->mute = true;
	start(b, &cert, &ca, NULL, false);
	for (unsigned int i = 0; i < 3; i++) {
		dtls_pair_send_text(b, a, "let me in");
		dtls_pair_pass(3 * NSEC_PER_SEC);
	}
	assert_int_equal(a->received, 1);
	assert_int_equal(a->stats.handshakes, 1);
	assert_true(a->stats.refused > 0);
	assert_int_equal(a->port->n, 1);
	dtls_cert_free(&cert);
}

/* Handshake messages with random changes: the session comes up in the end. */
static void test_changed(void **state)
{
	for (unsigned int i = 0; i < 60; i++) {
		both(&node);
		srand(i);
		dtls_pair_send_text(a, b, "hello");
		for (unsigned int n = 0; n < 40 && net.count; n++) {
			struct dtls_datagram *d = &net.flight[net.first];

			if (rand() % 6 == 0)
				d->data[(unsigned int)rand() % d->len] ^=
					(uint8_t)(1 << rand() % 8);
			dtls_pair_step();
		}
		dtls_pair_pass(20 * NSEC_PER_SEC);
		dtls_pair_send_text(a, b, "well");
		dtls_pair_pass(20 * NSEC_PER_SEC);
		assert_string_equal(b->last, "well");
	}
}

/* ---- files ---- */

static void not_loaded(struct config_certs certs, const char *text)
{
	struct config_error why = { "" };
	struct dtls_param param = { .certs = &certs, .why = &why, .stats = &a->stats };

	assert_null(dtls_new(&param));
	assert_non_null(strstr(why.text, text));
}

static void test_files(void **state)
{
	struct config_certs certs = dtls_cert_files(&node, &ca);

	/*
	 * GnuTLS leaks some memory for a bad certificate or key: tests/e2e/certificates.py tests
	 * these.
	 */
	certs.ca_len = 100;
	not_loaded(certs, "ca: there is no certificate that can be used");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, dtls_pair_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_session),	 TEST(test_algorithms), TEST(test_chain),
		TEST(test_loss),	 TEST(test_middle),	TEST(test_any_name),
		TEST(test_expired),	 TEST(test_early),	TEST(test_expired_above),
		TEST(test_name),	 TEST(test_purpose),	TEST(test_authority),
		TEST(test_other_faults), TEST(test_kinds),	TEST(test_forged_alert),
		TEST(test_stays),	 TEST(test_changed),	TEST(test_files),
	};

	return cmocka_run_group_tests(tests, setup_group, teardown_group);
}
