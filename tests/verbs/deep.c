/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "deep.h"

#include <sys/mman.h>

#include "child.h"
#include "netns.h"

bool lossy;

static uint64_t word(uint64_t message, size_t i)
{
	return (message + 1) * 0x9e3779b97f4a7c15u ^ (i + 1) * 0xff51afd7ed558ccdu;
}

void paint(void *at, size_t len, uint64_t message)
{
	uint64_t *words = at;

	CHECK_EQ(len % 8, 0);
	for (size_t i = 0; i < len / 8; i++)
		words[i] = word(message, i);
}

bool painted(const void *at, size_t len, uint64_t message)
{
	const uint64_t *words = at;

	for (size_t i = 0; i < len / 8; i++) {
		if (words[i] == word(message, i))
			continue;
		fprintf(stderr, "message %llu, byte %zu: %llx, not %llx\n", (unsigned long long)message, 8 * i,
			(unsigned long long)words[i], (unsigned long long)word(message, i));
		return false;
	}
	return true;
}

static bool byte_is_right(uint64_t got, uint64_t right, unsigned int shift)
{
	uint8_t byte = (uint8_t)(got >> shift);

	return !byte || byte == (uint8_t)(right >> shift);
}

bool painted_or_zero(const void *at, size_t len, uint64_t message)
{
	const uint64_t *words = at;

	for (size_t i = 0; i < len / 8; i++) {
		uint64_t right = word(message, i);

		/* A segment may end in the middle of a word. */
		for (unsigned int shift = 0; words[i] && words[i] != right && shift < 64; shift += 8) {
			if (byte_is_right(words[i], right, shift))
				continue;
			fprintf(stderr, "message %llu, byte %zu: %llx\n", (unsigned long long)message, 8 * i,
				(unsigned long long)words[i]);
			return false;
		}
	}
	return true;
}

static uint8_t *map_at(void *where, size_t len, int flags)
{
	void *map = mmap(where, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	CHECK(map != MAP_FAILED);
	return map;
}

uint8_t *deep_map(size_t len)
{
	return map_at(NULL, len, 0);
}

void deep_replace(uint8_t *map, size_t len)
{
	memset(map_at(map, len, MAP_FIXED), POISON, len);
}

void deep_cut(void)
{
	if (lossy)
		lose("meta l4proto udp meta length > 2000");
}

void deep_mend(void)
{
	if (lossy)
		lose(NULL);
}

int deep_main(int argc, char **argv, const struct test *tests, size_t n)
{
	if (argc > 1 && !strcmp(argv[1], "--lossy")) {
		lossy = true;
		argv[1] = argv[0];
		argc--;
		argv++;
		if (!enter_namespace()) {
			printf("skipped: this user may not make network namespaces\n");
			return SKIPPED;
		}
		ip("link set lo up");
	}
	return run_tests_apart(argc, argv, tests, n);
}
