/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Address handles: where datagrams go (man ibv_create_ah). A work request takes its address with it when it
 * is posted, so that a handle may be destroyed at any time.
 */
#ifndef SCTPIW_VERBS_AH_H
#define SCTPIW_VERBS_AH_H

#include "config/config.h"
#include "iwarp/iw_ud.h"
#include "net/port.h"
#include "util/addr.h"
#include "util/list.h"
#include "verbs/pabi.h"

struct sctpiw_ah {
	struct ibv_ah ibv;
	struct iw_ud_dest dest; /* but for qp_num and qkey */
};

static inline struct sctpiw_ah *to_ah(struct ibv_ah *ah)
{
	return list_entry(ah, struct sctpiw_ah, ibv);
}

/* As on every Ethernet the address of the peer is in the GRH. InfiniBand has LIDs as well. */
bool sctpiw_ah_is_valid(const struct ibv_ah_attr *attr, enum config_personality personality);
/*
 * Prints a line if a missing GID makes the address vector invalid. whose: "the peer of QP
 * 0x000017", or the like.
 */
void sctpiw_ah_complain(const char *whose, const struct ibv_ah_attr *attr);
/*
 * What a valid address vector names: the GID that packets leave from, and the address that they go to, without its
 * scope. 0; or EINVAL, and a line says why.
 */
int sctpiw_ah_resolve(const struct ibv_ah_attr *attr, struct port_gid *from,
		      struct ip_addr *remote);
/* The latter alone, whatever the former is. */
int sctpiw_ah_remote(const struct ibv_ah_attr *attr, struct ip_addr *remote);

/*
 * NULL: errno is EINVAL for an address without a GID (or LID, with the personality ib), another port than 1, a source GID that is not there, or a
 * destination that no host can have; or ENOMEM.
 */
struct ibv_ah *sctpiw_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int sctpiw_destroy_ah(struct ibv_ah *ah);

#endif
