/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sim/reno.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/bytes.h"

#define RTO_MIN (200 * SIMNET_MSEC)
#define PORT 7

static double max(double a, double b)
{
	return a > b ? a : b;
}

static void transmit(struct reno *r, uint32_t seq, uint64_t now)
{
	uint8_t packet[RENO_PACKET] = { 0 };

	put_be32(packet, seq);
	simnet_send(r->net, r->from, &r->there, packet, sizeof(packet), now);
}

static void half(struct reno *r)
{
	r->ssthresh = max((r->next - r->una) / 2.0, 2);
}

static void acked(struct reno *r, uint32_t ack, uint64_t now)
{
	uint32_t n = ack - r->una;

	if (r->timing && (int32_t)(ack - r->timed) > 0) {
		uint64_t rtt = now - r->timed_at;

		r->srtt = r->srtt ? (7 * r->srtt + rtt) / 8 : rtt;
		r->rto = 2 * r->srtt > RTO_MIN ? 2 * r->srtt : RTO_MIN;
		r->timing = false;
	}
	r->una = ack;
	if ((int32_t)(r->una - r->next) >
	    0) /* after a timeout, if the packet had already arrived */
		r->next = r->una;
	r->dupacks = 0;
	if (!r->recovering) {
		r->cwnd += r->cwnd < r->ssthresh ? n : n / r->cwnd;
	} else if ((int32_t)(ack - r->recover) > 0) {
		r->recovering = false;
		r->cwnd = r->ssthresh < r->next - ack + 1.0 ? r->ssthresh : r->next - ack + 1.0;
	} else {
		transmit(r, ack, now); /* a partial acknowledgement */
		r->cwnd = max(r->cwnd - n + 1, 1);
	}
	r->timeout = r->una == r->next ? SIMNET_NEVER : now + r->rto;
}

static void duplicate(struct reno *r, uint64_t now)
{
	if (r->recovering) {
		r->cwnd += 1;
	} else if (++r->dupacks == 3 && r->una != r->next && (int32_t)(r->una - r->recover) > 0) {
		half(r);
		r->recovering = true;
		r->recover = r->sent - 1;
		r->cwnd = r->ssthresh + 3;
		r->timing = false;
		transmit(r, r->una, now);
	}
}

static void sender_input(void *ctx, const struct path_addr *path, const uint8_t *packet, size_t len,
			 uint64_t now)
{
	struct reno *r = ctx;
	uint32_t ack = get_be32(packet);

	if ((int32_t)(ack - r->una) > 0)
		acked(r, ack, now);
	else
		duplicate(r, now);
	reno_run(r, now);
}

static void receiver_input(void *ctx, const struct path_addr *path, const uint8_t *packet,
			   size_t len, uint64_t now)
{
	struct reno *r = ctx;
	uint32_t seq = get_be32(packet);
	uint8_t ack[4];

	if (seq - r->expected < RENO_WINDOW)
		r->got[seq % RENO_WINDOW] = 1;
	for (; r->got[r->expected % RENO_WINDOW]; r->expected++)
		r->got[r->expected % RENO_WINDOW] = 0;
	put_be32(ack, r->expected);
	simnet_send(r->net, r->to, &r->back, ack, sizeof(ack), now);
}

struct reno *reno_new(struct simnet *net, uint8_t first)
{
	static const struct simnet_ops sender = { .deliver = sender_input };
	static const struct simnet_ops receiver = { .deliver = receiver_input };
	struct reno *r = calloc(1, sizeof(*r));
	struct ip_addr from = simnet_v4(first), to = simnet_v4((uint8_t)(first + 1));

	assert(r);
	r->net = net;
	r->from = simnet_add(net, &from, PORT, &sender, r);
	r->to = simnet_add(net, &to, PORT, &receiver, r);
	r->there = (struct path_addr){ from, to, PORT };
	r->back = (struct path_addr){ to, from, PORT };
	r->cwnd = 4;
	r->recover = UINT32_MAX;
	r->ssthresh = 1e9;
	r->rto = 1000 * SIMNET_MSEC;
	r->timeout = SIMNET_NEVER;
	return r;
}

void reno_run(struct reno *r, uint64_t now)
{
	if (r->timeout <= now) {
		half(r);
		r->cwnd = 1;
		r->recover = r->sent - 1; /* repeated packets cause duplicate acknowledgements */
		r->next = r->una;
		r->recovering = r->timing = false;
		r->dupacks = 0;
		r->rto *= 2;
		r->timeout = SIMNET_NEVER;
	}
	while (r->next - r->una < r->cwnd && r->next - r->una < RENO_WINDOW) {
		if (!r->timing) {
			r->timing = true;
			r->timed = r->next;
			r->timed_at = now;
		}
		transmit(r, r->next++, now);
		if ((int32_t)(r->next - r->sent) > 0)
			r->sent = r->next;
		if (r->timeout == SIMNET_NEVER)
			r->timeout = now + r->rto;
	}
}
