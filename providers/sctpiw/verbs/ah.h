/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Address handles: destinations of datagrams (man ibv_create_ah). Each posted work request has a
 * copy of its address, so a handle may be destroyed at any time.
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
	struct iw_ud_dest dest; /* all but qp_num and qkey */
};

static inline struct sctpiw_ah *to_ah(struct ibv_ah *ah)
{
	return list_entry(ah, struct sctpiw_ah, ibv);
}

/*
 * True if the port is 1, and the peer's address is in the GRH, as on Ethernet. With the personality
 * ib, it may be a LID.
 */
bool sctpiw_ah_is_valid(const struct ibv_ah_attr *attr, enum config_personality personality);
/*
 * Logs an error if a missing GID makes the address vector invalid. whose: for example "the peer of
 * QP 0x000017".
 */
void sctpiw_ah_complain(const char *whose, const struct ibv_ah_attr *attr);
/*
 * Resolves a valid address vector: the local GID that packets leave from, and the remote address,
 * without its scope. Returns 0, or EINVAL, which is logged.
 */
int sctpiw_ah_resolve(const struct ibv_ah_attr *attr, struct port_gid *from,
		      struct ip_addr *remote);
/* Resolves the remote address alone, whatever the local GID is. */
int sctpiw_ah_remote(const struct ibv_ah_attr *attr, struct ip_addr *remote);

/*
 * Returns NULL and sets errno on failure: ENOMEM, or EINVAL. EINVAL means an address without a GID
 * (or LID, with the personality ib), a port other than 1, an unknown source GID, or an impossible
 * destination.
 */
struct ibv_ah *sctpiw_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int sctpiw_destroy_ah(struct ibv_ah *ah);

#endif
