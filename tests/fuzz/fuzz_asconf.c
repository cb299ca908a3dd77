/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * A peer with the key sends any ASCONF and ASCONF-ACK, from anywhere, while local addresses change.
 * An address that has not answered a HEARTBEAT may only get HEARTBEATs, answers to ASCONF, and
 * answers out of the blue. Authenticated packets must be authentic, and the association can always
 * end.
 */
#include "fixture/input.h"
#include "fixture/sctp_asconf.h"

#define STEPS 64

static bool answers; /* the peer answers HEARTBEATs to addresses below 10.0.0.6 */

/* True if a chunk may go to an unconfirmed address. */
static bool is_harmless(uint8_t type)
{
	return type == WIRE_SCTP_HEARTBEAT || type == WIRE_SCTP_HEARTBEAT_ACK ||
	       type == WIRE_SCTP_AUTH || type == WIRE_SCTP_ASCONF_ACK || type == WIRE_SCTP_ABORT ||
	       type == WIRE_SCTP_INIT_ACK || type == WIRE_SCTP_SHUTDOWN_COMPLETE ||
	       type == WIRE_SCTP_PAD;
}

static void look(void)
{
	struct wire_sctp_chunk c;
	struct packet *p;

	while ((p = take())) {
		struct packet copy = *p;
		const uint8_t *q = copy.data + WIRE_SCTP_COMMON_LEN;
		bool known = !f.a || sctp_assoc_has_address(f.a, &copy.to.remote) ||
			     (sctp_paths_find(f.a, &copy.to.remote) &&
			      sctp_paths_find(f.a, &copy.to.remote)->confirmed);

		while (wire_sctp_chunk_next(&q, copy.data + copy.len, &c)) {
			must(known || is_harmless(c.type));
			if (c.type == WIRE_SCTP_AUTH) {
				uint8_t type = q[0];

				must(type == WIRE_SCTP_ASCONF || type == WIRE_SCTP_ASCONF_ACK);
				asconf_authentic(&copy, type);
			}
		}
		q = copy.data + WIRE_SCTP_COMMON_LEN;
		if (answers && copy.to.remote.b[15] < 6 && q[0] == WIRE_SCTP_HEARTBEAT)
			answer_heartbeat(&copy, &copy.to, 0);
	}
	must(!f.a || f.a->paths.others < SCTP_PATHS_MAX);
}

static uint16_t any_type(struct input *in)
{
	static const uint16_t types[] = { WIRE_SCTP_ADD_IP,
					  WIRE_SCTP_DELETE_IP,
					  WIRE_SCTP_ASCONF_ERROR,
					  WIRE_SCTP_SET_PRIMARY,
					  WIRE_SCTP_ASCONF_SUCCESS,
					  0xc0ff,
					  0x40ff,
					  0x80ff };

	return types[in_u8(in) % 8];
}

static uint32_t serial_of(struct input *in, uint32_t next)
{
	uint8_t how = in_u8(in);

	return how < 200 ? next : next + (int8_t)how;
}

static void add_asconf(struct input *in)
{
	unsigned int more = in_u8(in) % 24;

	asconf_add_request(serial_of(in, f.a->asconf.peer + 1 - f.tsn), any_type(in),
			   in_u8(in) % 16);
	while (more--)
		asconf_more(any_type(in), in_u8(in) % 16);
}

static void add_answer(struct input *in)
{
	uint32_t next = f.a->asconf.out ? f.a->asconf.out->serial : f.a->asconf.next - 1;
	unsigned int more = in_u8(in) % 4;
	size_t at = f.len;

	put_be32(add(WIRE_SCTP_ASCONF_ACK, 0, 4), serial_of(in, next));
	while (more--)
		if (in_u8(in) & 1)
			f.len += wire_sctp_asconf_error_put(f.buf + f.len, in_u8(in) % 20,
							    in_u8(in) % 16 ? 0xa1 : 8, NULL, 0);
		else
			f.len += wire_sctp_asconf_put(f.buf + f.len, WIRE_SCTP_ASCONF_SUCCESS,
						      in_u8(in) % 20, &f.path.remote);
	put_be16(f.buf + at + 2, (uint16_t)(f.len - at));
}

/* Sends a packet with one or two chunks, which may be corrupted before or after it is signed. */
static void packet_step(struct input *in)
{
	struct path_addr from = f.path;
	unsigned int chunks = 1 + in_u8(in) % 2;
	uint8_t mangle = in_u8(in);

	from.remote = simnet_v4(2 + in_u8(in) % 10);
	asconf_begin();
	while (chunks--)
		switch (in_u8(in) % 4) {
		case 0:
			add_answer(in);
			break;
		case 1:
			add_data(f.a->rx.map.cum + 1);
			break;
		default:
			add_asconf(in);
			break;
		}
	if (mangle & 1)
		f.buf[52 + in_u8(in) % (f.len - 52)] ^= in_u8(in);
	asconf_sign();
	if (mangle & 2)
		f.buf[12 + in_u8(in) % (f.len - 12)] ^= in_u8(in);
	send_from(&from);
}

static void own_step(struct input *in)
{
	uint8_t own[4] = { 0 };
	unsigned int n = in_u8(in) % 4;

	for (unsigned int i = 0; i < n; i++)
		own[i] = 1 + in_u8(in) % 5 * 50;
	asconf_own(own);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_of(data, size);

	asconf_setup(NULL);
	asconf_establish();
	for (int i = 0; i < STEPS && in_more(&in) && f.a; i++) {
		uint8_t what = in_u8(&in);

		answers = what & 0x10;
		if (what % 4 == 0) {
			own_step(&in);
		} else if (what % 4 == 1) {
			wait_ns(in_u8(&in) * 20 * MSEC);
		} else if (what == 0xfe) {
			f.messages += 3;
			sctp_assoc_doorbell(f.a);
			collect();
		} else {
			packet_step(&in);
		}
		look();
	}
	if (f.a)
		sctp_assoc_abort(f.a);
	f.a = NULL;
	teardown(NULL);
	return 0;
}
