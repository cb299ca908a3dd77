/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* The files of --capture, block by block: truncated packets, and files in succession. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"
#include "net/capture.h"

#define SECTION 0x0a0d0d0au
#define INTERFACE 1u
#define PACKET 6u
#define HEADERS 28u /* IPv4 and UDP */
#define PACKET_LEN 1500u
#define SIZE (128u << 10)

static char path[64];
static struct net net;
static struct conn conn;
static struct endpoint ep;
static struct path_addr peer;
static uint8_t file[SIZE + 1];

static int setup(void **state)
{
	strcpy(path, "/tmp/test_capture.XXXXXX");
	close(mkstemp(path));
	conn.net = &net;
	ep.conn = &conn;
	ep.bound.port = 4791;
	peer = (struct path_addr){ .udp_port = 4792 };
	memcpy(peer.local.b, "\0\0\0\0\0\0\0\0\0\0\377\377\12\0\0\1", 16);
	memcpy(peer.remote.b, "\0\0\0\0\0\0\0\0\0\0\377\377\12\0\0\2", 16);
	return 0;
}

static int teardown(void **state)
{
	char name[80];

	capture_free(net.capture);
	net.capture = NULL;
	unlink(path);
	for (int age = 1; age < 10; age++) {
		snprintf(name, sizeof(name), "%s.%d", path, age);
		unlink(name);
	}
	return 0;
}

static void open_capture(unsigned int snaplen, unsigned int size, unsigned int files)
{
	struct config config = { .capture_snaplen = snaplen,
				 .capture_size = size,
				 .capture_files = files };
	struct config_error why = { "" };

	strcpy(config.capture, path);
	net.capture = capture_open(&config, &why);
	if (!net.capture)
		fail_msg("%s", why.text);
}

/* Sends packets of the same length. Their first four bytes have numbers from `first` on. */
static void send_packets(unsigned int first, unsigned int count, size_t len)
{
	static uint8_t data[65536];

	for (unsigned int i = first; i < first + count; i++) {
		memset(data, (int)i, sizeof(data));
		memcpy(data, &i, sizeof(i));
		capture_packets(&ep, &peer, CAPTURE_OUT, data, len, len);
	}
	capture_flush(&net);
}

static uint32_t word(size_t at)
{
	uint32_t w;

	memcpy(&w, file + at, sizeof(w));
	return w;
}

/* Contents of a file. */
struct found {
	unsigned int sections, packets, first, last; /* numbers of packets */
	uint32_t snaplen, caplen, len;		     /* of the interface; of the last packet */
};

/* Reads the file, or an older file. Each block must be whole, and the first block a section. */
static struct found read_capture(unsigned int age)
{
	struct found found = { 0 };
	char name[80];
	size_t len, n;
	FILE *f;

	snprintf(name, sizeof(name), age ? CONFIG_OLDER_CAPTURE : "%s", path, age);
	f = fopen(name, "r");
	assert_non_null(f);
	len = fread(file, 1, sizeof(file), f);
	fclose(f);
	assert_true(len >= 12 && word(0) == SECTION);
	for (size_t at = 0; at < len; at += n) {
		n = word(at + 4);
		assert_true(n >= 12 && n % 4 == 0 && at + n <= len && word(at + n - 4) == n);
		found.sections += word(at) == SECTION;
		if (word(at) == INTERFACE)
			found.snaplen = word(at + 12);
		if (word(at) != PACKET)
			continue;
		found.caplen = word(at + 20);
		found.len = word(at + 24);
		found.last = word(at + 28 + HEADERS);
		if (!found.packets++)
			found.first = found.last;
		assert_int_equal(found.last, found.first + found.packets - 1);
	}
	return found;
}

/* The setting limits the captured bytes of a packet. The record has the true length. */
static void snaplen(void **state)
{
	struct found found;

	open_capture(100, 0, 10);
	send_packets(0, 1, PACKET_LEN);
	found = read_capture(0);
	assert_int_equal(found.snaplen, 100);
	assert_int_equal(found.caplen, 100);
	assert_int_equal(found.len, PACKET_LEN + HEADERS);
	send_packets(1, 1, 100 - HEADERS); /* exactly the limit */
	found = read_capture(0);
	assert_int_equal(found.packets, 2);
	assert_int_equal(found.caplen, 100);
	assert_int_equal(found.len, 100);
	send_packets(2, 1, 101 - HEADERS);
	found = read_capture(0);
	assert_int_equal(found.caplen, 100);
	assert_int_equal(found.len, 101);
	send_packets(3, 1, 30);
	found = read_capture(0);
	assert_int_equal(found.caplen, 30 + HEADERS);
	assert_int_equal(found.len, 30 + HEADERS);
	assert_int_equal(found.sections, 1);
}

static void whole_packets(void **state)
{
	struct found found;

	open_capture(0, 0, 10);
	send_packets(0, 3, PACKET_LEN);
	found = read_capture(0);
	assert_int_equal(found.snaplen, 0);
	assert_int_equal(found.packets, 3);
	assert_int_equal(found.caplen, PACKET_LEN + HEADERS);
	assert_int_equal(found.len, PACKET_LEN + HEADERS);
}

/* Each file has a header and whole packets, fits its limit, and continues the older file. */
static void ring(void **state)
{
	struct found newer, older;
	unsigned int sent = 0;

	open_capture(0, SIZE, 3);
	for (unsigned int burst = 1; sent < 600; burst = burst * 3 % 101) {
		send_packets(sent, burst, PACKET_LEN);
		sent += burst;
	}
	newer = read_capture(0);
	assert_int_equal(newer.last, sent - 1);
	for (unsigned int age = 1; age < 3; age++) {
		older = read_capture(age);
		assert_int_equal(older.sections, 1);
		assert_int_equal(older.last + 1, newer.first);
		assert_true(older.packets >= 40);
		newer = older;
	}
	snprintf((char *)file, sizeof(file), CONFIG_OLDER_CAPTURE, path, 3);
	assert_int_not_equal(access((char *)file, F_OK), 0);
}

/* Packets of any length fit the smallest permitted file. */
static void longest_packets(void **state)
{
	struct found newer, older;

	open_capture(0, SIZE, 9);
	send_packets(0, 6, 65535 - HEADERS);
	newer = read_capture(0);
	assert_int_equal(newer.last, 5);
	for (unsigned int age = 1; newer.first; age++) {
		older = read_capture(age);
		assert_int_equal(older.last + 1, newer.first);
		newer = older;
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(snaplen),
		TEST(whole_packets),
		TEST(ring),
		TEST(longest_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
