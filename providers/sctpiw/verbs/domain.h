/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Protection domains, thread domains, and parent domains, which combine both (man ibv_alloc_pd,
 * ibv_alloc_td, ibv_alloc_parent_domain). Their counts and lists need sctpiw_lock().
 */
#ifndef SCTPIW_VERBS_DOMAIN_H
#define SCTPIW_VERBS_DOMAIN_H

#include "util/list.h"
#include "verbs/pabi.h"

struct iw_pd;

/* A thread domain: only one thread at a time uses its objects. */
struct sctpiw_td {
	struct ibv_td ibv;
	struct list_node node; /* of sctpiw_context.tds */
	uint32_t users;	       /* parent domains that contain it */
};

/*
 * A protection domain or a parent domain. A parent domain shares the RNIC's PD with its protection
 * domain, and may be used wherever a PD is required.
 */
struct sctpiw_pd {
	struct ibv_pd ibv;
	struct iw_pd *iw;
	struct list_node node;	  /* of sctpiw_context.pds */
	struct sctpiw_pd *parent; /* of a parent domain: its protection domain; else NULL */
	struct sctpiw_td *td;	  /* of a parent domain: its thread domain, or NULL */
	uint32_t users;		  /* objects on it, including parent domains */
};

static inline struct sctpiw_pd *to_pd(struct ibv_pd *pd)
{
	return list_entry(pd, struct sctpiw_pd, ibv);
}

static inline struct sctpiw_td *to_td(struct ibv_td *td)
{
	return list_entry(td, struct sctpiw_td, ibv);
}

/*
 * Each object on a PD holds the PD, and drops it when it is destroyed. So a parent domain outlives
 * its objects. Both functions need sctpiw_lock().
 */
static inline void sctpiw_pd_hold(struct sctpiw_pd *pd)
{
	pd->users++;
}

static inline void sctpiw_pd_drop(struct sctpiw_pd *pd)
{
	pd->users--;
}

/* The same when a child of fork() frees a CQ, SRQ or QP of its parent. Takes the lock. */
void sctpiw_pd_drop_inherited(struct sctpiw_pd *pd);

/* Fails with ENOMEM. */
struct ibv_pd *sctpiw_alloc_pd(struct ibv_context *context);

/* Frees a protection or parent domain. EBUSY if objects, or parent domains, use it. */
int sctpiw_dealloc_pd(struct ibv_pd *pd);

/* EINVAL for a nonzero comp_mask (no bit is defined); ENOMEM. */
struct ibv_td *sctpiw_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);

/* EBUSY if a parent domain contains it. */
int sctpiw_dealloc_td(struct ibv_td *td);

/*
 * EINVAL for a PD or TD of another device, or a PD that is a parent domain. EOPNOTSUPP for unknown
 * attributes; ENOMEM.
 */
struct ibv_pd *sctpiw_alloc_parent_domain(struct ibv_context *context,
					  struct ibv_parent_domain_init_attr *attr);

#endif
