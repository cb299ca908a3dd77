/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Commands of RDMA CM for connections, and for the events of connections. */
#define _GNU_SOURCE
#include "ucma_cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "idmap.h"
#include "libc.h"

#define CONNECT_REQUEST 4 /* RDMA_CM_EVENT_CONNECT_REQUEST of <rdma/rdma_cma.h> */
#define HOP_LIMIT 64	  /* hop limit of datagrams to a peer */
#define BACKLOG_MAX 1024  /* the kernel's net.rdma_ucm.max_backlog */
#define QP_STATE_ERR 6	  /* IBV_QPS_ERR, the highest state number */
#define REJ_CONSUMER 28	  /* InfiniBand 12.6.7.2: the reject reason of a program */
#define REJ_VENDOR_OPTION 35
/*
 * Times of ucma_let_taker_return(), in ns: the maximum time to wait for the taker after its event,
 * and the shortest and longest pause between two checks of its state. A taker that is asleep in
 * TIMES_ASLEEP checks in a row will not return, since waiting for a lock or a page takes less time.
 */
#define TAKER_TIME 100000000
#define NAP_FIRST 50000
#define NAP_LAST 1000000
#define TIMES_ASLEEP 3

/* RNIC_PRIVATE_DATA_MAX is the maximum of the length field. The kernel's array is longer by one. */
_Static_assert(RNIC_PRIVATE_DATA_MAX < RDMA_MAX_PRIVATE_DATA, "private data");

static void copy_param(struct rnic_conn_param *dst, const struct rdma_ucm_conn_param *src)
{
	*dst = (struct rnic_conn_param){
		.qp_num = src->qp_num,
		.qkey = src->qkey,
		.responder_resources = src->responder_resources,
		.initiator_depth = src->initiator_depth,
		.flow_control = src->flow_control,
		.retry_count = src->retry_count,
		.rnr_retry_count = src->rnr_retry_count,
		.srq = src->srq,
		.private_data_len = src->private_data_len,
	};
	memcpy(dst->private_data, src->private_data, src->private_data_len);
}

int ucma_connect(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_connect *cmd = in;
	struct rnic_conn_param param;
	int ret;

	if (!cmd->conn_param.valid)
		return -EINVAL;
	ret = idmap_check(cmd->id, rq->kf);
	if (ret)
		return ret;
	copy_param(&param, &cmd->conn_param);
	return rq->api->cm_connect(cmd->id, &param);
}

int ucma_listen(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_listen *cmd = in;
	int ret = idmap_check(cmd->id, rq->kf);
	uint32_t backlog = cmd->backlog;

	if (ret)
		return ret;
	if (!backlog || backlog > BACKLOG_MAX)
		backlog = BACKLOG_MAX;
	return rq->api->cm_listen(cmd->id, (int)backlog);
}

int ucma_accept(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_accept *cmd = in;
	struct rnic_conn_param param;
	int ret = idmap_check(cmd->id, rq->kf);

	if (ret)
		return ret;
	if (!cmd->conn_param.valid)
		return rq->api->cm_accept(cmd->id, NULL, false, 0);
	copy_param(&param, &cmd->conn_param);
	return rq->api->cm_accept(cmd->id, &param, true, cmd->uid);
}

int ucma_reject(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_reject *cmd = in;
	int ret;

	if (cmd->reason && cmd->reason != REJ_CONSUMER && cmd->reason != REJ_VENDOR_OPTION)
		return -EINVAL;
	ret = idmap_check(cmd->id, rq->kf);
	return ret ? ret :
		     rq->api->cm_reject(cmd->id, cmd->reason, cmd->private_data,
					cmd->private_data_len);
}

int ucma_disconnect(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_disconnect *cmd = in;
	int ret = idmap_check(cmd->id, rq->kf);

	return ret ? ret : rq->api->cm_disconnect(cmd->id);
}

int ucma_write_cm_event(const struct ucma_request *rq, const void *in)
{
	const struct ucma_write_cm_event *cmd = in;
	int ret;

	if (cmd->event != RNIC_CM_EVENT_USER && cmd->event != RNIC_CM_EVENT_INTERNAL)
		return -EINVAL;
	ret = idmap_check(cmd->id, rq->kf);
	return ret ? ret :
		     rq->api->cm_write_event(cmd->id, cmd->event, (int32_t)cmd->status, cmd->arg);
}

/* Copies an address handle. For RoCE it has a GRH; for InfiniBand it also has a LID. */
static void copy_ah(struct ib_uverbs_ah_attr *to, const struct rnic_ah *ah)
{
	struct ib_uverbs_global_route *grh = &to->grh;

	to->is_global = 1;
	to->port_num = 1;
	to->dlid = ah->dlid;
	memcpy(grh->dgid, ah->dgid, sizeof(grh->dgid));
	grh->sgid_index = ah->sgid_index;
	grh->hop_limit = HOP_LIMIT;
	grh->traffic_class = ah->traffic_class;
}

int ucma_init_qp_attr(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_init_qp_attr *cmd = in;
	struct ib_uverbs_qp_attr resp = { 0 };
	struct rnic_qp_attr attr = { 0 };
	int ret;

	if (rq->out_len < sizeof(resp))
		return -ENOSPC;
	if (cmd->qp_state > QP_STATE_ERR)
		return -EINVAL;
	ret = idmap_check(cmd->id, rq->kf);
	if (ret)
		return ret;
	attr.qp_state = cmd->qp_state;
	ret = rq->api->cm_init_qp_attr(cmd->id, cmd->qp_state, &attr);
	if (ret)
		return ret;
	resp.qp_attr_mask = attr.mask;
	resp.qp_state = attr.qp_state;
	resp.qp_access_flags = attr.qp_access_flags;
	resp.qkey = attr.qkey;
	resp.max_rd_atomic = attr.max_rd_atomic;
	resp.max_dest_rd_atomic = attr.max_dest_rd_atomic;
	resp.port_num = attr.port_num;
	resp.pkey_index = attr.pkey_index;
	copy_ah(&resp.ah_attr, &attr.ah);
	resp.dest_qp_num = attr.dest_qp_num;
	resp.rq_psn = attr.rq_psn;
	resp.sq_psn = attr.sq_psn;
	resp.path_mtu = attr.path_mtu;
	resp.min_rnr_timer = attr.min_rnr_timer;
	resp.timeout = attr.timeout;
	resp.retry_cnt = attr.retry_cnt;
	resp.rnr_retry = attr.rnr_retry;
	return user_write(cmd->response, &resp, sizeof(resp));
}

static void copy_datagram(struct rdma_ucm_ud_param *ud, const struct rnic_cm_event *ev)
{
	ud->qp_num = ev->param.qp_num;
	ud->qkey = ev->param.qkey;
	ud->private_data_len = ev->param.private_data_len;
	memcpy(ud->private_data, ev->param.private_data, ev->param.private_data_len);
	copy_ah(&ud->ah_attr, &ev->ah);
}

static void copy_connection(struct rdma_ucm_conn_param *conn, const struct rnic_cm_event *ev)
{
	conn->qp_num = ev->param.qp_num;
	conn->responder_resources = ev->param.responder_resources;
	conn->initiator_depth = ev->param.initiator_depth;
	conn->flow_control = ev->param.flow_control;
	conn->retry_count = ev->param.retry_count;
	conn->rnr_retry_count = ev->param.rnr_retry_count;
	conn->srq = ev->param.srq;
	conn->private_data_len = ev->param.private_data_len;
	memcpy(conn->private_data, ev->param.private_data, ev->param.private_data_len);
}

static void copy_event(struct rdma_ucm_event_resp *resp, const struct rnic_cm_event *ev)
{
	memset(resp, 0, sizeof(*resp));
	resp->uid = ev->uid;
	resp->id = ev->id;
	resp->event = ev->event;
	resp->status = (uint32_t)ev->status;
	if (ev->event == RNIC_CM_EVENT_USER || ev->event == RNIC_CM_EVENT_INTERNAL)
		memcpy(&resp->param, &ev->arg, sizeof(ev->arg));
	else if (ev->datagram)
		copy_datagram(&resp->param.ud, ev);
	else
		copy_connection(&resp->param.conn, ev);
}

/*
 * Returns the id of the calling thread. A thread makes the system call only once, and once more in
 * a child of fork(), which has another mark.
 */
static pid_t thread_id(const struct kfile *kf)
{
	static __thread uint32_t mark;
	static __thread pid_t tid;

	if (mark != kf->mark) {
		tid = (pid_t)syscall(SYS_gettid);
		mark = kf->mark;
	}
	return tid;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * Returns the state of a thread of this process, as ps prints it: 'R' if the thread runs or waits
 * for a processor; 0 if there is no such thread. Without /proc, returns 'R' for each existing
 * thread.
 */
static char thread_state(pid_t tid)
{
	char path[64], stat[64];
	const char *name_end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = libc_open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		return 0;
	if (fd < 0)
		return syscall(SYS_tgkill, getpid(), tid, 0) ? 0 : 'R';
	n = pread(fd, stat, sizeof(stat) - 1, 0);
	libc_close(fd);
	stat[n > 0 ? n : 0] = '\0';
	name_end = strrchr(stat, ')');
	return name_end && name_end[1] ? name_end[2] : 0;
}

/*
 * Gives the thread that fetched the last event (the taker) time to request the next event. When the
 * taker acknowledges its event, it may unblock another thread, which destroys the id and closes the
 * channel. Meanwhile the taker returns to request the next event. rping ends in this way. In the
 * kernel, the destruction of an id sleeps until a worker has done it, so the taker reaches its next
 * call first. Here the destruction does not sleep, and the taker would find the channel closed.
 */
void ucma_let_taker_return(struct kfile *kf)
{
	pid_t taker = atomic_load(&kf->taker);
	int64_t deadline = atomic_load(&kf->taken) + TAKER_TIME;
	long nap = NAP_FIRST;
	int asleep = 0;

	if (!taker || taker == thread_id(kf))
		return;
	while (atomic_load(&kf->taker) == taker && now_ns() < deadline) {
		char state = thread_state(taker);

		asleep = state == 'R' ? 0 : asleep + 1;
		if (!state || asleep == TIMES_ASLEEP)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = nap }, NULL);
		if (nap < NAP_LAST)
			nap *= 2;
	}
}

/*
 * An event that was fetched from the RNIC cannot be returned to it. So everything that may fail
 * happens before: a write to the address of the answer, and the allocation of memory for the id of
 * a connection request.
 */
int ucma_get_event(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_get_event *cmd = in;
	struct rdma_ucm_event_resp resp = { 0 };
	size_t len = ucma_min(rq->out_len, sizeof(resp));
	struct idmap_node *node = NULL;
	struct rnic_cm_event ev;
	int ret;

	if (rq->out_len < offsetof(struct rdma_ucm_event_resp, reserved))
		return -ENOSPC;
	for (;;) {
		ret = user_write(cmd->response, &resp, len);
		if (ret)
			return ret;
		node = idmap_reserve();
		if (!node)
			return -ENOMEM;
		atomic_store(&rq->kf->taker, 0);
		ret = rq->api->cm_get_event(rq->kf->chan, &ev);
		if (!ret)
			break;
		idmap_unreserve(node);
		/* Do not wait for another file: the descriptor may be unchecked. */
		if (ret == -EAGAIN)
			ret = fdtable_is_stale(rq->fd, rq->kf) ? -EBADF :
								 rnic_wait_readable(rq->kf, rq->fd);
		if (ret)
			return ret;
	}
	atomic_store(&rq->kf->taken, now_ns());
	atomic_store(&rq->kf->taker, thread_id(rq->kf));
	if (ev.event == CONNECT_REQUEST)
		idmap_set(node, ev.id, rq->kf);
	else
		idmap_unreserve(node);
	copy_event(&resp, &ev);
	return user_write(cmd->response, &resp, len);
}
