/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: conn */
/*
 * Strangers send any datagrams (wire/datagram.h) to ports of UD queue pairs and to a multicast
 * group. Meanwhile, an application posts receives and moves its QPs. Each datagram must arrive
 * according to docs/wire.md, or be counted with the reason of its loss. This program determines the
 * expected result independently. Only bytes of posted receives may change. Only Room Requests and
 * requests of rdma_cm have an answer, which is shorter than the request.
 */
#include "fixture/datagram_host.h"
#include "fixture/input.h"
#include "iwarp/iwarp.h"
#include "iwarp/qp.h"
#include "util/sockaddr.h"
#include "wire/room.h"
#include "wire/sidr.h"

#define STEPS 120
#define UDS 3	  /* QPs of type UD: 0 and 1 have their own receives, 2 has an SRQ */
#define QPS 4	  /* the last QP is not UD */
#define SLOTS 8	  /* receives of a queue */
#define SLOT 1280 /* bytes of memory for each, with guards */
#define EDGE 32	  /* bytes of the guards before and after a receive */
#define GAP 16	  /* bytes between the two elements of a receive */
#define GRH 40
#define PATTERN 0x5a
#define QKEY 0x11223344u
#define PACKET_MAX 4800

struct receive {
	unsigned int slot;
	uint32_t len, split; /* bytes in total, and in the first element */
	bool bad;	     /* the second element has a wrong key */
};

static struct queue {
	struct iw_qp *qp;
	struct iw_srq *srq;
	struct iw_mr *mr;
	uint8_t *mem, *shadow; /* actual and expected contents */
	struct receive posted[SLOTS];
	unsigned int n;	   /* number of posted, the oldest first */
	unsigned int next; /* the slot of the next receive */
	uint32_t qkey;
} queue[QPS];

static struct datagram_host *const h = &datagram_host;
static struct iw_cq *cq;
static struct endpoint *group_ep;
static struct ip_addr group;
static struct iw_ud_stats want;
static unsigned int answers; /* to Room Requests; the clock of the host stands still */

/* ---- the application ---- */

static uint32_t offset(const struct receive *r, uint32_t at)
{
	return r->slot * SLOT + EDGE + at + (at < r->split ? 0 : GAP);
}

static void post(struct input *in)
{
	struct queue *q = &queue[in_u8(in) % UDS];
	struct receive r = { .slot = q->next, .bad = false };
	struct iw_recv_wqe *wqe = q->srq ? iw_srq_slot(q->srq) : iw_rq_slot(q->qp);
	uint8_t how = in_u8(in);

	/* In ERR, a flush would need a doorbell. */
	if (q->n == SLOTS || !wqe || (!q->srq && iw_qp_state(q->qp) == IW_QPS_ERR))
		return;
	r.len = in_u16(in) % (SLOT - 2 * EDGE - GAP + 1);
	r.split = how & 0x40 ? r.len : in_u16(in) % (r.len + 1);
	r.bad = how >= 0xf0;
	q->next = (q->next + 1) % SLOTS;
	wqe->wr_id = r.slot;
	wqe->num_sge = 2;
	wqe->length = r.len;
	wqe->sge[0] = (struct iw_sge){ .addr = (uintptr_t)q->mem + r.slot * SLOT + EDGE,
				       .length = r.split,
				       .lkey = iw_mr_stag(q->mr) };
	wqe->sge[1] = (struct iw_sge){ .addr = wqe->sge[0].addr + r.split + GAP,
				       .length = r.len - r.split,
				       .lkey = iw_mr_stag(q->mr) ^ (r.bad ? 0x100 : 0) };
	q->posted[q->n++] = r;
	if (q->srq)
		iw_srq_publish(q->srq);
	else
		iw_rq_publish(q->qp);
}

static struct receive take(struct queue *q)
{
	struct receive r = q->posted[0];

	memmove(q->posted, q->posted + 1, --q->n * sizeof(r));
	return r;
}

static void expect_flushed(struct queue *q)
{
	struct iw_cqe cqe;

	while (!q->srq && q->n) {
		must(iw_cq_poll(cq, 1, &cqe) == 1 && cqe.status == IW_WC_WR_FLUSH_ERR);
		must(cqe.wr_id == take(q).slot && cqe.qp_num == q->qp->num);
	}
}

/* Moves a QP from any state to RTR. */
static void make_ready(struct queue *q)
{
	must(!iw_qp_modify(q->qp, IW_QPS_RESET));
	if (!q->srq)
		q->n = 0;
	must(!iw_qp_modify(q->qp, IW_QPS_INIT));
	must(!iw_qp_modify(q->qp, IW_QPS_RTR));
}

static void move(struct input *in)
{
	uint8_t what = in_u8(in);
	struct queue *q = &queue[what % UDS];

	switch (what >> 5) {
	case 0:
		must(!iw_qp_modify(q->qp, IW_QPS_ERR));
		expect_flushed(q);
		break;
	case 1:
		must(!iw_qp_modify(q->qp, IW_QPS_RESET));
		if (!q->srq)
			q->n = 0;
		must(!iw_qp_modify(q->qp, IW_QPS_INIT));
		break;
	case 2:
		iw_qp_modify(q->qp, IW_QPS_RTS);
		break;
	case 3:
		iw_qp_modify(q->qp, IW_QPS_SQD);
		break;
	default:
		make_ready(q);
		break;
	}
}

/* ---- the expected result of a datagram ---- */

static void write_shadow(struct queue *q, const struct receive *r, uint32_t at, const uint8_t *from,
			 uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		q->shadow[offset(r, at + i)] = from[i];
}

static uint16_t sum16(const uint8_t *p, unsigned int len)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < len; i += 2)
		sum += get_be16(p + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* Checks the header that the device has written, and copies it to the expected contents. */
static void check_grh(struct queue *q, const struct receive *r, const struct wire_ud *u,
		      const struct path_addr *from)
{
	bool v4 = ip_addr_is_v4(&from->local);
	uint32_t at = v4 ? 20 : 0;
	uint8_t grh[GRH];

	for (uint32_t i = 0; i < GRH; i++)
		grh[i] = q->mem[offset(r, i)];
	if (v4) {
		must(grh[20] == 0x45 && grh[21] == (uint8_t)(u->class_flow >> 20));
		must(get_be16(grh + 22) == (uint16_t)(20 + u->len));
		must(grh[28] == u->hop_limit && sum16(grh + 20, 20) == 0xffff);
		must(!memcmp(grh + 32, from->remote.b + 12, 4));
		must(!memcmp(grh + 36, from->local.b + 12, 4));
	} else {
		must(get_be32(grh) == (0x60000000 | u->class_flow));
		must(get_be16(grh + 4) == u->len && grh[7] == u->hop_limit);
		must(!memcmp(grh + 8, from->remote.b, 16) && !memcmp(grh + 24, from->local.b, 16));
	}
	write_shadow(q, r, at, grh + at, GRH - at);
}

static void check_receive(struct queue *q, const struct receive *r, const struct wire_ud *u,
			  const struct path_addr *from)
{
	struct iw_cqe cqe;

	must(iw_cq_poll(cq, 1, &cqe) == 1 && cqe.wr_id == r->slot && cqe.qp_num == q->qp->num);
	if (r->bad && GRH + u->len > r->split) {
		/* A part may have been placed in this receive. */
		must(cqe.status && iw_qp_state(q->qp) == IW_QPS_ERR);
		for (uint32_t i = 0; i < r->split; i++)
			q->shadow[offset(r, i)] = q->mem[offset(r, i)];
		expect_flushed(q);
		make_ready(q);
		return;
	}
	must(!cqe.status && cqe.opcode == IW_WC_RECV && cqe.byte_len == GRH + u->len);
	must(cqe.src_qp == u->src_qp && cqe.flags & IW_WC_GRH);
	must(!(cqe.flags & IW_WC_GRH_V4) == !ip_addr_is_v4(&from->local));
	must(!(cqe.flags & IW_WC_WITH_IMM) == !(u->flags & WIRE_UD_WITH_IMM));
	must(!(cqe.flags & IW_WC_WITH_IMM) || get_be32((uint8_t *)&cqe.imm_data) == u->imm);
	check_grh(q, r, u, from);
	write_shadow(q, r, GRH, u->payload, (uint32_t)u->len);
	want.received++;
}

static void expect_at(struct queue *q, const struct wire_ud *u, const struct path_addr *from)
{
	struct receive r;

	if (iw_qp_state(q->qp) < IW_QPS_RTR || iw_qp_state(q->qp) > IW_QPS_SQE) {
		want.no_qp++;
	} else if (u->qkey != q->qkey) {
		want.bad_qkey++;
	} else if (!q->n) {
		want.no_receive++;
	} else if (q->posted[0].len < GRH + u->len) {
		want.too_long++;
	} else {
		r = take(q);
		check_receive(q, &r, u, from);
	}
}

/* True if the packet is a message for the port, according to docs/wire.md. Fills *u. */
static bool is_message(const struct endpoint *ep, const uint8_t *packet, size_t len,
		       struct wire_ud *u)
{
	const uint8_t *c = packet + 12;
	uint32_t n = get_be16(c + 2);

	if (c[4] != 1 || c[5] != 1 || n < 32 || n > 32 + 4096 || n > len - 12 ||
	    !wire_sctp_checksum_ok(packet, len))
		return false;
	*u = (struct wire_ud){
		.flags = get_be16(c + 6),
		.dst_qp = get_be32(c + 8),
		.src_qp = get_be32(c + 12),
		.qkey = get_be32(c + 16),
		.imm = get_be32(c + 20),
		.class_flow = get_be32(c + 24) & 0x0fffffff,
		.hop_limit = c[28],
		.payload = c + 32,
		.len = n - 32,
	};
	return u->dst_qp >> 8 == get_be16(packet + 2) && u->src_qp >> 8 == get_be16(packet) &&
	       get_be16(packet + 2) == ep->bound.port;
}

/* True for a Room Request, which is answered, or an unexpected Room Reply. */
static bool is_room(const struct endpoint *ep, const uint8_t *packet, size_t len)
{
	const uint8_t *c = packet + 12;
	uint32_t n = get_be16(c + 2);

	return c[4] == 1 && (c[5] == 4 || c[5] == 5) && n >= (c[5] == 4 ? 24 : 20) &&
	       n <= len - 12 && !ep->bound.multicast && get_be16(packet + 2) == ep->bound.port &&
	       wire_sctp_checksum_ok(packet, len);
}

/* The only sent packet answers the request: its length and kind, its way back, and the same nonce or id. */
static void expect_answer(const struct path_addr *from, const uint8_t *packet, size_t len,
			  size_t answer_len, uint8_t kind)
{
	must(h->sent == 1 && h->sent_bytes == answer_len && answer_len < len);
	must(wire_sctp_checksum_ok(h->packet, answer_len) && h->packet[17] == kind);
	must(!memcmp(&h->sent_to, from, sizeof(*from)) && !memcmp(h->packet + 20, packet + 20, 8));
	must(!memcmp(h->packet, packet + 2, 2) && !memcmp(h->packet + 2, packet, 2));
	h->sent = 0;
	h->sent_bytes = 0;
}

static void expect_reply(const struct path_addr *from, const uint8_t *packet, size_t len)
{
	if (packet[17] != 4 || answers++ >= PACE_ANSWERS)
		return;
	expect_answer(from, packet, len, 32, 5);
	must(get_be32(h->packet + 28) == DATAGRAM_HOST_BUFFER / 4);
}

/* True for a request or reply of rdma_cm. Here no id listens or has sent a request. */
static bool is_idle_request(const struct endpoint *ep, const uint8_t *packet, size_t len)
{
	const uint8_t *c = packet + 12;
	uint32_t n = get_be16(c + 2);

	return c[4] == 1 && (c[5] == 2 || c[5] == 3) && n >= (c[5] == 2 ? 292 : 36) &&
	       n <= len - 12 && !c[24] && c[33] <= n - 36 && !ep->bound.multicast &&
	       get_be16(packet + 2) == ep->bound.port && wire_sctp_checksum_ok(packet, len);
}

/* No id listens, so the answer to a request is a short refusal. A reply has no answer. */
static void expect_refusal(const struct path_addr *from, const uint8_t *packet, size_t len)
{
	if (packet[17] != 2)
		return;
	expect_answer(from, packet, len, 48, 3);
	must(h->packet[44] == WIRE_SIDR_UNSUPPORTED);
}

static void expect(const struct endpoint *ep, const struct path_addr *from, const uint8_t *packet,
		   size_t len)
{
	bool own = from->remote.b[15] == 1;
	struct wire_ud u;

	if (is_idle_request(ep, packet, len)) {
		expect_refusal(from, packet, len);
		return;
	}
	if (is_room(ep, packet, len)) {
		expect_reply(from, packet, len);
		return;
	}
	if (!is_message(ep, packet, len, &u)) {
		want.malformed++;
		return;
	}
	if (ep == group_ep) {
		/* QPs 0 and 2 are attached. QP 0 declines its own messages. */
		if (!(own && u.src_qp == queue[0].qp->num))
			expect_at(&queue[0], &u, from);
		expect_at(&queue[2], &u, from);
		return;
	}
	for (unsigned int i = 0; i < UDS; i++) {
		if (u.dst_qp == queue[i].qp->num) {
			expect_at(&queue[i], &u, from);
			return;
		}
	}
	want.no_qp++;
}

static void check(void)
{
	const struct iw_ud_stats *got = iw_ud_stats(h->conn.iw);
	struct iw_cqe cqe;

	must(!iw_cq_poll(cq, 1, &cqe));
	must(!h->sent);
	must(!memcmp(got, &want, sizeof(want)));
	for (unsigned int i = 0; i < UDS; i++)
		must(!memcmp(queue[i].mem, queue[i].shadow, (size_t)SLOTS * SLOT));
}

/* ---- the strangers ---- */

static uint32_t choose_qp(struct input *in)
{
	uint8_t which = in_u8(in);

	if (which < 0xe0)
		return queue[which % QPS].qp->num;
	return which < 0xf0 ? queue[0].qp->num ^ in_u8(in) : in_u32(in);
}

static uint32_t choose_qkey(struct input *in)
{
	uint8_t which = in_u8(in);

	return which < 0xe0 ? queue[which % UDS].qkey : in_u32(in);
}

/* Makes a Room Request or Reply. Returns its length. */
static size_t room(struct input *in, uint8_t *chunk)
{
	uint8_t how = in_u8(in);
	struct wire_room r = { .nonce = in_u32(in), .room = in_u32(in) };
	size_t len = wire_room_put(chunk, how & 1 ? 5 : 4, &r);

	if (how & 0x10)
		chunk[in_u8(in) % len] ^= in_u8(in);
	return len;
}

/* Makes a message with some errors. Returns the length of its chunk. */
static size_t message(struct input *in, uint8_t *chunk, bool to_group)
{
	uint8_t how = in_u8(in);
	struct wire_ud u = { .flags = how & 3 };
	const uint8_t *bytes;
	size_t some;

	u.dst_qp = to_group ? 0xffffff : choose_qp(in);
	u.src_qp = choose_qp(in);
	u.qkey = choose_qkey(in);
	u.imm = in_u8(in);
	u.class_flow = in_u32(in) & 0x0fffffff;
	u.hop_limit = in_u8(in);
	u.len = how & 0x80 ? in_u16(in) % 4200 : in_u16(in) % 300;
	bytes = in_bytes(in, in_u8(in), &some);
	for (size_t i = 0; i < u.len; i++)
		chunk[WIRE_UD_LEN + i] = some ? bytes[i % some] : (uint8_t)i;
	wire_ud_put(chunk, &u);
	if (how & 0x10) /* in the chunk's header */
		chunk[in_u8(in) % WIRE_UD_LEN] ^= in_u8(in);
	return (WIRE_UD_LEN + u.len + 3) & ~(size_t)3;
}

static void packet(struct input *in)
{
	uint8_t how = in_u8(in), buf[PACKET_MAX] = { 0 };
	struct endpoint *ep = how & 1 && how & 2 ? group_ep :
						   qp_num_endpoint(&h->conn, queue[0].qp->num);
	struct path_addr from = { .udp_port = 5000 };
	struct wire_sctp_common common = { 0 };
	const uint8_t *bytes;
	size_t len, n;

	from.remote = how & 4 ? datagram_host_address6(how >> 4) : datagram_host_address(how >> 4);
	from.local = ep == group_ep ? group :
		     how & 4	    ? datagram_host_address6(1) :
				      datagram_host_address(1);
	if (ep == group_ep) /* groups have one family */
		from.remote = datagram_host_address(how >> 4);
	if (how & 8) {
		bytes = in_bytes(in, in_u16(in) % 600, &n);
		memcpy(buf + 12, bytes, n);
		buf[12] = WIRE_DATAGRAM;
	} else if ((how & 0xe0) == 0xe0) {
		n = room(in, buf + 12);
	} else {
		n = message(in, buf + 12, ep == group_ep);
	}
	how = in_u8(in);
	common.sport = how & 1 ? in_u16(in) : qp_num_port(queue[0].qp->num);
	common.dport = how & 2 ? in_u16(in) : ep->bound.port;
	common.vtag = how & 4 ? in_u8(in) : 0;
	wire_sctp_common_put(buf, &common);
	len = 12 + n;
	if (how & 8) /* truncated, or with trailing bytes */
		len = in_u16(in) % (PACKET_MAX + 1);
	if (len >= 12)
		wire_sctp_checksum_put(buf, len);
	if (how & 0x10 && len)
		buf[in_u16(in) % len] ^= in_u8(in);
	if (datagram_host_input(ep, &from, buf, len))
		expect(ep, &from, buf, len);
	check();
}

/* ---- the program ---- */

static void open_queue(unsigned int i)
{
	struct queue *q = &queue[i];
	struct iw_qp_attr attr = { .type = i < UDS ? IW_QPT_UD : IW_QPT_RC,
				   .pd = h->pd,
				   .send_cq = cq,
				   .recv_cq = cq,
				   .max_send_wr = 4,
				   .max_recv_wr = SLOTS,
				   .max_send_sge = 1,
				   .max_recv_sge = 2 };

	*q = (struct queue){ .qkey = i == 1 ? QKEY + 1 : QKEY };
	if (i == 2)
		must(!iw_srq_new(h->pd, SLOTS, 2, NULL, &q->srq));
	attr.srq = q->srq;
	must(!qp_num_get(&h->conn, &attr.num));
	must(!iw_qp_new(h->conn.iw, &attr, &q->qp));
	if (i >= UDS)
		return;
	q->mem = malloc((size_t)SLOTS * SLOT);
	q->shadow = malloc((size_t)SLOTS * SLOT);
	must(q->mem && q->shadow);
	memset(q->mem, PATTERN, (size_t)SLOTS * SLOT);
	memset(q->shadow, PATTERN, (size_t)SLOTS * SLOT);
	must(!iw_mr_new(h->pd, (uintptr_t)q->mem, (size_t)SLOTS * SLOT, (uintptr_t)q->mem,
			IW_ACCESS_LOCAL_WRITE, NULL, &q->mr));
	iw_ud_set_qkey(q->qp, q->qkey);
	must(!iw_qp_modify(q->qp, IW_QPS_INIT));
	must(!datagram_start(&h->conn, q->qp));
	must(!iw_qp_modify(q->qp, IW_QPS_RTR));
}

static void open_group(void)
{
	struct sockaddr_storage ss;
	bool first;

	group = (struct ip_addr){ .b = { [10] = 0xff, 0xff, 239, 1, 2, 3 } };
	sockaddr_make(&ss, AF_INET, &group, 65535);
	must(!endpoint_open_group(&h->conn, (struct sockaddr *)&ss, &group_ep));
	must(!iw_mcast_attach(queue[0].qp, &group, &first));
	must(!iw_mcast_attach(queue[2].qp, &group, &first));
	queue[0].qp->blocks_own = true;
}

static void close_all(void)
{
	struct ip_addr ip;
	bool last;

	for (unsigned int i = 0; i < QPS; i++) {
		struct queue *q = &queue[i];
		uint32_t num = q->qp->num;

		while (iw_mcast_detach_any(q->qp, &ip, &last))
			;
		iw_qp_modify(q->qp, IW_QPS_RESET);
		iw_qp_free(q->qp);
		qp_num_put(&h->conn, num);
		if (q->srq)
			iw_srq_free(q->srq);
		if (q->mr)
			iw_mr_free(q->mr);
		free(q->mem);
		free(q->shadow);
	}
	endpoint_put(group_ep);
	iw_cq_free(cq);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_of(data, size);

	datagram_host_start();
	memset(&want, 0, sizeof(want));
	answers = 0;
	cq = iw_cq_new(h->conn.iw, 64, NULL);
	for (unsigned int i = 0; i < QPS; i++)
		open_queue(i);
	open_group();
	for (int i = 0; i < STEPS && in_more(&in); i++) {
		uint8_t what = in_u8(&in);

		if (what < 0x90)
			packet(&in);
		else if (what < 0xe0)
			post(&in);
		else
			move(&in);
	}
	check();
	close_all();
	datagram_host_stop();
	return 0;
}
