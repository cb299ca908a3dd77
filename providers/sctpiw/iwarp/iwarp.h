/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The RNIC proper: stream sessions (RFC 5043, 6581), DDP (5041), RDMAP (5040) and
 * the objects of the verbs: PD, MR, CQ, SRQ, QP. Sans-I/O: no socket, clock, thread or
 * <infiniband/...> here. Messages come in with iw_assoc_receive() and are pulled with
 * iw_assoc_pull(); what happened comes out as events.
 *
 * Locking: everything needs the engine lock, except the ends that an application
 * touches on its fast path, marked "(producer)" and "(consumer)": the caller
 * serialises several threads on one queue by a lock of its own; towards the engine
 * these ends are lock-free (C11 acquire/release on the ring indexes).
 *
 * Errors are -errno; integers are in host order; time in nanoseconds.
 */
#ifndef SCTPIW_IWARP_IWARP_H
#define SCTPIW_IWARP_IWARP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/random.h"

struct iw_rnic;
struct iw_pd;
struct iw_mr;
struct iw_mw;
struct iw_assoc;
struct iw_session;

/* Limits, reported by the verbs layer as they stand here. */
#define IW_MAX_QP 65536
#define IW_MAX_CQ 65536
#define IW_MAX_CQE 4194304
#define IW_MAX_PD 65536
#define IW_MAX_MR 1048576
#define IW_MAX_MW 1048576
#define IW_MAX_MR_LENGTH (UINT64_C(1) << 47) /* the address space of a process */
#define IW_MAX_QP_WR 32768
#define IW_MAX_SRQ 65536
#define IW_MAX_SRQ_WR 65536
#define IW_MAX_SGE 32
#define IW_MAX_SGE_RD IW_MAX_SGE /* several have one data sink STag of their own (read.c) */
#define IW_MAX_INLINE 4096
#define IW_MAX_MSG 0x80000000u
#define IW_MAX_ORD 128
#define IW_MAX_IRD 128
#define IW_MAX_PRIVATE_DATA 512 /* RFC 5043 3.2 */

/* Values equal those of ibv_qp_state, ibv_wc_status, ibv_wc_opcode, ibv_wr_opcode,
 * ibv_access_flags, ibv_wc_flags, ibv_send_flags (asserted in verbs/), so that nothing is translated. */
enum iw_qp_state { IW_QPS_RESET, IW_QPS_INIT, IW_QPS_RTR, IW_QPS_RTS, IW_QPS_SQD, IW_QPS_SQE, IW_QPS_ERR };

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

enum iw_wc_flags { IW_WC_WITH_IMM = 2, IW_WC_WITH_INV = 8 }; /* ibv_wc_flags */

enum iw_access {
	IW_ACCESS_LOCAL_WRITE = 1,
	IW_ACCESS_REMOTE_WRITE = 2,
	IW_ACCESS_REMOTE_READ = 4,
	IW_ACCESS_REMOTE_ATOMIC = 8,
	IW_ACCESS_MW_BIND = 1 << 4,
	IW_ACCESS_ZERO_BASED = 1 << 5,
	IW_ACCESS_ON_DEMAND = 1 << 6, /* for iw_mr_locate() alone: no memory is pinned anyway */
	/* What a peer may do, and what of it needs IW_ACCESS_LOCAL_WRITE beside it. */
	IW_ACCESS_REMOTE = IW_ACCESS_REMOTE_WRITE | IW_ACCESS_REMOTE_READ | IW_ACCESS_REMOTE_ATOMIC,
	IW_ACCESS_REMOTE_CHANGE = IW_ACCESS_REMOTE_WRITE | IW_ACCESS_REMOTE_ATOMIC,
};

/* ---- the RNIC ---- */

struct iw_config {
	uint32_t unexpected_bytes_per_qp; /* Sends that wait for a receive: copied up to so much, 1 MiB */
	bool in_order; /* place segments in order, for programs that poll memory for the last byte */
	uint32_t zcopy_min; /* payload of so many bytes or more may be referenced (zcopy.c) */
};

struct iw_rnic_ops {
	/*
	 * Copy to or from the application's memory: 0, or -EFAULT where it is not
	 * mapped (any more). Never faults.
	 */
	int (*copy)(void *dst, const void *src, size_t len);
	/* Whether each page of the len > 0 bytes can be read: 0 or -EFAULT. Only for what is referenced. Never faults. */
	int (*probe)(const void *src, size_t len);
	/*
	 * Replaces the 8 aligned bytes at by next(what they were, arg), in host order, as one atomic
	 * instruction of the processor does; *old is what they were. Calls next once or more often.
	 * -EFAULT where they cannot be read and written. Never faults.
	 */
	int (*atomic)(uint64_t *at, uint64_t (*next)(uint64_t old, const void *arg),
		      const void *arg, uint64_t *old);
	/* For time stamps of completions; NULL: as iw_set_now() says. */
	uint64_t (*clock)(void);
};

struct iw_rnic *iw_rnic_new(const struct iw_config *config, const struct iw_rnic_ops *ops,
			    struct random_source *random);
void iw_rnic_free(struct iw_rnic *rnic);
uint64_t iw_next_timeout(const struct iw_rnic *rnic); /* UINT64_MAX: none */
void iw_timers(struct iw_rnic *rnic, uint64_t now);
void iw_set_now(struct iw_rnic *rnic, uint64_t now); /* before receive/pull/post processing */

#define IW_OPCODES 16 /* of RDMAP, wire/rdmap.h */

/* What has happened since iw_rnic_new(), on all sessions. */
struct iw_stats {
	uint64_t in[IW_OPCODES]; /* RDMAP messages that were delivered whole, by opcode */
	uint64_t out[IW_OPCODES]; /* those whose last segment was pulled */
	uint64_t sessions;	 /* that were established */
	uint64_t unexpected;		 /* segments of Sends that found no receive posted */
};

const struct iw_stats *iw_stats(const struct iw_rnic *rnic);

/* ---- PD, MR, MW ---- */

struct iw_pd *iw_pd_new(struct iw_rnic *rnic, void *ctx); /* NULL: out of memory or limit */
int iw_pd_free(struct iw_pd *pd); /* -EBUSY while in use */

/*
 * The caller has checked that the process may access the range as asked. An STag has a
 * random 24-bit index and 8-bit key (RFC 5042 6.2.1); lkey = rkey = STag, never 0.
 * -EINVAL: remote write or atomic without local write, length above the limit, wrap.
 */
int iw_mr_new(struct iw_pd *pd, uint64_t addr, uint64_t length, uint64_t iova, uint32_t access,
	      void *ctx, struct iw_mr **mr);
/*
 * A region of its own PD without memory: what is read from it are zeros, what is written to it is
 * lost, at any address. For local use alone; it cannot be changed, nor windows be bound to it.
 * -ENOMEM.
 */
int iw_mr_new_null(struct iw_pd *pd, void *ctx, struct iw_mr **mr);
uint32_t iw_mr_stag(const struct iw_mr *mr);

struct iw_mr_attr {
	struct iw_pd *pd;
	uint64_t addr, length, iova;
	uint32_t access;
};

void iw_mr_get(const struct iw_mr *mr, struct iw_mr_attr *attr);
/*
 * Takes the place of what mr was; pd and access may change under the STag, another range (or an MR
 * that was invalidated) gets a new one: a peer's old STag does not open other memory. Errors as of
 * iw_mr_new(), or -EBUSY: windows are bound to it; then nothing has changed.
 */
int iw_mr_change(struct iw_mr *mr, const struct iw_mr_attr *attr);
/*
 * Where len bytes from addr on are in the process's memory, for advice about an MR of on-demand
 * paging: 0 and *memory; -ENOENT: no such MR, or another sort of one; -EINVAL: a window; -EPERM: of
 * another PD, or not to be written; -EFAULT: bounds.
 */
int iw_mr_locate(const struct iw_pd *pd, uint32_t lkey, uint64_t addr, uint32_t len, bool write,
		 uint64_t *memory);
/* Once it returns 0 nothing touches the memory again. -EBUSY: windows are bound to it. */
int iw_mr_free(struct iw_mr *mr);

/*
 * Memory windows: parts of an MR that peers may use by an STag of their own, from a WR that binds
 * them on. Type 1: any stream of the PD; bound anew, or to nothing (length 0), by further WRs. Type
 * 2: only the stream of the QP that the WR was posted to (the DDP Stream association of RFC 5041
 * 8.2); given up by LOCAL_INV on that QP, by its peer's Send with Invalidate, or when the QP's
 * session is over. A bind brings another key, which its WR names: the low 8 bits of the STag.
 * -EINVAL: no such type; -ENOMEM.
 */
enum iw_mw_type { IW_MW_TYPE_1 = 1, IW_MW_TYPE_2 = 2 }; /* ibv_mw_type */

int iw_mw_new(struct iw_pd *pd, enum iw_mw_type type, struct iw_mw **mw);
/* Its index stays; the key is that of the last bind, or of the beginning. */
uint32_t iw_mw_stag(const struct iw_mw *mw);
/* Bound or not. */
void iw_mw_free(struct iw_mw *mw);

/* ---- CQ: filled by the engine, emptied by the application ---- */

struct iw_cqe {
	uint64_t wr_id;
	uint32_t status; /* iw_wc_status */
	uint32_t opcode; /* iw_wc_opcode */
	uint32_t byte_len;
	uint32_t qp_num;
	union {
		uint32_t inv_stag; /* with IW_WC_WITH_INV */
		uint32_t imm_data; /* with IW_WC_WITH_IMM; network order, as it was posted */
	};
	uint16_t flags;
	uint16_t vendor_err; /* of the WR at fault: layer<<12|type<<8|code of the Terminate; else 0 */
};

enum iw_cq_arm { IW_CQ_UNARMED, IW_CQ_ARM_SOLICITED, IW_CQ_ARM_ANY };

struct iw_cq {
	struct iw_cqe *ring;
	uint32_t mask; /* entries - 1, a power of two */
	uint32_t limit; /* entries that were asked for and are reported */
	uint64_t *stamps; /* of the entries: iw_cq_stamp(); or NULL */
	_Alignas(64) _Atomic uint32_t head; /* consumer */
	_Alignas(64) _Atomic uint32_t tail; /* producer: the engine */
	_Atomic uint32_t armed; /* enum iw_cq_arm */
	_Atomic uint32_t armed_at; /* tail when it was armed */
	/*
	 * 0, or: its only entry, which completes an RDMA Write, had better be left there until the peer's
	 * answer is in memory: until this is 0 again, or for so long, ns. Only where it is unnotified: no
	 * completion event ever tells of an entry.
	 */
	_Atomic uint64_t answer_due;
	bool unnotified;
	struct iw_rnic *rnic;
	uint32_t refs; /* QPs */
	bool overflown; /* an async event was raised; what completes from now on is lost */
	bool ignore_overrun; /* what does not fit is lost, and nobody is told */
	/* Completions since the last look at armed: iw_next_notify() */
	bool notify_queued;
	bool notify_solicited; /* one of them counts for IW_CQ_ARM_SOLICITED */
	struct iw_cq *notify_next;
	void *ctx; /* the verbs layer's */
};

struct iw_cq *iw_cq_new(struct iw_rnic *rnic, uint32_t entries, void *ctx);
int iw_cq_free(struct iw_cq *cq); /* -EBUSY while QPs use it */
/* From now on entries have the time at which they came, ns. For a CQ that has none yet. -ENOMEM */
int iw_cq_stamp(struct iw_cq *cq);
/*
 * An event comes only once count completions have come since the CQ was armed, or period ns are
 * over since the first that is due; either 0: at once. -ENOMEM
 */
int iw_cq_moderate(struct iw_cq *cq, uint32_t count, uint64_t period);
/* (consumer side locked by the caller too) -EINVAL: fewer than wait in it */
int iw_cq_resize(struct iw_cq *cq, uint32_t entries);
/* (consumer side locked by the caller too) forget the entries of a QP that is destroyed */
void iw_cq_purge(struct iw_cq *cq, uint32_t qp_num);
static inline uint32_t iw_cq_count(const struct iw_cq *cq)
{
	return atomic_load_explicit(&cq->tail, memory_order_acquire) -
	       atomic_load_explicit(&cq->head, memory_order_relaxed);
}
static inline bool iw_cq_is_empty(const struct iw_cq *cq)
{
	return !iw_cq_count(cq);
}
/*
 * Whether a receive of this QP has succeeded and waits in the CQ; *pos is then what iw_cq_is_past() wants
 * to be told when it was taken out, or moved by iw_cq_purge(). Looked for among the newest IW_CQ_LOOK_BACK entries.
 */
#define IW_CQ_LOOK_BACK 4096
bool iw_cq_find_recv(const struct iw_cq *cq, uint32_t qp_num, uint32_t *pos);
static inline bool iw_cq_is_past(const struct iw_cq *cq, uint32_t pos)
{
	return (int32_t)(atomic_load_explicit(&cq->head, memory_order_acquire) - pos) > 0;
}
/* (consumer) moves up to n entries out, returns how many */
unsigned int iw_cq_poll(struct iw_cq *cq, unsigned int n, struct iw_cqe *out);
/* (consumer) the next matching completion makes cq appear in iw_next_notify(), once */
void iw_cq_arm(struct iw_cq *cq, bool solicited_only);
/*
 * CQs whose armed completion came, each once; NULL: none. To be asked after whatever may have
 * completed something, before the engine lock is given up: armed is looked at here and not per
 * completion.
 */
struct iw_cq *iw_next_notify(struct iw_rnic *rnic);

/*
 * ---- QP ----
 *
 * Which WR gets which status when a session fails (all others: WR_FLUSH_ERR):
 *   LOC_PROT_ERR   its lkey, rights or bounds, or its memory is not mapped; the sink of a read or an
 *                  atomic went away
 *   LOC_LEN_ERR    a Send was longer than this receive
 *   LOC_QP_OP_ERR  a read or atomic without any ORD, LOCAL_INV of what is no STag of the PD, a bad
 *                  opcode, a SEND_WITH_IMM of more than nothing
 *   MW_BIND_ERR    a bind of what is no window of the PD, to what is no part of an MR of it that
 *                  allows it, with the key that the window has, or of a type 2 window that is bound
 *   REM_OP_ERR     the read or atomic that a wrong response came for; the WR that a Terminate names
 *   REM_ACCESS_ERR, REM_INV_REQ_ERR  the WR that a Terminate names, where it still is in the queue
 *   RETRY_EXC_ERR  of a QP connected out of band: the oldest WR when the peer has gone, or has never come
 * A Send or Write is complete once SCTP has taken it, or the peer has acknowledged what it references (zcopy.c), so that a
 * Terminate about it often finds no WR any more. A remote invalidation is refused (Terminate 0/1/09) unless the MR is of the QP's PD,
 * has remote rights, and no other QP shares the PD (RFC 5040 8.1.1), or it is a window of this
 * stream. LOCAL_INV waits for the reads and atomics before it; a bind takes effect before the next WR begins.
 *
 * Immediate data is 8 octets on the wire (RFC 7306 6.2) and 4 in verbs: see immediate.c.
 */

struct iw_sge {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

/* A slot of the send queue; inline data stands in place of the SGEs. */
struct iw_send_wqe {
	uint64_t wr_id;
	uint8_t opcode; /* iw_wr_opcode */
	uint8_t flags;	/* iw_send_flags */
	uint8_t num_sge;
	uint8_t progress; /* the engine's */
	uint32_t length;  /* of the message, bytes: sum of the SGEs, or of the inline data */
	uint64_t remote_to;
	uint32_t rkey;
	union {
		uint32_t inv_stag; /* SEND_WITH_INV, LOCAL_INV; BIND_MW: the window, by its index */
		uint32_t imm_data; /* *_WITH_IMM; network order, as it was posted */
	};
	union {
		struct { /* the engine's */
			uint32_t msn;	   /* on QN 0, of what is sent there */
			uint32_t zcopy_seq; /* IW_WQE_REFERENCED: iw_assoc.pulled at its last message that references */
		};
		struct {      /* ATOMIC_*: host order; length is 8 */
			uint64_t compare_add;
			uint64_t swap;
		};
		/* BIND_MW: this much of that MR, from remote_to on; rkey is the new STag */
		struct {
			uint64_t length;
			uint32_t lkey;
			uint32_t access; /* IW_ACCESS_REMOTE_*, IW_ACCESS_ZERO_BASED */
		} bind;
	};
	struct iw_sge sge[]; /* or uint8_t[length] with IW_SEND_INLINE */
};

struct iw_recv_wqe {
	uint64_t wr_id;
	uint32_t num_sge;
	uint32_t length; /* sum of the SGEs */
	struct iw_sge sge[];
};

/* Slots of a fixed stride; indexes run freely and are masked. */
struct iw_ring {
	uint8_t *slots;
	uint32_t mask;
	uint32_t stride;
	uint32_t limit; /* WRs that may be outstanding */
	_Alignas(64) _Atomic uint32_t head; /* consumer: the engine; a slot is free again once completed */
	_Alignas(64) _Atomic uint32_t tail; /* producer: the application */
};

/* What has new WRs: on the engine's list, pushed lock-free by the application's threads. */
struct iw_doorbell {
	_Atomic bool pending;
	bool is_srq;
	struct iw_doorbell *next;
};

/*
 * ---- SRQ ----
 *
 * Receives that several QPs share. A Send takes one when its first segment comes, or, where there is
 * none, as soon as one is posted: QPs that wait are served in turn. A QP takes them in the order of
 * its messages: when one overtakes others on its way, those get their receives before it. So whatever
 * was taken can complete, and never are all receives with messages that wait for one. A QP whose
 * next message has a receive may take more only while it has fewer than are left: so no peer has
 * all of them by many messages that it does not finish (RFC 5042 6.4.3.1). Until then they are held.
 *
 * A slot belongs to the application (freed), to the queue (posted), or to a QP (taken). It is
 * given back when the receive completes. When the QP enters the error state the receives of messages that
 * have begun are flushed; the others, and all when the QP is reset or freed, go back to the
 * front of the queue.
 */
struct iw_srq {
	uint8_t *slots;
	uint32_t stride;
	uint32_t size;	 /* slots */
	uint32_t max_wr; /* that may be outstanding, those in process among them */
	uint32_t max_sge;
	uint32_t *posted, *freed; /* rings of slot numbers */
	uint32_t mask;		  /* of both */
	_Alignas(64) _Atomic uint32_t posted_tail; /* producer, as the next */
	uint32_t freed_head;
	_Alignas(64) _Atomic uint32_t freed_tail; /* the engine, as the next */
	uint32_t posted_head;
	uint32_t limit; /* IW_EVENT_SRQ_LIMIT when fewer are left; 0: not armed */
	uint32_t refs;	/* QPs */
	_Atomic bool awaited; /* Sends are held that wait for receives */
	struct iw_doorbell doorbell;
	struct iw_rnic *rnic;
	struct iw_pd *pd;
	void *ctx; /* the verbs layer's */
};

/* -EINVAL: no WR, or a limit exceeded; -ENOMEM. */
int iw_srq_new(struct iw_pd *pd, uint32_t max_wr, uint32_t max_sge, void *ctx,
	       struct iw_srq **srq);
int iw_srq_free(struct iw_srq *srq); /* -EBUSY while QPs use it */
/* (producer side locked by the caller too) -EINVAL: fewer than are outstanding, or too many; -ENOMEM */
int iw_srq_resize(struct iw_srq *srq, uint32_t max_wr);
/*
 * The event comes once, when a receive is taken that leaves fewer than limit, or a Send finds
 * none. 0: no event. -EINVAL: above max_wr.
 */
int iw_srq_arm(struct iw_srq *srq, uint32_t limit);

/* (producer) The next free slot, or NULL: queue full. Fill it, then publish. */
static inline struct iw_recv_wqe *iw_srq_slot(struct iw_srq *srq)
{
	/* Acquire: the engine has done reading a slot that it gave back. */
	uint32_t free = atomic_load_explicit(&srq->freed_tail, memory_order_acquire) -
			srq->freed_head;

	if (srq->size - free >= srq->max_wr)
		return NULL;
	return (void *)(srq->slots +
			(size_t)srq->freed[srq->freed_head & srq->mask] * srq->stride);
}

static inline void iw_srq_publish(struct iw_srq *srq)
{
	uint32_t tail = atomic_load_explicit(&srq->posted_tail, memory_order_relaxed);

	srq->posted[tail & srq->mask] = srq->freed[srq->freed_head++ & srq->mask];
	atomic_store_explicit(&srq->posted_tail, tail + 1, memory_order_release);
}

/* (producer, after publishing) As iw_rq_is_awaited(). */
static inline bool iw_srq_is_awaited(const struct iw_srq *srq)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&srq->awaited, memory_order_relaxed);
}

struct iw_qp_attr {
	struct iw_pd *pd;
	struct iw_cq *send_cq, *recv_cq;
	struct iw_srq *srq; /* of the same PD; or NULL. With one, max_recv_* count for nothing. */
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline;
	bool sq_sig_all;
	uint32_t num; /* 0: any */
	void *ctx; /* the verbs layer's */
};

struct iw_qp {
	uint32_t num; /* 24 bits */
	_Atomic uint32_t state;	/* enum iw_qp_state; written under the engine lock, read anywhere */
	uint32_t max_inline, max_send_sge, max_recv_sge;
	bool sq_sig_all;
	struct iw_ring sq, rq;
	_Atomic bool rq_awaited; /* Sends are held that wait for receives */
	struct iw_doorbell doorbell;
	struct iw_rnic *rnic;
	struct iw_pd *pd;
	struct iw_cq *send_cq, *recv_cq;
	struct iw_srq *srq; /* or NULL */
	void *ctx;
	bool by_cm; /* the connection manager moves it through its states, so no IB state masks hold */
	/*
	 * Not NULL: connected out of band, the engine's (engine/oob.h). Its session leaves the state alone: it may
	 * be established in RTR, and a peer that ends it, or goes away, leaves the QP in RTR or RTS, and its WRs
	 * where they are: iw_qp_give_up(). It may
	 * send in RTR as well: iWARP knows no state in which a connection takes and does not send, and
	 * perftest's receivers rely on that where the device is an iWARP one.
	 */
	struct oob_qp *_Atomic oob;
	uint32_t access; /* remote rights of this QP: IW_ACCESS_REMOTE_*; all unless modify_qp says less */
	struct iw_qp_private *priv; /* iwarp/ only */
};

/*
 * -EINVAL: a limit exceeded, an SRQ of another PD, or a number that is taken; -ENOMEM. The QP is in RESET. Limits
 * are rounded up in qp.
 */
int iw_qp_new(struct iw_rnic *rnic, const struct iw_qp_attr *attr, struct iw_qp **qp);
/* Ends its session (Terminate to the peer, RFC 5043 5.4); the QP is not touched again. */
int iw_qp_free(struct iw_qp *qp);
struct iw_qp *iw_qp_by_num(struct iw_rnic *rnic, uint32_t num);
/*
 * State changes of the verbs: RESET->INIT, INIT->RTR, any->ERR (flushes; Terminates the session),
 * any->RESET (empties the queues), RTS<->SQD, same->same. RTS is entered by the session when it is
 * established, asking for RTR or RTS then is fine; a QP connected out of band goes RTR->RTS. -EINVAL: not
 * allowed; nothing changes.
 */
int iw_qp_modify(struct iw_qp *qp, enum iw_qp_state next);
/* In SQD: WRs that were begun before are not complete yet. */
bool iw_qp_is_draining(const struct iw_qp *qp);
/* In SQD: IW_EVENT_SQ_DRAINED when that is over, or now; once, and not when SQD is left before. */
void iw_qp_notify_drained(struct iw_qp *qp);
void iw_qp_set_access(struct iw_qp *qp, uint32_t access); /* IW_ACCESS_REMOTE_* */
/* Of a QP that may have a session: so many reads at once from now on, or as many as the peer takes. */
void iw_qp_set_ord(struct iw_qp *qp, uint32_t ord);
/* Its peer cannot be reached: to ERR, the oldest WR with RETRY_EXC_ERR. */
void iw_qp_give_up(struct iw_qp *qp);
/* No WR of the send queue waits to be taken up or completed. */
static inline bool iw_sq_is_empty(const struct iw_qp *qp)
{
	return atomic_load_explicit(&qp->sq.head, memory_order_relaxed) ==
	       atomic_load_explicit(&qp->sq.tail, memory_order_acquire);
}

/*
 * (producer) The free slot that ahead others precede (those that were filled and are not published
 * yet), or NULL: queue full. Fill it, then publish.
 */
static inline void *iw_ring_slot(struct iw_ring *r, uint32_t ahead)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed) + ahead;

	/* Acquire: the engine has done reading a slot that it gave back. */
	if (tail - atomic_load_explicit(&r->head, memory_order_acquire) >= r->limit)
		return NULL;
	return r->slots + (size_t)(tail & r->mask) * r->stride;
}

/* (producer) Hands n filled slots to the engine. */
static inline void iw_ring_publish(struct iw_ring *r, uint32_t n)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	atomic_store_explicit(&r->tail, tail + n, memory_order_release);
}

static inline struct iw_send_wqe *iw_sq_slot(struct iw_qp *qp)
{
	return iw_ring_slot(&qp->sq, 0);
}

static inline void iw_sq_publish(struct iw_qp *qp)
{
	iw_ring_publish(&qp->sq, 1);
}

/* (producer) In SQD and in the error states work requests are taken: they wait, or are flushed. */
static inline bool iw_sq_may_post(const struct iw_qp *qp)
{
	uint32_t state = atomic_load_explicit(&qp->state, memory_order_relaxed);

	return state >= IW_QPS_RTS ||
	       (state == IW_QPS_RTR && atomic_load_explicit(&qp->oob, memory_order_relaxed));
}

static inline struct iw_recv_wqe *iw_rq_slot(struct iw_qp *qp)
{
	return iw_ring_slot(&qp->rq, 0);
}

static inline void iw_rq_publish(struct iw_qp *qp)
{
	iw_ring_publish(&qp->rq, 1);
}

/*
 * (producer, after publishing) Must the RNIC look at the receives now, or will it do so by itself
 * when a Send comes? It raises rq_awaited, or enters the error state, and then looks for receives;
 * with a full fence between the two steps of each side, one of them sees the other.
 */
static inline bool iw_rq_is_awaited(const struct iw_qp *qp)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&qp->rq_awaited, memory_order_relaxed) ||
	       atomic_load_explicit(&qp->state, memory_order_relaxed) == IW_QPS_ERR;
}

/*
 * Under the engine lock, after publishing (the engine's doorbell list): the RNIC looks at the new
 * WRs: the session becomes ready to be pulled, held Sends meet new receives, a QP in error flushes.
 */
void iw_qp_doorbell(struct iw_qp *qp);
/* The same for what is on the list, QP or SRQ; of an SRQ Sends that wait take the new receives. */
void iw_doorbell_serve(struct iw_doorbell *doorbell);

/* ---- associations and sessions ---- */

/* What iwarp asks of the lower-layer protocol (LLP); llp is its association. */
struct iw_llp_ops {
	void (*doorbell)(void *llp); /* iw_assoc_pull() has something to give */
	/*
	 * How many of the messages that were pulled so far the peer has acknowledged without a gap,
	 * modulo 2^32: a session Terminate must not overtake the Initiate or Accept, and a
	 * stream is not used again while anything is outstanding (RFC 5043 6.6). Asked, not told:
	 * while a session waits for it, iw_timers() is due every few milliseconds. NULL: what was pulled
	 * counts as arrived.
	 */
	uint32_t (*acked)(void *llp);
	/*
	 * Makes copies of what messages of a stream have referenced, or of all: sid -1. NULL: nothing is ever referenced
	 * (iw_msg.zcopy_window).
	 */
	void (*copy_out)(void *llp, int sid);
};

struct iw_msg {
	uint16_t sid;
	uint32_t ppid; /* 16: DDP segment, 17: session control (RFC 5043 4.2) */
	bool more;
	/*
	 * Set before the call: how many bytes may be in flight. Then the last ref_len bytes of the message may
	 * be left unwritten, and stay in the application's memory, at referenced, until iw_assoc_acked() is told that
	 * the message is acknowledged, or iw_llp_ops.copy_out was called. 0: nothing is referenced.
	 */
	uint32_t zcopy_window;
	const uint8_t *ref; /* NULL: the message is whole */
	uint32_t ref_len;
};

/*
 * initiator: we opened the association: our sessions take even stream ids, else odd ones. A peer whose Initiates
 * come on the same ones changes that.
 */
struct iw_assoc *iw_assoc_new(struct iw_rnic *rnic, const struct iw_llp_ops *ops, void *llp,
			      bool initiator, unsigned int streams, size_t max_msg);
void *iw_assoc_llp(const struct iw_assoc *assoc);
/* Largest user message the path takes in one packet; at least 518 (RFC 5043: MULPDU >= 516). */
void iw_assoc_set_max_msg(struct iw_assoc *assoc, size_t max_msg);
/* The association is gone: every session ends with an event (error: -errno), QPs go to error, but for
 * that of an Initiate with a user which has no answer yet: it is as before. The iw_assoc is freed. */
void iw_assoc_lost(struct iw_assoc *assoc, int error);
/* As it is by now. */
bool iw_assoc_is_initiator(const struct iw_assoc *assoc);
unsigned int iw_assoc_sessions(const struct iw_assoc *assoc); /* that are not over yet */
/*
 * The LLP's association of one whose last session has ended since it was told the last time, or
 * NULL. There may be sessions on it again.
 */
void *iw_next_idle(struct iw_rnic *rnic);

/*
 * The next message of the sessions in turn, at most room bytes into buf. Returns its length; 0: none,
 * or none that is worth starting in so little room. Untagged messages and session control go at once.
 */
size_t iw_assoc_pull(struct iw_assoc *assoc, uint8_t *buf, size_t room, struct iw_msg *msg);
/*
 * The bytes that a message had referenced cannot be read any more. From now on it says an invalid DDP version (RFC 5041
 * 4.1): the peer, should it not have the message as it was, ends the session.
 */
void iw_poison(uint8_t *message);
/* The LLP has acknowledged more of the messages: what had referenced its memory is complete. May end sessions. */
void iw_assoc_acked(struct iw_assoc *assoc);

/*
 * A user message arrived, in any order, never twice. Placement happens inside, from data to its final
 * buffer. -EPROTO: the peer broke the rules in a way that concerns the whole association (abort it);
 * what concerns one session is dealt with inside (Terminate).
 */
int iw_assoc_receive(struct iw_assoc *assoc, uint16_t sid, uint32_t ppid, const uint8_t *data,
		     size_t len);

/* Kinds of an RTR indication, all without payload; where there is a choice the first of WRITE, READ, SEND. */
#define IW_RTR_SEND 1u
#define IW_RTR_WRITE 2u
#define IW_RTR_READ 4u
#define IW_RTR_ANY (IW_RTR_SEND | IW_RTR_WRITE | IW_RTR_READ)

struct iw_session_param {
	uint32_t ird, ord;	/* of this side; negotiated ones in events (RFC 6581) */
	uint8_t rnr_retry_count; /* 7: wait for ever; else x 655 ms, then Terminate */
	/*
	 * initiate: 0, or the kinds of which one is sent after the Accept, before all else (RFC 6581 9.2); in
	 * INITIATE those that the peer can make, or any, if it wants a peer-to-peer connection and names none
	 */
	uint8_t rtr;
	uint16_t private_data_len; /* at most IW_MAX_PRIVATE_DATA - 4 */
	uint8_t private_data[IW_MAX_PRIVATE_DATA];
};

struct iw_event;

/* What a user of sessions does about their events. */
struct iw_session_ops {
	/* ev->user is whose event it is. */
	void (*event)(const struct iw_event *ev);
};

/*
 * To whom the events of a session go: whoever fetches them with iw_next_event() calls ops->event(). iwarp
 * carries all of it around and looks at none of it, except that ctx is NULL while a session has no user.
 */
struct iw_session_user {
	const struct iw_session_ops *ops;
	void *ctx;
	uint32_t handle; /* names what may be gone before the event is fetched */
};

/*
 * Active side: picks an idle stream of our parity and sends an (Enhanced) Initiate. The QP is bound:
 * when the Accept arrives it is in RTS before the next segment is processed. -EAGAIN: no stream left;
 * -EINVAL: the QP is in a wrong state or bound already.
 * user: to whom its events go, or NULL; copied.
 */
int iw_session_initiate(struct iw_assoc *assoc, struct iw_qp *qp, const struct iw_session_param *p,
			const struct iw_session_user *user, struct iw_session **session);
/*
 * A session of a QP that is oob to itself, established at once: what is pulled of it is to be handed back
 * to iw_assoc_receive() of the same association, in order. What it refuses is blamed on the WR as
 * well, where that is not complete. -EAGAIN, -EINVAL, -ENOMEM as above.
 */
int iw_session_to_self(struct iw_assoc *assoc, struct iw_qp *qp, const struct iw_session_param *p,
		       const struct iw_session_user *user, struct iw_session **session);
/*
 * Passive side, after IW_EVENT_INITIATE. Accept puts the QP into RTS at once. -EINVAL as above;
 * -ECONNRESET: the session is over already, CLOSED waits to be fetched. IRD is raised to the
 * initiator's ORD, ORD lowered to its IRD (RFC 6581 9.1). Where the initiator asked for a peer-to-peer
 * connection nothing leaves the QP before its RTR indication: iw_session_awaits_rtr(), until IW_EVENT_RTR.
 */
int iw_session_accept(struct iw_session *session, struct iw_qp *qp,
		      const struct iw_session_param *p);
bool iw_session_awaits_rtr(const struct iw_session *session);
/* Reject and refuse (and close below) end the caller's hold on the session. */
int iw_session_reject(struct iw_session *session, const void *private_data, size_t len);
/* Refused without asking the application (backlog overflow, RFC 5043 6.4): session Terminate. */
void iw_session_refuse(struct iw_session *session);
/* From now on the events of the session name this user. user is copied. */
void iw_session_set_user(struct iw_session *session, const struct iw_session_user *user);
/* rnr_retry_count of the parameters, where the peer says it after the beginning. */
void iw_session_set_rnr_retry(struct iw_session *session, uint8_t count);
struct iw_assoc *iw_session_assoc(const struct iw_session *session);
/*
 * Orderly end from this side (rdma_disconnect), at any time before CLOSED or REJECT was fetched: the
 * QP goes to error (what was not handed to the LLP yet is flushed), a session Terminate goes out behind
 * what was. Also takes back an Initiate. No event follows; the session pointer is not to be used again.
 */
void iw_session_close(struct iw_session *session);
/* As close, of a session that is waited for in vain: the peer is told why (RFC 6581 9.3), where that is legal. */
void iw_session_abandon(struct iw_session *session);

enum iw_event_type {
	/*
	 * param of INITIATE, ACCEPT and REJECT: the peer's private data, its IRD and ORD as it said them; from a
	 * plain Initiate, or where it leaves them to the ULP (RFC 6581 9.1), IW_MAX_IRD and IW_MAX_ORD;
	 * from such an Accept what this side works with.
	 */
	IW_EVENT_INITIATE,    /* passive: session */
	IW_EVENT_ACCEPT,      /* active: session, qp; established */
	IW_EVENT_RTR,	      /* passive: session, qp; established by the RTR indication */
	IW_EVENT_REJECT,      /* active: the session is over; the QP is as it was before it */
	/*
	 * The session is over, qp is in error (NULL: freed meanwhile, or as before). error: 0 orderly by the peer; -EPROTO
	 * this side found an error (also of its own: a WR failed), -ECONNRESET the peer did (RDMAP
	 * Terminate), -ECONNREFUSED the Initiate was answered by a Terminate, -ECONNABORTED the
	 * application freed the QP or moved it, -ECONNRESET it crossed one of the peer's on the same
	 * stream, and the QP is as before, else what iw_assoc_lost() was given.
	 */
	IW_EVENT_CLOSED,
	/* From here on the events are not of a session. */
	IW_EVENT_QP_COMM_EST, /* qp: IBV_EVENT_COMM_EST: connected out of band, in RTR, and the first message has come */
	IW_EVENT_QP_FATAL,    /* qp: IBV_EVENT_QP_FATAL: RDMAP Terminate or illegal message from the peer */
	IW_EVENT_QP_ACCESS,   /* IBV_EVENT_QP_ACCESS_ERR: we refused the peer's access */
	IW_EVENT_QP_REQUEST,  /* IBV_EVENT_QP_REQ_ERR: we refused the peer's malformed request */
	IW_EVENT_CQ_ERROR,    /* cq: overflow */
	IW_EVENT_SQ_DRAINED,  /* qp: IBV_EVENT_SQ_DRAINED, where iw_qp_notify_drained() asked for it */
	IW_EVENT_SRQ_LIMIT,   /* srq: IBV_EVENT_SRQ_LIMIT_REACHED */
	IW_EVENT_QP_LAST_WQE, /* qp is in error, and takes nothing from its SRQ any more */
};

/* Whether events of this type are of a session, and so for its user. */
static inline bool iw_event_is_of_session(enum iw_event_type type)
{
	return type < IW_EVENT_QP_COMM_EST;
}

struct iw_event {
	enum iw_event_type type;
	struct iw_assoc *assoc; /* NULL once it is lost */
	struct iw_session *session;
	struct iw_session_user user; /* as given to iw_session_initiate() or iw_session_set_user() */
	struct iw_qp *qp;
	struct iw_cq *cq;
	struct iw_srq *srq;
	int error;
	struct iw_session_param param;
};

/* false: none. After CLOSED and REJECT the session pointer is dead. Events of a QP, CQ, SRQ that is freed vanish. */
bool iw_next_event(struct iw_rnic *rnic, struct iw_event *ev);

#endif
