/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Peers that acknowledge differently. */
#include "sim/scene.h"
#include "util/bytes.h"
#include "wire/sctp_packet.h"

struct acks {
	struct {
		uint32_t tsn;
		uint64_t until; /* reported as received until then; 0: free */
	} unexpected[64];
	bool got[65536];
	double hold, forget;
	unsigned int most; /* gap blocks in a SACK */
};

/* True if the receiver reports the packet for a while, and then drops it. */
static bool renege(struct stack_world *w, struct acks *k, const uint8_t *packet, size_t len)
{
	const uint8_t *p = packet + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_chunk c;
	unsigned int n = 0;
	uint32_t tsn[64];

	if (!chance(w, k->hold))
		return false;
	while (wire_sctp_chunk_next(&p, packet + len, &c)) {
		if (c.type != WIRE_SCTP_DATA || n == 64)
			return false;
		tsn[n++] = get_be32(c.raw + 4);
	}
	for (unsigned int i = 0; i < 64 && n; i++) {
		if (k->unexpected[i].until > w->now)
			continue;
		k->unexpected[i].tsn = tsn[--n];
		k->unexpected[i].until = w->now + some_ms(w, 5, 200);
		w->seen++;
	}
	return n == 0; /* otherwise, reported packets really arrive */
}

static size_t change_sack(struct stack_world *w, struct acks *k, const struct wire_sctp_chunk *c,
			  uint8_t *out)
{
	struct wire_sctp_gap gaps[2048];
	struct wire_sctp_sack s;
	unsigned int n = 0, most = k->hold > 0 && chance(w, 0.3) ? below(w, 3) : k->most;

	check(wire_sctp_sack_get(c, &s));
	memset(k->got, 0, sizeof(k->got));
	for (unsigned int i = 0; i < s.gaps; i++) {
		struct wire_sctp_gap g = wire_sctp_sack_gap(&s, i);

		if (!chance(w, k->forget))
			memset(k->got + g.start, 1, g.end - g.start + 1u);
	}
	for (unsigned int i = 0; i < 64; i++)
		if (k->unexpected[i].until > w->now && k->unexpected[i].tsn - s.cum - 2 < 65000)
			k->got[k->unexpected[i].tsn - s.cum] = true;
	for (unsigned int i = 2; i < 65535 && n < most; i++) {
		if (!k->got[i])
			continue;
		gaps[n].start = (uint16_t)i;
		while (k->got[i + 1])
			i++;
		gaps[n++].end = (uint16_t)i;
	}
	return wire_sctp_sack_put(out, s.cum, s.a_rwnd, gaps, n, NULL, 0);
}

static size_t change_acks(struct stack_world *w, struct stack_node *from, uint8_t *packet,
			  size_t len)
{
	static uint8_t out[2 * 65536];
	struct acks *k = w->filter_ctx;
	const uint8_t *p = packet + WIRE_SCTP_COMMON_LEN, *end = packet + len;
	struct wire_sctp_chunk c;
	size_t at = WIRE_SCTP_COMMON_LEN;
	bool any = false;

	if (from->number == 0)
		return renege(w, k, packet, len) ? 0 : len;
	memcpy(out, packet, at);
	while (wire_sctp_chunk_next(&p, end, &c)) {
		if (c.type == WIRE_SCTP_SACK) {
			at += change_sack(w, k, &c, out + at);
			any = true;
		} else {
			memcpy(out + at, c.raw, c.len);
			at += wire_sctp_pad(out + at, c.len);
		}
	}
	if (!any || at > 65000)
		return len;
	put_be32(out + 8, 0);
	wire_sctp_checksum_put(out, at);
	memcpy(packet, out, at);
	return at;
}

static void acknowledged(struct stack_world *w, struct acks *k, uint64_t limit)
{
	scene_usual(w);
	simnet_faults(w->net, &w->link[0], "packets: drop, probability %.2f", scene_percent(w, 15));
	simnet_faults(w->net, &w->link[1], "packets: drop, probability %.2f", scene_percent(w, 5));
	scene_connected(w);
	w->filter = change_acks;
	w->filter_ctx = k;
	scene_finish(w, limit);
	free(k);
}

/* Node 1 acknowledges packets in gap blocks and drops them later (reneging). */
static void reneging(struct stack_world *w)
{
	struct acks *k = calloc(1, sizeof(*k));

	assert_non_null(k);
	k->hold = (5 + below(w, 20)) / 100.0;
	k->forget = below(w, 30) / 100.0;
	/* A gap block that is omitted for lack of room is not revoked. */
	k->most = chance(w, 0.5) ? 1000 : below(w, 17);
	acknowledged(w, k, 240 * SEC);
}

/* Node 1 reports at most 16 gaps, like Linux, or fewer. */
static void few_gaps(struct stack_world *w)
{
	struct acks *k = calloc(1, sizeof(*k));

	assert_non_null(k);
	k->most = below(w, 17);
	acknowledged(w, k, 120 * SEC);
	w->seen++;
}

const struct scene scenes_peer[] = {
	{ "reneging", reneging, 60 },
	{ "few-gaps", few_gaps, 20 },
	{ 0 },
};
