/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * A peer changes state cookies before it returns them (RFC 9260 5.1.5). An association comes up
 * only by the original cookie, in time, with its tag, and from its address. Both sides then know
 * receipts (docs/wire.md) if both have announced them. The cookie keeps the peer's announcement.
 */
#include "fixture/input.h"
#include "fixture/sctp_peer.h"

#define TRIES 32
#define COOKIE_MAX 2048

static uint8_t genuine[COOKIE_MAX], forged[COOKIE_MAX + 256];
static size_t genuine_len, forged_len;
static uint64_t born;
static struct wire_sctp_receipts ours; /* the instance's announcement of receipts */

static void ask(void)
{
	struct wire_sctp_init init = our_init(), ack;
	struct packet *p;

	drop_all();
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	sendp();
	p = take();
	must(p);
	read_init_ack(p, &ack);
	/* Only a peer that announces receipts gets an announcement. */
	must(ack.receipts.version == (f.receipts.version ? ours.version : 0));
	must(!ack.receipts.version || ack.receipts.window == ours.window);
	genuine_len = ack.cookie_len;
	must(genuine_len <= COOKIE_MAX);
	memcpy(genuine, ack.cookie, genuine_len);
	f.their_tag = ack.tag;
	born = f.now;
}

static void forge(struct input *in)
{
	unsigned int changes = in_u8(in) % 4;

	memcpy(forged, genuine, genuine_len);
	forged_len = genuine_len;
	while (changes--) {
		uint8_t what = in_u8(in);
		size_t at = in_u16(in) % forged_len, n;
		const uint8_t *bytes;

		switch (what % 4) {
		case 0:
			forged[at] ^= in_u8(in);
			break;
		case 1:
			bytes = in_bytes(in, in_u8(in), &n);
			n = n < sizeof(forged) - at ? n : sizeof(forged) - at;
			memcpy(forged + at, bytes, n);
			forged_len = at + n > forged_len ? at + n : forged_len;
			break;
		case 2:
			forged_len = at ? at : 1;
			break;
		default:
			memmove(forged, forged + at, forged_len - at);
			break;
		}
	}
}

static void check_agreement(void)
{
	bool both = ours.version && f.receipts.version;
	uint8_t agreed = f.a->receipts.agreed.version;
	uint32_t window;

	must(sctp_assoc_has_receipts(f.a, &window) == both);
	must(!both || window == f.receipts.window);
	must(agreed == (ours.version < f.receipts.version ? ours.version : f.receipts.version));
	must(!sctp_assoc_agreed(f.a) == !both);
	must(!both ||
	     (sctp_assoc_agreed(f.a)->srq_numbers == (ours.srq_numbers && f.receipts.srq_numbers) &&
	      sctp_assoc_agreed(f.a)->cm_messages == (ours.cm_messages && f.receipts.cm_messages) &&
	      sctp_assoc_agreed(f.a)->asks == (ours.asks && f.receipts.asks)));
	must(both || !f.a->receipts.agreed.asks);
	must(!sctp_assoc_placed(f.a));
}

/* Returns an announcement of version 0 (no receipts), or of any version. */
static struct wire_sctp_receipts choose_receipts(struct input *in)
{
	struct wire_sctp_receipts r = { .version = in_u8(in) };

	if (r.version) {
		r.window = in_u32(in);
		r.srq_numbers = r.window & 1;
		r.cm_messages = r.window & 2;
		r.asks = r.window & 4;
	}
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_of(data, size);
	struct sctp_config config;

	sctp_config_default(&config);
	config.heartbeat_interval = 3600 * SEC;
	config.mtu_probe = false;
	ours = choose_receipts(&in);
	config.receipts = ours;
	setup_config(&config);
	f.receipts = choose_receipts(&in);
	ask();
	for (int i = 0; i < TRIES && in_more(&in) && !f.a; i++) {
		struct path_addr from = f.path;
		uint8_t how = in_u8(&in);
		uint32_t tag = f.their_tag;
		bool right;

		if (how < 0x20) {
			wait_ns((uint64_t)in_u8(&in) * SEC);
			if (how & 1)
				ask();
			continue;
		}
		forge(&in);
		if (how < 0x40)
			from.remote = simnet_v4(3 + in_u8(&in));
		if (how >= 0x40 && how < 0x60)
			tag ^= in_u32(&in);
		right = forged_len == genuine_len && !memcmp(forged, genuine, genuine_len) &&
			tag == f.their_tag && ip_addr_equal(&from.remote, &f.path.remote) &&
			f.now - born <= config.cookie_life;
		begin_tag(tag);
		memcpy(add(WIRE_SCTP_COOKIE_ECHO, 0, forged_len), forged, forged_len);
		send_from(&from);
		must(f.rx.up == right);
		if (right)
			check_agreement();
		must(f.s->table.assoc_count == right);
	}
	teardown(NULL);
	return 0;
}
