/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The commands that a program writes to /dev/infiniband/rdma_cm. ucma.c takes a command apart and
 * calls the function for it. Checks and errors are those of the kernel
 * (drivers/infiniband/core/ucma.c).
 *
 * Locks: none. A command runs in the thread that writes, which holds a reference to the channel.
 */
#ifndef KERNEL_ABI_UCMA_CMD_H
#define KERNEL_ABI_UCMA_CMD_H

#include <rdma/rdma_user_cm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/socket.h>

#include "rnic.h"

/*
 * Definitions that <rdma/rdma_user_cm.h> has since Linux 6.17: the last commands, a kind of query,
 * and their layouts.
 */
enum {
	UCMA_CMD_RESOLVE_IB_SERVICE = RDMA_USER_CM_CMD_JOIN_MCAST + 1,
	UCMA_CMD_WRITE_CM_EVENT,
	UCMA_CMD_END,
};

#define UCMA_QUERY_IB_SERVICE (RDMA_USER_CM_QUERY_GID + 1)

struct ucma_resolve_ib_service {
	uint32_t id;
	uint32_t reserved;
	uint64_t service_id;
	uint8_t service_name[64];
	uint32_t flags;
	uint32_t reserved1;
};

struct ucma_write_cm_event {
	uint32_t id;
	uint32_t reserved;
	uint32_t event;
	uint32_t status;
	uint64_t arg; /* the member of a union that these events have */
};

struct ucma_query_ib_service_resp {
	uint32_t num_service_recs;
	uint32_t reserved;
};

/* One command while it is served. */
struct ucma_request {
	const struct sctpiw_rnic_api *api;
	struct kfile *kf; /* the channel that the command was written to */
	int fd;		  /* the descriptor that it was written to */
	size_t out_len;	  /* bytes of room at the address of the answer, as the header says */
};

/*
 * Whether the id is on this channel and bound to the device. 0; -ENOENT if there is no such id;
 * -EINVAL if it is on another channel or not bound; or the RNIC's error. For commands that the RNIC takes from unbound
 * ids, too; it refuses the others itself.
 */
int ucma_check_bound(const struct ucma_request *rq, uint32_t id);

/* Whether kf is a channel of RDMA CM, and not another of our files. */
bool ucma_is_channel(const struct kfile *kf);

/* The smaller of two lengths. */
static inline size_t ucma_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Length of a sockaddr in bytes; 0 for a family that no address of RDMA CM has. */
size_t ucma_addr_size(const void *addr);
/* The IP address that an address of any family stands for: a GID of family AF_IB is one. */
void ucma_ip_of(const void *addr, struct sockaddr_storage *ip);

/*
 * The commands. in: the request struct of the command, in host byte order, aligned, with zeros for
 * what the program left out at its end. A command writes its answer, if it has one, to the address
 * in the request. Each returns 0 or -errno: -ENOSPC if there is no room for the answer, -EFAULT if
 * its address cannot be written to, -ENOENT if there is no such id, -EINVAL if the id is on another
 * channel or the request makes no sense, -ENOMEM, or the RNIC's error.
 */

/* ucma_id.c: ids as such. */
int ucma_create_id(const struct ucma_request *rq, const void *in);
int ucma_destroy_id(const struct ucma_request *rq, const void *in);
/* Written to the new channel; the request names a descriptor of the old one. */
int ucma_migrate_id(const struct ucma_request *rq, const void *in);
int ucma_set_option(const struct ucma_request *rq, const void *in);
int ucma_notify(const struct ucma_request *rq, const void *in);

/* ucma_mcast.c: groups that an id joins, each under a handle of its own. */
int ucma_join_ip_mcast(const struct ucma_request *rq, const void *in);
int ucma_join_mcast(const struct ucma_request *rq, const void *in);
int ucma_leave_mcast(const struct ucma_request *rq, const void *in);

/*
 * ucma_addr.c: the addresses of an id. Of some commands there are two, of which the older ones know
 * IP addresses only (-EINVAL for others; the newer ones say -EAFNOSUPPORT).
 */
int ucma_bind_ip(const struct ucma_request *rq, const void *in);
int ucma_bind(const struct ucma_request *rq, const void *in);
int ucma_resolve_ip(const struct ucma_request *rq, const void *in);
int ucma_resolve_addr(const struct ucma_request *rq, const void *in);
int ucma_resolve_route(const struct ucma_request *rq, const void *in);
int ucma_query_route(const struct ucma_request *rq, const void *in);
int ucma_query(const struct ucma_request *rq, const void *in);
/* -EOPNOTSUPP, as for each device whose port has no subnet administrator of InfiniBand to ask. */
int ucma_resolve_ib_service(const struct ucma_request *rq, const void *in);

/* ucma_conn.c: connections and events. */
int ucma_connect(const struct ucma_request *rq, const void *in);
int ucma_listen(const struct ucma_request *rq, const void *in);
int ucma_accept(const struct ucma_request *rq, const void *in);
int ucma_reject(const struct ucma_request *rq, const void *in);
int ucma_disconnect(const struct ucma_request *rq, const void *in);
int ucma_init_qp_attr(const struct ucma_request *rq, const void *in);
int ucma_write_cm_event(const struct ucma_request *rq, const void *in);
/*
 * Waits for the channel's next event: -EAGAIN if the descriptor is O_NONBLOCK and there is none,
 * -EINTR as rnic_wait_readable(). A cancellation point, at which the reference to the channel is
 * put.
 */
int ucma_get_event(const struct ucma_request *rq, const void *in);
/* To be called before the channel is closed: gives the thread that took its last event the time to ask for the next. */
void ucma_let_taker_return(struct kfile *kf);

#endif
