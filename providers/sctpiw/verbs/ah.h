/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Address handles: destinations of datagrams (man ibv_create_ah). Each posted work request contains
 * a copy of the destination, so the program may destroy a handle at any time.
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
	/* the destination without qp_num and qkey, which each work request sets */
	struct iw_ud_dest dest;
};

static inline struct sctpiw_ah *to_ah(struct ibv_ah *ah)
{
	return list_entry(ah, struct sctpiw_ah, ibv);
}

/*
 * True if the port is 1, and the GRH contains the peer's address, as on Ethernet. With the
 * personality ib, the address may be a LID instead.
 */
bool sctpiw_ah_is_valid(const struct ibv_ah_attr *attr, enum config_personality personality);
/*
 * Logs an error if an address vector is invalid because it has no GID. whose: the owner of the
 * address vector, for example "the peer of QP 0x000017".
 */
void sctpiw_ah_complain(const char *whose, const struct ibv_ah_attr *attr);
/*
 * Resolves a valid address vector: *from becomes the local GID that packets are sent from, and
 * *remote the remote address, without its scope. Returns 0, or EINVAL after logging the reason.
 */
int sctpiw_ah_resolve(const struct ibv_ah_attr *attr, struct port_gid *from,
		      struct ip_addr *remote);
/* Resolves only the remote address, and ignores the local GID. */
int sctpiw_ah_remote(const struct ibv_ah_attr *attr, struct ip_addr *remote);

/*
 * On failure, returns NULL and sets errno to ENOMEM or EINVAL. EINVAL means an address without a
 * GID (or LID, with the personality ib), a port other than 1, an unknown source GID, or an
 * impossible destination.
 */
struct ibv_ah *sctpiw_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int sctpiw_destroy_ah(struct ibv_ah *ah);

#endif
