/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The protocol of rping: the client sends the place of its data, and the server reads the data.
 * Then the client sends the place for the data, and the server writes it back.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <string.h>

#include "foreign.h"
#include "report.h"
#include "talk.h"

/* All fields are big-endian. */
struct rping_info {
	uint64_t buf;
	uint32_t rkey, size;
} __attribute__((packed));

static struct rping_info rping_receive(struct peer *p)
{
	struct message *m = await_message(p->s);
	struct rping_info info;

	if (m->len != sizeof(info))
		fail("rping sent %zu bytes", m->len);
	memcpy(&info, m->data, sizeof(info));
	free(m);
	info.buf = be64toh(info.buf);
	info.rkey = be32toh(info.rkey);
	info.size = be32toh(info.size);
	return info;
}

static void rping_send(struct peer *p, uint64_t buf, uint32_t size)
{
	struct rping_info info = { htobe64(buf), htobe32(p->stag), htobe32(size) };

	send_message(p->s, SEND, 0, &info, sizeof(info));
}

static void rping_serve(struct peer *p)
{
	for (unsigned int i = 0; i < rounds; i++) {
		struct rping_info info = rping_receive(p);
		char start[32];

		snprintf(start, sizeof(start), "rdma-ping-%u: ", i);
		if (info.size > MEMORY)
			fail("rping's buffer has %u bytes", info.size);
		read_from(p->s, info.rkey, info.buf, 0, info.size);
		await_reads(p->s);
		if (strncmp((char *)p->memory, start, strlen(start)))
			fail("rping's data begins with '%.20s'", p->memory);
		rping_send(p, 0, 0);
		info = rping_receive(p);
		write_to(p->s, info.rkey, info.buf, p->memory, info.size);
		rping_send(p, 0, 0);
	}
}

static void rping_ask(struct peer *p)
{
	uint8_t *source = p->memory, *sink = p->memory + 65536;
	const uint32_t size = 3000;

	for (unsigned int i = 0; i < rounds; i++) {
		snprintf((char *)source, size, "rdma-ping-%u: ", i);
		memset(source + strlen((char *)source), 'a' + (int)(i % 26),
		       size - strlen((char *)source));
		source[size - 1] = 0; /* rping writes back a string */
		memset(sink, 0, size);
		rping_send(p, p->to, size);
		rping_receive(p);
		rping_send(p, p->to + 65536, size);
		rping_receive(p);
		if (memcmp(source, sink, size))
			fail("rping wrote back other data");
	}
	end_session(p->s);
}

void rping(void)
{
	struct peer *p = &peers[0];

	await_association();
	if (listening) {
		p->s = await_initiate();
		answer(p->s, is_enhanced(p->s) ? ENHANCED_ACCEPT : ACCEPT, 1, 1, NULL, 0);
	} else {
		p->s = initiate(0, !plain, 1, 1, NULL, 0);
		if (await_answer(p->s) != (plain ? ACCEPT : ENHANCED_ACCEPT))
			fail("rping does not accept");
	}
	p->memory = calloc(1, MEMORY);
	if (!p->memory)
		fail("no memory");
	p->stag = 0x4711;
	p->to = 0x10000;
	offer(p->s, p->memory, p->stag, p->to, MEMORY);
	if (listening)
		rping_serve(p);
	else
		rping_ask(p);
	await_loss(); /* rping exits, and its RNIC with it */
	if (!peer_ended(p->s))
		fail("rping's session did not end by a Terminate");
	say("pinged");
}
