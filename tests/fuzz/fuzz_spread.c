/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * DATA over three paths at once. The peer sends any acknowledgements over any path, answers on some
 * paths, reports its own addresses as unreachable, and adds and deletes them. Meanwhile, local
 * addresses come and go. The accounts of the paths must stay correct. Only HEARTBEATs go to an
 * address that has never answered one. The association with a silent peer ends.
 */
#include "fixture/input.h"
#include "fixture/sctp_asconf.h"
#include "fixture/sctp_sim.h"
#include "sctp/spread.h"
#include "wire/sctp_away.h"

#define STEPS 128
#define LINKS 3u

static const uint8_t own[LINKS + 1] = { 1, 50, 100 };
static unsigned int gone;    /* bits: links that the instance cannot use */
static unsigned int answers; /* bits: links on which the peer answers HEARTBEATs */
static unsigned int serial;  /* of the peer's next ASCONF */

/* Returns the path over a link: each link has its own local and peer address. */
static struct path_addr path_over(unsigned int link)
{
	struct path_addr path = f.path;

	path.remote = simnet_v4((uint8_t)(2 + link));
	path.local = simnet_v4(own[link]);
	return path;
}

static bool source(void *ctx, const struct ip_addr *remote, struct ip_addr *local)
{
	unsigned int link = (remote->b[15] - 2u) % LINKS;

	*local = simnet_v4(own[link]);
	return !(gone >> link & 1);
}

/* True if a packet with this first chunk may go to an unconfirmed address. */
static bool is_harmless(uint8_t type)
{
	return type == WIRE_SCTP_HEARTBEAT || type == WIRE_SCTP_HEARTBEAT_ACK ||
	       type == WIRE_SCTP_AUTH || type == WIRE_SCTP_ABORT;
}

static void look(void)
{
	struct packet *p;

	while ((p = take())) {
		struct packet copy = *p;
		uint8_t type = copy.data[WIRE_SCTP_COMMON_LEN];
		const struct sctp_path *path = f.a ? sctp_paths_find(f.a, &copy.to.remote) : NULL;

		must(!f.a || is_harmless(type) || (path && path->confirmed));
		if (type == WIRE_SCTP_HEARTBEAT && answers >> (copy.to.remote.b[15] - 2) & 1)
			answer_heartbeat(&copy, &copy.to, 0);
	}
}

static void check(void)
{
	unsigned int i, joined = 0;

	if (!f.a)
		return;
	check_accounts(f.a);
	for (i = 0; i < f.a->paths.others; i++)
		joined += f.a->paths.other[i]->joined;
	must(joined == f.a->paths.joined);
	must(!f.a->path->joined);
	/* Without a timer, DATA in flight would stay in flight for ever. */
	for (i = 0; i <= f.a->paths.others; i++) {
		const struct sctp_path *path = sctp_path_at(f.a, i);

		must(!path->flight || sctp_path_in_doubt(f.a) ||
		     sctp_recovery_timer_runs(path, SCTP_TIMER_T3));
	}
}

static void send(unsigned int messages)
{
	f.messages += messages;
	sctp_assoc_doorbell(f.a);
	collect();
}

/*
 * The peer acknowledges up to 31 chunks beyond the cumulative TSN, and others in up to three gap
 * blocks.
 */
static void sack_step(struct input *in)
{
	struct path_addr from = path_over(in_u8(in) % LINKS);
	uint32_t count = f.a->out.next - 1 - f.a->out.cum, up = in_u8(in) % 32;
	uint32_t cum = f.a->out.cum + (up < count ? up : count), left = f.a->out.next - 1 - cum;
	uint32_t rwnd = in_u16(in) * 8u, at = 1;
	unsigned int n = in_u8(in) % 4, i = 0;
	struct wire_sctp_gap gaps[3];

	if (in_u8(in) % 8 == 0) /* a late SACK */
		cum -= in_u8(in) % 4;
	for (; i < n; i++) {
		gaps[i].start = (uint16_t)(at + 1 + in_u8(in) % 8);
		gaps[i].end = (uint16_t)(gaps[i].start + in_u8(in) % 8);
		at = gaps[i].end + 1u;
		if (gaps[i].end > left)
			break;
	}
	begin();
	add_sack(cum, rwnd, gaps, i);
	send_from(&from);
}

static void away_step(struct input *in)
{
	struct path_addr from = path_over(in_u8(in) % LINKS);
	const struct ip_addr addr = simnet_v4((uint8_t)(2 + in_u8(in) % (LINKS + 1)));
	uint8_t chunk[WIRE_SCTP_AWAY_MAX];
	size_t len = wire_sctp_away_put(chunk, &addr) - WIRE_SCTP_CHUNK_LEN;
	size_t cut = in_u8(in) % 16 ? 0 : in_u8(in) % len;

	begin();
	memcpy(add(WIRE_SCTP_AWAY, 0, len - cut), chunk + WIRE_SCTP_CHUNK_LEN, len - cut);
	send_from(&from);
}

static void change_step(struct input *in)
{
	static const uint16_t types[] = { WIRE_SCTP_ADD_IP, WIRE_SCTP_DELETE_IP,
					  WIRE_SCTP_SET_PRIMARY };
	struct path_addr from = path_over(in_u8(in) % LINKS);
	uint16_t type = types[in_u8(in) % 3];

	asconf_request(serial++, type, (uint8_t)(2 + in_u8(in) % (LINKS + 1)), &from);
}

static void data_step(struct input *in)
{
	struct path_addr from = path_over(in_u8(in) % LINKS);

	begin();
	add_data(f.a->rx.map.cum + 1 + in_u8(in) % 2);
	send_from(&from);
}

static void step_of(struct input *in)
{
	switch (in_u8(in) % 10) {
	case 0:
	case 1:
		send(1 + in_u8(in) % 32);
		break;
	case 2:
		away_step(in);
		break;
	case 3:
		change_step(in);
		break;
	case 4:
		data_step(in);
		break;
	case 5:
		gone = in_u8(in) % (1u << LINKS);
		asconf_own(own);
		break;
	case 6:
		answers = in_u8(in);
		break;
	case 7:
		wait_ns((uint64_t)in_u8(in) * 10 * MSEC);
		break;
	default:
		f.now += in_u8(in) * MSEC / 8;
		sack_step(in);
		break;
	}
}

/* All three links carry DATA. */
static void start(void)
{
	struct sctp_config config;

	asconf_setup(NULL);
	sctp_config_default(&config);
	f.s->ops.source = source;
	f.s->config.heartbeat_interval = config.heartbeat_interval;
	f.s->config.spread = true;
	f.s->config.receipts.version = 1;
	f.receipts = (struct wire_sctp_receipts){ .version = 1 };
	f.message_len = 1200;
	gone = serial = 0;
	answers = (1u << LINKS) - 1;
	asconf_own(own);
	asconf_establish();
	for (unsigned int link = 1; link < LINKS; link++)
		asconf_request(serial++, WIRE_SCTP_ADD_IP, (uint8_t)(2 + link), &f.path);
	for (int i = 0; i < 100 && f.a->paths.joined < LINKS - 1; i++) {
		wait_ns(100 * MSEC);
		look();
	}
	must(f.a->paths.joined == LINKS - 1);
}

static void be_silent(void)
{
	answers = 0;
	for (int silence = 0; silence < 400 && f.a; silence++) {
		wait_ns(SEC);
		look();
		check();
	}
	must(!f.a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_of(data, size);

	start();
	for (int i = 0; i < STEPS && in_more(&in) && f.a; i++) {
		step_of(&in);
		look();
		check();
	}
	if (f.a)
		send(1);
	be_silent();
	teardown(NULL);
	return 0;
}
