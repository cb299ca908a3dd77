/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Opens the descriptor of RDMA CM, and parses the commands that programs write to it. */
#define _GNU_SOURCE
#include "ucma.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "devnum.h"
#include "idmap.h"
#include "libc.h"
#include "librdmacm.h"
#include "ucma_cmd.h"

struct ucma_command {
	int (*run)(const struct ucma_request *rq, const void *in);
	size_t in_len; /* minimum number of bytes that the program must send */
	/* number of bytes that run() reads; bytes that the program did not send are 0 */
	size_t struct_len;
};

/* last: the last member that a program must send. Padding and newer members follow it. */
#define END_OF(type, member) (offsetof(struct type, member) + sizeof(((struct type *)0)->member))
#define COMMAND(name, type, last)                                                                  \
	{                                                                                          \
		.run = name, .in_len = END_OF(type, last), .struct_len = sizeof(struct type)       \
	}

/*
 * A number without a command (GET_OPTION) fails with -ENOSYS. A number after the last command fails
 * with -EINVAL.
 */
static const struct ucma_command ucma_commands[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = COMMAND(ucma_create_id, rdma_ucm_create_id, qp_type),
	[RDMA_USER_CM_CMD_DESTROY_ID] = COMMAND(ucma_destroy_id, rdma_ucm_destroy_id, id),
	[RDMA_USER_CM_CMD_BIND_IP] = COMMAND(ucma_bind_ip, rdma_ucm_bind_ip, id),
	[RDMA_USER_CM_CMD_RESOLVE_IP] = COMMAND(ucma_resolve_ip, rdma_ucm_resolve_ip, timeout_ms),
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] =
		COMMAND(ucma_resolve_route, rdma_ucm_resolve_route, timeout_ms),
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = COMMAND(ucma_query_route, rdma_ucm_query, id),
	[RDMA_USER_CM_CMD_CONNECT] = COMMAND(ucma_connect, rdma_ucm_connect, reserved),
	[RDMA_USER_CM_CMD_LISTEN] = COMMAND(ucma_listen, rdma_ucm_listen, backlog),
	[RDMA_USER_CM_CMD_ACCEPT] = COMMAND(ucma_accept, rdma_ucm_accept, reserved),
	[RDMA_USER_CM_CMD_REJECT] = COMMAND(ucma_reject, rdma_ucm_reject, private_data),
	[RDMA_USER_CM_CMD_DISCONNECT] = COMMAND(ucma_disconnect, rdma_ucm_disconnect, id),
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] =
		COMMAND(ucma_init_qp_attr, rdma_ucm_init_qp_attr, qp_state),
	[RDMA_USER_CM_CMD_GET_EVENT] = COMMAND(ucma_get_event, rdma_ucm_get_event, response),
	[RDMA_USER_CM_CMD_SET_OPTION] = COMMAND(ucma_set_option, rdma_ucm_set_option, optlen),
	[RDMA_USER_CM_CMD_NOTIFY] = COMMAND(ucma_notify, rdma_ucm_notify, event),
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = COMMAND(ucma_join_ip_mcast, rdma_ucm_join_ip_mcast, id),
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = COMMAND(ucma_leave_mcast, rdma_ucm_destroy_id, id),
	[RDMA_USER_CM_CMD_MIGRATE_ID] = COMMAND(ucma_migrate_id, rdma_ucm_migrate_id, fd),
	[RDMA_USER_CM_CMD_QUERY] = COMMAND(ucma_query, rdma_ucm_query, option),
	[RDMA_USER_CM_CMD_BIND] = COMMAND(ucma_bind, rdma_ucm_bind, addr),
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] =
		COMMAND(ucma_resolve_addr, rdma_ucm_resolve_addr, dst_addr),
	[RDMA_USER_CM_CMD_JOIN_MCAST] = COMMAND(ucma_join_mcast, rdma_ucm_join_mcast, addr),
	[UCMA_CMD_RESOLVE_IB_SERVICE] =
		COMMAND(ucma_resolve_ib_service, ucma_resolve_ib_service, flags),
	[UCMA_CMD_WRITE_CM_EVENT] = COMMAND(ucma_write_cm_event, ucma_write_cm_event, arg),
};

_Static_assert(sizeof(ucma_commands) / sizeof(ucma_commands[0]) == UCMA_CMD_END, "all commands");

static ssize_t ucma_write(struct kfile *kf, int fd, const void *buf, size_t len)
{
	struct ucma_request rq = { .api = rnic_get(), .kf = kf, .fd = fd };
	union {
		uint64_t align;
		char bytes[sizeof(struct rdma_ucm_accept) + sizeof(struct rdma_ucm_resolve_addr)];
	} in;
	const struct ucma_command *cmd;
	struct rdma_ucm_cmd_hdr hdr;
	size_t copy;
	int ret;

	if (len < sizeof(hdr))
		return -EINVAL;
	memcpy(&hdr, buf, sizeof(hdr));
	if (hdr.cmd >= sizeof(ucma_commands) / sizeof(ucma_commands[0]) ||
	    hdr.in + sizeof(hdr) > len)
		return -EINVAL;
	cmd = &ucma_commands[hdr.cmd];
	if (!cmd->run)
		return -ENOSYS;
	if (hdr.in < cmd->in_len)
		return -EINVAL;
	copy = ucma_min(hdr.in, cmd->struct_len);
	memset(in.bytes, 0, cmd->struct_len);
	memcpy(in.bytes, (const char *)buf + sizeof(hdr), copy);
	rq.out_len = hdr.out;
	ret = cmd->run(&rq, in.bytes);
	return ret ? ret : (ssize_t)len;
}

/*
 * True if a write is a command of librdmacm. The write must come from librdmacm's code and have the
 * format of a command; librdmacm writes no other data of this format. librdmacm opens and closes
 * its descriptors by calls that have hooks. But the program may have closed such a descriptor by a
 * call without a hook, and another file may have its number now. The command then still reaches the
 * channel, unless the slot was found to be stale earlier. Data that the program or another library
 * writes may look like a command by chance, so it is verified by fstat().
 */
static bool ucma_is_meant(const void *buf, size_t len, const void *from)
{
	struct rdma_ucm_cmd_hdr hdr;

	if (!librdmacm_has(from) || len < sizeof(hdr))
		return false;
	memcpy(&hdr, buf, sizeof(hdr));
	return hdr.cmd < sizeof(ucma_commands) / sizeof(ucma_commands[0]) &&
	       ucma_commands[hdr.cmd].run && hdr.in + sizeof(hdr) == len &&
	       hdr.in >= ucma_commands[hdr.cmd].in_len;
}

/* A program receives events by a command. read() fails, as in the kernel. */
static ssize_t ucma_read(struct kfile *kf, int fd, void *buf, size_t len)
{
	return -EINVAL;
}

static void ucma_release(struct kfile *kf)
{
	idmap_drop_channel(kf);
	rnic_get()->cm_channel_release(kf->chan);
}

static const struct kfile_ops ucma_ops = {
	.read = ucma_read,
	.write = ucma_write,
	.is_meant = ucma_is_meant,
	.before_close = ucma_let_taker_return,
	.release = ucma_release,
	.cdev = true,
	.major = RDMA_CM_MAJOR,
	.minor = RDMA_CM_MINOR,
};

bool ucma_is_channel(const struct kfile *kf)
{
	return kf->ops == &ucma_ops;
}

int ucma_open(int flags)
{
	const struct sctpiw_rnic_api *api;
	struct rnic_channel *chan;
	int fd, ret = rnic_open();

	if (ret)
		return ret;
	api = rnic_get();
	fdtable_reap(0, UINT_MAX);
	librdmacm_find();
	ret = api->cm_channel_create(&chan, &fd);
	if (ret)
		return ret;
	rnic_apply_open_flags(fd, flags);
	ret = fdtable_install(fd, &ucma_ops, chan, NULL);
	if (ret) {
		libc_close(fd);
		api->cm_channel_release(chan);
		return ret;
	}
	return fd;
}
