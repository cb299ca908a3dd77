/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* The answers of "sctpiw doctor --listen", and who gets them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "launcher/doctor_guests.h"
#include "util/time.h"

#define PORT 4711
#define NONCE 0x0123456789abcdef

static const struct ip_addr here = { .b = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2 } };
static struct doctor_guests g;
static uint64_t now;
static enum doctor_event event;
static uint8_t buf[2000];
static struct doctor_message answer;

static int begin(void **state)
{
	memset(&g, 0, sizeof(g));
	memset(g.secret, 7, sizeof(g.secret));
	now = 1000 * NSEC_PER_SEC;
	return 0;
}

/* Sends len bytes of a message. Returns the length of the reply, which is read into answer. */
static size_t send_from(const struct ip_addr *ip, uint16_t port, const struct doctor_message *m,
			size_t len)
{
	size_t back;

	memset(buf, 0xaa, sizeof(buf));
	doctor_message_write(m, buf);
	back = doctor_guests_answer(&g, ip, port, now, buf, len, &event);
	assert_true(back <= len);
	assert_true(!back || doctor_message_read(&answer, buf, back));
	return back;
}

static size_t send_one(const struct doctor_message *m, size_t len)
{
	return send_from(&here, PORT, m, len);
}

/* Returns a message of this type with the cookie from the answer to a hello. */
static struct doctor_message welcomed(enum doctor_type type)
{
	struct doctor_message m = { .type = DOCTOR_HELLO, .nonce = NONCE };

	assert_int_equal(send_one(&m, DOCTOR_MESSAGE_LEN), DOCTOR_MESSAGE_LEN);
	assert_int_equal(answer.type, DOCTOR_COOKIE);
	m = answer;
	m.type = (uint8_t)type;
	return m;
}

static void cookies(void **state)
{
	struct doctor_message m = welcomed(DOCTOR_PROBE), wrong;
	struct ip_addr other = here;

	m.sequence = 1;
	assert_int_equal(send_one(&m, 1400), 1400);
	assert_int_equal(answer.type, DOCTOR_ECHO);
	assert_int_equal(answer.sequence, 1);
	assert_int_equal(answer.nonce, NONCE);
	/* The cookie is valid for this address, port and nonce, and for a while. */
	other.b[15]++;
	assert_int_equal(send_from(&other, PORT, &m, 1400), 0);
	assert_int_equal(send_from(&here, PORT + 1, &m, 1400), 0);
	wrong = m;
	wrong.nonce++;
	assert_int_equal(send_one(&wrong, 1400), 0);
	wrong = m;
	wrong.cookie[15] ^= 1;
	assert_int_equal(send_one(&wrong, 1400), 0);
	now += 30 * NSEC_PER_SEC;
	assert_int_equal(send_one(&m, 1400), 1400);
	now += 30 * NSEC_PER_SEC;
	assert_int_equal(send_one(&m, 1400), 0);
	/* Another listener has another secret, and rejects the cookie. */
	now -= 60 * NSEC_PER_SEC;
	g.secret[0]++;
	assert_int_equal(send_one(&m, 1400), 0);
}

/* Without a cookie, the answer is no longer than the request, and never repeats the request. */
static void no_amplification(void **state)
{
	struct doctor_message m = { .type = DOCTOR_HELLO, .nonce = NONCE };

	assert_int_equal(send_one(&m, DOCTOR_MESSAGE_LEN - 1), 0);
	assert_int_equal(send_one(&m, 0), 0);
	assert_int_equal(send_one(&m, 1400), DOCTOR_MESSAGE_LEN);
	for (unsigned int type = 0; type < 256; type++) {
		m.type = (uint8_t)type;
		assert_int_equal(send_one(&m, 1400), type == DOCTOR_HELLO ? DOCTOR_MESSAGE_LEN : 0);
	}
	m.type = DOCTOR_HELLO;
	doctor_message_write(&m, buf);
	buf[4]++;
	assert_int_equal(doctor_guests_answer(&g, &here, PORT, now, buf, 1400, &event), 0);
	doctor_message_write(&m, buf);
	buf[0]++;
	assert_int_equal(doctor_guests_answer(&g, &here, PORT, now, buf, 1400, &event), 0);
}

static void counts(void **state)
{
	static const uint32_t sequences[] = { 1, 2, 4, 3, 3, 5 };
	struct doctor_message m = welcomed(DOCTOR_PROBE);

	for (unsigned int i = 0; i < 6; i++) {
		m.sequence = sequences[i];
		assert_int_equal(send_one(&m, 100), 100);
		assert_int_equal(answer.received, i + 1);
	}
	m.type = DOCTOR_COUNT;
	assert_int_equal(send_one(&m, 100), DOCTOR_MESSAGE_LEN);
	assert_int_equal(answer.type, DOCTOR_COUNTED);
	assert_int_equal(answer.received, 6);
	assert_int_equal(answer.overtaken, 2);
	/* The same guest starts again. */
	m.type = DOCTOR_HELLO;
	m.nonce++;
	assert_int_equal(send_one(&m, 100), DOCTOR_MESSAGE_LEN);
	m = answer;
	m.type = DOCTOR_COUNT;
	assert_int_equal(send_one(&m, 100), DOCTOR_MESSAGE_LEN);
	assert_int_equal(answer.received, 0);
	assert_int_equal(doctor_guests_heard(&g, &here), 10);
}

static void events(void **state)
{
	struct doctor_message hello = { .type = DOCTOR_HELLO, .nonce = NONCE }, probe;

	for (unsigned int i = 1; i <= 5; i++) {
		send_one(&hello, DOCTOR_MESSAGE_LEN);
		assert_int_equal(event, i == DOCTOR_HELLOS_DEAF ? DOCTOR_DEAF : DOCTOR_NOTHING);
	}
	probe = answer;
	probe.type = DOCTOR_PROBE;
	send_one(&probe, 100);
	assert_int_equal(event, DOCTOR_WELCOME);
	send_one(&probe, 100);
	assert_int_equal(event, DOCTOR_NOTHING);
	/* The guest receives the answers, whatever happened before. */
	send_one(&hello, DOCTOR_MESSAGE_LEN);
	send_one(&hello, DOCTOR_MESSAGE_LEN);
	assert_int_equal(event, DOCTOR_NOTHING);
}

/* Neither many guests nor many forged addresses evict an active guest. */
static void crowds(void **state)
{
	struct doctor_message first = welcomed(DOCTOR_COUNT), m;
	struct ip_addr other = here;

	send_one(&first, 100);
	for (unsigned int i = 1; i < DOCTOR_GUESTS + 10; i++) {
		now++;
		m = (struct doctor_message){ .type = DOCTOR_HELLO, .nonce = i };
		assert_int_equal(send_one(&m, 100), DOCTOR_MESSAGE_LEN);
		m = answer;
		m.type = DOCTOR_PROBE;
		assert_int_equal(send_one(&m, 100), i < DOCTOR_GUESTS ? 100 : 0);
	}
	for (unsigned int i = 0; i < 1000; i++) {
		now++;
		other.b[13] = (uint8_t)(i >> 8);
		other.b[14] = (uint8_t)i;
		m.type = DOCTOR_HELLO;
		assert_int_equal(send_from(&other, PORT, &m, 100), DOCTOR_MESSAGE_LEN);
	}
	assert_int_equal(send_one(&first, 100), DOCTOR_MESSAGE_LEN);
	/* Silent guests make room. */
	now += 11 * NSEC_PER_SEC;
	m = (struct doctor_message){ .type = DOCTOR_HELLO, .nonce = 9999 };
	send_one(&m, 100);
	m = answer;
	m.type = DOCTOR_PROBE;
	assert_int_equal(send_one(&m, 100), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(cookies, begin),
		cmocka_unit_test_setup(no_amplification, begin),
		cmocka_unit_test_setup(counts, begin),
		cmocka_unit_test_setup(events, begin),
		cmocka_unit_test_setup(crowds, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
