/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The engine: one lock, one SCTP instance, one iwarp RNIC, the sockets, the timers and the
 * progress thread. A process has one (it is made on first use, and anew in a child after fork).
 *
 * Who makes progress: a thread that polls a CQ and finds it empty runs the engine itself when
 * the lock is free; the progress thread does when nobody polls. A poster that finds the lock taken
 * leaves its QP on the kick list; whoever holds the lock serves the list before letting go.
 */
#ifndef SCTPIW_ENGINE_ENGINE_H
#define SCTPIW_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct iw_rnic;
struct iw_qp;

/* The process's engine, started if need be. NULL: errno says why, and a line was logged. */
struct engine *engine_get(void);
struct iw_rnic *engine_rnic(struct engine *e);

/*
 * The engine lock, for control operations: everything of iwarp.h and sctp.h that is not a
 * producer's or consumer's end. Waiters are preferred to pollers. Unlocking runs what was kicked
 * and sends what became ready.
 */
void engine_lock(struct engine *e);
void engine_unlock(struct engine *e);
void engine_assert_locked(const struct engine *e);

/*
 * After iw_sq_publish()/iw_rq_publish(), without the lock. Never blocks. bytes: of what was posted;
 * little of it may wait for more.
 */
void engine_kick(struct engine *e, struct iw_qp *qp, uint64_t bytes);
#define ENGINE_AT_ONCE UINT64_MAX
/* From poll_cq with an empty CQ, without the lock. Never blocks. */
void engine_progress(struct engine *e);
/* The application armed a CQ: it may go to sleep now, so the progress thread takes over at once. */
void engine_armed(struct engine *e);

/*
 * May this process read (write: also write) all of [addr, addr + len)? 0 or -EFAULT. A moment's
 * truth: memory that goes away later is caught when it is touched.
 */
int engine_memory_check(uint64_t addr, uint64_t len, bool write);
/* From the first call on, faults in the engine's copies become errors (engine/memory.c). */
int engine_memory_guard(void);

/* Does the setting in-order hold: what comes is placed in order, and each piece of it from its first byte on? */
bool engine_in_order(const struct engine *e);

/* Device attributes that depend on the machine. */
uint64_t engine_node_guid(struct engine *e); /* network byte order */
int engine_gid(struct engine *e, unsigned int index, uint8_t gid[16]); /* -ENOENT past the end */
bool engine_port_active(struct engine *e); /* some interface is up */
unsigned int engine_active_mtu(struct engine *e); /* largest MTU of the interfaces that are up, bytes */

#endif
