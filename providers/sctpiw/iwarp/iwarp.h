/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The core of the RNIC: stream sessions (RFC 5043, 6581), DDP (RFC 5041), RDMAP (RFC 5040, 7306)
 * and the verbs' objects. The code uses no socket, clock, thread or <infiniband/...>. Messages
 * enter through iw_assoc_receive() and leave through iw_assoc_pull(). The RNIC reports results as
 * completions and events.
 *
 * Abbreviations of the RFCs: LLP (lower layer protocol, here SCTP), DDP-SSN (DDP stream sequence
 * number), QN (queue number), MSN (message sequence number), MO (message offset), TO (tagged
 * offset). Terms of this project: receipt (receipt.h), void message (void.h), unexpected Send
 * (unexpected.h), connected out of band (iw_qp.oob).
 *
 * Headers named iw_* are public: other directories include them. This file includes most of the
 * public headers. Every other header belongs to the .c file of the same name, and is included only
 * in iwarp/ and its tests. A comment such as "iw_shard.assocs" at a list node names the list that
 * the node is in.
 *
 * All functions need the shard's lock, except those marked "(producer)" and "(consumer)": see
 * iw_ring.h and iw_cq.h. Functions return 0 or -errno unless stated otherwise; integers are in host
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
