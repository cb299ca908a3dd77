/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/*
 * Sessions on SCTP: an RNIC and an SCTP instance, joined as conn/user_sctp.c joins them, against a peer
 * that speaks both by hand; on a virtual clock (RFC 5043 5.1, 5.2, 8 to 11).
 */
#include "fixture/peer_script.h"

#include "sctp/sctp.h"
#include "sim/simnet.h"

#define PACKETS 1024
#define SECOND (1000 * MSEC)

static struct stack {
	struct fx x;
	struct sctp *sctp;
	struct sctp_endpoint *ep;
	struct sctp_assoc *a;
	struct iw_assoc *iw;
	struct path_addr path;
	uint32_t mtu;
	int error; /* of LOST */
	bool lost, up;
	struct sctp_rx rx;
	struct {
		size_t len;
		uint8_t data[9000];
	} out[PACKETS];
	unsigned int head, tail;
	size_t longest; /* packet */
} st;

static struct fx *const x = &st.x;

/* ---- the stack ---- */

static void doorbell(void *llp)
{
	sctp_assoc_doorbell(llp);
}

static uint32_t acked(void *llp)
{
	return sctp_assoc_acked(llp);
}

static size_t pull(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg)
{
	struct iw_msg m = { 0 };
	size_t len = st.iw ? iw_assoc_pull(st.iw, buf, room, &m) : 0;

	*msg = (struct sctp_msg){ .sid = m.sid, .ppid = m.ppid, .more = m.more };
	return len;
}

static void set_mtu(uint32_t mtu)
{
	st.mtu = mtu;
	sctp_assoc_set_mtu(st.a, mtu);
	iw_assoc_set_max_msg(st.iw, sctp_assoc_max_msg(st.a));
}

static void go_up(struct sctp_assoc *a)
{
	static const struct iw_llp_ops ops = { .doorbell = doorbell, .acked = acked };

	st.a = a;
	st.up = true;
	sctp_assoc_set_user(a, &st);
	st.iw = iw_assoc_new(x->rnic, &ops, a, sctp_assoc_is_initiator(a), sctp_assoc_streams(a),
			     sctp_assoc_max_msg(a));
	assert_non_null(st.iw);
	set_mtu(st.mtu);
}

static void go_down(int error)
{
	if (st.iw)
		iw_assoc_lost(st.iw, error);
	st.iw = NULL;
	st.a = NULL;
}

static void send_batch(struct sctp_batch *b)
{
	for (size_t at = 0; at < b->len; at += b->segment) {
		size_t n = b->len - at < b->segment ? b->len - at : b->segment;

		assert_true(st.tail - st.head < PACKETS && n <= sizeof(st.out[0].data));
		st.out[st.tail % PACKETS].len = n;
		memcpy(st.out[st.tail++ % PACKETS].data, b->data + at, n);
		if (n > st.longest)
			st.longest = n;
	}
	sctp_batch_done(st.sctp, b);
}

static void collect(void)
{
	struct sctp_event ev;
	struct sctp_batch b;
	struct sctp_assoc *a;

	while (sctp_next_event(st.sctp, &ev)) {
		if (ev.type == SCTP_EVENT_UP) {
			go_up(ev.assoc);
		} else if (ev.type != SCTP_EVENT_SHUTDOWN) {
			st.error = ev.error;
			st.lost = true;
			go_down(ev.type == SCTP_EVENT_LOST ? ev.error : -ECONNRESET);
		}
	}
	while ((a = sctp_next_ready(st.sctp)))
		while (sctp_output(a, x->now, &b) > 0)
			send_batch(&b);
	while (sctp_output_ootb(st.sctp, &b) > 0)
		send_batch(&b);
}

static void arrive(const uint8_t *packet, size_t len)
{
	iw_set_now(x->rnic, x->now);
	sctp_input(st.ep, &st.path, packet, len, x->now, &st.rx);
	if (st.rx.up)
		go_up(st.rx.assoc);
	for (unsigned int i = 0; st.iw && i < st.rx.count; i++)
		assert_int_equal(iw_assoc_receive(st.iw, st.rx.data[i].sid, st.rx.data[i].ppid,
						  st.rx.data[i].data, st.rx.data[i].len), 0);
	collect();
}

static size_t depart(uint8_t *packet, size_t size)
{
	size_t n;

	collect();
	if (st.head == st.tail)
		return 0;
	n = st.out[st.head % PACKETS].len;
	assert_true(n <= size);
	memcpy(packet, st.out[st.head++ % PACKETS].data, n);
	return n;
}

static void wait_ns(uint64_t ns)
{
	uint64_t end = x->now + ns;

	for (;;) {
		uint64_t a = sctp_next_timeout(st.sctp), b = iw_next_timeout(x->rnic);
		uint64_t next = a < b ? a : b;

		if (next > end)
			break;
		x->now = next > x->now ? next : x->now;
		iw_set_now(x->rnic, x->now);
		sctp_timers(st.sctp, x->now);
		iw_timers(x->rnic, x->now);
		collect();
	}
	x->now = end;
	iw_set_now(x->rnic, x->now);
	iw_timers(x->rnic, x->now);
	collect();
}

static struct sctp_config usual_config(void)
{
	struct sctp_config config;

	sctp_config_default(&config);
	config.heartbeat_interval = 3600 * SECOND;
	config.mtu_probe = false; /* they have tests of their own */
	return config;
}

static void start_with(const struct sctp_config *config)
{
	static const struct sctp_user_ops ops = { pull };

	memset(&st, 0, sizeof(st));
	fx_start(x, false);
	x->now = 5 * SECOND;
	st.mtu = 1500;
	st.sctp = sctp_new(config, &ops, &x->random.source);
	st.ep = sctp_endpoint_new(st.sctp, 6000, 425984, NULL);
	sctp_endpoint_set_accept(st.ep, true);
	st.path.local = simnet_v4(1);
	st.path.remote = simnet_v4(2);
	st.path.udp_port = 7000;
	peer_reset();
	peer.transmit = arrive;
	peer.receive = depart;
	peer.port = 7000;
	peer.dut_port = 6000;
}

static void start(void)
{
	struct sctp_config config = usual_config();

	start_with(&config);
}

static void stop(void)
{
	go_down(-ECONNRESET);
	sctp_free(st.sctp);
	fx_stop(x);
}

/* The stack opens an association. */
static void open_out(void)
{
	st.a = sctp_connect(st.ep, &st.path, 7000, st.mtu, &st, x->now);
	assert_non_null(st.a);
}

/* The peer opens a plain session on this stream, and x->qp is in it. */
static void session_on(uint16_t sid)
{
	struct iw_session_param p = session_param(4, 4, "");

	peer_says(sid, CONTROL, "0000 0001");
	accept_call(x, &p);
	peer_hears(sid, CONTROL, "0000 0002");
}

static void connected(void)
{
	start();
	peer_calls(&usual);
	session_on(3);
}

/* ---- setup of associations ---- */

static void the_stack_answers(void **state)
{
	ROWS("5043-5.1-03 5043-5.1-04 5043-5.1-05 5043-7.2-02 5043-8-04 5043-8-06 5043-11.1-02 "
	     "5043-11.1-03 5043-12-01");
	static const struct {
		struct peer_offer offer;
		uint16_t pairs;
	} cases[] = {
		{ { "0040 0040", "C006 0008 00000001" }, 64 },
		{ { "000A FFFF", "C006 0008 00000001" }, 10 }, /* Linux */
		{ { "FFFF 0007", "C006 0008 00000001" }, 7 },
		{ { "FFFF FFFF", "C006 0008 00000001" }, 65535 },
		{ { "0001 0001", "0005 0008 0A000002 C006 0008 00000001" }, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wire_sctp_init init;

		start();
		init = peer_calls(&cases[i].offer);
		assert_int_equal(init.os, cases[i].pairs);
		assert_true(st.up);
		assert_int_equal(sctp_assoc_streams(st.a), cases[i].pairs);
		peer_hears_nothing();
		stop();
	}
}

static void the_stack_asks(void **state)
{
	ROWS("5043-5.1-03 5043-5.1-04 5043-7.2-02 5043-8-02 5043-8-04 5043-8-06 5043-11.1-01 "
	     "5043-11.1-05");
	static const struct peer_offer few = { "0003 0009", "C006 0008 00000001" };
	struct iw_session_param p = session_param(1, 1, "");
	struct iw_session *s;
	struct iw_qp *qp[3];

	start();
	open_out();
	assert_int_equal(peer_is_called(&few).os, 65535); /* all that there are */
	assert_true(st.up);
	for (unsigned int i = 0; i < 3; i++) {
		qp[i] = fx_qp_sized(x, x->pd, x->cq, 1);
		assert_int_equal(iw_session_initiate(st.iw, qp[i], &p, NULL, &s), i < 2 ? 0 : -EAGAIN);
	}
	peer_hears(0, CONTROL, "0000 0005 0001 0001");
	peer_hears(2, CONTROL, "0000 0005 0001 0001");
	peer_hears_nothing();
	for (unsigned int i = 0; i < 3; i++)
		iw_qp_free(qp[i]);
	stop();
}

static const struct peer_offer strangers[] = {
	{ "0040 0040", "" },
	{ "0040 0040", "C006 0008 00000000" },
	{ "0040 0040", "C006 0008 00000002" },
	{ "0040 0040", "C006 0008 01000000" },
	{ "0040 0040", "C006 0008 80000001" },
	{ "0040 0040", "8FFF 0008 00000001" },
};

#define STRANGERS (sizeof(strangers) / sizeof(strangers[0]))

static void a_caller_that_is_not_ddp(void **state)
{
	ROWS("5043-5.1-02 5043-5.1-05 5043-7.1-03 5043-11.1-03 5043-11.1-04 5043-11.1-06 "
	     "5043-11.1-07 5043-11.1-08 5043-7.1-05");

	for (size_t i = 0; i < STRANGERS; i++) {
		start();
		if (i & 1) { /* with and without an association that is there */
			peer_calls(&usual);
			st.path.udp_port = peer.port = 7001;
			peer.at = NULL;
		}
		peer_sends_init(&strangers[i]);
		peer_hears_chunk(WIRE_SCTP_ABORT);
		peer_hears_nothing();
		assert_int_equal(peer.heard[WIRE_SCTP_INIT_ACK], i & 1);
		assert_int_equal(st.up, i & 1);
		fx_no_event(x);
		stop();
	}
}

static void a_callee_that_is_not_ddp(void **state)
{
	ROWS("5043-5.1-05 5043-7.1-03 5043-11.1-03 5043-11.1-04 5043-11.1-06");
	struct wire_sctp_chunk c;

	for (size_t i = 0; i < STRANGERS; i++) {
		start();
		open_out();
		c = peer_hears_chunk(WIRE_SCTP_INIT);
		peer_reads_init(&c);
		peer_sends_init_ack(&strangers[i]);
		peer_hears_chunk(WIRE_SCTP_ABORT);
		peer_hears_nothing();
		assert_true(st.lost && !st.up);
		assert_int_equal(st.error, -EPROTO);
		assert_int_equal(peer.heard[WIRE_SCTP_DATA], 0);
		stop();
	}
}

/* The user of an SCTP instance says which adaptation indication it sends and accepts. */
static void another_indication(void **state)
{
	ROWS("5043-7.1-01 5043-7.1-03");
	struct sctp_config config = usual_config();
	struct wire_sctp_init init;
	struct wire_sctp_chunk c;

	config.adaptation = 0x12345678;
	start_with(&config);
	open_out();
	c = peer_hears_chunk(WIRE_SCTP_INIT);
	assert_true(wire_sctp_init_get(&c, &init));
	assert_true(init.has_adaptation && init.adaptation == 0x12345678);
	stop();
	start_with(&config);
	peer_sends_init(&usual);
	peer_hears_chunk(WIRE_SCTP_ABORT);
	peer_sends_init(&(struct peer_offer){ "0040 0040", "C006 0008 12345678" });
	c = peer_hears_chunk(WIRE_SCTP_INIT_ACK);
	assert_true(wire_sctp_init_get(&c, &init));
	assert_int_equal(init.adaptation, 0x12345678);
	stop();
}

/* ---- messages and chunks ---- */

/* From the INIT to the end of the association. peer_takes() looks at each chunk. */
static void a_whole_life(void **state)
{
	ROWS("5043-1-01 5043-4-01 5043-4-02 5043-5.1-01 5043-5.2-02 5043-5.2-03 5043-5.2.1-02 "
	     "5043-6-02 5043-6.1-03 5043-6.5-02 5043-6.5-03 5043-9-01 5043-9-05 5043-10-01 "
	     "5043-6.2-01 5043-6.2-02");
	uint32_t got = 0, segments = 0;
	struct wire_sctp_data d;

	connected();
	for (unsigned int i = 0; i < 4000; i++)
		x->mem[i] = (uint8_t)(i * 7 + i / 256);
	fx_post_recv(x, 1, x->base + 5000, 100, x->stag);
	peer_says(3, SEGMENT, "0001 41 43 00000000  00000000 00000001 00000000 'hello'");
	assert_int_equal(fx_cqe(x).byte_len, 5);
	fx_post(x, 2, IW_WR_SEND, x->base, 4000, 0, 0, 0);
	fx_post(x, 3, IW_WR_RDMA_WRITE, x->base, 4000, 0x77, 0, 0);
	for (; got < 8000; segments++) {
		bool send = got < 4000;
		size_t head = send ? 20 : 16;
		uint32_t at = got % 4000;

		assert_true(peer_takes(&d));
		assert_int_equal(d.ppid, SEGMENT);
		assert_int_equal(d.data[2] & ~DDP_LAST, send ? 0x01 : 0x81);
		assert_int_equal(d.data[3], send ? 0x43 : 0x40);
		if (send)
			assert_int_equal(get_be32(d.data + 16), at);
		else
			assert_true(get_be64(d.data + 8) == at);
		assert_memory_equal(d.data + head, x->mem + at, d.len - head);
		assert_int_equal(!!(d.data[2] & DDP_LAST), at + d.len - head == 4000);
		got += (uint32_t)(d.len - head);
	}
	assert_int_equal(segments, 7);
	peer_says(3, SEGMENT, "0002 41 41 00000000  00000001 00000001 00000000"
			      "00000005 0000000000000000 00000004 %w %q", x->stag, x->base);
	peer_hears(3, SEGMENT, "0008 C1 42 00000005 0000000000000000 %b", x->mem, (size_t)4);
	iw_session_close(x->session);
	peer_hears(3, CONTROL, "0009 0004");
	peer_says(3, CONTROL, "0003 0004");
	peer_hears_nothing();
	wait_ns(SECOND);
	peer_hears_nothing();
	assert_int_equal(iw_assoc_sessions(st.iw), 0);
	peer_begin();
	peer_chunk(WIRE_SCTP_SHUTDOWN, 0, "%w", peer.cum);
	peer_send();
	peer_hears_chunk(WIRE_SCTP_SHUTDOWN_ACK);
	peer_begin();
	peer_chunk(WIRE_SCTP_SHUTDOWN_COMPLETE, 0, "");
	peer_send();
	assert_true(st.lost && !st.error);
	peer_hears_nothing();
	assert_int_equal(peer.heard[WIRE_SCTP_ABORT] + peer.heard[WIRE_SCTP_ERROR], 0);
	assert_int_equal(peer.heard_again, 0);
	stop();
}

static bool all_true(const bool *b, unsigned int n)
{
	while (n--)
		if (!b[n])
			return false;
	return true;
}

/* A lost message is sent again as it was, whatever became of the memory that it was taken from. */
static void retransmissions_are_the_same(void **state)
{
	ROWS("5043-2-02 5043-10-01 5043-9-01");
	struct wire_sctp_data d = { 0 };
	bool again[4] = { false };
	struct wire_sctp_chunk c;
	uint8_t first[4][21];
	uint32_t tsn;

	connected();
	peer.mute = true;
	tsn = peer.cum + 1;
	for (unsigned int i = 0; i < 4; i++) {
		x->mem[i] = (uint8_t)('a' + i);
		fx_post(x, i, IW_WR_SEND, x->base + i, 1, 0, 0, 0);
		assert_true(peer_takes(&d));
		assert_int_equal(d.len, sizeof(first[i]));
		memcpy(first[i], d.data, sizeof(first[i]));
		x->mem[i] = 0;
	}
	for (unsigned int tries = 0; !all_true(again, 4); tries++) {
		assert_true(tries < 20);
		peer_sack(tsn - 1);
		wait_ns(SECOND);
		while (peer_next(&c)) {
			if (c.type != WIRE_SCTP_DATA)
				continue;
			assert_true(wire_sctp_data_get(&c, &d));
			assert_int_equal(d.flags & ~WIRE_SCTP_DATA_I, WHOLE);
			assert_in_range(d.tsn - tsn, 0, 3);
			again[d.tsn - tsn] = true;
			assert_int_equal(d.len, sizeof(first[0]));
			assert_memory_equal(d.data, first[d.tsn - tsn], d.len);
		}
	}
	stop();
}

static void fragments_are_put_together(void **state)
{
	ROWS("5043-9-06 5043-9-04 5043-5.2.2-02");
	struct iw_session_param p = session_param(1, 1, "");
	uint8_t data[512];
	struct iw_event ev;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 5 + i / 256);
	for (unsigned int backwards = 0; backwards < 2; backwards++) {
		start();
		fx_post_recv(x, 1, x->base, 100, x->stag);
		peer_calls(&usual);
		for (unsigned int k = 0; k < 3; k++) {
			unsigned int i = backwards ? 2 - k : k;

			peer_begin();
			if (i == 0)
				peer_data(peer.tsn, 6, 3, CONTROL, "0000 0001 %b", data, (size_t)200);
			else
				peer_data(peer.tsn + i, i == 1 ? 4 : 5, 3, CONTROL, "%b",
					  data + 200 * i, (size_t)(i == 1 ? 200 : 112));
			fx_no_event(x);
			peer_send();
		}
		peer.tsn += 3;
		ev = fx_event(x, IW_EVENT_INITIATE);
		assert_int_equal(ev.param.private_data_len, 512);
		assert_memory_equal(ev.param.private_data, data, 512);
		assert_int_equal(iw_session_accept(ev.session, x->qp, &p), 0);
		peer_hears(3, CONTROL, "0000 0002");
		for (unsigned int k = 0; k < 3; k++) {
			unsigned int i = backwards ? 2 - k : k;

			assert_true(iw_cq_is_empty(x->cq));
			peer_begin();
			if (i == 0) /* even inside the header */
				peer_data(peer.tsn, 6, 3, SEGMENT, "0001 41 43 000000");
			else if (i == 1)
				peer_data(peer.tsn + 1, 4, 3, SEGMENT, "00 00000000 00000001 00000000 'th'");
			else
				peer_data(peer.tsn + 2, 5, 3, SEGMENT, "'ree'");
			peer_send();
		}
		peer.tsn += 3;
		assert_int_equal(fx_cqe(x).byte_len, 5);
		assert_memory_equal(x->mem, "three", 5);
		peer_hears_nothing();
		stop();
	}
}

static void many_chunks_in_a_packet(void **state)
{
	ROWS("5043-11.2-01 5043-8-03");
	struct iw_session_param p = session_param(1, 1, "");
	struct iw_qp *second;
	struct iw_event ev;

	connected();
	second = fx_qp_sized(x, x->pd, x->cq, 8);
	fx_post_recv(x, 1, x->base, 8, x->stag);
	peer_begin();
	peer_data(peer.tsn++, WHOLE, 3, SEGMENT, "0001 C1 40 %w %q 'write'", x->stag, x->base + 32);
	peer_data(peer.tsn++, WHOLE, 5, CONTROL, "0000 0001 'second'");
	peer_data(peer.tsn++, WHOLE, 3, SEGMENT, "0002 41 43 00000000  00000000 00000001 00000000 'send'");
	peer_data(peer.tsn++, WHOLE, 7, CONTROL, "0000 0001 'third'");
	peer_data(peer.tsn++, WHOLE, 3, CONTROL, "0003 0004");
	peer_send();
	assert_memory_equal(x->mem + 32, "write", 5);
	assert_int_equal(fx_cqe(x).status, IW_WC_SUCCESS);
	ev = fx_event(x, IW_EVENT_INITIATE);
	assert_memory_equal(ev.param.private_data, "second", 6);
	assert_int_equal(iw_session_accept(ev.session, second, &p), 0);
	ev = fx_event(x, IW_EVENT_INITIATE);
	assert_memory_equal(ev.param.private_data, "third", 5);
	assert_int_equal(iw_session_reject(ev.session, "no", 2), 0);
	assert_int_equal(fx_event(x, IW_EVENT_CLOSED).error, 0);
	peer_hears(3, CONTROL, "0001 0004");
	peer_hears(5, CONTROL, "0000 0002");
	peer_hears(7, CONTROL, "0000 0003 'no'");
	peer_hears_nothing();
	iw_qp_free(second);
	stop();
}

/* TSNs against the order of the DDP-SSNs: the last message is acknowledged long before the others. */
static void tsns_say_nothing_of_order(void **state)
{
	ROWS("5043-5.2.1-05 5043-5.2.1-06 5043-10-02 5043-10-03 5043-10-04");
	uint32_t tsn;

	connected();
	fx_post_recv(x, 1, x->base, 8, x->stag);
	tsn = peer.tsn;
	peer_begin();
	peer_data(tsn, WHOLE, 3, SEGMENT, "0004 41 43 00000000  00000000 00000001 00000004 'end'");
	peer_send();
	peer_begin();
	peer_data(tsn + 1, WHOLE, 3, SEGMENT, "0003 01 43 00000000  00000000 00000001 00000000 'the '");
	peer_send();
	peer_begin(); /* TSN + 2 is on its way */
	peer_data(tsn + 3, WHOLE, 3, SEGMENT, "0001 C1 40 %w %q 'one'", x->stag, x->base + 32);
	peer_send();
	peer_hears_nothing();
	assert_memory_equal(x->mem + 32, "one", 3); /* without waiting */
	assert_true(iw_cq_is_empty(x->cq));
	peer_begin();
	peer_data(tsn + 2, WHOLE, 3, SEGMENT, "0002 C1 40 %w %q 'two'", x->stag, x->base + 35);
	peer_send();
	assert_int_equal(fx_cqe(x).byte_len, 7);
	assert_memory_equal(x->mem, "the end", 7);
	assert_memory_equal(x->mem + 32, "onetwo", 6);
	stop();
}

/* A peer that sends ordered: the DDP-SSN counts all the same. */
static void ordered_chunks(void **state)
{
	ROWS("5043-8-05");
	struct iw_session_param p = session_param(1, 1, "");

	start();
	peer_calls(&usual);
	peer_begin();
	peer_data(peer.tsn++, 3, 3, CONTROL, "0000 0001");
	peer_send();
	accept_call(x, &p);
	peer_hears(3, CONTROL, "0000 0002");
	peer_begin();
	peer_data(peer.tsn++, 3, 3, SEGMENT, "0001 C1 40 %w %q 'one'", x->stag, x->base);
	peer_send();
	assert_memory_equal(x->mem, "one", 3);
	stop();
}

/* A chunk of a session that is over comes once more when the next session is on the stream. */
static void late_duplicates_are_no_part_of_the_next_session(void **state)
{
	ROWS("5043-6-01 5043-2-04 5043-6.1-01");
	struct iw_session_param p = session_param(1, 1, "");
	uint32_t old;

	connected();
	old = peer.tsn;
	peer_says(3, SEGMENT, "0001 C1 40 %w %q 'old'", x->stag, x->base);
	assert_memory_equal(x->mem, "old", 3);
	peer_says(3, CONTROL, "0002 0004");
	peer_hears(3, CONTROL, "0001 0004");
	fx_event(x, IW_EVENT_CLOSED);
	memset(x->mem, 0, 8);
	reuse_qp(x);
	peer_says(3, CONTROL, "0000 0001");
	accept_call(x, &p);
	peer_hears(3, CONTROL, "0000 0002");
	peer_begin();
	peer_data(old, WHOLE, 3, SEGMENT, "0001 C1 40 %w %q 'old'", x->stag, x->base);
	peer_data(old + 1, WHOLE, 3, CONTROL, "0002 0004");
	peer_send();
	peer_hears_nothing();
	fx_no_event(x);
	assert_int_equal(x->mem[0], 0);
	peer_says(3, SEGMENT, "0001 C1 40 %w %q 'new'", x->stag, x->base);
	assert_memory_equal(x->mem, "new", 3);
	stop();
}

/* ---- what waits for acknowledgements, and what does not ---- */

static void a_terminate_waits_for_the_sack(void **state)
{
	ROWS("5043-6.6-01");
	struct iw_session_param p = session_param(1, 1, "");

	for (unsigned int active = 0; active < 2; active++) {
		uint16_t sid = active ? 0 : 3;

		start();
		peer.mute = true;
		if (active) {
			open_out();
			peer_is_called(&usual);
			assert_int_equal(iw_session_initiate(st.iw, x->qp, &p, NULL, &x->session), 0);
			peer_hears(0, CONTROL, "0000 0005 0001 0001");
		} else {
			peer_calls(&usual);
			peer_says(3, CONTROL, "0000 0001");
			accept_call(x, &p);
			peer_hears(3, CONTROL, "0000 0002");
		}
		iw_session_close(x->session);
		wait_ns(900 * MSEC);
		peer_hears_nothing();
		peer_sack(peer.cum);
		wait_ns(200 * MSEC);
		peer_hears(sid, CONTROL, "0001 0004");
		stop();
	}
}

/* We have only one stream. */
static void a_new_initiate_waits_for_the_sack(void **state)
{
	ROWS("5043-6.6-04");
	static const struct peer_offer one = { "0001 0001", "C006 0008 00000001" };
	struct iw_session_param p = session_param(1, 1, "");
	struct iw_session *s;

	start();
	open_out();
	peer_is_called(&one);
	assert_int_equal(iw_session_initiate(st.iw, x->qp, &p, NULL, &x->session), 0);
	peer_hears(0, CONTROL, "0000 0005 0001 0001");
	peer_says(0, CONTROL, "0000 0006 0001 0001");
	fx_event(x, IW_EVENT_ACCEPT);
	peer_hears_nothing();
	peer.mute = true;
	iw_session_close(x->session);
	peer_hears(0, CONTROL, "0001 0004");
	peer_says(0, CONTROL, "0001 0004");
	wait_ns(200 * MSEC);
	reuse_qp(x);
	assert_int_equal(iw_session_initiate(st.iw, x->qp, &p, NULL, &s), -EAGAIN);
	peer_sack(peer.cum);
	assert_int_equal(iw_session_initiate(st.iw, x->qp, &p, NULL, &s), 0);
	peer_hears(0, CONTROL, "0000 0005 0001 0001");
	stop();
}

/*
 * There is no Nagle algorithm: a small Send goes out although messages before it are not
 * acknowledged.
 */
static void small_sends_go_at_once(void **state)
{
	ROWS("5043-11.2-02 5043-11.2-03");

	connected();
	peer.mute = true;
	for (uint32_t i = 1; i <= 20; i++) {
		fx_post(x, i, IW_WR_SEND, x->base, 1, 0, 0, 0);
		peer_hears(3, SEGMENT, "%b 41 43 00000000  00000000 %w ..",
			   (uint8_t[]){ 0, (uint8_t)i }, (size_t)2, i);
	}
	fx_post(x, 99, IW_WR_RDMA_WRITE, x->base, 1, 0x77, 0, 0);
	peer_hears(3, SEGMENT, "0015 C1 40 ..");
	stop();
}

static void never_more_than_the_window(void **state)
{
	ROWS("5043-6.2-04");
	struct wire_sctp_data d;
	uint32_t bytes = 0;

	start();
	peer.a_rwnd = 4000;
	peer.mute = true;
	peer_calls(&usual);
	session_on(3);
	peer_sack(peer.cum);
	for (unsigned int i = 0; i < 8; i++)
		fx_post(x, i, IW_WR_RDMA_WRITE, x->base, 4000, 0x77, 0, 0);
	while (peer_takes(&d))
		bytes += d.len;
	assert_in_range(bytes, 1000, 4000);
	stop();
}

/*
 * One chunk is lost again and again, all others arrive: the sender stops before its DDP-SSNs could be
 * mistaken. There are Writes only, which need no credit of any application.
 */
static void too_far_ahead(uint32_t distance)
{
	const uint32_t total = 24 << 20;
	struct sctp_config config = usual_config();
	uint8_t *source = calloc(1, total);
	struct wire_sctp_data d = { 0 };
	struct wire_sctp_chunk c;
	uint32_t lost, highest;
	struct iw_send_wqe *w;
	struct iw_mr *mr;

	if (distance)
		config.max_tsn_distance = distance;
	start_with(&config);
	peer_calls(&usual);
	session_on(3);
	assert_int_equal(iw_mr_new(x->pd, (uintptr_t)source, total, 0, 0, NULL, &mr), 0);
	set_mtu(576);
	peer.mute = true;
	lost = highest = peer.cum + 1;
	w = fx_sq_slot(x->qp);
	*w = (struct iw_send_wqe){ .opcode = IW_WR_RDMA_WRITE, .num_sge = 1, .length = total,
				   .rkey = 0x77 };
	w->sge[0] = (struct iw_sge){ 0, total, iw_mr_stag(mr) };
	iw_sq_publish(x->qp);
	iw_qp_doorbell(x->qp);
	for (unsigned int idle = 0; idle < 3; idle++) {
		while (peer_next(&c)) {
			if (c.type != WIRE_SCTP_DATA)
				continue;
			assert_true(wire_sctp_data_get(&c, &d));
			if ((int32_t)(d.tsn - highest) > 0) {
				highest = d.tsn;
				idle = 0;
			}
			/* the lost one has DDP-SSN 1 */
			assert_in_range((uint16_t)(get_be16(d.data) - 1), 0, 32767);
			assert_in_range(highest - lost, 0, 32767);
		}
		peer_begin();
		if (highest == lost)
			peer_chunk(WIRE_SCTP_SACK, 0, "%w %w 0000 0000", lost - 1, 64u << 20);
		else
			peer_chunk(WIRE_SCTP_SACK, 0, "%w %w 0001 0000 %w", lost - 1, 64u << 20,
				   2u << 16 | (highest - lost + 1));
		peer_send();
	}
	assert_in_range(highest - lost, distance ? 32000 : 4000, 32767);
	iw_qp_free(x->qp); /* the Write is given up */
	x->qp = NULL;
	iw_mr_free(mr);
	stop();
	free(source);
}

static void never_too_far_ahead(void **state)
{
	ROWS("5043-10-06 5043-10-07");

	too_far_ahead(0);
	too_far_ahead(UINT32_MAX); /* whatever the configuration says */
}

/* ---- sizes ---- */

/* A Write of 8000 bytes on paths of these MTUs (IPv4, UDP): whole chunks, as large as fits. */
static void segments_follow_the_mtu(void **state)
{
	ROWS("5043-2-06 5043-9-01 5043-9-02 5043-9-03 5043-9-05 5043-4-01");
	static const struct {
		uint32_t mtu;
		size_t longest; /* user message */
	} cases[] = { { 1500, 1444 }, { 9000, 8016 }, { 1280, 1224 }, { 576, 520 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wire_sctp_data d;
		size_t longest = 0;

		connected();
		set_mtu(cases[i].mtu);
		st.longest = 0;
		fx_post(x, 1, IW_WR_RDMA_WRITE, x->base, 8000, 0x77, 0, 0);
		while (peer_takes(&d))
			longest = d.len > longest ? d.len : longest;
		assert_int_equal(longest, cases[i].longest);
		assert_true(st.longest + 28 <= cases[i].mtu);
		assert_int_equal(fx_cqe(x).status, IW_WC_SUCCESS);
		stop();
	}
}

/* What was sent before the MTU shrank goes out again in one piece: IP may cut it. */
static void a_shrunken_mtu(void **state)
{
	ROWS("5043-9-05 5043-9-01");
	struct wire_sctp_data d;
	unsigned int n = 0;

	connected();
	peer.mute = true;
	fx_post(x, 1, IW_WR_RDMA_WRITE, x->base, 1428, 0x77, 0, 0);
	assert_true(peer_takes(&d));
	assert_int_equal(d.len, 1444);
	set_mtu(600);
	peer.cum--;
	peer.stream[3].next--;
	while (!peer_takes(&d)) {
		assert_true(n++ < 100);
		wait_ns(SECOND);
	}
	assert_int_equal(d.len, 1444); /* flags and DDP-SSN are looked at by peer_takes() */
	stop();
}

/* The floor of 516 bytes: all private data that there may be, where nothing larger goes through. */
static void largest_control_message_on_the_smallest_path(void **state)
{
	ROWS("5043-9-04 5043-9-03");
	struct iw_session_param p = session_param(1, 1, "");
	struct iw_event ev;

	memset(p.private_data, 'd', sizeof(p.private_data));
	p.private_data_len = 508;
	start();
	peer_calls(&usual);
	set_mtu(576);
	peer_says(3, CONTROL, "0000 0005 0001 0001 %b", p.private_data, (size_t)508);
	ev = fx_event(x, IW_EVENT_INITIATE);
	assert_int_equal(ev.param.private_data_len, 508);
	assert_int_equal(iw_session_accept(ev.session, x->qp, &p), 0);
	peer_hears(3, CONTROL, "0000 0006 0001 0001 %b", p.private_data, (size_t)508);
	peer_says(5, CONTROL, "0000 0001 %b", p.private_data, (size_t)512);
	ev = fx_event(x, IW_EVENT_INITIATE);
	assert_int_equal(ev.param.private_data_len, 512);
	assert_true(st.longest + 28 <= 576);
	stop();
}

/* Bulk both ways: SACKs ride with segments, which are cut to what room they leave. */
static void sacks_share_packets_with_segments(void **state)
{
	ROWS("5043-9-07");
	struct wire_sctp_data d = { 0 };
	const uint8_t *sack_in = NULL;
	struct wire_sctp_chunk c;
	unsigned int together = 0;

	connected();
	st.longest = 0;
	for (unsigned int i = 0; i < 8; i++) {
		uint8_t fill[1000] = { 0 };

		peer_begin();
		peer_data(peer.tsn++, WHOLE, 3, SEGMENT, "%b C1 40 %w %q %b",
			  (uint8_t[]){ 0, (uint8_t)(i + 1) }, (size_t)2, x->stag, x->base, fill,
			  sizeof(fill));
		fx_post(x, i, IW_WR_RDMA_WRITE, x->base, 4000, 0x77, 0, 0);
		peer_send();
		while (peer_next(&c)) {
			if (c.type == WIRE_SCTP_SACK) {
				sack_in = c.raw;
			} else if (c.type == WIRE_SCTP_DATA) {
				assert_true(wire_sctp_data_get(&c, &d));
				together += sack_in == peer.in + 12 && c.raw > sack_in && d.len > 1300;
				peer.cum = d.tsn;
			}
			if (peer.at == peer.in + peer.in_len)
				sack_in = NULL;
		}
		peer_sack(peer.cum);
	}
	assert_true(together > 0);
	assert_true(st.longest + 28 <= 1500);
	stop();
}

/* ---- the end of associations ---- */

/* The peer breaks SCTP's rules: SCTP ends it, RDMAP says nothing on any stream. */
static void errors_of_the_association(void **state)
{
	ROWS("5043-11.3-01 5043-11.3-02 5043-11.3-03 6581-8-06");
	struct iw_session_param p = session_param(1, 1, "");
	struct iw_qp *qp[3];

	for (unsigned int how = 0; how < 4; how++) {
		start();
		peer_calls(&usual);
		for (uint16_t i = 0; i < 3; i++) {
			qp[i] = fx_qp_sized(x, x->pd, x->cq, 8);
			peer_says(i, CONTROL, "0000 0001");
			assert_int_equal(iw_session_accept(fx_event(x, IW_EVENT_INITIATE).session, qp[i],
							   &p), 0);
			peer_hears(i, CONTROL, "0000 0002");
		}
		peer_hears_nothing();
		memset(peer.heard, 0, sizeof(peer.heard));
		if (how == 0) { /* DATA without data */
			peer_begin();
			peer_data(peer.tsn++, WHOLE, 1, SEGMENT, "");
			peer_send();
		} else if (how == 1) { /* acknowledges what was not sent */
			peer_sack(peer.cum + 1000);
		} else if (how == 2) {
			peer_begin();
			peer_chunk(WIRE_SCTP_ABORT, 0, "");
			peer_send();
		} else { /* says nothing any more */
			for (unsigned int i = 0; i < 3; i++) {
				struct iw_qp *first = x->qp;

				x->qp = qp[i];
				fx_post(x, 1, IW_WR_SEND, x->base, 1, 0, 0, 0);
				x->qp = first;
			}
			peer.mute = true;
			for (unsigned int i = 0; i < 100 && !st.lost; i++) {
				wait_ns(SECOND);
				st.head = st.tail;
			}
			assert_true(st.lost);
		}
		peer_hears_nothing();
		assert_int_equal(peer.heard[WIRE_SCTP_DATA], 0);
		assert_int_equal(peer.heard[WIRE_SCTP_ABORT], how < 2);
		assert_true(st.lost);
		for (unsigned int i = 0; i < 3; i++) {
			assert_int_equal(atomic_load(&qp[i]->state), IW_QPS_ERR);
			iw_qp_free(qp[i]);
		}
		stop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stack_answers),
		cmocka_unit_test(the_stack_asks),
		cmocka_unit_test(a_caller_that_is_not_ddp),
		cmocka_unit_test(a_callee_that_is_not_ddp),
		cmocka_unit_test(another_indication),
		cmocka_unit_test(a_whole_life),
		cmocka_unit_test(retransmissions_are_the_same),
		cmocka_unit_test(fragments_are_put_together),
		cmocka_unit_test(many_chunks_in_a_packet),
		cmocka_unit_test(tsns_say_nothing_of_order),
		cmocka_unit_test(ordered_chunks),
		cmocka_unit_test(late_duplicates_are_no_part_of_the_next_session),
		cmocka_unit_test(a_terminate_waits_for_the_sack),
		cmocka_unit_test(a_new_initiate_waits_for_the_sack),
		cmocka_unit_test(small_sends_go_at_once),
		cmocka_unit_test(never_more_than_the_window),
		cmocka_unit_test(never_too_far_ahead),
		cmocka_unit_test(segments_follow_the_mtu),
		cmocka_unit_test(a_shrunken_mtu),
		cmocka_unit_test(largest_control_message_on_the_smallest_path),
		cmocka_unit_test(sacks_share_packets_with_segments),
		cmocka_unit_test(errors_of_the_association),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
