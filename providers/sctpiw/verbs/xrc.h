/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * XRC domains (man ibv_open_xrcd), and further handles of XRC_RECV QPs (man ibv_open_qp).
 *
 * Within a process, all descriptors of one inode open the same domain, since all contexts use the
 * same RNIC. Another process has an RNIC with other SRQs, and gets another domain.
 */
#ifndef SCTPIW_VERBS_XRC_H
#define SCTPIW_VERBS_XRC_H

#include <stdint.h>
#include <sys/types.h>

#include "util/list.h"
#include "verbs/pabi.h"

struct iw_xrcd;
struct shard;

/*
 * A domain. All handles that were opened with the same inode use the same domain. Guarded by the
 * shard lock.
 */
struct sctpiw_xrc_domain {
	struct iw_xrcd *iw;
	uint32_t refs; /* number of handles, QPs and SRQs that use the domain */
	/* descriptor of the inode, which prevents reuse of the inode's number; -1: no inode */
	int fd;
	dev_t dev;
	ino_t ino;
	struct list_node node; /* node of the list of all domains with an inode */
};

struct sctpiw_xrcd {
	struct ibv_xrcd ibv;
	struct sctpiw_xrc_domain *domain;
	struct shard *shard;
	uint32_t generation; /* value of sctpiw_generation when the handle was opened */
	/* number of QPs and SRQs that were made with this handle; guarded by the shard lock */
	uint32_t users;
	struct list_node node; /* node of sctpiw_context.xrcds; guarded by the shard lock */
};

static inline struct sctpiw_xrcd *to_xrcd(struct ibv_xrcd *xrcd)
{
	return list_entry(xrcd, struct sctpiw_xrcd, ibv);
}

/* Add and remove a QP or SRQ that was made with this handle. Both need the shard lock. */
void sctpiw_xrcd_hold(struct sctpiw_xrcd *xrcd);
void sctpiw_xrcd_drop(struct sctpiw_xrcd *xrcd);
/* Do the same for the domain alone, since its handle may have been closed. */
void sctpiw_xrc_domain_hold(struct sctpiw_xrc_domain *domain);
void sctpiw_xrc_domain_drop(struct sctpiw_xrc_domain *domain);

/*
 * Opens a domain. fd and oflags must both be given. With fd -1, no other handle can open the same
 * domain. Errors: EINVAL if fd or oflags is missing, or for O_EXCL and an existing domain; EAGAIN
 * if there is no domain and oflags lack O_CREAT; EBADF; ENOMEM; EIO.
 */
struct ibv_xrcd *sctpiw_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
/* Errors: EBUSY if a QP or an SRQ that was made with this handle still exists. */
int sctpiw_close_xrcd(struct ibv_xrcd *xrcd);
/* Frees a handle. Needs the shard lock. */
void sctpiw_xrcd_release(struct sctpiw_xrcd *xrcd);

/*
 * Makes another handle of the XRC_RECV QP with this number. The caller has a handle of the QP's
 * domain. The QP exists until all its handles are destroyed. Each handle receives the QP's
 * asynchronous events. Errors: EINVAL for a QP that is not in the domain, or a missing attribute;
 * ENOMEM; EIO.
 */
struct ibv_qp *sctpiw_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr);

#endif
