/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "out_of_band.h"

#include <unistd.h>

struct ibv_context *ctx;
uint8_t wire_timeout = 10;
int gid_index;

struct ibv_qp *new_qp(struct side *s)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = s->send_cq,
		.recv_cq = s->recv_cq,
		.cap = { 64, 64, 4, 4, 64 },
	};
	struct ibv_qp *qp = ibv_create_qp(s->pd, &attr);

	CHECK(qp);
	return qp;
}

void open_side(struct side *s)
{
	memset(s, 0, sizeof(*s));
	s->pd = ibv_alloc_pd(ctx);
	s->send_cq = ibv_create_cq(ctx, 256, NULL, NULL, 0);
	s->recv_cq = ibv_create_cq(ctx, 256, NULL, NULL, 0);
	CHECK(s->pd && s->send_cq && s->recv_cq);
	s->qp = new_qp(s);
	s->buf = calloc(1, SIDE_BUF);
	s->mr = ibv_reg_mr(s->pd, s->buf, SIDE_BUF, ALL_RIGHTS);
	CHECK(s->buf && s->mr);
}

void close_side(struct side *s)
{
	if (s->qp)
		CHECK_EQ(ibv_destroy_qp(s->qp), 0);
	CHECK_EQ(ibv_dereg_mr(s->mr), 0);
	CHECK_EQ(ibv_destroy_cq(s->send_cq), 0);
	CHECK_EQ(ibv_destroy_cq(s->recv_cq), 0);
	CHECK_EQ(ibv_dealloc_pd(s->pd), 0);
	free(s->buf);
}

struct where where_is(const struct side *s)
{
	struct where w = { .qp_num = s->qp->qp_num, .rkey = s->mr->rkey, .addr = (uintptr_t)s->buf };

	CHECK_EQ(ibv_query_gid(ctx, 1, gid_index, &w.gid), 0);
	return w;
}

int to_init(struct side *s)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1,
				    .qp_access_flags = ALL_RIGHTS };

	return ibv_modify_qp(s->qp, &attr, INIT_MASK);
}

struct ibv_qp_attr rtr_attr(const struct where *to)
{
	return (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = to->qp_num,
		.rq_psn = 0x123456,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .dgid = to->gid, .sgid_index = gid_index, .hop_limit = 1 } },
	};
}

int to_rtr(struct side *s, const struct where *to)
{
	struct ibv_qp_attr attr = rtr_attr(to);

	return ibv_modify_qp(s->qp, &attr, RTR_MASK);
}

/* 4.096 us x 2^timeout, once. */
int to_rts(struct side *s)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .timeout = wire_timeout, .retry_cnt = 0,
				    .rnr_retry = 7, .sq_psn = 0x654321, .max_rd_atomic = 3 };

	return ibv_modify_qp(s->qp, &attr, RTS_MASK);
}

int to_state(struct side *s, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(s->qp, &attr, IBV_QP_STATE);
}

void wire(struct side *s, const struct where *to)
{
	CHECK_EQ(to_init(s), 0);
	CHECK_EQ(to_rtr(s, to), 0);
	CHECK_EQ(to_rts(s), 0);
}

int send_from(struct side *s, uint64_t id)
{
	struct ibv_sge sge = sge_of(s->mr, s->buf, LEN);

	fill(s->buf, LEN, (unsigned int)id);
	return post_send(s, id, &sge, 1, IBV_SEND_SIGNALED);
}

void recv_at(struct side *s, uint64_t id)
{
	struct ibv_sge sge = sge_of(s->mr, s->buf + LEN, LEN);

	memset(s->buf + LEN, 0, LEN);
	CHECK_EQ(post_recv(s, id, &sge, 1), 0);
}

void expect_received(struct side *s, uint64_t id, unsigned int seed)
{
	struct ibv_wc wc;

	expect_wc(s->recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, id);
	CHECK_EQ(wc.byte_len, LEN);
	CHECK_EQ(wc.qp_num, s->qp->qp_num);
	CHECK(filled(s->buf + LEN, LEN, seed));
}

void expect_sent(struct side *s, uint64_t id)
{
	struct ibv_wc wc;

	expect_wc(s->send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, id);
}

void open_pair(struct side *a, struct side *b)
{
	open_side(a);
	open_side(b);
}

void close_pair(struct side *a, struct side *b)
{
	close_side(a);
	close_side(b);
}

void wire_pair(struct side *a, struct side *b)
{
	struct where at_a, at_b;

	open_pair(a, b);
	at_a = where_is(a);
	at_b = where_is(b);
	wire(a, &at_b);
	wire(b, &at_a);
}

void exchange(struct side *a, struct side *b, uint64_t id)
{
	recv_at(a, id);
	recv_at(b, id + 1);
	CHECK_EQ(send_from(a, id + 2), 0);
	CHECK_EQ(send_from(b, id + 3), 0);
	expect_received(b, id + 1, (unsigned int)id + 2);
	expect_received(a, id, (unsigned int)id + 3);
	expect_sent(a, id + 2);
	expect_sent(b, id + 3);
}

void open_by_hand(void)
{
	union ibv_gid gid;

	ctx = open_device();
	for (gid_index = 0; gid_index < 128; gid_index++) {
		if (!ibv_query_gid(ctx, 1, gid_index, &gid) && gid.raw[10] == 0xff &&
		    gid.raw[11] == 0xff && !memcmp(gid.raw, "\0\0\0\0\0\0\0\0\0\0", 10))
			return;
	}
	CHECK(!"a GID of an IPv4 address");
}

void put(int fd, const void *p, size_t len)
{
	CHECK_EQ(write(fd, p, len), len);
}

void get(int fd, void *p, size_t len)
{
	CHECK_EQ(read(fd, p, len), len);
}

void meet(int in, int out)
{
	char c = 'm';

	put(out, &c, 1);
	get(in, &c, 1);
}
