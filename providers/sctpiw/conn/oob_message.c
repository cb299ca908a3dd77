/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "conn/oob_message.h"

#include <string.h>

#include "util/bytes.h"

#define VERSION 1

static const char magic[8] = { 's', 'c', 't', 'p', 'i', 'w', 'Q', 'P' };

size_t oob_message_encode(const struct oob_message *m, uint8_t *buf)
{
	memcpy(buf, magic, sizeof(magic));
	buf[8] = VERSION;
	buf[9] = m->reason;
	buf[10] = m->rnr_retry;
	buf[11] = m->type;
	put_be32(buf + 12, m->src);
	put_be32(buf + 16, m->dst);
	put_be64(buf + 20, m->token);
	return OOB_MESSAGE_LEN;
}

bool oob_message_decode(struct oob_message *m, const uint8_t *data, size_t len)
{
	if (len != OOB_MESSAGE_LEN || memcmp(data, magic, sizeof(magic)) || data[8] != VERSION)
		return false;
	m->reason = data[9];
	m->rnr_retry = data[10] & 7;
	m->type = data[11];
	m->src = get_be32(data + 12);
	m->dst = get_be32(data + 16);
	m->token = get_be64(data + 20);
	return true;
}
