/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * UD queue pairs in multicast groups: two processes of one host, two more hosts, and bad networks
 * between hosts. Members come and go. Each member gets each message to its group once, or as often
 * as the network has copied it. No other QP gets the message. A member gets its own messages,
 * unless it has declined them. A stranger's valid packets reach their destination, and get no
 * answer.
 */
#include "iwarp/iw_mcast.h"
#include "sim/scene.h"
#include "sim/stack_ud.h"
#include "util/bytes.h"
#include "wire/datagram.h"
#include "wire/sidr.h"

#define PROCESSES STACK_NODES
#define QPS 2 /* of a process */
#define MEMBERS (PROCESSES * QPS)
#define GROUPS 2
#define MESSAGES 300
#define QKEY 0x3000u
#define PACKET_MAX (WIRE_SCTP_COMMON_LEN + WIRE_UD_LEN + STACK_UD_ROOM)
#define STRANGER_PORT 4711

struct member {
	struct stack_ud ud;
	bool in[GROUPS];
};

struct message {
	struct stack_ud_message what;
	const struct member *from; /* NULL: a stranger */
	uint32_t src_qp;
	struct ip_addr source;
	unsigned int group;
	bool wrong;
	bool due[MEMBERS]; /* no network is in between, so it must arrive */
	unsigned int arrived[MEMBERS];
};

struct meeting {
	struct simnet_link link[PROCESSES][PROCESSES];
	struct member member[MEMBERS];
	bool joined[PROCESSES][GROUPS]; /* by an id of rdma_cm */
	struct ip_addr group[GROUPS];
	struct message message[MESSAGES];
	unsigned int n;
	int stranger; /* in the network */
	struct ip_addr stranger_addr;
	unsigned int answers; /* to the stranger */
	unsigned int far;     /* copies that arrived from other hosts */
};

/* ---- the stranger ---- */

static void stranger_hears(void *ctx, const struct path_addr *path, const uint8_t *packet,
			   size_t len, uint64_t now)
{
	((struct meeting *)ctx)->answers++;
}

static void stranger_is_told(void *ctx, const struct path_addr *to, int error,
			     const uint8_t *quoted, size_t len, uint64_t now)
{
	((struct meeting *)ctx)->answers++;
}

static const struct simnet_ops stranger_ops = { .deliver = stranger_hears,
						.unreachable = stranger_is_told };

static void throw(struct stack_world * w, const struct meeting *t, unsigned int group,
		  uint8_t *packet, size_t len)
{
	struct path_addr to = { .remote = t->group[group], .udp_port = MULTICAST_PORT };

	if (len >= WIRE_SCTP_COMMON_LEN)
		wire_sctp_checksum_put(packet, len);
	simnet_send_fragments(w->net, t->stranger, &to, packet, len, w->now);
}

/* Forges a member's message, with the number of one of the existing QPs. */
static void forge(struct stack_world *w, struct meeting *t, struct message *m)
{
	uint8_t packet[PACKET_MAX] = { 0 }, *chunk = packet + WIRE_SCTP_COMMON_LEN;
	struct wire_ud u = { .dst_qp = IW_MCAST_QPN,
			     .src_qp = t->member[below(w, MEMBERS)].ud.qp->num,
			     .qkey = QKEY ^ (m->wrong ? 1 : 0),
			     .len = m->what.len };

	m->src_qp = u.src_qp;
	m->source = t->stranger_addr;
	wire_sctp_common_put(packet, &(struct wire_sctp_common){ .sport = qp_num_port(u.src_qp),
								 .dport = MULTICAST_PORT });
	wire_ud_put(chunk, &u);
	stack_ud_fill(chunk + WIRE_UD_LEN, &m->what);
	throw(w, t, m->group, packet,
	      WIRE_SCTP_COMMON_LEN + wire_sctp_pad(chunk, WIRE_UD_LEN + m->what.len));
}

/*
 * Sends an invalid packet: an INIT, a request of rdma_cm, another port's number, or random bytes.
 */
static void nonsense(struct stack_world *w, const struct meeting *t)
{
	uint8_t packet[PACKET_MAX] = { 0 }, *chunk = packet + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_common h = { .sport = 9, .dport = MULTICAST_PORT };
	struct wire_ud u = { .dst_qp = IW_MCAST_QPN, .src_qp = 9 << 8, .qkey = QKEY, .len = 8 };
	struct wire_sidr s = { .request_id = 1 };
	size_t len = WIRE_SCTP_COMMON_LEN;

	switch (below(w, 4)) {
	case 0:
		put_be32(chunk, 1u << 24 | 20);
		put_be32(chunk + 4, 77);
		put_be32(chunk + 8, 65536);
		put_be32(chunk + 12, 10u << 16 | 10);
		len += 20;
		break;
	case 1:
		len += wire_sidr_put(chunk, WIRE_DATAGRAM_SIDR_REQUEST, &s);
		break;
	case 2:
		h.dport -= below(w, 2);
		u.dst_qp -= h.dport == MULTICAST_PORT ? 0x100 : 0;
		wire_ud_put(chunk, &u);
		len += WIRE_UD_LEN + u.len;
		break;
	default:
		len = 1 + below(w, 60);
		random_bytes(&w->random.source, packet, len);
		throw(w, t, below(w, GROUPS), packet, len);
		return;
	}
	wire_sctp_common_put(packet, &h);
	throw(w, t, below(w, GROUPS), packet, len);
}

/* ---- members ---- */

/* Attaches and detaches a QP, like ibv_attach_mcast() and ibv_detach_mcast(). */
static void come_or_go(struct stack_world *w, struct meeting *t, unsigned int i, unsigned int group)
{
	struct member *me = &t->member[i];
	struct conn *c = &me->ud.node->conn;
	const unsigned int ifindex = STACK_IFINDEX;
	bool edge;

	me->in[group] = !me->in[group];
	if (me->in[group]) {
		check(!iw_mcast_attach(me->ud.qp, &t->group[group], &edge));
		check(!edge || !multicast_attach(c, &t->group[group], &ifindex, 1));
		return;
	}
	check(!iw_mcast_detach(me->ud.qp, &t->group[group], &edge));
	if (edge)
		multicast_detach(c, &t->group[group]);
	for (unsigned int k = 0; k < t->n; k++)
		if (t->message[k].group == group && !t->message[k].arrived[i])
			t->message[k].due[i] = false;
}

/* An id of rdma_cm that joins a group does not attach a QP. */
static void join_or_leave(struct stack_world *w, struct meeting *t)
{
	unsigned int n = below(w, PROCESSES), group = below(w, GROUPS);
	struct conn *c = &w->nodes[n]->conn;

	t->joined[n][group] = !t->joined[n][group];
	if (t->joined[n][group])
		check(!multicast_join(c, &t->group[group], STACK_IFINDEX));
	else
		multicast_leave(c, &t->group[group], STACK_IFINDEX);
}

static bool same_host(const struct message *m, const struct member *to)
{
	return m->from && ip_addr_equal(&m->from->ud.node->addr, &to->ud.node->addr);
}

static bool blocked(const struct message *m, const struct member *to)
{
	return m->from == to && to->ud.qp->blocks_own;
}

/* ---- messages ---- */

static void send_one(struct stack_world *w, struct meeting *t)
{
	struct message *m = &t->message[t->n];
	struct member *from = &t->member[below(w, MEMBERS)];
	struct iw_ud_dest dest = { .local = from->ud.node->addr,
				   .qp_num = IW_MCAST_QPN,
				   .qkey = QKEY,
				   .hop_limit = (uint8_t)(1 + below(w, 64)) };

	memset(m, 0, sizeof(*m));
	m->group = below(w, GROUPS);
	m->what = (struct stack_ud_message){ .number = t->n++,
					     .len = STACK_UD_HEAD + below(w, 2000) };
	m->wrong = chance(w, 0.1);
	if (chance(w, 0.85)) {
		m->from = from;
		m->src_qp = from->ud.qp->num;
		m->source = from->ud.node->addr;
	}
	for (unsigned int i = 0; i < MEMBERS; i++) {
		struct member *to = &t->member[i];

		m->due[i] = !m->wrong && to->in[m->group] && !blocked(m, to) &&
			    (!m->from || same_host(m, to));
	}
	if (!m->from) {
		forge(w, t, m);
		return;
	}
	dest.remote = t->group[m->group];
	dest.qkey ^= m->wrong;
	stack_ud_send(&from->ud, &dest, &m->what);
}

static void take_one(struct meeting *t, unsigned int i, const struct iw_cqe *cqe, const uint8_t *at)
{
	struct member *to = &t->member[i];
	uint32_t number = get_be32(at + STACK_UD_GRH);
	struct message *m;
	bool far;

	check(number < t->n);
	m = &t->message[number];
	far = m->from && !same_host(m, to);
	check(!m->wrong && to->in[m->group] && !blocked(m, to));
	stack_ud_check(cqe, at, &m->what);
	check(cqe->src_qp == m->src_qp);
	check(!memcmp(at + 32, m->source.b + 12, 4));
	check(!memcmp(at + 36, t->group[m->group].b + 12, 4));
	/* A network between hosts may have made a copy. */
	check(++m->arrived[i] <= (far ? 2 : 1));
	t->far += far;
	stack_ud_again(&to->ud, cqe);
}

/* A process is in a group if one of its QPs or ids is. */
static void check_joined(const struct stack_world *w, const struct meeting *t)
{
	for (unsigned int n = 0; n < PROCESSES; n++) {
		for (unsigned int g = 0; g < GROUPS; g++) {
			bool in = t->joined[n][g];

			for (unsigned int k = 0; k < QPS; k++)
				in |= t->member[n * QPS + k].in[g];
			check(simnet_has_joined(w->net, w->nodes[n]->id, &t->group[g]) == in);
		}
	}
}

static void take_all(struct meeting *t)
{
	const uint8_t *at;
	struct iw_cqe cqe;

	for (unsigned int i = 0; i < MEMBERS; i++) {
		while (stack_ud_poll(&t->member[i].ud, &cqe, &at))
			take_one(t, i, &cqe, at);
		stack_ud_check_edges(&t->member[i].ud);
	}
}

/* ---- the scene ---- */

/* Processes 0 and 3 share a host. */
static void hosts(struct stack_world *w, struct meeting *t, bool bad)
{
	for (int i = 0; i < PROCESSES - 1; i++)
		stack_node_new(w);
	stack_node_beside(w->nodes[0]);
	for (int i = 0; i < PROCESSES; i++) {
		w->nodes[i]->net.full = 0;
		for (int k = 0; k < PROCESSES; k++) {
			struct simnet_link *l = &t->link[i][k];

			if (ip_addr_equal(&w->nodes[i]->addr, &w->nodes[k]->addr))
				continue;
			l->delay = some_ms(w, 0, 10);
			if (bad)
				scene_some_link(w, l);
			simnet_route(w->net, w->nodes[i]->id, w->nodes[k]->id, l);
		}
	}
	t->stranger_addr = simnet_v4(99);
	t->stranger = simnet_add(w->net, &t->stranger_addr, STRANGER_PORT, &stranger_ops, t);
	scene_start(w);
	for (unsigned int i = 0; i < MEMBERS; i++) {
		stack_ud_open(&t->member[i].ud, w->nodes[i / QPS], QKEY);
		t->member[i].ud.qp->blocks_own = chance(w, 0.5);
	}
	for (unsigned int i = 0; i < GROUPS; i++) {
		static const uint8_t first[4] = { 239, 1, 2, 0 };

		t->group[i] = ip_addr_from_v4(first);
		t->group[i].b[15] = (uint8_t)i;
	}
}

static void check_arrivals(const struct stack_world *w, const struct meeting *t)
{
	for (unsigned int k = 0; k < t->n; k++)
		for (unsigned int i = 0; i < MEMBERS; i++)
			check(!t->message[k].due[i] || t->message[k].arrived[i]);
	check(!t->answers);
	for (unsigned int i = 0; i < w->n_nodes; i++)
		check(!stack_assocs(w->nodes[i], NULL));
}

static void leave_all(struct stack_world *w, struct meeting *t)
{
	for (unsigned int g = 0; g < GROUPS; g++) {
		for (unsigned int i = 0; i < MEMBERS; i++)
			if (t->member[i].in[g])
				come_or_go(w, t, i, g);
		for (unsigned int n = 0; n < PROCESSES; n++)
			if (t->joined[n][g])
				multicast_leave(&w->nodes[n]->conn, &t->group[g], STACK_IFINDEX);
	}
	for (unsigned int n = 0; n < PROCESSES; n++)
		check(list_empty(&w->nodes[n]->conn.multicast.groups));
}

static void meet(struct stack_world *w, bool bad)
{
	struct meeting *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	hosts(w, t, bad);
	while (t->n < MESSAGES) {
		if (chance(w, 0.2))
			come_or_go(w, t, below(w, MEMBERS), below(w, GROUPS));
		if (chance(w, 0.05))
			join_or_leave(w, t);
		check_joined(w, t);
		if (chance(w, 0.1))
			nonsense(w, t);
		send_one(w, t);
		stack_run_for(w, some_ms(w, 0, 4));
		take_all(t);
	}
	stack_run_for(w, SEC);
	take_all(t);
	check_arrivals(w, t);
	leave_all(w, t);
	w->seen += t->far > MESSAGES / 10;
	for (unsigned int i = 0; i < MEMBERS; i++)
		stack_ud_close(&t->member[i].ud);
	for (unsigned int i = 0; i < PROCESSES; i++)
		stack_node_kill(w->nodes[i]);
	free(t);
}

static void multicast(struct stack_world *w)
{
	meet(w, chance(w, 0.8));
}

const struct scene scenes_multicast[] = {
	{ "multicast", multicast, 30, false, 0, true },
	{ 0 },
};
