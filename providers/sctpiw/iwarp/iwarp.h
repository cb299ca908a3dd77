/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The RNIC proper: stream sessions (RFC 5043, 6581), DDP (RFC 5041), RDMAP (RFC 5040, 7306) and the
 * objects of the verbs. No socket, clock, thread or <infiniband/...> is used here. Messages come in
 * with iw_assoc_receive() and are pulled with iw_assoc_pull(); what happened comes out as
 * completions and events.
 *
 * Headers whose names begin with iw_ are public: the rooms to the right include them, and this file
 * includes all of them for those that need most. All other headers belong to the .c file of the
 * same name; only this room and its tests include them.
 *
 * Everything needs the shard's lock except the functions marked "(producer)" and "(consumer)": see
 * iw_ring.h and iw_cq.h. Functions return 0 or -errno unless said otherwise; integers are in host
 * order, times in nanoseconds.
 */
#ifndef SCTPIW_IWARP_IWARP_H
#define SCTPIW_IWARP_IWARP_H

#include "iwarp/iw_assoc.h"
#include "iwarp/iw_cq.h"
#include "iwarp/iw_event.h"
#include "iwarp/iw_mr.h"
#include "iwarp/iw_qp.h"
#include "iwarp/iw_rnic.h"
#include "iwarp/iw_session.h"
#include "iwarp/iw_shard.h"
#include "iwarp/iw_srq.h"
#include "iwarp/iw_types.h"
#include "iwarp/iw_mcast.h"
#include "iwarp/iw_ud.h"
#include "iwarp/iw_wr.h"

#endif
