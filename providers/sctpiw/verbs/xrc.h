/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * XRC domains (man ibv_open_xrcd), and further handles of XRC_RECV QPs (man ibv_open_qp).
 *
 * Within a process, all descriptors of one inode open the same domain: the contexts share the RNIC.
 * Another process has its own RNIC with other SRQs, and gets its own domain.
 */
#ifndef SCTPIW_VERBS_XRC_H
#define SCTPIW_VERBS_XRC_H

#include <stdint.h>
#include <sys/types.h>

#include "util/list.h"
#include "verbs/pabi.h"

struct iw_xrcd;
struct shard;

/* The domain that all handles of one inode share. Guarded by the shard lock. */
struct sctpiw_xrc_domain {
	struct iw_xrcd *iw;
	uint32_t refs; /* handles, QPs and SRQs */
	int fd;	       /* prevents reuse of the inode's number; -1: no inode */
	dev_t dev;
	ino_t ino;
	struct list_node node; /* in the list of all domains with an inode */
};

struct sctpiw_xrcd {
	struct ibv_xrcd ibv;
	struct sctpiw_xrc_domain *domain;
	struct shard *shard;
	uint32_t generation;   /* sctpiw_generation when it was opened */
	uint32_t users;	       /* QPs and SRQs made by this handle; shard lock */
	struct list_node node; /* of sctpiw_context.xrcds; shard lock */
};

static inline struct sctpiw_xrcd *to_xrcd(struct ibv_xrcd *xrcd)
{
	return list_entry(xrcd, struct sctpiw_xrcd, ibv);
}

/* Call these when a QP or SRQ is made by this handle, or destroyed. Both need the shard lock. */
void sctpiw_xrcd_hold(struct sctpiw_xrcd *xrcd);
void sctpiw_xrcd_drop(struct sctpiw_xrcd *xrcd);
/* The same for the domain alone, whose handle may be closed. */
void sctpiw_xrc_domain_hold(struct sctpiw_xrc_domain *domain);
void sctpiw_xrc_domain_drop(struct sctpiw_xrc_domain *domain);

/*
 * fd and oflags must both be given. fd -1: a domain that no other handle can open. EINVAL if one of
 * the two is missing, or for O_EXCL and an existing domain. EAGAIN without a domain and O_CREAT;
 * EBADF; ENOMEM; EIO.
 */
struct ibv_xrcd *sctpiw_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
/* EBUSY if a QP or an SRQ that was made by this handle is left. */
int sctpiw_close_xrcd(struct ibv_xrcd *xrcd);
/* Frees a handle. Needs the shard lock. */
void sctpiw_xrcd_release(struct sctpiw_xrcd *xrcd);

/*
 * Makes another handle of the XRC_RECV QP of this number, for a caller with a handle of the QP's
 * domain. The QP lives until all handles are destroyed. Each handle receives its asynchronous
 * events. EINVAL for a QP that is not in the domain, or a missing attribute; ENOMEM; EIO.
 */
struct ibv_qp *sctpiw_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr);

#endif
