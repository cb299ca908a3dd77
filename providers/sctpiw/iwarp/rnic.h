/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The RNIC's data for all shards. Reading needs one shard's lock, changing needs all locks. */
#ifndef SCTPIW_IWARP_RNIC_H
#define SCTPIW_IWARP_RNIC_H

#include "iwarp/iw_rnic.h"
#include "iwarp/table.h"
#include "util/list.h"

#define IW_MSEC 1000000ull /* ns */
/* Maximum bytes of DDP header and payload: Terminates have a 16-bit length (RFC 5040 4.8). */
#define IW_SEGMENT_MAX 65535

/* Data shared by all shards: numbered objects and their limits. */
struct iw_rnic {
	struct iw_config config;
	struct iw_rnic_ops ops;

	uint32_t next_qp_num;
	struct iw_table xrc_srqs; /* struct iw_srq, by number */
	uint16_t next_srq_num;
	unsigned int pds, cqs, srqs; /* numbers of existing objects */
	/* For the walks of iw_inspect.h: iw_cq_full.all, iw_mr.all. */
	struct list_node all_cqs, all_mrs;

	struct iw_table mrs; /* struct iw_mr, also in struct iw_mw, by 24-bit STag index */
	uint32_t mws;	     /* number of windows in mrs */
	uint64_t stag_keys[6];
	uint32_t stag_counter; /* counter for the next STag of an MR or window */
	/*
	 * Memory of null MRs: IW_SEGMENT_MAX zeros, then IW_SEGMENT_MAX bytes for discarded writes.
	 * NULL before the first null MR.
	 */
	uint8_t *null_memory;

	struct list_node shards; /* iw_shard.node, by index */
	unsigned int n_shards;
};

#endif
