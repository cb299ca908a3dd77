/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The commands that a program writes to /dev/infiniband/rdma_cm. ucma.c parses a command and calls
 * its function. Checks and errors are the kernel's (drivers/infiniband/core/ucma.c).
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
 * Definitions that <rdma/rdma_user_cm.h> has since Linux 6.17: the last commands, a query option,
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
	uint64_t arg; /* the member of a union that these events use */
};

struct ucma_query_ib_service_resp {
	uint32_t num_service_recs;
	uint32_t reserved;
};

/* One command in progress. */
struct ucma_request {
	const struct sctpiw_rnic_api *api;
	struct kfile *kf; /* the channel that received the command */
	int fd;		  /* the descriptor that received the command */
	size_t out_len;	  /* bytes of room for the answer, from the header */
};

/*
 * Returns 0 if the id is on this channel and bound to the device. -ENOENT: the id does not exist.
 * -EINVAL: the id is on another channel or not bound. Or returns the RNIC's error. Used by commands
 * that the RNIC also accepts for unbound ids; the RNIC itself refuses the others.
 */
int ucma_check_bound(const struct ucma_request *rq, uint32_t id);

/* True if kf is a channel of RDMA CM, and no other kind of kfile. */
bool ucma_is_channel(const struct kfile *kf);

static inline size_t ucma_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Returns the length of a sockaddr in bytes; 0 for a family that RDMA CM does not use. */
size_t ucma_addr_size(const void *addr);
/* Writes the IP address of an address of any family: a GID of family AF_IB is an IP address. */
void ucma_ip_of(const void *addr, struct sockaddr_storage *ip);

/*
 * The commands. in: the request struct of the command, in host byte order, aligned. Members at its
 * end that the program omitted are 0. A command writes its answer, if any, to the address in the
 * request. Each returns 0, -ENOMEM, the RNIC's error, or:
 * - -ENOSPC: the answer does not fit.
 * - -EFAULT: the answer's address is not writable.
 * - -ENOENT: the id does not exist.
 * - -EINVAL: the id is on another channel, or the request is invalid.
 */

/* ucma_id.c: ids themselves. */
int ucma_create_id(const struct ucma_request *rq, const void *in);
int ucma_destroy_id(const struct ucma_request *rq, const void *in);
/* Written to the new channel; the request has a descriptor of the old channel. */
int ucma_migrate_id(const struct ucma_request *rq, const void *in);
int ucma_set_option(const struct ucma_request *rq, const void *in);
int ucma_notify(const struct ucma_request *rq, const void *in);

/* ucma_mcast.c: groups that an id joins, each with its own handle. */
int ucma_join_ip_mcast(const struct ucma_request *rq, const void *in);
int ucma_join_mcast(const struct ucma_request *rq, const void *in);
int ucma_leave_mcast(const struct ucma_request *rq, const void *in);

/*
 * ucma_addr.c: the addresses of an id. Some commands have an older variant that accepts IP
 * addresses only. The older variant fails with -EINVAL for others, the newer one with
 * -EAFNOSUPPORT.
 */
int ucma_bind_ip(const struct ucma_request *rq, const void *in);
int ucma_bind(const struct ucma_request *rq, const void *in);
int ucma_resolve_ip(const struct ucma_request *rq, const void *in);
int ucma_resolve_addr(const struct ucma_request *rq, const void *in);
int ucma_resolve_route(const struct ucma_request *rq, const void *in);
int ucma_query_route(const struct ucma_request *rq, const void *in);
int ucma_query(const struct ucma_request *rq, const void *in);
/* Fails with -EOPNOTSUPP, as for each device whose port has no InfiniBand subnet administrator. */
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
 * Waits for the channel's next event. Returns -EAGAIN if the descriptor is O_NONBLOCK and no event
 * is available, and -EINTR as rnic_wait_readable() does. It is a cancellation point, which puts the
 * reference to the channel.
 */
int ucma_get_event(const struct ucma_request *rq, const void *in);
/*
 * Call this before the channel is closed: gives the thread that took the last event time to request
 * the next one.
 */
void ucma_let_taker_return(struct kfile *kf);

#endif
