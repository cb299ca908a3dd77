/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The engine: one lock, one SCTP instance, one iwarp RNIC, the sockets, the timers and the
 * progress thread. A process has one (it is made on first use, and anew in a child after fork).
 *
 * Who makes progress: a thread that polls a CQ and finds it empty runs the engine itself when
 * the lock is free; the progress thread does when nobody polls. A poster that finds the lock taken
 * leaves its QP on the doorbell list; whoever holds the lock serves the list before letting go.
 */
#ifndef SCTPIW_ENGINE_ENGINE_H
#define SCTPIW_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "runtime/channel.h"
#include "util/list.h"

struct engine;
struct iw_rnic;
struct iw_cq;
struct iw_qp;
struct iw_srq;

/* The process's engine, started if need be. NULL: errno says why, and a line was logged. */
struct engine *engine_get(void);
struct iw_rnic *engine_rnic(struct engine *e);

/*
 * The engine lock, for control operations: everything of iwarp.h and sctp.h that is not a
 * producer's or consumer's end. Waiters are preferred to pollers. Unlocking runs what was rung
 * and sends what became ready.
 */
void engine_lock(struct engine *e);
void engine_unlock(struct engine *e);
void engine_assert_locked(const struct engine *e);

/*
 * After iw_sq_publish(), iw_rq_publish(), iw_srq_publish(), without the lock. Never blocks. bytes: of what was posted;
 * little of it may wait for more.
 */
void engine_doorbell(struct engine *e, struct iw_qp *qp, uint64_t bytes);
#define ENGINE_AT_ONCE UINT64_MAX
void engine_doorbell_srq(struct engine *e, struct iw_srq *srq);
/* From poll_cq with an empty CQ, without the lock. Never blocks. */
void engine_progress(struct engine *e);
/* Whether the entry of a CQ, whose answer_due was found to be due, still waits for the peer's answer. Without the lock. */
bool engine_awaits_answer(struct engine *e, struct iw_cq *cq, uint64_t due);
/* The application armed a CQ: it may go to sleep now, so the progress thread takes over at once. */
void engine_armed(struct engine *e);

/*
 * Under the engine lock: from now on timers run though there are no connections. -errno of
 * pthread_create().
 */
int engine_need_timers(struct engine *e);

/*
 * May this process read (write: also write) all of [addr, addr + len)? 0 or -EFAULT. A moment's
 * truth: memory that goes away later is caught when it is touched.
 */
int memory_check(uint64_t addr, uint64_t len, bool write);
/*
 * Brings the pages of [addr, addr + len) in, to be read or written: 0, or -EFAULT where there are
 * none that this process may use like that. A kernel that cannot (before 5.14) brings none, without
 * an error.
 */
int memory_populate(uint64_t addr, uint64_t len, bool write);
/* From the first call on, faults in the engine's copies become errors (engine/memory.c). */
int memory_guard(void);

/* Does the setting in-order hold: what comes is placed in order, and each piece of it from its first byte on? */
bool engine_in_order(const struct engine *e);

/* The clock of time stamps, ns, which never goes back; and the time of day that one of them was. */
uint64_t engine_clock(void);
uint64_t engine_wallclock(uint64_t stamp); /* ns since 1970 */

/* Device attributes that depend on the machine. */
int engine_processors(void); /* at least 1 */
uint64_t engine_node_guid(struct engine *e); /* network byte order */

struct engine_port {
	bool active;	   /* an interface that is up has an address */
	unsigned int mtu;  /* the largest of such interfaces, bytes; 0: there are none */
	uint8_t width;	   /* numbers of ibv_port_attr.active_width and active_speed, of the fastest interface */
	uint8_t speed;
	uint64_t downs;	   /* how often it stopped being active */
};

void engine_port(struct engine *e, struct engine_port *port);

/*
 * A counter of the port, named as its file in sysfs: since this process opened the device, of what it
 * sent and received itself. -ENOENT: there is none of this name.
 */
int counters_get(struct engine *e, const char *name, uint64_t *value);

/*
 * Who wants to know when the port becomes active or inactive, or the GID table changes: an event of each
 * kind on the source's channel (engine_async_event, element 1). The caller fills source, and keeps all of
 * it until engine_unwatch_port(), after which it purges the source. -errno: nobody could look out.
 */
struct engine_port_watcher {
	struct list_node node;
	struct channel_source source;
};

int engine_watch_port(struct engine *e, struct engine_port_watcher *watcher);
void engine_unwatch_port(struct engine *e, struct engine_port_watcher *watcher);

/*
 * The GID table (engine/gid.h): a slot for each address of the host, IPv4 ones as ::ffff:a.b.c.d. An entry
 * stays where it is as long as the address is there.
 */
#define ENGINE_GIDS 128 /* slots; never more or fewer */

struct engine_gid {
	uint8_t raw[16];
	struct sockaddr_storage addr; /* sockaddr_in or sockaddr_in6, port 0; with its scope id */
	unsigned int ifindex;
};

/* *gid is all zero on error: -EINVAL past the end, -ENODATA for an empty slot. */
int engine_gid(struct engine *e, unsigned int index, struct engine_gid *gid);
/* The lowest index of that GID, on that interface unless ifindex is 0; or -ENOENT. */
int engine_gid_find(struct engine *e, const uint8_t gid[16], unsigned int ifindex);

/*
 * ---- QP numbers and QPs connected out of band (engine lock) ----
 *
 * The upper 16 bits of a number are a port of this host that the process has bound, so that numbers are
 * unique on the host, and address and number lead to the owner. -errno of socket() and bind(), or -ENOMEM.
 */
int qp_num_get(struct engine *e, uint32_t *num);
void qp_num_put(struct engine *e, uint32_t num);

struct oob_peer {
	uint32_t dest_qp_num;
	struct engine_gid local;
	uint8_t dgid[16]; /* an IP address, as in the GID table */
	uint32_t ird;
};

/* What may be changed later, too. */
struct oob_attr {
	uint32_t ord;
	uint8_t rnr_retry;
	uint64_t limit; /* ns that a WR may wait for the peer to come; 0: for ever */
	uint64_t gone;	/* and behind the end of the session */
};

/*
 * INIT->RTR: from now on the QP looks for its peer, and is found by it. -EINVAL: wrong state, or an
 * address or number that cannot be; -ENOMEM. Nothing has changed then.
 */
int oob_connect(struct engine *e, struct iw_qp *qp, const struct oob_peer *w);
/* Of a QP that is oob. */
void oob_set_attr(struct iw_qp *qp, const struct oob_attr *attr);
/* After the QP was brought to RESET: it is an ordinary one again. Also for one that is none. */
void oob_disconnect(struct iw_qp *qp);

#endif
