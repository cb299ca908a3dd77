/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The host of conn/ and of the RNIC of a simulated node: memory, routes, event channels. */
#include "fixture/fake_ports.h"
#include "sim/stack.h"
#include "util/crc32c.h"
#include "util/sockaddr.h"

/* ---- replaced functions of sctp/ and iwarp/ ---- */

struct sctp *__real_sctp_new(const struct sctp_config *config, const struct sctp_user_ops *ops,
			     struct random_source *random);
struct sctp *__wrap_sctp_new(const struct sctp_config *config, const struct sctp_user_ops *ops,
			     struct random_source *random);
size_t __real_iw_assoc_pull(struct iw_assoc *assoc, uint8_t *buf, size_t room, struct iw_msg *msg);
size_t __wrap_iw_assoc_pull(struct iw_assoc *assoc, uint8_t *buf, size_t room, struct iw_msg *msg);

/*
 * A node has its own settings of SCTP. The random source, which conn/ passes on, identifies the
 * node.
 */
struct sctp *__wrap_sctp_new(const struct sctp_config *config, const struct sctp_user_ops *ops,
			     struct random_source *random)
{
	struct stack_node *n = list_entry(random, struct stack_node, random.source);

	check(config->silent_limit == n->config.silent_limit);
	n->sctp_config.silent_limit = config->silent_limit;
	n->sctp_config.spread = config->spread;
	/* Other nodes act as another stack. */
	if (n->receipts)
		n->sctp_config.receipts = config->receipts;
	n->sctp = __real_sctp_new(&n->sctp_config, ops, random);
	return n->sctp;
}

/* Some nodes reference nothing. Also informs stack_late.c about each message. */
size_t __wrap_iw_assoc_pull(struct iw_assoc *assoc, uint8_t *buf, size_t room, struct iw_msg *msg)
{
	size_t len;

	/* Associations of a process with itself never reference memory. */
	if (msg->may_reference) {
		struct conn_assoc *a = iw_assoc_llp(assoc);

		msg->may_reference = stack_node_of(a->ep->conn)->zcopy;
	}
	len = __real_iw_assoc_pull(assoc, buf, room, msg);
	if (len && stack_current)
		stack_late_note(assoc, msg->sid);
	return len;
}

/* ---- memory ---- */

static int copy(void *dst, const void *src, size_t len)
{
	memcpy(dst, src, len);
	stack_mutate(src);
	return 0;
}

static int atomic(uint64_t *at, uint64_t (*next)(uint64_t old, const void *arg), const void *arg,
		  uint64_t *old)
{
	*old = *at;
	*at = next(*old, arg);
	return 0;
}

/* Pages may be gone at any time. Copying them would fail, too, but not in this host. */
static int probe(const void *src, size_t len)
{
	return sim_random_chance(&stack_current->random, 0.05) ? -EFAULT : 0;
}

const struct iw_rnic_ops stack_rnic_ops = {
	.copy = copy, .place = copy, .probe = probe, .atomic = atomic
};

static bool checksum(uint32_t *crc, const uint8_t *from, size_t len)
{
	*crc = crc32c_add(*crc, from, len);
	stack_mutate(from);
	return true;
}

static void copy_out(uint8_t *msg, uint8_t *to, const uint8_t *from, size_t len)
{
	copy(to, from, len);
}

/* ---- the host ---- */

static int start_progress(struct conn *c)
{
	return 0;
}

static bool is_own_address(struct conn *c, const struct ip_addr *ip)
{
	const struct stack_node *n = stack_node_of(c);

	return ip_addr_equal(ip, &n->addr) ||
	       (n->second >= 0 && ip_addr_equal(ip, &n->second_addr));
}

static unsigned int addresses(struct conn *c, const struct path_addr *to, struct ip_addr *addr,
			      unsigned int max)
{
	const struct stack_node *n = stack_node_of(c);

	if (n->second < 0 || is_own_address(c, &to->remote))
		return 0;
	*addr = ip_addr_equal(&to->local, &n->second_addr) ? n->addr : n->second_addr;
	return 1;
}

static bool source(struct conn *c, const struct ip_addr *remote, struct ip_addr *local)
{
	const struct stack_node *n = stack_node_of(c);
	bool second = n->twin && ip_addr_equal(remote, &n->twin->second_addr);

	*local = second ? n->second_addr : n->addr;
	return true;
}

static int route(struct conn *c, const struct sockaddr *src, const struct sockaddr *dst,
		 struct sockaddr_storage *source)
{
	struct ip_addr ip = stack_node_of(c)->addr;

	if (src && src->sa_family && !sockaddr_is_any(src)) {
		ip = sockaddr_ip(src);
		if (!is_own_address(c, &ip))
			return -EADDRNOTAVAIL;
	}
	sockaddr_make(source, dst->sa_family, &ip, 0);
	return 0;
}

static uint32_t route_mtu(struct conn *c, const struct path_addr *to)
{
	return stack_node_of(c)->mtu;
}

/* ---- event channels ---- */

struct queued {
	struct list_node node; /* rnic_channel.events */
	struct event_source *src;
	struct rnic_cm_event event;
};

static int post(struct event_source *src, const void *event, size_t len)
{
	struct queued *q = calloc(1, sizeof(*q));

	assert_non_null(q);
	check(len == sizeof(q->event) && src->chan && src->chan->refs);
	memcpy(&q->event, event, len);
	q->src = src;
	src->unread++;
	src->chan->n++;
	list_add_tail(&src->chan->events, &q->node);
	return 0;
}

static uint32_t purge(struct event_source *src)
{
	list_for_each_safe(node, &src->chan->events) {
		struct queued *q = list_entry(node, struct queued, node);

		if (q->src != src)
			continue;
		list_del(node);
		src->unread--;
		src->chan->n--;
		free(q);
	}
	check(!src->unread);
	return src->reported;
}

static void ref(struct rnic_channel *chan)
{
	chan->refs++;
}

static void put(struct rnic_channel *chan)
{
	check(chan->refs > 0);
	chan->refs--;
}

bool stack_channel_read(struct stack_node *n, struct rnic_channel *chan, struct rnic_cm_event *ev)
{
	struct list_node *node = list_pop(&chan->events);
	struct queued *q;

	if (!node)
		return false;
	q = list_entry(node, struct queued, node);
	*ev = q->event;
	q->src->unread--;
	q->src->reported++;
	chan->n--;
	free(q);
	if (ev->event == CM_EVENT_CONNECT_REQUEST) {
		struct cm_id *child = cm_id_get(&n->conn, ev->id);

		check(child);
		cm_leave_backlog(child);
	}
	return true;
}

const struct conn_ops stack_conn_ops = {
	.start_progress = start_progress,
	.route = route,
	.route_mtu = route_mtu,
	.is_own_address = is_own_address,
	.addresses = addresses,
	.source = source,
	FAKE_PORTS,
	.events = { .post = post, .purge = purge, .ref = ref, .put = put },
	.checksum = checksum,
	.copy_out = copy_out,
};
