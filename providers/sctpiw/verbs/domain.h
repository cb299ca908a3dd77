/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Protection domains, thread domains, and parent domains, which combine both (man ibv_alloc_pd,
 * ibv_alloc_td, ibv_alloc_parent_domain). sctpiw_lock() guards the counts and lists of this file.
 */
#ifndef SCTPIW_VERBS_DOMAIN_H
#define SCTPIW_VERBS_DOMAIN_H

#include "util/list.h"
#include "verbs/pabi.h"

struct iw_pd;

/* A thread domain. The program guarantees that one thread at a time uses the domain's objects. */
struct sctpiw_td {
	struct ibv_td ibv;
	struct list_node node; /* node of sctpiw_context.tds */
	uint32_t users;	       /* number of parent domains that contain this thread domain */
};

/*
 * A protection domain or a parent domain. A parent domain uses the RNIC's PD of its protection
 * domain. It may be passed to all verbs that need a PD.
 */
struct sctpiw_pd {
	struct ibv_pd ibv;
	struct iw_pd *iw;
	struct list_node node;	  /* node of sctpiw_context.pds */
	struct sctpiw_pd *parent; /* the protection domain of a parent domain; otherwise NULL */
	struct sctpiw_td *td;	  /* the thread domain of a parent domain, or NULL */
	/* number of objects that use this domain, including parent domains */
	uint32_t users;
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
 * Each object on a PD counts itself in pd->users, until it is destroyed. A parent domain therefore
 * outlives its objects. Both functions need sctpiw_lock().
 */
static inline void sctpiw_pd_hold(struct sctpiw_pd *pd)
{
	pd->users++;
}

static inline void sctpiw_pd_drop(struct sctpiw_pd *pd)
{
	pd->users--;
}

/*
 * Does the same as sctpiw_pd_drop(), when a child of fork() frees a CQ, SRQ or QP of its parent.
 * Takes sctpiw_lock() itself.
 */
void sctpiw_pd_drop_inherited(struct sctpiw_pd *pd);

/* Errors: ENOMEM. */
struct ibv_pd *sctpiw_alloc_pd(struct ibv_context *context);

/* Frees a protection or parent domain. Errors: EBUSY if objects or parent domains use it. */
int sctpiw_dealloc_pd(struct ibv_pd *pd);

/* Errors: EINVAL if comp_mask is not 0, since no bit is defined; ENOMEM. */
struct ibv_td *sctpiw_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);

/* Errors: EBUSY if a parent domain contains this thread domain. */
int sctpiw_dealloc_td(struct ibv_td *td);

/*
 * Errors: EINVAL for a PD or TD of another device, or a PD that is itself a parent domain;
 * EOPNOTSUPP for unknown attributes; ENOMEM.
 */
struct ibv_pd *sctpiw_alloc_parent_domain(struct ibv_context *context,
					  struct ibv_parent_domain_init_attr *attr);

#endif
