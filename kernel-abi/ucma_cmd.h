/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The commands that a program writes to /dev/infiniband/rdma_cm. ucma.c parses a command, and calls
 * the function of the command. Checks and errors are the kernel's (drivers/infiniband/core/ucma.c).
 *
 * Locks: none. A command runs in the thread that writes it. This thread holds a reference to the
 * channel.
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
 * Definitions that <rdma/rdma_user_cm.h> contains only since Linux 6.17: the last commands, a query
 * option, and their structs.
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
	uint64_t arg; /* the union member for these events */
};

struct ucma_query_ib_service_resp {
	uint32_t num_service_recs;
	uint32_t reserved;
};

/* A command that is being performed. */
struct ucma_request {
	const struct sctpiw_rnic_api *api;
	struct kfile *kf; /* the channel to which the command was written */
	int fd;		  /* the descriptor to which the command was written */
	size_t out_len;	  /* size in bytes of the buffer for the answer, as stated in the header */
};

/*
 * Returns 0 if the id is on this channel and bound to the device. Otherwise returns -ENOENT if the
 * id does not exist, -EINVAL if the id is on another channel or not bound, or the error of the
 * RNIC. Only commands that the RNIC accepts for unbound ids need this check. For other commands,
 * the RNIC checks the id itself.
 */
int ucma_check_bound(const struct ucma_request *rq, uint32_t id);

/* True if kf is a channel of RDMA CM, and not a kfile of another kind. */
bool ucma_is_channel(const struct kfile *kf);

static inline size_t ucma_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Returns the length in bytes of a sockaddr, or 0 if RDMA CM does not use its family. */
size_t ucma_addr_size(const void *addr);
/*
 * Writes the IP address of an address of any family. For the family AF_IB, this is the GID, which
 * is an IP address.
 */
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

/* ucma_id.c: commands that make, move and destroy ids. */
int ucma_create_id(const struct ucma_request *rq, const void *in);
int ucma_destroy_id(const struct ucma_request *rq, const void *in);
/* Programs write this to the new channel. The request contains a descriptor of the old channel. */
int ucma_migrate_id(const struct ucma_request *rq, const void *in);
int ucma_set_option(const struct ucma_request *rq, const void *in);
int ucma_notify(const struct ucma_request *rq, const void *in);

/* ucma_mcast.c: commands by which an id joins and leaves groups. Each membership has a handle. */
int ucma_join_ip_mcast(const struct ucma_request *rq, const void *in);
int ucma_join_mcast(const struct ucma_request *rq, const void *in);
int ucma_leave_mcast(const struct ucma_request *rq, const void *in);

/*
 * ucma_addr.c: commands for the addresses of an id. Some commands have an older variant that
 * accepts only IP addresses. For other addresses, the older variant fails with -EINVAL, and the
 * newer one with -EAFNOSUPPORT.
 */
int ucma_bind_ip(const struct ucma_request *rq, const void *in);
int ucma_bind(const struct ucma_request *rq, const void *in);
int ucma_resolve_ip(const struct ucma_request *rq, const void *in);
int ucma_resolve_addr(const struct ucma_request *rq, const void *in);
int ucma_resolve_route(const struct ucma_request *rq, const void *in);
int ucma_query_route(const struct ucma_request *rq, const void *in);
int ucma_query(const struct ucma_request *rq, const void *in);
/* Always fails with -EOPNOTSUPP, as without an InfiniBand subnet administrator. */
int ucma_resolve_ib_service(const struct ucma_request *rq, const void *in);

/* ucma_conn.c: commands for connections and events. */
int ucma_connect(const struct ucma_request *rq, const void *in);
int ucma_listen(const struct ucma_request *rq, const void *in);
int ucma_accept(const struct ucma_request *rq, const void *in);
int ucma_reject(const struct ucma_request *rq, const void *in);
int ucma_disconnect(const struct ucma_request *rq, const void *in);
int ucma_init_qp_attr(const struct ucma_request *rq, const void *in);
int ucma_write_cm_event(const struct ucma_request *rq, const void *in);
/*
 * Waits for the next event of the channel. Returns -EAGAIN if the descriptor has O_NONBLOCK and
 * there is no event, and -EINTR as rnic_wait_readable() does. This function is a cancellation
 * point: a cancelled thread drops the reference to the channel.
 */
int ucma_get_event(const struct ucma_request *rq, const void *in);
/*
 * Call this before a channel is closed. Waits for a short time, until the thread that fetched the
 * last event has requested the next one.
 */
void ucma_let_taker_return(struct kfile *kf);

#endif
