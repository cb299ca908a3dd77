/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/*
 * DDP's requirements on its LLP (RFC 5041 3, 5.3, appendix A): the RNIC runs on the local SCTP, and
 * the peer is a script of packets.
 */
#include "fixture/llp_script.h"

static void received(uint64_t wr_id, uint32_t len)
{
	struct iw_cqe cqe = fx_cqe(&x);

	assert_int_equal(cqe.wr_id, wr_id);
	assert_int_equal(cqe.status, IW_WC_SUCCESS);
	assert_int_equal(cqe.byte_len, len);
}

/* ---- tests ---- */

/* CRC32c covers everything: a packet with any changed bit is ignored. */
static void digest(void **state)
{
	size_t at;

	ROWS("5041-3-07");
	drop_all();
	begin();
	add_message(tsn, WHOLE, 16, "0001 c1 40 %w %q 'data'", x.stag, x.base);
	wire_sctp_checksum_put(f.buf, f.len);
	for (at = 0; at < f.len * 8; at++) {
		f.buf[at / 8] ^= (uint8_t)(1 << at % 8);
		sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
		f.buf[at / 8] ^= (uint8_t)(1 << at % 8);
		assert_int_equal(f.rx.count, 0);
		nothing();
	}
	put_be32(f.buf + 8, 0);
	send_packet();
	assert_memory_equal(x.mem, "data", 4);
	/*
	 * collect() checked the CRCs of all sent packets. Zero checksums (RFC 9653) are not
	 * offered.
	 */
	struct wire_sctp_init init = our_init();
	struct sctp_batch b;

	f.path.udp_port++;
	init.tag++;
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	put_be16(f.buf, PEER_PORT + 1); /* another peer */
	wire_sctp_checksum_put(f.buf, f.len);
	drop_all();
	sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
	assert_int_equal(sctp_output_ootb(f.s, &b), 1);
	assert_int_equal(b.data[12], WIRE_SCTP_INIT_ACK);
	for (at = 32; at + 4 <= b.len; at += round_up4(get_be16(b.data + at + 2)))
		assert_int_not_equal(get_be16(b.data + at), 0x8001);
	sctp_batch_done(f.s, &b);
}

/* Payloads of 0 to 7 octets: a segment does not contain the chunk's padding. */
static void segment_length(void **state)
{
	ROWS("5041-3-08");
	for (uint32_t len = 0; len < 8; len++) {
		fx_post_recv(&x, len, x.base + 100 * len, 50, x.stag);
		begin();
		add_message(tsn++, WHOLE, 16, "%b 41 43 00000000  00000000 %w 00000000 %b",
			    (uint8_t[2]){ 0, (uint8_t)(len + 1) }, (size_t)2, len + 1, "1234567",
			    (size_t)len);
		memset(f.buf + f.len - (round_up4(len + 20) - len - 20), 0,
		       round_up4(len + 20) - len - 20);
		send_packet();
		received(len, len);
		assert_memory_equal(x.mem + 100 * len, "1234567", len);
		assert_int_equal(x.mem[100 * len + len], 0);
	}
}

/*
 * The same three segments arrive in one packet each, in one packet, in fragments, and ordered
 * instead of unordered.
 */
static void boundaries(void **state)
{
	static const char *const segments[] = {
		"c1 40 %w %q 'write'",
		"01 43 00000000  00000000 %w 00000000 'half, '",
		"41 43 00000000  00000000 %w 00000006 'and half'",
	};

	ROWS("5041-3-04");
	for (uint32_t how = 0; how < 4; how++) {
		memset(x.mem, 0, FX_MEM);
		fx_post_recv(&x, how, x.base + 100, 50, x.stag);
		begin();
		for (unsigned int i = 0; i < 3; i++) {
			uint8_t ssn[2] = { 0, (uint8_t)(how * 3 + i + 1) };
			uint8_t m[100];
			size_t n;

			n = i ? script_bytes(m, segments[i], how + 1) :
				script_bytes(m, segments[0], x.stag, x.base + 20);
			if (how == 2) { /* three fragments, which also divide the DDP header */
				add_message(tsn++, U | B, 16, "%b %b", ssn, (size_t)2, m,
					    (size_t)5);
				add_message(tsn++, U, 16, "%b", m + 5, n - 10);
				add_message(tsn++, U | E, 16, "%b", m + n - 5, (size_t)5);
			} else {
				add_message(tsn++, how == 3 ? B | E : WHOLE, 16, "%b %b", ssn,
					    (size_t)2, m, n);
			}
			if (how == 3) /* the stream's SSN */
				put_be16(f.buf + f.len - round_up4(16 + 2 + n) + 10, (uint16_t)i);
			if (how == 0) {
				send_packet();
				begin();
			}
		}
		if (how)
			send_packet();
		received(how, 14);
		assert_string_equal((char *)x.mem + 20, "write");
		assert_string_equal((char *)x.mem + 100, "half, and half");
	}
}

/*
 * Packets arrive in the wrong order. Segments are placed immediately, and delivered in the order of
 * their DDP-SSNs.
 */
static void order(void **state)
{
	ROWS("5041-3-05 5041-3-06 5041-5.3-05 5041-5.3-08");
	for (unsigned int i = 1; i <= 10; i++)
		fx_post_recv(&x, i, x.base + 100 * i, 50, x.stag);
	for (unsigned int i = 10; i >= 1; i--) {
		no_completion(&x);
		begin();
		add_message(tsn + i - 1, WHOLE, 16,
			    "%b 41 43 00000000  00000000 %w 00000000 'send'",
			    (uint8_t[2]){ 0, (uint8_t)i }, (size_t)2, i);
		send_packet();
		assert_string_equal((char *)x.mem + 100 * i, "send");
	}
	for (unsigned int i = 1; i <= 10; i++)
		received(i, 4);
}

/* A TSN repeats after the application has reused the buffer. */
static void duplicates(void **state)
{
	ROWS("5041-3-14 5041-5.3-07");
	fx_post_recv(&x, 1, x.base + 100, 50, x.stag);
	fx_post_recv(&x, 2, x.base + 100, 50, x.stag);
	for (unsigned int i = 0; i < 3; i++) {
		begin();
		add_message(tsn, WHOLE, 16,
			    "0001 41 43 00000000  00000000 00000001 00000000 'send'");
		add_message(tsn + 1, WHOLE, 16, "0002 c1 40 %w %q 'write'", x.stag, x.base);
		send_packet();
		assert_int_equal(f.rx.count, i ? 0 : 2);
		if (!i)
			received(1, 4);
		no_completion(&x);
		assert_int_equal(x.mem[0], i ? 0 : 'w');
		memset(x.mem, 0, FX_MEM);
	}
	fx_no_event(&x);
}

/*
 * DATA is never abandoned: the TSN repeats with the same octets, without a FORWARD TSN. If the peer
 * has gone, every work request fails.
 */
static void reliable_or_failed(void **state)
{
	struct wire_sctp_chunk c, first;
	uint8_t image[1500];
	unsigned int n = 0;

	ROWS("5041-1.2-07 5041-3-03 5041-6.2.2-01 5041-6.2.2-05 5041-7-01");
	for (unsigned int i = 0; i < FX_MEM; i++)
		x.mem[i] = (uint8_t)(i * 5);
	fx_post(&x, 1, IW_WR_RDMA_WRITE, x.base, 1000, 9, 0, 0);
	fx_post(&x, 2, IW_WR_RDMA_READ, x.base, 1000, 9, 0, 0);
	fx_post_recv(&x, 3, x.base, 16, x.stag);
	collect();
	first = next_chunk();
	assert_int_equal(get_be32(first.raw + 4), f.their_tsn);
	memcpy(image, first.raw, first.len);
	completions(&x, { 1, IW_WC_SUCCESS }); /* SCTP has the message (5.4) */
	memset(x.mem, 0xff, FX_MEM);	       /* the buffer belongs to the application again */
	while (f.a) {
		struct packet *p;

		wait_ns(500000000);
		while ((p = take())) {
			const uint8_t *q = p->data + WIRE_SCTP_COMMON_LEN;

			while (wire_sctp_chunk_next(&q, p->data + p->len, &c)) {
				assert_int_not_equal(c.type, 0xc0); /* FORWARD TSN */
				assert_int_not_equal(c.type, 0xc2); /* I-FORWARD-TSN */
				if (c.type != WIRE_SCTP_DATA || get_be32(c.raw + 4) != f.their_tsn)
					continue;
				assert_int_equal(c.len, get_be16(image + 2));
				assert_memory_equal(c.raw + 4, image + 4, c.len - 4);
				n++;
			}
		}
	}
	assert_true(n >= 3);
	assert_int_equal(f.error, -ETIMEDOUT);
	iw_assoc_lost(x.assoc, f.error);
	completions(&x, { 2, IW_WC_RETRY_EXC_ERR }, { 3, IW_WC_WR_FLUSH_ERR });
	fx_event(&x, IW_EVENT_QP_FATAL);
	assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -ETIMEDOUT);
	x.assoc = iw_assoc_new(x.iw, &(struct iw_llp_ops){ .doorbell = doorbell_sctp }, NULL, false,
			       4, 1500);
}

/*
 * The path MTU shrinks. SCTP sends its messages again with unchanged headers, even if IP must
 * fragment them. Later DDP segments are smaller.
 */
static void mulpdu_changes(void **state)
{
	struct wire_sctp_chunk c;
	uint8_t image[8][1500];
	size_t len[8];
	uint32_t n = 0, again = 0, cut = 0;

	ROWS("5041-3-01 5041-3-02");
	assert_int_equal(sctp_assoc_max_msg(f.a),
			 1444); /* 1500 less IP, UDP, SCTP and chunk headers */
	fx_post(&x, 1, IW_WR_RDMA_WRITE, x.base, 8000, 9, 0, 0);
	collect();
	for (c = next_chunk(); c.raw; c = next_chunk()) {
		assert_true(n < 8 && c.len <= 16 + 1444);
		assert_int_equal(get_be32(c.raw + 4), f.their_tsn + n);
		len[n] = c.len;
		memcpy(image[n++], c.raw + 16, c.len - 16);
	}
	assert_int_equal(len[0], 16 + 1444);
	sctp_assoc_set_mtu(f.a, 1000);
	assert_int_equal(sctp_assoc_max_msg(f.a), 944);
	iw_assoc_set_max_msg(x.assoc, sctp_assoc_max_msg(f.a)); /* as user_sctp.c does */
	for (unsigned int i = 0; i < 20; i++) {
		wait_ns(SEC);
		for (c = next_chunk(); c.raw; c = next_chunk()) {
			uint32_t i_tsn = get_be32(c.raw + 4) - f.their_tsn;

			if (i_tsn < n) {
				assert_int_equal(c.len, len[i_tsn]);
				assert_memory_equal(c.raw + 16, image[i_tsn], c.len - 16);
				again |= 1u << i_tsn;
			} else {
				assert_in_range(c.len, 17, 16 + 944);
				cut++;
			}
		}
		if (i == 10)
			acknowledge(f.their_tsn + n - 1);
	}
	assert_true(again & 1);
	assert_true(cut > 0);
}

/*
 * The receive window has room for many segments. Placement does not use it up, but fragments do for
 * a while.
 */
static void receive_window(void **state)
{
	struct wire_sctp_sack s;
	uint8_t data[1000] = { 0 };
	uint32_t full;

	ROWS("5041-A-01 5041-A-02 5041-A-03");
	full = sctp_assoc_rwnd(f.a);
	assert_true(full >= 65536);
	for (unsigned int i = 1; i <= 200; i++) {
		begin();
		add_message(tsn++, WHOLE | WIRE_SCTP_DATA_I, 16, "%b c1 40 %w %q %b",
			    (uint8_t[2]){ 0, (uint8_t)i }, (size_t)2, x.stag, x.base, data,
			    sizeof(data));
		send_packet();
		s = sack_in(take(), 0);
		assert_int_equal(s.cum, tsn - 1);
		assert_true(s.a_rwnd >= full - full / 10);
	}
	/* segments after a gap are placed, too */
	begin();
	add_message(tsn + 1, WHOLE, 16, "00ca c1 40 %w %q %b", x.stag, x.base, data, sizeof(data));
	send_packet();
	assert_int_equal(sack_in(take(), 0).a_rwnd, full);
	begin();
	add_message(tsn, WHOLE, 16, "00c9 c1 40 %w %q %b", x.stag, x.base, data, sizeof(data));
	send_packet();
	tsn += 2;
	drop_all();
	/* a fragment waits for the others */
	begin();
	add_message(tsn, U | B | WIRE_SCTP_DATA_I, 16, "00cb c1 40 %w %q %b", x.stag, x.base, data,
		    sizeof(data));
	send_packet();
	assert_int_equal(sack_in(take(), 0).a_rwnd, full - 1016);
	begin();
	add_message(tsn + 1, U | E | WIRE_SCTP_DATA_I, 16, "'end'");
	send_packet();
	assert_int_equal(sack_in(take(), 0).a_rwnd, full);
	assert_memory_equal(x.mem + 1000, "end", 3);
}

/* A chunk of one stream is missing. Messages of another stream are delivered. */
static void streams_do_not_wait(void **state)
{
	struct iw_qp *first = x.qp, *second = fx_qp_sized(&x, x.pd, x.cq, 8);

	ROWS("5041-1.1-01 5041-1.2-08");
	tsn++; /* lost, of stream 0 */
	sid = 2;
	begin();
	add_message(tsn++, WHOLE, 17, "0000 0001");
	send_packet();
	assert_int_equal(iw_session_accept(fx_event(&x, IW_EVENT_INITIATE).session, second,
					   &(struct iw_session_param){ .ird = 4, .ord = 4 }),
			 0);
	x.qp = second;
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	begin();
	add_message(tsn++, WHOLE, 16, "0001 41 43 00000000  00000000 00000001 00000000 'on'");
	send_packet();
	received(1, 2);
	iw_qp_free(second);
	x.qp = first;
}

/* If a peer breaks SCTP's rules, the LLP reports an error, and every stream ends. */
static void llp_errors_are_told(void **state)
{
	ROWS("5041-6.2.2-02 5041-7-01");
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	begin();
	add_sack(f.their_tsn + 1000, 1000000, NULL, 0); /* of a TSN never sent */
	send_packet();
	assert_null(f.a);
	assert_int_equal(f.error, -EPROTO);
	iw_assoc_lost(x.assoc, f.error);
	completions(&x, { 1, IW_WC_WR_FLUSH_ERR });
	fx_event(&x, IW_EVENT_QP_FATAL);
	assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -EPROTO);
	x.assoc = iw_assoc_new(x.iw, &(struct iw_llp_ops){ .doorbell = doorbell_sctp }, NULL, false,
			       4, 1500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LLP_TEST(digest),
		LLP_TEST(segment_length),
		LLP_TEST(boundaries),
		LLP_TEST(order),
		LLP_TEST(duplicates),
		LLP_TEST(reliable_or_failed),
		LLP_TEST(mulpdu_changes),
		LLP_TEST(receive_window),
		LLP_TEST(streams_do_not_wait),
		LLP_TEST(llp_errors_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
