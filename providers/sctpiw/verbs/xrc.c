/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "verbs/xrc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iwarp/iw_qp.h"
#include "iwarp/iw_xrc.h"
#include "runtime/rnic.h"
#include "verbs/context.h"
#include "verbs/qp.h"

/* The domains that belong to an inode. Guarded by the shard lock. */
static struct list_node domains = { &domains, &domains };

/* ---- domains ---- */

void sctpiw_xrc_domain_hold(struct sctpiw_xrc_domain *domain)
{
	domain->refs++;
}

void sctpiw_xrc_domain_drop(struct sctpiw_xrc_domain *domain)
{
	if (--domain->refs)
		return;
	list_del(&domain->node);
	iw_xrcd_free(domain->iw);
	if (domain->fd >= 0)
		close(domain->fd);
	free(domain);
}

void sctpiw_xrcd_hold(struct sctpiw_xrcd *xrcd)
{
	xrcd->users++;
	sctpiw_xrc_domain_hold(xrcd->domain);
}

void sctpiw_xrcd_drop(struct sctpiw_xrcd *xrcd)
{
	xrcd->users--;
	sctpiw_xrc_domain_drop(xrcd->domain);
}

static struct sctpiw_xrc_domain *find_domain(const struct stat *st)
{
	list_for_each(node, &domains) {
		struct sctpiw_xrc_domain *d = list_entry(node, struct sctpiw_xrc_domain, node);

		if (d->dev == st->st_dev && d->ino == st->st_ino)
			return d;
	}
	return NULL;
}

/*
 * Makes a domain. fd: a descriptor of the inode st, which the domain takes over, or -1 for a domain
 * without an inode. Returns NULL if out of memory.
 */
static struct sctpiw_xrc_domain *new_domain(struct shard *shard, int fd, const struct stat *st)
{
	struct sctpiw_xrc_domain *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->iw = iw_xrcd_new(shard->conn.iw);
	if (!d->iw) {
		free(d);
		return NULL;
	}
	d->fd = fd;
	list_init(&d->node);
	if (fd >= 0) {
		d->dev = st->st_dev;
		d->ino = st->st_ino;
		list_add_tail(&domains, &d->node);
	}
	return d;
}

/*
 * Gets a reference to the domain of this inode. Makes the domain if necessary. Takes over fd, or
 * closes it. Returns 0 or an errno.
 */
static int get_domain(struct shard *shard, int fd, const struct stat *st, int oflags,
		      struct sctpiw_xrc_domain **out)
{
	struct sctpiw_xrc_domain *d = fd < 0 ? NULL : find_domain(st);
	int err = 0;

	if (d && oflags & O_EXCL)
		err = EINVAL;
	else if (!d && fd >= 0 && !(oflags & O_CREAT))
		err = EAGAIN;
	if (!d && !err) {
		d = new_domain(shard, fd, st);
		if (d)
			fd = -1;
		else
			err = ENOMEM;
	}
	if (fd >= 0)
		close(fd);
	if (err)
		return err;
	sctpiw_xrc_domain_hold(d);
	*out = d;
	return 0;
}

/* ---- handles ---- */

static int open_xrcd(struct sctpiw_context *ctx, const struct ibv_xrcd_init_attr *attr,
		     struct sctpiw_xrcd **out)
{
	const uint32_t both = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	struct sctpiw_xrcd *xrcd;
	struct stat st;
	int fd = -1;
	int err;

	if (!sctpiw_alive(ctx))
		return sctpiw_inherited();
	if (attr->comp_mask != both)
		return EINVAL;
	if (attr->fd != -1) {
		fd = fcntl(attr->fd, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			return errno;
		if (fstat(fd, &st)) {
			err = errno;
			close(fd);
			return err;
		}
	}
	xrcd = calloc(1, sizeof(*xrcd));
	if (!xrcd) {
		if (fd >= 0)
			close(fd);
		return ENOMEM;
	}
	xrcd->ibv.context = &ctx->vctx.context;
	xrcd->shard = ctx->shard;
	xrcd->generation = ctx->generation;
	rnic_lock(ctx->shard->rnic);
	err = get_domain(ctx->shard, fd, &st, attr->oflags, &xrcd->domain);
	if (!err)
		list_add_tail(&ctx->xrcds, &xrcd->node);
	rnic_unlock(ctx->shard->rnic);
	if (err)
		free(xrcd);
	else
		*out = xrcd;
	return err;
}

struct ibv_xrcd *sctpiw_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	struct sctpiw_xrcd *xrcd = NULL;
	int err = open_xrcd(to_ctx(context), attr, &xrcd);

	if (!err)
		return &xrcd->ibv;
	errno = err;
	return NULL;
}

void sctpiw_xrcd_release(struct sctpiw_xrcd *xrcd)
{
	list_del(&xrcd->node);
	sctpiw_xrc_domain_drop(xrcd->domain);
	free(xrcd);
}

int sctpiw_close_xrcd(struct ibv_xrcd *ibxrcd)
{
	struct sctpiw_xrcd *xrcd = to_xrcd(ibxrcd);
	struct shard *shard = xrcd->shard;
	int err = 0;

	if (xrcd->generation != sctpiw_generation) {
		free(xrcd);
		return 0;
	}
	rnic_lock(shard->rnic);
	if (xrcd->users)
		err = EBUSY;
	else
		sctpiw_xrcd_release(xrcd);
	rnic_unlock(shard->rnic);
	return err;
}

/* ---- further handles of a QP ---- */

/* Returns the XRC_RECV QP with this number in the domain, or NULL. Needs all shards' locks. */
static struct sctpiw_qp *find_qp(const struct sctpiw_xrcd *xrcd, uint32_t num)
{
	struct iw_qp *iw = rnic_qp(xrcd->shard->rnic, num);
	struct sctpiw_qp *qp = iw ? list_entry(iw->ctx, struct sctpiw_qp, obj) : NULL;

	return qp && qp->domain == xrcd->domain ? qp : NULL;
}

struct ibv_qp *sctpiw_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	const uint32_t needed = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
				IBV_QP_OPEN_ATTR_TYPE;
	struct sctpiw_context *ctx = to_ctx(context);
	struct sctpiw_qp *qp, *real;
	int err = EINVAL;

	if (!sctpiw_alive(ctx)) {
		errno = sctpiw_inherited();
		return NULL;
	}
	if ((attr->comp_mask & ~(uint32_t)IBV_QP_OPEN_ATTR_CONTEXT) != needed || !attr->xrcd ||
	    attr->xrcd->context != context || attr->qp_type != IBV_QPT_XRC_RECV) {
		errno = EINVAL;
		return NULL;
	}
	qp = sctpiw_qp_alloc(ctx, false);
	if (!qp) {
		errno = ENOMEM;
		return NULL;
	}
	rnic_lock(ctx->shard->rnic);
	real = find_qp(to_xrcd(attr->xrcd), attr->qp_num);
	if (real) {
		err = 0;
		real->opened++;
		qp->obj.next = real->obj.next;
		real->obj.next = &qp->obj;
		qp->real = real;
		qp->iw = real->iw;
		qp->xrcd = to_xrcd(attr->xrcd);
		sctpiw_xrcd_hold(qp->xrcd);
		list_add_tail(&ctx->qps, &qp->node);
	}
	rnic_unlock(ctx->shard->rnic);
	if (err) {
		sctpiw_qp_release(qp);
		errno = err;
		return NULL;
	}
	qp->vqp.qp.context = context;
	if (attr->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT)
		qp->vqp.qp.qp_context = attr->qp_context;
	qp->vqp.qp.handle = sctpiw_new_handle();
	qp->vqp.qp.qp_num = attr->qp_num;
	qp->vqp.qp.qp_type = IBV_QPT_XRC_RECV;
	return &qp->vqp.qp;
}
