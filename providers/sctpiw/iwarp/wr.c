/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/iw_wr.h"
#include "wire/rdmap.h"

const struct iw_wr_info iw_wr_table[IW_WR_OPCODES + 1] = {
	[IW_WR_RDMA_WRITE] = { IW_WR_KIND_WRITE, IW_WR_SGES_SOURCE, IW_WC_RDMA_WRITE,
			       .rdmap = RDMAP_WRITE, .rdmap_se = RDMAP_WRITE },
	[IW_WR_RDMA_WRITE_WITH_IMM] = { IW_WR_KIND_WRITE, IW_WR_SGES_SOURCE, IW_WC_RDMA_WRITE,
					.rdmap = RDMAP_WRITE, .rdmap_se = RDMAP_WRITE,
					.with_imm = true, .on_queue_0 = true },
	[IW_WR_SEND] = { IW_WR_KIND_SEND, IW_WR_SGES_SOURCE, IW_WC_SEND, .rdmap = RDMAP_SEND,
			 .rdmap_se = RDMAP_SEND_SE, .on_queue_0 = true },
	[IW_WR_SEND_WITH_IMM] = { IW_WR_KIND_IMMEDIATE, IW_WR_SGES_EMPTY, IW_WC_SEND,
				  .rdmap = RDMAP_IMMEDIATE, .rdmap_se = RDMAP_IMMEDIATE_SE,
				  .with_imm = true, .on_queue_0 = true },
	[IW_WR_RDMA_READ] = { IW_WR_KIND_READ, IW_WR_SGES_SINK, IW_WC_RDMA_READ,
			      .rdmap = RDMAP_READ_REQUEST, .rdmap_se = RDMAP_READ_REQUEST },
	[IW_WR_ATOMIC_CMP_AND_SWP] = { IW_WR_KIND_ATOMIC, IW_WR_SGES_SINK, IW_WC_COMP_SWAP,
				       .min_length = sizeof(uint64_t), .rdmap = RDMAP_ATOMIC_REQUEST,
				       .rdmap_se = RDMAP_ATOMIC_REQUEST },
	[IW_WR_ATOMIC_FETCH_AND_ADD] = { IW_WR_KIND_ATOMIC, IW_WR_SGES_SINK, IW_WC_FETCH_ADD,
					 .min_length = sizeof(uint64_t), .rdmap = RDMAP_ATOMIC_REQUEST,
					 .rdmap_se = RDMAP_ATOMIC_REQUEST },
	[IW_WR_LOCAL_INV] = { IW_WR_KIND_LOCAL, IW_WR_SGES_UNUSED, IW_WC_LOCAL_INV },
	[IW_WR_BIND_MW] = { IW_WR_KIND_LOCAL, IW_WR_SGES_NONE, IW_WC_BIND_MW },
	[IW_WR_SEND_WITH_INV] = { IW_WR_KIND_SEND, IW_WR_SGES_SOURCE, IW_WC_SEND,
				  .rdmap = RDMAP_SEND_INV, .rdmap_se = RDMAP_SEND_SE_INV,
				  .on_queue_0 = true },
	[IW_WR_OPCODES] = { IW_WR_KIND_NONE, IW_WR_SGES_NONE, IW_WC_SEND },
};
