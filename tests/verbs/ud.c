/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: ud_ca --node-type ca -- */
/* ALSO: ib.ud --personality ib -- */
/*
 * UD queue pairs and address handles: the headers of a datagram, datagrams that are dropped, and
 * the errors of each call.
 */
#include <arpa/inet.h>
#include <poll.h>

#include "ud_steps.h"

static unsigned int mtu; /* bytes */

/* ---- messages ---- */

static uint16_t ipv4_sum(const uint8_t *p)
{
	uint32_t sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)(sum + (sum >> 16));
}

/* Checks the route header of a datagram of len bytes between two sides with the same GID. */
static void check_grh(const struct side *b, uint32_t len, const struct ibv_wc *wc)
{
	const uint8_t *p = b->buf + SIDE_BUF / 2;
	union ibv_gid gid = where_is(b).gid;
	bool v4 = gid.raw[10] == 0xff;

	CHECK(wc->wc_flags & IBV_WC_GRH);
	CHECK_EQ(wc->byte_len, GRH + len);
	CHECK_EQ(wc->sl & 7, v4 ? 2 : 1);
	if (!v4) {
		CHECK_EQ(p[0], 0x66);
		CHECK_EQ(p[1], 0x81);
		CHECK_EQ(p[2] << 8 | p[3], 0x2345);
		CHECK_EQ(p[4] << 8 | p[5], len);
		CHECK_EQ(p[7], 9);
		CHECK(!memcmp(p + 8, gid.raw, 16) && !memcmp(p + 24, gid.raw, 16));
		return;
	}
	for (int i = 0; i < 20; i++)
		CHECK_EQ(p[i], 0xff);
	CHECK_EQ(p[20], 0x45);
	CHECK_EQ(p[21], 0x68);
	CHECK_EQ(p[22] << 8 | p[23], 20 + len);
	CHECK_EQ(p[28], 9);
	CHECK_EQ(ipv4_sum(p + 20), 0xffff);
	CHECK(!memcmp(p + 32, gid.raw + 12, 4) && !memcmp(p + 36, gid.raw + 12, 4));
}

static void send_and_check(struct side *a, struct side *b, uint32_t len)
{
	uint8_t *got = b->buf + SIDE_BUF / 2;
	struct ibv_wc wc;

	memset(got, 0xff, GRH + len + 1);
	fill(a->buf, len, len);
	ud_recv(b, len, GRH + len);
	tell(a, b, QKEY, len);
	expect_wc(b->recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, len);
	CHECK_EQ(wc.opcode, IBV_WC_RECV);
	CHECK_EQ(wc.src_qp, a->qp->qp_num);
	CHECK_EQ(wc.qp_num, b->qp->qp_num);
	CHECK(!(wc.wc_flags & IBV_WC_WITH_IMM));
	check_grh(b, len, &wc);
	CHECK(filled(got + GRH, len, len));
	CHECK_EQ(got[GRH + len], 0xff);
}

static void test_messages(void)
{
	struct ibv_port_attr port;
	struct side a, b;

	CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
	CHECK_EQ(mtu, 128u << port.active_mtu);
	ud_pair(&a, &b);
	for (uint32_t len = 0; len <= mtu; len += len < 10 ? 1 : 509)
		send_and_check(&a, &b, len);
	send_and_check(&a, &b, mtu);
	send_and_check(&b, &a, 100);
	/* To the QP itself, as to any other. */
	send_and_check(&a, &a, 100);
	close_pair(&a, &b);
}

static void test_ipv6(void)
{
	int before = gid_index;
	struct side a, b;
	union ibv_gid gid;

	for (gid_index = 0; !ibv_query_gid(ctx, 1, gid_index, &gid); gid_index++) {
		if (gid.raw[10] != 0xff && gid.global.interface_id && gid.raw[0] != 0xfe)
			break;
	}
	if (ibv_query_gid(ctx, 1, gid_index, &gid)) {
		printf("no GID of an IPv6 address here: not tried\n");
	} else {
		ud_pair(&a, &b);
		send_and_check(&a, &b, 333);
		close_pair(&a, &b);
	}
	gid_index = before;
}

/* The answer goes to the source in the completion, by each of the two calls of libibverbs. */
static void test_answer(void)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *ah, *back;
	struct side a, b;
	struct ibv_grh *grh;
	union ibv_gid gid;
	struct ibv_wc wc;

	ud_pair(&a, &b);
	ah = ah_to(&a, &b);
	ud_recv(&b, 1, GRH + 8);
	CHECK_EQ(ud_send(&a, ah, b.qp->qp_num, QKEY, 8, IBV_WR_SEND_WITH_IMM, IBV_SEND_INLINE), 0);
	expect_sent(&a, 5);
	expect_wc(b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK(wc.wc_flags & IBV_WC_WITH_IMM);
	CHECK_EQ(ntohl(wc.imm_data), 0xdeadbeef);
	grh = (struct ibv_grh *)(b.buf + SIDE_BUF / 2);
	CHECK_EQ(ibv_init_ah_from_wc(ctx, 1, &wc, grh, &attr), 0);
	gid = where_is(&a).gid;
	CHECK(attr.is_global && !memcmp(&attr.grh.dgid, &gid, sizeof(gid)));
	back = ibv_create_ah_from_wc(b.pd, &wc, grh, 1);
	CHECK(back);
	ud_recv(&a, 2, GRH + 8);
	CHECK_EQ(ud_send(&b, back, wc.src_qp, QKEY, 8, IBV_WR_SEND, 0), 0);
	expect_sent(&b, 5);
	expect_wc(a.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.src_qp, b.qp->qp_num);
	CHECK_EQ(ibv_destroy_ah(back), 0);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	close_pair(&a, &b);
}

/* rdma_cm resolves a loopback address: a receiver at this address sees the GID of the handle. */
static void test_loopback(void)
{
	static const uint8_t addresses[2][16] = { { [15] = 1 },
						  { [10] = 0xff, [11] = 0xff, 127, [15] = 1 } };
	struct ibv_ah_attr attr;
	struct side a, b;
	struct ibv_ah *ah;
	struct ibv_wc wc;

	ud_pair(&a, &b);
	attr = ah_attr(&b);
	memcpy(attr.grh.dgid.raw, addresses[attr.grh.dgid.raw[10] == 0xff], 16);
	ah = ibv_create_ah(a.pd, &attr);
	CHECK(ah);
	ud_recv(&b, 1, GRH + 8);
	CHECK_EQ(ud_send(&a, ah, b.qp->qp_num, QKEY, 8, IBV_WR_SEND, 0), 0);
	expect_sent(&a, 5);
	expect_wc(b.recv_cq, IBV_WC_SUCCESS, &wc);
	check_grh(&b, 8, &wc);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	close_pair(&a, &b);
}

/* Header and payload fill the elements of a receive in order. */
static void test_scatter(void)
{
	struct ibv_sge from[3], to[3];
	struct ibv_send_wr wr = { .sg_list = from, .num_sge = 3, .opcode = IBV_WR_SEND };
	struct ibv_send_wr *bad;
	struct side a, b;
	struct ibv_wc wc;

	ud_pair(&a, &b);
	fill(a.buf, 300, 3);
	for (unsigned int i = 0; i < 3; i++) {
		from[i] = sge_of(a.mr, a.buf + 100 * (size_t)i, 100);
		to[i] = sge_of(b.mr, b.buf + 1000 * (size_t)i, i ? 200 : 30);
	}
	CHECK_EQ(post_recv(&b, 1, to, 3), 0);
	wr.wr.ud.ah = ah_to(&a, &b);
	wr.wr.ud.remote_qpn = b.qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	CHECK_EQ(ibv_post_send(a.qp, &wr, &bad), 0);
	expect_wc(b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.byte_len, GRH + 300);
	CHECK_EQ(b.buf[20], 0x45);
	CHECK(!memcmp(b.buf + 1010, a.buf, 190));
	CHECK(!memcmp(b.buf + 2000, a.buf + 190, 110));
	/* No send is signaled. */
	expect_no_wc(a.send_cq, 0);
	CHECK_EQ(ibv_destroy_ah(wr.wr.ud.ah), 0);
	close_pair(&a, &b);
}

/*
 * Many datagrams at once, of all lengths, in batches and not: each is whole, and they arrive in
 * order.
 */
static void test_many(void)
{
	enum { ROUNDS = 200, N = 16 };
	struct ibv_ah *ah;
	struct side a, b;
	struct ibv_wc wc;

	ud_pair(&a, &b);
	ah = ah_to(&a, &b);
	for (uint32_t r = 0; r < ROUNDS; r++) {
		uint8_t *at = b.buf + SIDE_BUF / 2;

		for (uint32_t i = 0; i < N; i++) {
			struct ibv_sge sge = sge_of(b.mr, at + 4096 * (size_t)i, 4096);

			CHECK_EQ(post_recv(&b, i, &sge, 1), 0);
		}
		for (uint32_t i = 0; i < N; i++) {
			uint32_t len = 4 + (r % 3 ? 1000 : (r * 37 + i * 91) % 1000);

			fill(a.buf, len, r + i);
			CHECK_EQ(ud_send(&a, ah, b.qp->qp_num, QKEY, len, IBV_WR_SEND, 0), 0);
			/* The memory may change once the send is complete. */
			expect_sent(&a, 5);
		}
		for (uint32_t i = 0; i < N; i++) {
			expect_wc(b.recv_cq, IBV_WC_SUCCESS, &wc);
			CHECK_EQ(wc.wr_id, i);
			CHECK(filled(at + 4096 * (size_t)i + GRH, wc.byte_len - GRH, r + i));
		}
	}
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	close_pair(&a, &b);
}

static void test_srq(void)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_recv_wr wr = { .num_sge = 1 }, *bad;
	uint64_t before = counter("ud_no_receive");
	struct side a, b;
	struct ibv_sge sge;
	struct ibv_srq *srq;
	struct ibv_wc wc;
	struct ibv_pd *pd = ibv_alloc_pd(ctx);

	srq = ibv_create_srq(pd, &srq_attr);
	CHECK(pd && srq);
	open_side(&b);
	CHECK_EQ(ibv_destroy_qp(b.qp), 0);
	CHECK_EQ(ibv_dereg_mr(b.mr), 0);
	CHECK_EQ(ibv_dealloc_pd(b.pd), 0);
	b.pd = pd;
	b.mr = ibv_reg_mr(pd, b.buf, SIDE_BUF, ALL_RIGHTS);
	{
		struct ibv_qp_init_attr attr = init_attr(&b);

		attr.srq = srq;
		b.qp = ibv_create_qp(pd, &attr);
	}
	CHECK(b.mr && b.qp);
	ud_ready(&b);
	ud_open(&a, NULL, 0);
	ud_ready(&a);
	sge = sge_of(b.mr, b.buf, 500);
	wr.sg_list = &sge;
	/* A datagram that is too long leaves the receive to the next one. */
	for (uint64_t id = 1; id <= 2; id++) {
		wr.wr_id = id;
		CHECK_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
	}
	tell(&a, &b, QKEY, 461);
	for (uint64_t id = 1; id <= 2; id++) {
		tell(&a, &b, QKEY, 460);
		expect_wc(b.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, id);
		CHECK_EQ(wc.byte_len, 500);
	}
	tell(&a, &b, QKEY, 1);
	expect_counted("ud_no_receive", before);
	CHECK_EQ(ibv_destroy_qp(b.qp), 0);
	b.qp = NULL;
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	close_pair(&a, &b);
}

/* A CQ that is armed only for solicited events has only those. */
static void test_solicited(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, channel, 0);
	struct pollfd pfd = { .events = POLLIN };
	struct side a, b;
	struct ibv_ah *ah;
	struct ibv_wc wc;
	struct ibv_cq *ev;
	void *context;

	CHECK(channel && cq);
	ud_open(&a, NULL, 0);
	ud_ready(&a);
	open_side(&b);
	CHECK_EQ(ibv_destroy_qp(b.qp), 0);
	CHECK_EQ(ibv_destroy_cq(b.recv_cq), 0);
	b.recv_cq = cq;
	{
		struct ibv_qp_init_attr attr = init_attr(&b);

		b.qp = ibv_create_qp(b.pd, &attr);
	}
	CHECK(b.qp);
	ud_ready(&b);
	ah = ah_to(&a, &b);
	pfd.fd = channel->fd;
	ud_recv(&b, 1, GRH + 8);
	ud_recv(&b, 2, GRH + 8);
	CHECK_EQ(ibv_req_notify_cq(cq, 1), 0);
	tell(&a, &b, QKEY, 8);
	expect_wc(cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(poll(&pfd, 1, 50), 0);
	CHECK_EQ(ud_send(&a, ah, b.qp->qp_num, QKEY, 8, IBV_WR_SEND, IBV_SEND_SOLICITED), 0);
	CHECK_EQ(poll(&pfd, 1, WAIT_SECONDS * 1000), 1);
	CHECK_EQ(ibv_get_cq_event(channel, &ev, &context), 0);
	ibv_ack_cq_events(ev, 1);
	expect_wc(cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	close_pair(&a, &b);
	CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
}

/* ---- dropped datagrams ---- */

static void test_qkey(void)
{
	uint64_t before = counter("ud_bad_qkey");
	struct ibv_qp_attr attr = { .qkey = 42 };
	struct ibv_qp_init_attr init;
	struct side a, b;
	struct ibv_wc wc;

	ud_pair(&a, &b);
	ud_recv(&b, 1, GRH + 8);
	tell(&a, &b, QKEY + 1, 8);
	expect_counted("ud_bad_qkey", before);
	expect_no_wc(b.recv_cq, 0);
	/* The highest bit selects the sender's own Q_Key, whatever the other bits are. */
	tell(&a, &b, OWN_QKEY | 1, 8);
	expect_wc(b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_QKEY), 0);
	CHECK_EQ(ibv_query_qp(a.qp, &attr, IBV_QP_QKEY, &init), 0);
	CHECK_EQ(attr.qkey, 42);
	CHECK_EQ(init.qp_type, IBV_QPT_UD);
	ud_recv(&b, 2, GRH + 8);
	tell(&a, &b, OWN_QKEY, 8);
	expect_counted("ud_bad_qkey", before + 1);
	attr.qkey = 42;
	CHECK_EQ(ibv_modify_qp(b.qp, &attr, IBV_QP_QKEY), 0);
	tell(&a, &b, OWN_QKEY, 8);
	expect_wc(b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 2);
	close_pair(&a, &b);
}

static void test_drops(void)
{
	uint64_t before;
	struct ibv_ah *ah;
	struct side a, b;
	struct ibv_wc wc;

	ud_pair(&a, &b);
	before = counter("ud_no_receive");
	tell(&a, &b, QKEY, 8);
	expect_counted("ud_no_receive", before);
	/* The receive for too long a datagram is used for the next one. */
	before = counter("ud_too_long");
	ud_recv(&b, 1, GRH + 8);
	tell(&a, &b, QKEY, 9);
	expect_counted("ud_too_long", before);
	tell(&a, &b, QKEY, 8);
	expect_wc(b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 1);
	/* A missing QP, a QP of another type, and a QP that is not ready. */
	before = counter("ud_no_qp");
	ah = ah_to(&a, &b);
	CHECK_EQ(ud_send(&a, ah, b.qp->qp_num ^ 0x80, QKEY, 8, IBV_WR_SEND, 0), 0);
	expect_sent(&a, 5);
	expect_counted("ud_no_qp", before);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	CHECK_EQ(to_state(&b, IBV_QPS_RESET), 0);
	CHECK_EQ(ud_init(b.qp, QKEY), 0);
	ud_recv(&b, 2, GRH + 8);
	tell(&a, &b, QKEY, 8);
	expect_counted("ud_no_qp", before + 1);
	/* Neither end has an error. */
	CHECK_EQ(to_state(&b, IBV_QPS_RTR), 0);
	tell(&a, &b, QKEY, 8);
	expect_wc(b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 2);
	expect_qp_state(a.qp, IBV_QPS_RTS);
	CHECK_EQ(to_state(&b, IBV_QPS_ERR), 0);
	before = counter("ud_no_qp");
	tell(&a, &b, QKEY, 8);
	expect_counted("ud_no_qp", before);
	close_pair(&a, &b);
}

/* Moves a QP out of SQE, the only change of attributes in that state. */
static void recover(struct side *s)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS,
				    .cur_qp_state = IBV_QPS_SQE,
				    .qkey = QKEY };

	CHECK_EQ(ibv_modify_qp(s->qp, &attr, IBV_QP_QKEY), EINVAL);
	CHECK_EQ(ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), EINVAL);
	CHECK_EQ(ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_QKEY), 0);
	expect_qp_state(s->qp, IBV_QPS_RTS);
	expect_no_wc(s->send_cq, 0);
}

static void test_bad_sends(void)
{
	struct ibv_ah *ah;
	struct side a, b;
	struct ibv_sge sge;
	struct ibv_wc wc;

	ud_pair(&a, &b);
	ah = ah_to(&a, &b);
	CHECK_EQ(ud_send(&a, ah, b.qp->qp_num, QKEY, mtu + 1, IBV_WR_SEND, 0), EINVAL);
	CHECK_EQ(ud_send(&a, NULL, b.qp->qp_num, QKEY, 8, IBV_WR_SEND, 0), EINVAL);
	CHECK_EQ(ud_send(&a, ah, b.qp->qp_num, QKEY, 8, IBV_WR_RDMA_WRITE, 0), EINVAL);
	CHECK_EQ(ud_send(&a, ah, b.qp->qp_num, QKEY, 8, IBV_WR_RDMA_READ, 0), EINVAL);
	CHECK_EQ(ud_send(&a, ah, b.qp->qp_num, QKEY, 8, IBV_WR_ATOMIC_FETCH_AND_ADD, 0), EINVAL);
	CHECK_EQ(ud_send(&a, ah, b.qp->qp_num, QKEY, 8, IBV_WR_SEND_WITH_INV, 0), EINVAL);
	CHECK_EQ(ud_send(&a, ah, b.qp->qp_num, QKEY, mtu, IBV_WR_SEND, IBV_SEND_INLINE), EINVAL);
	expect_no_wc(a.send_cq, 0);
	/* An invalid lkey ends only the sending of this QP: it still receives. */
	sge = sge_of(a.mr, a.buf, 8);
	sge.lkey = GONE;
	{
		struct ibv_send_wr wr = { .wr_id = 6,
					  .sg_list = &sge,
					  .num_sge = 1,
					  .opcode = IBV_WR_SEND,
					  .wr.ud = { ah, b.qp->qp_num, QKEY } };
		struct ibv_send_wr *bad;

		CHECK_EQ(ibv_post_send(a.qp, &wr, &bad), 0);
	}
	expect_wc(a.send_cq, IBV_WC_LOC_PROT_ERR, &wc);
	CHECK_EQ(wc.wr_id, 6);
	expect_qp_state(a.qp, IBV_QPS_SQE);
	CHECK_EQ(ud_send(&a, ah, b.qp->qp_num, QKEY, 8, IBV_WR_SEND, 0), 0);
	expect_wc(a.send_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	expect_qp_state(b.qp, IBV_QPS_RTS);
	ud_recv(&a, 7, GRH + 8);
	tell(&b, &a, QKEY, 8);
	expect_wc(a.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 7);
	recover(&a);
	ud_recv(&b, 8, GRH + 8);
	tell(&a, &b, QKEY, 8);
	expect_wc(b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 8);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	close_pair(&a, &b);
}

/* A receive without memory ends its QP, and not the sender's. */
static void test_bad_receive(void)
{
	struct side a, b;
	struct ibv_sge sge;
	struct ibv_wc wc;

	ud_pair(&a, &b);
	sge = sge_of(b.mr, b.buf, GRH + 8);
	sge.lkey = GONE;
	CHECK_EQ(post_recv(&b, 9, &sge, 1), 0);
	tell(&a, &b, QKEY, 8);
	expect_wc(b.recv_cq, IBV_WC_LOC_PROT_ERR, &wc);
	CHECK_EQ(wc.wr_id, 9);
	expect_qp_state(b.qp, IBV_QPS_ERR);
	expect_qp_state(a.qp, IBV_QPS_RTS);
	close_pair(&a, &b);
}

static void test_states(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct side a;
	struct ibv_ah *ah;

	ud_open(&a, NULL, 0);
	ah = ah_to(&a, &a);
	CHECK_EQ(ud_send(&a, ah, 1, QKEY, 8, IBV_WR_SEND, 0), EINVAL);
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, UD_INIT & ~IBV_QP_QKEY), EINVAL);
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, UD_INIT | IBV_QP_ACCESS_FLAGS), EINVAL);
	attr.port_num = 2;
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, UD_INIT), EINVAL);
	attr.port_num = 1;
	attr.pkey_index = 1;
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, UD_INIT), EINVAL);
	CHECK_EQ(ud_rts(a.qp), EINVAL);
	CHECK_EQ(ud_init(a.qp, QKEY), 0);
	CHECK_EQ(ud_send(&a, ah, 1, QKEY, 8, IBV_WR_SEND, 0), EINVAL);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024 };
	CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU), EINVAL);
	CHECK_EQ(to_state(&a, IBV_QPS_RTR), 0);
	CHECK_EQ(ud_send(&a, ah, 1, QKEY, 8, IBV_WR_SEND, 0), EINVAL);
	CHECK_EQ(to_state(&a, IBV_QPS_RTS), EINVAL);
	CHECK_EQ(ud_rts(a.qp), 0);
	/* Sends that are posted in SQD wait. */
	CHECK_EQ(to_state(&a, IBV_QPS_SQD), 0);
	ud_recv(&a, 1, GRH + 8);
	CHECK_EQ(ud_send(&a, ah, a.qp->qp_num, QKEY, 8, IBV_WR_SEND, 0), 0);
	expect_no_wc(a.send_cq, 20);
	CHECK_EQ(to_state(&a, IBV_QPS_RTS), 0);
	expect_sent(&a, 5);
	{
		struct ibv_wc wc;

		expect_wc(a.recv_cq, IBV_WC_SUCCESS, &wc);
		ud_recv(&a, 3, GRH + 8);
		CHECK_EQ(to_state(&a, IBV_QPS_ERR), 0);
		expect_wc(a.recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
		CHECK_EQ(wc.wr_id, 3);
	}
	/* RESET discards Sends that wait in SQD. The QP does not send them later. */
	CHECK_EQ(to_state(&a, IBV_QPS_RESET), 0);
	ud_ready(&a);
	CHECK_EQ(to_state(&a, IBV_QPS_SQD), 0);
	CHECK_EQ(ud_send(&a, ah, a.qp->qp_num, QKEY, 8, IBV_WR_SEND, 0), 0);
	CHECK_EQ(to_state(&a, IBV_QPS_RESET), 0);
	ud_ready(&a);
	ud_recv(&a, 4, GRH + 8);
	expect_no_wc(a.send_cq, 20);
	expect_no_wc(a.recv_cq, 0);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	close_side(&a);
}

static void test_bad_addresses(void)
{
	struct ibv_ah_attr good, bad;
	struct side a;

	ud_open(&a, NULL, 0);
	good = ah_attr(&a);
	bad = good;
	bad.is_global = 0;
	CHECK_FAILS(ibv_create_ah(a.pd, &bad), EINVAL);
	bad = good;
	bad.port_num = 2;
	CHECK_FAILS(ibv_create_ah(a.pd, &bad), EINVAL);
	bad = good;
	bad.grh.sgid_index = 255;
	CHECK_FAILS(ibv_create_ah(a.pd, &bad), EINVAL);
	bad = good;
	memset(&bad.grh.dgid, 0, sizeof(bad.grh.dgid));
	CHECK_FAILS(ibv_create_ah(a.pd, &bad), EINVAL);
	bad = good;
	bad.grh.dgid.raw[0] = 0x20;
	CHECK_FAILS(ibv_create_ah(a.pd, &bad), EINVAL);
	close_side(&a);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "messages", test_messages },
		{ "ipv6", test_ipv6 },
		{ "answer", test_answer },
		{ "loopback", test_loopback },
		{ "scatter", test_scatter },
		{ "many", test_many },
		{ "srq", test_srq },
		{ "solicited", test_solicited },
		{ "qkey", test_qkey },
		{ "drops", test_drops },
		{ "bad_sends", test_bad_sends },
		{ "bad_receive", test_bad_receive },
		{ "states", test_states },
		{ "bad_addresses", test_bad_addresses },
	};
	struct ibv_port_attr port;
	struct ibv_device_attr device;

	oob_open();
	CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
	mtu = 128u << port.active_mtu;
	CHECK_EQ(ibv_query_device(ctx, &device), 0);
	CHECK(device.max_ah > 0);
	return RUN_TESTS(argc, argv, tests);
}
