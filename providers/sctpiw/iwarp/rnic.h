/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the RNIC owns and all its shards see. Needs a shard's lock to be read, and those of all shards to be changed. */
#ifndef SCTPIW_IWARP_RNIC_H
#define SCTPIW_IWARP_RNIC_H

#include "iwarp/iw_rnic.h"
#include "iwarp/table.h"
#include "util/list.h"

#define IW_MSEC 1000000ull /* ns */
/* DDP header and payload in bytes; the Terminate has 16 bits for it (RFC 5040 4.8). */
#define IW_SEGMENT_MAX 65535

/* What all shards have in common: the objects that have numbers, and their limits. */
struct iw_rnic {
	struct iw_config config;
	struct iw_rnic_ops ops;

	uint32_t next_qp_num;
	struct iw_table xrc_srqs; /* struct iw_srq, by number */
	uint16_t next_srq_num;
	unsigned int pds, cqs, srqs; /* that exist */
	/* What iw_inspect.h walks through: iw_cq_full.all, iw_mr.all. */
	struct list_node all_cqs, all_mrs;

	struct iw_table mrs; /* struct iw_mr, and those in struct iw_mw, by the STag's 24-bit index */
	uint32_t mws;	     /* windows among them */
	uint64_t stag_keys[6];
	uint32_t stag_counter; /* for the next STag of an MR or window */
	/*
	 * What null MRs show: IW_SEGMENT_MAX zeros, then as much room for what is lost. NULL before
	 * there is one.
	 */
	uint8_t *null_memory;

	struct list_node shards; /* iw_shard.node, by index */
	unsigned int n_shards;
};

#endif
