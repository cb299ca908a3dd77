/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "wire/terminate.h"

#include <errno.h>
#include <string.h>

#define FLAG_M 0x8000u
#define FLAG_D 0x4000u
#define FLAG_R 0x2000u

size_t term_encode(const struct term_message *t, uint8_t *buf)
{
	uint32_t flags = 0;
	size_t at = 4;

	if (t->has_header) {
		size_t n = ddp_header_len(t->header[0]);

		flags |= FLAG_M | FLAG_D;
		put_be16(buf + at, t->segment_len);
		memcpy(buf + at + 2, t->header, n);
		at += 2 + n;
	}
	if (t->has_read_request) {
		flags |= FLAG_R;
		memcpy(buf + at, t->read_request, RDMAP_READ_REQ_LEN);
		at += RDMAP_READ_REQ_LEN;
	}
	put_be32(buf, (uint32_t)t->error << 16 | flags);
	return at;
}

int term_decode(struct term_message *t, const uint8_t *data, size_t len)
{
	uint32_t word;
	size_t at = 4;

	memset(t, 0, sizeof(*t));
	if (len < at)
		return -EINVAL;
	word = get_be32(data);
	t->error = (uint16_t)(word >> 16);
	if (word & FLAG_D) {
		size_t n;

		if (len < at + 3)
			return -EINVAL;
		t->segment_len = get_be16(data + at);
		n = ddp_header_len(data[at + 2]);
		if (len < at + 2 + n)
			return -EINVAL;
		memcpy(t->header, data + at + 2, n);
		t->has_header = true;
		at += 2 + n;
	}
	if (word & FLAG_R) {
		if (len < at + RDMAP_READ_REQ_LEN)
			return -EINVAL;
		memcpy(t->read_request, data + at, RDMAP_READ_REQ_LEN);
		t->has_read_request = true;
	}
	return 0;
}
