/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a fuzzer made up, read as a script: small numbers, and runs of bytes. Past the end everything
 * is 0, so that every input is a whole script. Each target is int LLVMFuzzerTestOneInput(data, size).
 */
#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *p, *end;
};

static inline struct input input_of(const uint8_t *data, size_t size)
{
	return (struct input){ data, data + size };
}

static inline bool in_more(const struct input *in)
{
	return in->p < in->end;
}

static inline uint8_t in_u8(struct input *in)
{
	return in_more(in) ? *in->p++ : 0;
}

static inline uint16_t in_u16(struct input *in)
{
	uint8_t high = in_u8(in);

	return (uint16_t)(high << 8 | in_u8(in));
}

static inline uint32_t in_u32(struct input *in)
{
	uint32_t high = in_u16(in);

	return high << 16 | in_u16(in);
}

/* At most max bytes of what is left; *len says how many. */
static inline const uint8_t *in_bytes(struct input *in, size_t max, size_t *len)
{
	size_t left = (size_t)(in->end - in->p);
	const uint8_t *p = in->p;

	*len = max < left ? max : left;
	in->p += *len;
	return p;
}

/* What must hold whatever comes in. */
#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
