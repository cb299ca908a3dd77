/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * XRC domains (man ibv_open_xrcd), and further handles of XRC_RECV QPs (man ibv_open_qp).
 *
 * Whoever opens a domain by a descriptor of the same inode gets the same one, within a process: its
 * contexts share the RNIC. Another process has an RNIC of its own, with other SRQs, and gets a domain of
 * its own.
 */
#ifndef SCTPIW_VERBS_XRC_H
#define SCTPIW_VERBS_XRC_H

#include <stdint.h>
#include <sys/types.h>

#include "util/list.h"
#include "verbs/pabi.h"

struct iw_xrcd;
struct shard;

/* What handles of one inode share. Shard lock. */
struct sctpiw_xrc_domain {
	struct iw_xrcd *iw;
	uint32_t refs; /* handles, QPs and SRQs */
	int fd;	       /* keeps the inode from being another file's; -1: it has none */
	dev_t dev;
	ino_t ino;
	struct list_node node; /* of all domains with an inode */
};

struct sctpiw_xrcd {
	struct ibv_xrcd ibv;
	struct sctpiw_xrc_domain *domain;
	struct shard *shard;
	uint32_t generation;   /* sctpiw_generation when it was opened */
	uint32_t users;	       /* QPs and SRQs that were made by this handle; shard lock */
	struct list_node node; /* of sctpiw_context.xrcds; shard lock */
};

static inline struct sctpiw_xrcd *to_xrcd(struct ibv_xrcd *xrcd)
{
	return list_entry(xrcd, struct sctpiw_xrcd, ibv);
}

/* A QP or SRQ is made by this handle, or is gone. Need the shard lock. */
void sctpiw_xrcd_hold(struct sctpiw_xrcd *xrcd);
void sctpiw_xrcd_drop(struct sctpiw_xrcd *xrcd);
/* The same for the domain alone, whose handle may be gone. */
void sctpiw_xrc_domain_hold(struct sctpiw_xrc_domain *domain);
void sctpiw_xrc_domain_drop(struct sctpiw_xrc_domain *domain);

/*
 * fd and oflags must both be given. fd -1: a domain that nobody else can open. EINVAL: one of the two
 * is missing, or O_EXCL and there is such a domain; EAGAIN: there is none, and no O_CREAT; EBADF;
 * ENOMEM; EIO.
 */
struct ibv_xrcd *sctpiw_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
/* EBUSY: a QP or an SRQ that was made by this handle is left. */
int sctpiw_close_xrcd(struct ibv_xrcd *xrcd);
/* Frees a handle. Needs the shard lock. */
void sctpiw_xrcd_release(struct sctpiw_xrcd *xrcd);

/*
 * Another handle of the XRC_RECV QP of that number, for whoever has opened its domain. The QP lives until
 * all handles are destroyed, and its asynchronous events come to each of them. EINVAL: no such QP in
 * the domain, or an attribute is missing; ENOMEM; EIO.
 */
struct ibv_qp *sctpiw_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr);

#endif
