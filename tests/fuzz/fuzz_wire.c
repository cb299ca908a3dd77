/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: wire */
/*
 * The decoders of wire/ get any bytes. They must not read outside of their input. An accepted value
 * must be the same after encoding and decoding again.
 */
#include "fixture/input.h"
#include "wire/datagram.h"
#include "wire/ddp.h"
#include "wire/rdmap.h"
#include "wire/rdmap_receipt.h"
#include "wire/sctp_asconf.h"
#include "wire/sctp_auth.h"
#include "wire/sctp_init.h"
#include "wire/sctp_packet.h"
#include "wire/session.h"
#include "wire/terminate.h"

static void session(const uint8_t *data, size_t size)
{
	struct session_control c, again;
	uint8_t buf[SESSION_CONTROL_MAX + 8];
	size_t len;

	if (session_decode(&c, data, size))
		return;
	must(c.private_len <= size);
	len = session_encode(&c, buf, sizeof(buf));
	if (!len || !c.function || c.function > SESSION_ENHANCED_REJECT)
		return;
	must(!session_decode(&again, buf, len));
	must(again.ssn == c.ssn && again.function == c.function &&
	     again.private_len == c.private_len);
	must(!c.private_len || !memcmp(again.private_data, c.private_data, c.private_len));
	if (session_is_enhanced(c.function))
		must(again.enhanced.ird == c.enhanced.ird && again.enhanced.ord == c.enhanced.ord);
}

static void terminate(const uint8_t *data, size_t size)
{
	struct term_message t, again;
	uint8_t buf[TERM_MAX_LEN];
	size_t len;

	memset(&t, 0, sizeof(t));
	memset(&again, 0, sizeof(again));
	if (term_decode(&t, data, size))
		return;
	len = term_encode(&t, buf);
	must(len <= TERM_MAX_LEN);
	must(!term_decode(&again, buf, len));
	must(again.error == t.error && again.has_header == t.has_header &&
	     again.has_read_request == t.has_read_request);
	if (t.has_header)
		must(!memcmp(again.header, t.header, ddp_header_len(t.header[0])));
}

static void segment(const uint8_t *data, size_t size)
{
	struct ddp_header h;
	size_t len = ddp_get(&h, data, size);

	must(len <= size);
	if (len)
		must(len == ddp_header_len(data[0]));
}

static void atomic_request(const uint8_t *data, size_t size)
{
	struct rdmap_atomic_request r, again;
	uint8_t buf[RDMAP_ATOMIC_REQ_LEN];

	if (size < RDMAP_ATOMIC_REQ_LEN)
		return;
	rdmap_get_atomic_request(&r, data);
	rdmap_put_atomic_request(buf, &r);
	rdmap_get_atomic_request(&again, buf);
	must(!memcmp(buf + 4, data + 4, RDMAP_ATOMIC_REQ_LEN - 4));
	must(again.opcode == r.opcode && !buf[0] && !buf[1] && !buf[2]);
}

static void receipt(const uint8_t *data, size_t size)
{
	struct rdmap_receipt r, again;
	uint8_t buf[RDMAP_RECEIPT_LEN];

	if (size < RDMAP_RECEIPT_LEN)
		return;
	rdmap_get_receipt(&r, data);
	rdmap_put_receipt(buf, &r);
	rdmap_get_receipt(&again, buf);
	must(again.waiting == r.waiting && again.final == r.final && again.ssn == r.ssn &&
	     again.msn == r.msn);
	must(buf[0] == (data[0] & (RDMAP_RECEIPT_WAITING | RDMAP_RECEIPT_FINAL)));
	must(!buf[1] && !memcmp(buf + 2, data + 2, RDMAP_RECEIPT_LEN - 2));
}

/* Checks the announcement of receipts in an INIT or INIT ACK. Version 0 is not announced. */
static void receipts_param(const uint8_t *data, size_t size)
{
	struct wire_sctp_init init = {
		.tag = 1, .os = 2, .mis = 3, .receipts = wire_sctp_receipts_get(data, size)
	};
	struct wire_sctp_init again;
	uint8_t buf[256], whole[WIRE_SCTP_RECEIPTS_LEN];
	size_t len = wire_sctp_init_put(buf, WIRE_SCTP_INIT, &init);
	const uint8_t *p = buf;
	struct wire_sctp_chunk c;

	must(size >= WIRE_SCTP_RECEIPTS_LEN || !init.receipts.version);
	must(len <= sizeof(buf) && wire_sctp_chunk_next(&p, buf + len, &c) && p == buf + len);
	must(wire_sctp_init_get(&c, &again) && !again.reports);
	must(again.tag == 1 && again.os == 2 && again.mis == 3);
	must(again.receipts.version == init.receipts.version);
	if (!init.receipts.version)
		return;
	must(again.receipts.window == init.receipts.window);
	wire_sctp_receipts_put(whole, &init.receipts);
	must(whole[0] == data[0] && !whole[1] && !whole[2] && whole[3] == (data[3] & 7) &&
	     !memcmp(whole + 4, data + 4, 4));
}

static void hold(const struct wire_sctp_chunk *c)
{
	uint8_t buf[WIRE_SCTP_HOLD_LEN];
	const uint8_t *p = buf;
	struct wire_sctp_chunk again;

	if (c->type != WIRE_SCTP_HOLD || c->len < WIRE_SCTP_HOLD_LEN)
		return;
	wire_sctp_hold_put(buf, c->flags, get_be32(wire_sctp_value(c)));
	must(wire_sctp_chunk_next(&p, buf + sizeof(buf), &again) && p == buf + sizeof(buf));
	must(again.type == c->type && again.flags == c->flags && again.len == sizeof(buf));
	must(!memcmp(wire_sctp_value(&again), wire_sctp_value(c), 4));
}

/* Checks that the values and the payload of a datagram's chunk are within the input. */
static uint32_t datagram(const uint8_t *data, size_t size)
{
	struct wire_ud u, again;
	uint8_t buf[WIRE_UD_LEN];

	if (size < WIRE_DATAGRAM_LEN || wire_datagram_kind(data, size) != WIRE_DATAGRAM_UD ||
	    !wire_ud_get(&u, data))
		return 0;
	must(u.payload + u.len <= data + size && u.len + WIRE_UD_LEN == get_be16(data + 2));
	wire_ud_put(buf, &u);
	must(wire_ud_get(&again, buf));
	must(again.flags == u.flags && again.dst_qp == u.dst_qp && again.src_qp == u.src_qp &&
	     again.qkey == u.qkey && again.imm == u.imm && again.class_flow == u.class_flow &&
	     again.hop_limit == u.hop_limit && again.len == u.len);
	return u.len ? u.payload[0] + u.payload[u.len - 1] : 0;
}

static uint32_t read_init(const struct wire_sctp_chunk *c)
{
	struct wire_sctp_init init;
	uint32_t sum = 0;

	if (!wire_sctp_init_get(c, &init))
		return 0;
	must(init.addrs <= WIRE_SCTP_ADDRS_MAX && init.reports <= WIRE_SCTP_REPORT_MAX);
	for (size_t i = 0; init.cookie && i < init.cookie_len; i++)
		sum += init.cookie[i];
	for (unsigned int i = 0; i < init.reports; i++)
		for (size_t k = 0; k < init.report[i].len; k++)
			sum += init.report[i].raw[k];
	return sum;
}

/* Reads everything in an ASCONF or ASCONF-ACK, which must be within the chunk. */
static uint32_t read_asconf(const struct wire_sctp_chunk *c)
{
	struct wire_sctp_asconf_param param;
	struct wire_sctp_asconf asconf;
	struct wire_sctp_auth auth;
	uint32_t sum = 0;

	if (wire_sctp_auth_get(c, &auth) && auth.digest_len)
		sum += auth.digest[auth.digest_len - 1];
	if (!wire_sctp_asconf_get(c, &asconf) && !wire_sctp_asconf_ack_get(c, &asconf))
		return sum;
	while (wire_sctp_asconf_next(&asconf.params, asconf.end, &param)) {
		uint8_t buf[28];

		must(param.raw + param.len <= c->raw + c->len);
		sum += param.raw[param.len - 1];
		if (param.has_address)
			must(wire_sctp_asconf_put(buf, param.type, param.id, &param.address) <=
			     param.len);
	}
	return sum;
}

static uint32_t read_sack(const struct wire_sctp_chunk *c)
{
	struct wire_sctp_sack s;
	uint32_t sum = 0;

	if (!wire_sctp_sack_get(c, &s))
		return 0;
	for (unsigned int i = 0; i < s.gaps; i++)
		sum += wire_sctp_sack_gap(&s, i).start + wire_sctp_sack_gap(&s, i).end;
	for (unsigned int i = 0; i < s.dups; i++)
		sum += wire_sctp_sack_dup(&s, i);
	return sum;
}

static uint32_t read_causes(const struct wire_sctp_chunk *c)
{
	const uint8_t *p = wire_sctp_value(c), *end = c->raw + c->len;
	struct wire_sctp_cause_tlv cause;
	uint32_t sum = 0;

	while (wire_sctp_cause_next(&p, end, &cause))
		for (size_t i = 0; i < cause.len; i++)
			sum += cause.info[i];
	return sum;
}

/* Returns a sum of every byte that a decoder points to, so that a sanitizer detects wrong reads. */
static uint32_t chunks_of(const uint8_t *data, size_t size)
{
	const uint8_t *p = data, *end = data + size;
	struct wire_sctp_data d;
	struct wire_sctp_chunk c;
	uint32_t sum = 0;

	while (wire_sctp_chunk_next(&p, end, &c)) {
		sum += read_init(&c) + read_sack(&c) + read_causes(&c) + read_asconf(&c);
		hold(&c);
		if (wire_sctp_data_get(&c, &d) && d.len)
			sum += d.data[d.len - 1];
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	volatile uint32_t sink;

	session(data, size);
	terminate(data, size);
	segment(data, size);
	atomic_request(data, size);
	receipt(data, size);
	receipts_param(data, size);
	sink = chunks_of(data, size) + datagram(data, size);
	(void)sink;
	return 0;
}
