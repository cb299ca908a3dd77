/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/iw_wr.h"
#include "wire/rdmap.h"

#define ROW(wr, kind_, sges_, wc, message, message_se, ...)                                        \
	[IW_WR_##wr] = { .kind = IW_WR_KIND_##kind_,                                               \
			 .sges = IW_WR_SGES_##sges_,                                               \
			 .wc_opcode = IW_WC_##wc,                                                  \
			 .rdmap = RDMAP_##message,                                                 \
			 .rdmap_se = RDMAP_##message_se,                                           \
			 __VA_ARGS__ }
#define LOCAL(wr, sges_)                                                                           \
	[IW_WR_##wr] = { .kind = IW_WR_KIND_LOCAL,                                                 \
			 .sges = IW_WR_SGES_##sges_,                                               \
			 .wc_opcode = IW_WC_##wr }
#define QUEUE_0 .on_queue_0 = true
#define IMM QUEUE_0, .with_imm = true
#define WORD .min_length = sizeof(uint64_t)

const struct iw_wr_info iw_wr_table[IW_WR_OPCODES + 1] = {
	/* work request, kind, SGEs, completion opcode, message, solicited message */
	ROW(RDMA_WRITE, WRITE, SOURCE, RDMA_WRITE, WRITE, WRITE),
	ROW(RDMA_WRITE_WITH_IMM, WRITE, SOURCE, RDMA_WRITE, WRITE, WRITE, IMM),
	ROW(SEND, SEND, SOURCE, SEND, SEND, SEND_SE, QUEUE_0),
	ROW(SEND_WITH_IMM, SEND, SOURCE, SEND, SEND_IMM, SEND_SE_IMM, IMM),
	ROW(SEND_WITH_INV, SEND, SOURCE, SEND, SEND_INV, SEND_SE_INV, QUEUE_0),
	ROW(RDMA_READ, READ, SINK, RDMA_READ, READ_REQUEST, READ_REQUEST),
	ROW(ATOMIC_CMP_AND_SWP, ATOMIC, SINK, COMP_SWAP, ATOMIC_REQUEST, ATOMIC_REQUEST, WORD),
	ROW(ATOMIC_FETCH_AND_ADD, ATOMIC, SINK, FETCH_ADD, ATOMIC_REQUEST, ATOMIC_REQUEST, WORD),
	LOCAL(LOCAL_INV, UNUSED),
	LOCAL(BIND_MW, NONE),
	[IW_WR_OPCODES] = { .kind = IW_WR_KIND_NONE, .wc_opcode = IW_WC_SEND },
};
