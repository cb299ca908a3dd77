/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Compares the sender's outstanding DATA with a model, for any SACKs. Each TSN is sent for the
 * first time in order, again only until the cumulative TSN has passed it, and always with the same
 * bytes. The acknowledged TSNs are the model's. At the end an honest peer gets all messages.
 */
#include "fixture/input.h"
#include "fixture/sctp_peer.h"

#define STEPS 200
#define MOST 4000

static struct {
	uint8_t fill[MOST];
	uint16_t len[MOST];
	uint32_t sent;	/* total of TSNs sent */
	uint32_t acked; /* of these, acknowledged without a gap */
	uint32_t posted;
	uint32_t highest; /* the highest TSN in the peer's last SACK */
} model;

static void see_data(const struct wire_sctp_chunk *c)
{
	uint32_t i = get_be32(c->raw + 4) - f.their_tsn;
	size_t len = c->len - WIRE_SCTP_DATA_LEN;
	const uint8_t *data = c->raw + WIRE_SCTP_DATA_LEN;

	must(i <= model.sent && i >= model.acked && i < MOST);
	must(len > 0);
	if (i == model.sent) {
		model.fill[i] = data[0];
		model.len[i] = (uint16_t)len;
		model.sent++;
	}
	must(len == model.len[i]);
	for (size_t k = 0; k < len; k++)
		must(data[k] == model.fill[i]);
}

static void look(void)
{
	struct wire_sctp_chunk c;
	struct packet *p;
	const uint8_t *q;

	while ((p = take())) {
		q = p->data + WIRE_SCTP_COMMON_LEN;
		while (wire_sctp_chunk_next(&q, p->data + p->len, &c))
			if (c.type == WIRE_SCTP_DATA)
				see_data(&c);
	}
	if (f.a)
		must(sctp_assoc_acked(f.a) == model.acked);
}

static void post(unsigned int n)
{
	/* One SACK may release all waiting messages, and the fixture holds PACKETS packets. */
	if (model.posted + n > MOST || model.posted + n - model.acked > PACKETS - 32)
		return;
	model.posted += n;
	f.messages += n;
	sctp_assoc_doorbell(f.a);
	collect();
	look();
}

static void sack(uint32_t cum, uint32_t rwnd, const struct wire_sctp_gap *gaps, unsigned int n)
{
	uint32_t old = model.acked;

	begin();
	add_sack(f.their_tsn - 1 + cum, rwnd, gaps, n);
	/* Update the model before sendp(), which also sends the instance's answer. */
	if (cum > model.acked && cum <= model.sent)
		model.acked = cum;
	sendp();
	if (cum > model.sent && cum - old < 0x80000000u)
		must(!f.a); /* an acknowledgement of an unsent TSN ends the association */
	look();
}

static void fuzzed_sack(struct input *in)
{
	uint32_t most = model.sent - model.acked;
	uint8_t how = in_u8(in), far = in_u8(in);
	uint32_t cum = model.acked + (most ? far % (most + 1) : 0);
	struct wire_sctp_gap gaps[16];
	unsigned int n = in_u8(in) % 17;
	uint32_t at = 0;

	if (how == 0xff)
		cum = model.acked + (uint32_t)(int8_t)far;
	for (unsigned int i = 0; i < n; i++) {
		if (how & 1) { /* correct gaps: ascending, and separate */
			at += 2 + in_u8(in) % 8;
			gaps[i].start = (uint16_t)at;
			at += in_u8(in) % 8;
			gaps[i].end = (uint16_t)at;
			if (cum + at > model.sent && how < 0xf0) {
				n = i;
				break;
			}
		} else {
			gaps[i].start = in_u8(in);
			gaps[i].end = in_u8(in);
		}
	}
	sack(cum, how & 2 ? 1000000 : in_u16(in), gaps, n);
}

static void honest_end(void)
{
	for (int i = 0; i < 3000 && f.a; i++) {
		sack(model.sent, 1000000, NULL, 0);
		if (!f.messages && model.sent == model.posted && sctp_assoc_is_drained(f.a))
			return;
		wait_ns(20 * MSEC);
		look();
	}
	must(!f.a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_of(data, size);

	memset(&model, 0, sizeof(model));
	setup(NULL);
	establish();
	f.message_len = 1 + in_u16(&in) % 1200;
	post(1 + in_u8(&in));
	for (int i = 0; i < STEPS && f.a && in_more(&in); i++) {
		uint8_t what = in_u8(&in);

		if (what < 0xa0) {
			fuzzed_sack(&in);
		} else if (what < 0xc0) {
			post(in_u8(&in));
		} else {
			wait_ns((uint64_t)in_u8(&in) * (what & 1 ? MSEC / 4 : 10 * MSEC));
			look();
		}
	}
	honest_end();
	teardown(NULL);
	return 0;
}
