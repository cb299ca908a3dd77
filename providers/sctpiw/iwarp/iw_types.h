/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Limits of the RNIC, and shared enumerations. Some comments name an enumeration of
 * <infiniband/verbs.h>. Its values are equal to the values here and need no translation; verbs/
 * asserts the equality.
 */
#ifndef SCTPIW_IWARP_IW_TYPES_H
#define SCTPIW_IWARP_IW_TYPES_H

#include <stdint.h>

/* The verbs layer reports these limits unchanged to applications. */
#define IW_MAX_QP 65536
#define IW_MAX_CQ 65536
#define IW_MAX_CQE 4194304
#define IW_MAX_PD 65536
#define IW_MAX_MR 1048576
#define IW_MAX_MW 1048576
#define IW_MAX_MR_LENGTH (UINT64_C(1) << 47) /* bytes: size of a process's address space */
#define IW_MAX_QP_WR 32768
#define IW_MAX_SRQ 65535 /* an SRQ number has 16 bits and is not 0 */
#define IW_MAX_SRQ_WR 65536
#define IW_MAX_SGE 32
#define IW_MAX_SGE_RD IW_MAX_SGE /* reads into several SGEs work as well: iw_mr_read_stag() */
#define IW_MAX_INLINE 4096	 /* bytes */
#define IW_MAX_MSG 0x80000000u	 /* bytes */
#define IW_MAX_ORD 128
#define IW_MAX_IRD 128
#define IW_MAX_PRIVATE_DATA 512 /* bytes (RFC 5043 3.2) */

enum iw_qp_type { IW_QPT_RC, IW_QPT_UC, IW_QPT_UD, IW_QPT_XRC_SEND, IW_QPT_XRC_RECV };

enum iw_qp_state { /* ibv_qp_state */
		   IW_QPS_RESET,
		   IW_QPS_INIT,
		   IW_QPS_RTR,
		   IW_QPS_RTS,
		   IW_QPS_SQD,
		   IW_QPS_SQE,
		   IW_QPS_ERR,
};

/*
 * ibv_wc_status. When a session fails, the WR at fault completes with the status below, and all
 * others with WR_FLUSH_ERR:
 *   LOC_PROT_ERR   the WR's lkey, rights or bounds are wrong, its memory is not mapped, or the
 *                  sink of a read or an atomic is no longer accessible
 *   LOC_LEN_ERR    the peer's Send was longer than this receive
 *   LOC_QP_OP_ERR  a read or atomic with ORD 0, a LOCAL_INV without an STag of the PD, a bad
 *                  opcode, a SEND_WITH_IMM with payload to another stack
 *   MW_BIND_ERR    iw_mw_bind() refused the bind
 *   REM_OP_ERR     the read or atomic got a wrong response; or the WR named by the peer's
 *                  Terminate
 *   REM_ACCESS_ERR, REM_INV_REQ_ERR, RNR_RETRY_EXC_ERR  the WR named by the peer's Terminate
 *                  (iw_rc_tx_status())
 *   RETRY_EXC_ERR  the oldest WR when the association is lost, or when the peer of a QP connected
 *                  out of band is gone or never appeared
 * unplaced.h describes when Sends and Writes complete with success.
 */
enum iw_wc_status {
	IW_WC_SUCCESS = 0,
	IW_WC_LOC_LEN_ERR = 1,
	IW_WC_LOC_QP_OP_ERR = 2,
	IW_WC_LOC_PROT_ERR = 4,
	IW_WC_WR_FLUSH_ERR = 5,
	IW_WC_MW_BIND_ERR = 6,
	IW_WC_LOC_ACCESS_ERR = 8,
	IW_WC_REM_INV_REQ_ERR = 9,
	IW_WC_REM_ACCESS_ERR = 10,
	IW_WC_REM_OP_ERR = 11,
	IW_WC_RETRY_EXC_ERR = 12,
	IW_WC_RNR_RETRY_EXC_ERR = 13,
	IW_WC_FATAL_ERR = 19,
	IW_WC_GENERAL_ERR = 21,
};

enum iw_wr_opcode { /* ibv_wr_opcode */
		    IW_WR_RDMA_WRITE = 0,
		    IW_WR_RDMA_WRITE_WITH_IMM = 1,
		    IW_WR_SEND = 2,
		    IW_WR_SEND_WITH_IMM = 3,
		    IW_WR_RDMA_READ = 4,
		    IW_WR_ATOMIC_CMP_AND_SWP = 5,
		    IW_WR_ATOMIC_FETCH_AND_ADD = 6,
		    IW_WR_LOCAL_INV = 7,
		    IW_WR_BIND_MW = 8,
		    IW_WR_SEND_WITH_INV = 9,
};

enum iw_wc_opcode { /* ibv_wc_opcode */
		    IW_WC_SEND = 0,
		    IW_WC_RDMA_WRITE = 1,
		    IW_WC_RDMA_READ = 2,
		    IW_WC_COMP_SWAP = 3,
		    IW_WC_FETCH_ADD = 4,
		    IW_WC_BIND_MW = 5,
		    IW_WC_LOCAL_INV = 6,
		    IW_WC_RECV = 128,
		    IW_WC_RECV_RDMA_WITH_IMM = 129,
};

enum iw_send_flags { /* ibv_send_flags */
		     IW_SEND_FENCE = 1,
		     IW_SEND_SIGNALED = 2,
		     IW_SEND_SOLICITED = 4,
		     IW_SEND_INLINE = 8,
};

enum iw_wc_flags { /* ibv_wc_flags */
		   IW_WC_GRH = 1,
		   IW_WC_WITH_IMM = 2,
		   IW_WC_WITH_INV = 8,
		   /* The GRH has the IPv4 layout. The verbs have no such flag. */
		   IW_WC_GRH_V4 = 1 << 15,
		   /*
		    * The consumer has examined the entry, and may have delayed the entry. The verbs
		    * have no such flag.
		    */
		   IW_WC_SEEN = 1 << 14,
};

enum iw_access { /* ibv_access_flags */
		 IW_ACCESS_LOCAL_WRITE = 1,
		 IW_ACCESS_REMOTE_WRITE = 2,
		 IW_ACCESS_REMOTE_READ = 4,
		 IW_ACCESS_REMOTE_ATOMIC = 8,
		 IW_ACCESS_MW_BIND = 1 << 4,
		 IW_ACCESS_ZERO_BASED = 1 << 5,
		 /* the program may unmap the memory and map it again */
		 IW_ACCESS_ON_DEMAND = 1 << 6,
		 /* All rights that an MR can give to peers. */
		 IW_ACCESS_REMOTE = IW_ACCESS_REMOTE_WRITE | IW_ACCESS_REMOTE_READ |
				    IW_ACCESS_REMOTE_ATOMIC,
		 /* Remote rights that require IW_ACCESS_LOCAL_WRITE. */
		 IW_ACCESS_REMOTE_CHANGE = IW_ACCESS_REMOTE_WRITE | IW_ACCESS_REMOTE_ATOMIC,
};

/* A part of a local MR, as in struct ibv_sge. */
struct iw_sge {
	uint64_t addr;
	uint32_t length; /* bytes */
	uint32_t lkey;
};

#endif
