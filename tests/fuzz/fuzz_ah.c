/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: verbs */
/* WRAP: port_gid port_first_gid */
/*
 * Address handles that stock libibverbs makes from a completion (ibv_init_ah_from_wc(),
 * ibv_create_ah_from_wc()). The input has any 40 bytes instead of the Global Route Header and any
 * completion, or a stranger's datagram, whose header a UD queue pair writes. Each handle must lead
 * from a local address to the one address that its attributes name. The handle of a datagram must
 * lead back to its source.
 *
 * The GIDs are those of this program, which answers libibverbs's ioctl(), and replaces net/port.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fixture/input.h"
#include "iwarp/iw_ud.h"
#include "iwarp/iwarp.h"
#include "net/port.h"
#include "runtime/rnic.h"
#include "util/sockaddr.h"
#include "verbs/ah.h"
#include "verbs/context.h"
#include "verbs/pabi.h"
#include "wire/datagram.h"

#define GIDS 4
#define GRH 40u
#define QKEY 0x11223344u

static const struct ip_addr gids[GIDS] = {
	{ .b = { [10] = 0xff, 0xff, 192, 0, 2, 1 } },
	{ .b = { 0xfe, 0x80, [15] = 1 } },
	{ .b = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 } },
	{ .b = { [10] = 0xff, 0xff, 127, 0, 0, 1 } },
};
#define IFINDEX(index) ((index) + 5)

static struct rnic rnic;
static struct sctpiw_context *ctx;
static struct ibv_pd pd;

/* ---- the GIDs ---- */

static int find_gid(unsigned int index, struct port_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (index >= GIDS)
		return index < 128 ? -ENODATA : -EINVAL;
	memcpy(gid->raw, gids[index].b, sizeof(gid->raw));
	sockaddr_make_natural(&gid->addr, &gids[index], 0);
	gid->ifindex = IFINDEX(index);
	return 0;
}

int __wrap_port_gid(unsigned int index, struct port_gid *gid);
int __wrap_port_gid(unsigned int index, struct port_gid *gid)
{
	return find_gid(index, gid);
}

int __wrap_port_first_gid(struct port_gid *gid);
int __wrap_port_first_gid(struct port_gid *gid)
{
	return find_gid(0, gid);
}

static int query_gid(const struct ib_uverbs_ioctl_hdr *hdr)
{
	struct ib_uverbs_gid_entry entry = { .port_num = 1,
					     .gid_type = IB_UVERBS_GID_TYPE_ROCE_V2 };
	void *to = NULL;
	struct port_gid gid;

	for (unsigned int i = 0; i < hdr->num_attrs; i++) {
		if (hdr->attrs[i].attr_id == UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX)
			entry.gid_index = (uint32_t)hdr->attrs[i].data;
		if (hdr->attrs[i].attr_id == UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY)
			to = (void *)(uintptr_t)hdr->attrs[i].data;
	}
	errno = -find_gid(entry.gid_index, &gid);
	if (errno)
		return -1;
	memcpy(entry.gid, gid.raw, sizeof(gid.raw));
	entry.netdev_ifindex = gid.ifindex;
	must(to);
	memcpy(to, &entry, sizeof(entry));
	return 0;
}

/* Replaces libc's ioctl(), for libibverbs. */
__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...)
{
	const struct ib_uverbs_ioctl_hdr *hdr;
	va_list args;

	va_start(args, request);
	hdr = va_arg(args, void *);
	va_end(args);
	if (request == RDMA_VERBS_IOCTL && hdr->object_id == UVERBS_OBJECT_DEVICE &&
	    hdr->method_id == UVERBS_METHOD_QUERY_GID_ENTRY)
		return query_gid(hdr);
	errno = ENOTTY;
	return -1;
}

/* ---- the device ---- */

static struct ibv_ah *create(struct ibv_pd *p, struct ibv_ah_attr *attr)
{
	return sctpiw_create_ah(p, attr);
}

static void open_device(void)
{
	static const struct verbs_context_ops ops = { .create_ah = create,
						      .destroy_ah = sctpiw_destroy_ah };
	static struct verbs_device device;

	must(pabi_init());
	ctx = pabi_alloc_context(&device.device, open("/dev/null", O_RDWR | O_CLOEXEC),
				 sizeof(*ctx));
	must(ctx);
	pabi_set_ops(&ctx->vctx, &ops); /* returns false, as other ops are missing */
	ctx->shard = &rnic.shard;
	rnic.shard.rnic = &rnic;
	pd.context = &pabi_full_context(&ctx->vctx)->context;
}

/* ---- checks ---- */

static struct ip_addr own_address(unsigned int index)
{
	struct port_gid gid;

	must(!find_gid(index, &gid));
	return sockaddr_ip((const struct sockaddr *)&gid.addr);
}

/* Changes a group of interface scope to link scope. */
static void widen(struct ip_addr *to)
{
	if (to->b[0] == 0xff && (to->b[1] & 0xf) == 1)
		to->b[1]++;
}

/* Returns the address that the attributes name, as expected in the handle. */
static struct ip_addr named(const struct ibv_ah_attr *attr, const struct ip_addr *local,
			    unsigned int index)
{
	struct ip_addr to = *local;

	to.scope_id = 0;
	if (attr->is_global) {
		memcpy(to.b, attr->grh.dgid.raw, sizeof(to.b));
		widen(&to);
	} else {
		must(rnic.config.personality == CONFIG_IB && attr->dlid);
		to.b[14] = (uint8_t)(attr->dlid >> 8);
		to.b[15] = (uint8_t)attr->dlid;
	}
	if (ip_addr_is_loopback(&to))
		to = *local;
	if (ip_addr_is_link_local(&to) || ip_addr_is_scoped_group(&to))
		to.scope_id = IFINDEX(index);
	return to;
}

static void check(const struct sctpiw_ah *ah, const struct ibv_ah_attr *attr)
{
	unsigned int index = attr->is_global ? attr->grh.sgid_index : 0;
	struct ip_addr local = own_address(index), to = named(attr, &local, index);

	must(attr->port_num == 1);
	must(!memcmp(ah->dest.local.b, local.b, sizeof(local.b)));
	must(ip_addr_equal(&ah->dest.remote, &to));
	must(!ip_addr_is_zero(&to) && ip_addr_is_v4(&to) == ip_addr_is_v4(&local));
	must(!(ah->dest.class_flow >> 28) && ah->dest.hop_limit);
}

/*
 * Makes a handle by both calls, from the same completion and header. Returns the handle, which the
 * caller destroys, or NULL. The header is in a heap block of the same length, so that a sanitizer
 * detects reads beyond its end.
 */
static struct ibv_ah *make(struct ibv_wc *wc, const uint8_t *bytes, uint8_t port)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;
	uint8_t *grh = malloc(GRH);
	int ret;

	must(grh);
	memcpy(grh, bytes, GRH);
	ret = ibv_init_ah_from_wc(pd.context, port, wc, (struct ibv_grh *)(void *)grh, &attr);
	errno = 0;
	ah = ibv_create_ah_from_wc(&pd, wc, (struct ibv_grh *)(void *)grh, port);
	must(ah ? !ret : errno);
	if (ah)
		check(to_ah(ah), &attr);
	must(!memcmp(grh, bytes, GRH));
	free(grh);
	return ah;
}

/* ---- a received datagram ---- */

static struct iw_shard *iw;
static struct iw_cq *cq;
static struct iw_qp *qp;
static struct iw_pd *iw_pd;

static int copy(void *dst, const void *src, size_t len)
{
	memcpy(dst, src, len);
	return 0;
}

static void fill(struct random_source *r, void *buf, size_t len)
{
	memset(buf, 7, len);
}

static void open_qp(void)
{
	static const struct iw_rnic_ops ops = { .copy = copy, .place = copy };
	static const struct iw_config config = { 0 };
	static struct random_source random = { .fill = fill, .used = sizeof(random.pool) };
	struct iw_qp_attr attr = { .type = IW_QPT_UD,
				   .max_send_wr = 1,
				   .max_recv_wr = 1,
				   .max_send_sge = 1,
				   .max_recv_sge = 1 };

	iw = iw_shard_new(iw_rnic_new(&config, &ops, &random), &random);
	must(iw);
	iw_pd = iw_pd_new(iw_shard_rnic(iw), NULL);
	cq = iw_cq_new(iw, 4, NULL);
	must(iw_pd && cq);
	attr.pd = iw_pd;
	attr.send_cq = attr.recv_cq = cq;
	must(!iw_qp_new(iw, &attr, &qp));
	iw_ud_set_qkey(qp, QKEY);
	must(!iw_qp_modify(qp, IW_QPS_INIT) && !iw_qp_modify(qp, IW_QPS_RTR));
}

/* The queue pair receives a datagram without payload, from and to these addresses, at grh. */
static void receive(const struct path_addr *way, uint32_t class_flow, uint8_t hop_limit,
		    uint8_t *grh)
{
	const struct wire_ud u = { .dst_qp = qp->num,
				   .src_qp = 5,
				   .qkey = QKEY,
				   .class_flow = class_flow,
				   .hop_limit = hop_limit };
	struct iw_recv_wqe *wqe = iw_rq_slot(qp);
	struct iw_cqe cqe;
	struct iw_mr *mr;

	must(wqe && !iw_mr_new(iw_pd, (uintptr_t)grh, GRH, (uintptr_t)grh, IW_ACCESS_LOCAL_WRITE,
			       NULL, &mr));
	wqe->wr_id = 0;
	wqe->num_sge = 1;
	wqe->length = GRH;
	wqe->sge[0] = (struct iw_sge){ (uintptr_t)grh, GRH, iw_mr_stag(mr) };
	iw_rq_publish(qp);
	iw_ud_receive(iw, &u, &way->local, &way->remote);
	must(iw_cq_poll(cq, 1, &cqe) == 1 && !cqe.status && cqe.flags & IW_WC_GRH);
	iw_mr_free(mr);
}

/* True if libibverbs considers an IPv6 header an IPv4 header, because of its addresses. */
static bool looks_like_v4(const uint8_t *grh)
{
	uint32_t sum = 0;

	for (unsigned int i = 20; i < GRH; i += 2)
		sum += get_be16(grh + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (grh[20] & 0xf) == 5 && sum == 0xffff;
}

static void answer(struct input *in, struct ibv_wc *wc, uint8_t *grh)
{
	uint8_t how = in_u8(in), hop_limit = in_u8(in);
	unsigned int index = (how >> 1) % GIDS;
	struct path_addr way = { .local = gids[index] };
	uint32_t class_flow = in_u32(in) & 0x0fffffff;
	struct sctpiw_ah *ah;
	const uint8_t *bytes;
	size_t len;

	way.remote = way.local;
	bytes = in_bytes(in, ip_addr_is_v4(&way.local) ? 4 : 16, &len);
	memcpy(way.remote.b + (ip_addr_is_v4(&way.local) ? 12 : 0), bytes, len);
	if (ip_addr_is_v4(&way.remote) != ip_addr_is_v4(&way.local))
		return; /* not possible in IP */
	receive(&way, class_flow, hop_limit, grh);
	wc->wc_flags = IBV_WC_GRH;
	ah = (struct sctpiw_ah *)(void *)make(wc, grh, 1);
	if (ip_addr_is_zero(&way.remote)) {
		must(!ah);
		return;
	}
	if (!ip_addr_is_v4(&way.local) && looks_like_v4(grh)) {
		if (ah)
			ibv_destroy_ah(&ah->ibv);
		return;
	}
	must(ah && !memcmp(ah->dest.local.b, way.local.b, sizeof(way.local.b)));
	widen(&way.remote);
	must(ip_addr_is_loopback(&way.remote) ||
	     !memcmp(ah->dest.remote.b, way.remote.b, sizeof(way.remote.b)));
	must(ah->dest.class_flow >> 20 == class_flow >> 20);
	must(!hop_limit || ah->dest.hop_limit == hop_limit);
	ibv_destroy_ah(&ah->ibv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_of(data, size);
	uint8_t how = in_u8(&in), grh[GRH] = { 0 };
	struct ibv_wc wc = { .wc_flags = in_u8(&in), .slid = in_u16(&in), .sl = in_u8(&in) };
	const uint8_t *bytes;
	struct ibv_ah *ah;
	size_t len;

	if (!ctx) {
		open_device();
		open_qp();
	}
	rnic.config.personality = how & 1 ? CONFIG_IB : CONFIG_ROCE;
	bytes = in_bytes(&in, GRH, &len); /* or earlier contents of the receive's memory */
	memcpy(grh, bytes, len);
	if (how & 2) {
		answer(&in, &wc, grh);
		return 0;
	}
	ah = make(&wc, grh, how & 4 ? in_u8(&in) : 1);
	if (ah)
		ibv_destroy_ah(ah);
	return 0;
}
