/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * "sctpiw doctor --listen": records of an address (1 octet), a length (2) and a datagram. No answer
 * is longer than its request. Without a cookie, only a hello is answered. An octet after the length
 * selects the cookie that the fuzzer's guest inserts: the one it was given, or zeros. Otherwise,
 * the fuzzer would discover the right cookie by its comparisons.
 */
#include <string.h>

#include "fixture/input.h"
#include "launcher/doctor_guests.h"
#include "util/bytes.h"
#include "util/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct doctor_guests g;
	static uint8_t buf[65536];
	static const uint8_t none[DOCTOR_COOKIE_LEN];
	uint8_t cookie[DOCTOR_COOKIE_LEN] = { 0 };
	uint64_t now = NSEC_PER_SEC;
	bool given = false;

	memset(&g, 0, sizeof(g));
	memset(g.secret, 0x5a, sizeof(g.secret));
	while (size >= 4) {
		struct ip_addr ip = { .b = { [15] = data[0] } };
		size_t len = get_be16(data + 1), back;
		bool with_cookie = data[3] & 1, hello;
		enum doctor_event event;

		now += (uint64_t)(data[3] >> 1) * NSEC_PER_SEC;
		data += 4;
		size -= 4;
		if (len > size)
			len = size;
		memcpy(buf, data, len);
		if (len >= DOCTOR_MESSAGE_LEN)
			memcpy(buf + 16, with_cookie ? cookie : none, sizeof(cookie));
		hello = len >= DOCTOR_MESSAGE_LEN && buf[5] == DOCTOR_HELLO;
		back = doctor_guests_answer(&g, &ip, 1, now, buf, len, &event);
		must(back <= len);
		must(!back || hello || (with_cookie && given));
		if (back && hello) {
			must(back == DOCTOR_MESSAGE_LEN && buf[5] == DOCTOR_COOKIE);
			memcpy(cookie, buf + 16, sizeof(cookie));
			given = true;
		}
		data += len;
		size -= len;
	}
	return 0;
}
