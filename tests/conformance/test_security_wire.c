/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/*
 * Attacks of a host that is not the peer, and data that the peer may see besides the payload (RFC
 * 5042 5, 6.3.2).
 */
#include "fixture/llp_script.h"

/* A packet with the right ports, TSN and STag, but with a guessed tag. */
static void blind_injection(void **state)
{
	uint64_t seed = 3;

	ROWS("5042-5.1.1-01");
	for (unsigned int i = 0; i < 1000; i++) {
		uint32_t guess = i < 32 ? f.their_tag ^ 1u << i : (uint32_t)fx_next(&seed);

		begin_tag(guess);
		add_message(tsn, WHOLE, 16, "0001 c1 40 %w %q 'evil'", x.stag, x.base);
		send_packet();
		assert_int_equal(f.rx.count, 0);
		assert_int_equal(x.mem[0], 0);
		nothing(); /* no answer either */
	}
	begin();
	add_message(tsn, WHOLE, 16, "0001 c1 40 %w %q 'good'", x.stag, x.base);
	send_packet();
	assert_memory_equal(x.mem, "good", 4);
	/* with the tag, but without an STag, an attacker ends one stream; the association stays */
	begin();
	add_message(tsn + 1, WHOLE, 16, "0002 c1 40 %w %q 'evil'", x.stag ^ 0x100, x.base);
	send_packet();
	fx_event(&x, IW_EVENT_QP_ACCESS);
	assert_memory_equal(x.mem, "good", 4);
	assert_non_null(f.a);
	assert_memory_equal(next_chunk().raw + 16 + 20, "\x11\0", 2); /* in the Terminate */
}

static int by_value(const void *a, const void *b)
{
	uint32_t u = *(const uint32_t *)a, v = *(const uint32_t *)b;

	return u < v ? -1 : u > v;
}

/*
 * Tags and initial TSNs of 2000 associations are unique, spread over 32 bits, and not derived from
 * each other.
 */
static void unpredictable_numbers(void **state)
{
	enum { N = 2000 };
	static uint32_t tags[N], tsns[N];
	unsigned int halves[32] = { 0 };

	ROWS("5042-5.1.1-01");
	for (uint32_t i = 0; i < N; i++) {
		struct wire_sctp_init init = our_init(), ack;
		struct wire_sctp_chunk c;
		struct sctp_batch b;
		const uint8_t *q;

		f.now += NSEC_PER_MSEC; /* permits a further answer */
		init.tag = 0x1000 + i;
		begin_tag(0);
		add_init(WIRE_SCTP_INIT, &init);
		put_be16(f.buf, (uint16_t)(10000 + i)); /* another source port */
		wire_sctp_checksum_put(f.buf, f.len);
		sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
		assert_int_equal(sctp_output_ootb(f.s, &b), 1);
		q = b.data + WIRE_SCTP_COMMON_LEN;
		assert_true(wire_sctp_chunk_next(&q, b.data + b.len, &c));
		assert_true(wire_sctp_init_get(&c, &ack));
		tags[i] = ack.tag;
		tsns[i] = ack.tsn;
		sctp_batch_done(f.s, &b);
		for (unsigned int bit = 0; bit < 32; bit++)
			halves[bit] += ack.tag >> bit & 1;
		if (i > 1)
			assert_true(tags[i] - tags[i - 1] != tags[i - 1] - tags[i - 2] &&
				    tsns[i] - tsns[i - 1] != tsns[i - 1] - tsns[i - 2]);
		assert_int_not_equal(tags[i], tsns[i]);
	}
	for (unsigned int bit = 0; bit < 32; bit++)
		assert_in_range(halves[bit], N * 2 / 5, N * 3 / 5);
	qsort(tags, N, sizeof(tags[0]), by_value);
	qsort(tsns, N, sizeof(tsns[0]), by_value);
	for (unsigned int i = 1; i < N; i++) {
		assert_int_not_equal(tags[i], tags[i - 1]);
		assert_int_not_equal(tsns[i], tsns[i - 1]);
	}
}

/*
 * Blocks are reused. Earlier contents do not appear in the padding of chunks, in the reserved
 * fields of a Terminate, or elsewhere outside the payload.
 */
static void nothing_stale(void **state)
{
	struct wire_sctp_chunk c;
	struct packet *p;
	const uint8_t *q;
	unsigned int padded = 0;

	ROWS("5042-6.3.2-01");
	memset(x.mem, 0xff, FX_MEM);
	for (uint32_t round = 0; round < 50; round++) {
		fx_post(&x, 1, IW_WR_RDMA_WRITE, x.base, 8000, 9, 0, 0);
		for (uint32_t len = 1; len < 4; len++)
			fx_post(&x, 2, IW_WR_SEND, x.base, len, 0, 0, 0);
		collect();
		while ((p = take())) {
			q = p->data + WIRE_SCTP_COMMON_LEN;
			while (wire_sctp_chunk_next(&q, p->data + p->len, &c)) {
				if (c.type == WIRE_SCTP_DATA)
					f.their_tsn = get_be32(c.raw + 4) + 1;
				for (size_t i = c.len; i < round_up4(c.len); i++) {
					assert_int_equal(c.raw[i], 0);
					padded++;
				}
			}
			if (f.head == f.tail)
				acknowledge(f.their_tsn - 1);
		}
		while (iw_cq_poll(x.cq, 1, &(struct iw_cqe){ 0 }))
			;
	}
	assert_true(padded > 100);
	/* a Terminate: every octet is checked */
	begin();
	add_message(tsn++, WHOLE, 16, "0001 41 43 00000000  00000009 00000001 00000000");
	send_packet();
	c = next_chunk();
	assert_int_equal(c.len, 16 + 2 + 18 + 4 + 2 + 18);
	assert_memory_equal(c.raw + 18,
			    "\x41\x47\0\0\0\0\0\0\0\2\0\0\0\1\0\0\0\0"
			    "\x12\1\xc0\0"
			    "\0\x12"
			    "\x41\x43\0\0\0\0\0\0\0\x09\0\0\0\1\0\0\0\0",
			    42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LLP_TEST(blind_injection),
		LLP_TEST(unpredictable_numbers),
		LLP_TEST(nothing_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
