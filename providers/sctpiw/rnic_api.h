/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The private interface between the two shared objects. The provider, with the RNIC inside, exports
 * one symbol, SCTPIW_RNIC_API_SYMBOL, of type struct sctpiw_rnic_api. The stand-in for the kernel's
 * ABI finds it with dlsym(), and needs nothing else of the provider.
 *
 * Functions return 0 or -errno unless said otherwise, and all are thread-safe. Addresses are
 * sockaddr_in or sockaddr_in6, in network byte order.
 */
#ifndef SCTPIW_RNIC_API_H
#define SCTPIW_RNIC_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#define SCTPIW_RNIC_API_VERSION 9
#define SCTPIW_RNIC_API_SYMBOL "sctpiw_rnic_api"

/*
 * An event channel: a queue in the RNIC, and a descriptor that is readable (POLLIN) while the queue
 * is not empty. The descriptor is the end of a pipe that nothing else uses, so that its st_dev and
 * st_ino are unique. Whether it is O_NONBLOCK is for the application to say.
 */
struct rnic_channel;

#define RNIC_PRIVATE_DATA_MAX 255 /* bytes */
#define RNIC_GIDS 128		  /* slots of the GID table */
/* Numbers of enum ibv_node_type. */
#define RNIC_NODE_CA 1
#define RNIC_NODE_RNIC 4

/* The parameters of a connection; lengths, depths and counts have 8 bits, as in rdma_cm. */
struct rnic_conn_param {
	uint32_t qp_num;
	uint32_t qkey;		     /* of ids for datagrams; 0: RDMA_UDP_QKEY */
	uint8_t responder_resources; /* IRD of this side */
	uint8_t initiator_depth;     /* ORD of this side */
	uint8_t flow_control;
	uint8_t retry_count;
	uint8_t rnr_retry_count; /* 7: a Send waits for a receive for ever */
	uint8_t srq;
	uint8_t private_data_len;
	uint8_t private_data[RNIC_PRIVATE_DATA_MAX];
};

/* Where datagrams to a peer go, for an address handle. */
struct rnic_ah {
	uint8_t sgid[16];
	uint8_t dgid[16];
	uint8_t sgid_index;
	uint8_t traffic_class;
	uint16_t dlid; /* 0 unless the link layer is InfiniBand */
};

/* Events that a program queues for itself, as numbers of enum rdma_cm_event_type. */
#define RNIC_CM_EVENT_USER 18
#define RNIC_CM_EVENT_INTERNAL 19

/* An event of RDMA CM. */
struct rnic_cm_event {
	uint32_t event;	   /* enum rdma_cm_event_type of rdma/rdma_cma.h, and of the kernel */
	int32_t status;	   /* 0 or -errno */
	uint64_t uid;	   /* of the id that it happened on; of a CONNECT_REQUEST, the listener's */
	uint32_t id;	   /* handle of that id; of a CONNECT_REQUEST, of the new one */
	bool datagram;	   /* of an id for datagrams, whose param has another layout in the ABI */
	struct rnic_ah ah; /* of ESTABLISHED of such an id */
	uint64_t arg;	   /* of an event of cm_write_event(), which has no param */
	struct rnic_conn_param param; /* of CONNECT_REQUEST, ESTABLISHED, REJECTED ... */
};

/* The attributes for the next state of an id's QP, in the numbers of the kernel's ABI. */
struct rnic_qp_attr {
	uint32_t mask; /* IBV_QP_* of the attributes that are valid */
	uint32_t qp_state;
	uint32_t qp_access_flags;
	uint32_t qkey;
	uint8_t max_rd_atomic;
	uint8_t max_dest_rd_atomic;
	uint8_t port_num;
	uint16_t pkey_index;
	struct rnic_ah ah; /* of the peer */
	uint32_t dest_qp_num;
	uint32_t rq_psn, sq_psn;
	uint8_t path_mtu; /* enum ibv_mtu */
	uint8_t min_rnr_timer;
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
};

/* What a path record of InfiniBand says of the way to a destination, beside its GIDs. */
struct rnic_path {
	uint8_t mtu; /* enum ibv_mtu; 0: there is no record, as iWARP has none, or the route is not resolved */
	uint8_t traffic_class;
	uint16_t slid, dlid; /* 0 unless the link layer is InfiniBand */
};

struct rnic_addr_info {
	struct sockaddr_storage src;
	struct sockaddr_storage dst; /* ss_family is 0 if there is none yet */
	uint64_t node_guid;	     /* network byte order; 0: not bound to the device yet */
	uint8_t port_num;
	uint8_t sgid[16]; /* of the device */
	uint8_t dgid[16]; /* of the destination; zeros if it has none */
	struct rnic_path path;
};

struct rnic_port {
	bool active;
	uint8_t width; /* as ibv_port_attr.active_width */
	uint8_t speed; /* as ibv_port_attr.active_speed */
	bool ib;       /* the link layer is InfiniBand, and not Ethernet */
	uint16_t lid;  /* 0 unless ib */
};

struct sctpiw_rnic_api {
	uint32_t version; /* SCTPIW_RNIC_API_VERSION */
	uint32_t size;	  /* of this struct */

	/* Makes a completion channel; chan belongs to the caller, who owns fd, too. */
	int (*comp_channel_create)(struct rnic_channel **chan, int *fd);
	/*
	 * The bytes of the next event of a completion or async channel, as the kernel's read()
	 * would give them: 8, or a struct ib_uverbs_async_event_desc. Returns how many. Never
	 * blocks: -EAGAIN if there is none; then the caller polls the descriptor, and asks again.
	 * -EINVAL if len is too small.
	 */
	ssize_t (*channel_read)(struct rnic_channel *chan, void *buf, size_t len);
	/* To be called when the descriptor has been closed: gives chan back. */
	void (*channel_release)(struct rnic_channel *chan);
	/* The channel whose descriptor this is, or NULL. */
	struct rnic_channel *(*channel_by_fd)(int fd);

	/*
	 * Called once, when the RNIC is loaded. The RNIC calls `opened` for each descriptor that it
	 * gives the application by itself, as that of asynchronous events, so that read() on it is
	 * served. `opened` takes over fd and chan.
	 */
	void (*set_fd_hooks)(void (*opened)(int fd, struct rnic_channel *chan));
	/*
	 * The lowest of the descriptors in [first, last] that the RNIC has for itself, or -1. The
	 * application is kept from closing these. May be called from signal handlers, and in the
	 * child of a vfork().
	 */
	int (*own_fd)(unsigned int first, unsigned int last);

	/*
	 * memcpy() that returns -EFAULT where it would fault, once guard() has returned 0 in this
	 * process: for addresses that a command names. What it copied before is left as it is. guard()
	 * claims SIGSEGV and SIGBUS, and may be called again.
	 */
	int (*guard)(void);
	int (*copy)(void *dst, const void *src, size_t len);

	/*
	 * Call unmap_begin() before the program unmaps [addr, addr + len), or a part of it. Returns
	 * false if no region has any of these bytes. After true, no region's memory is read or
	 * written until the same thread calls unmap_end(). In between the caller reports the loss:
	 * unmap_lose() of all of [addr, addr + len), in whole pages, or unmap_lose_unmapped() of
	 * its unmapped pages. All leave errno alone, and may be called from a signal handler.
	 */
	bool (*unmap_begin)(uint64_t addr, uint64_t len);
	void (*unmap_lose)(uint64_t addr, uint64_t len);
	void (*unmap_lose_unmapped)(uint64_t addr, uint64_t len);
	void (*unmap_end)(void);

	/* The device's GUID, in network byte order. */
	uint64_t (*node_guid)(void);
	/*
	 * How many forks lie between this process and the first one that had the device. A child's
	 * device is another one: it has another GUID, and is younger in sysfs.
	 */
	uint32_t (*forks)(void);
	int (*node_type)(void); /* RNIC_NODE_* */
	/*
	 * A slot of the GID table, and the interface of the address. -ENODATA, and zeros, for an
	 * empty slot.
	 */
	int (*query_gid)(unsigned int index, uint8_t gid[16], unsigned int *ifindex);
	int (*query_port)(struct rnic_port *port);
	/*
	 * A counter, by the name of its file in counters or hw_counters; -ENOENT if it is not
	 * counted.
	 */
	int (*query_counter)(const char *name, uint64_t *value);

	/*
	 * RDMA CM, whose functions do what those of <rdma/rdma_cma.h> do, but for waiting. An id is
	 * named by a handle, which is positive and unique in the process. -ENOENT if there is no
	 * such id, -EINVAL if it is in the wrong state, as an id is that has no device where one is needed.
	 */
	int (*cm_channel_create)(struct rnic_channel **chan, int *fd);
	/* Destroys the channel, and the ids that are left on it. */
	void (*cm_channel_release)(struct rnic_channel *chan);
	/* Takes the next event; -EAGAIN if there is none. */
	int (*cm_get_event)(struct rnic_channel *chan, struct rnic_cm_event *ev);
	int (*cm_create_id)(struct rnic_channel *chan, uint64_t uid, uint16_t ps, uint8_t qp_type,
			    uint32_t *id);
	/* *events_reported: how many events of this id cm_get_event() has given. */
	int (*cm_destroy_id)(uint32_t id, uint32_t *events_reported);
	int (*cm_migrate_id)(uint32_t id, struct rnic_channel *to, uint32_t *events_reported);
	int (*cm_bind)(uint32_t id, const struct sockaddr *addr);
	int (*cm_resolve_addr)(uint32_t id, const struct sockaddr *src /* or NULL */,
			       const struct sockaddr *dst, uint32_t timeout_ms);
	int (*cm_resolve_route)(uint32_t id, uint32_t timeout_ms);
	int (*cm_query)(uint32_t id, struct rnic_addr_info *info);
	int (*cm_connect)(uint32_t id, const struct rnic_conn_param *param);
	int (*cm_listen)(uint32_t id, int backlog);
	/* param is NULL if there is no QP to set up; uid becomes that of the id, if has_uid. */
	int (*cm_accept)(uint32_t id, const struct rnic_conn_param *param, bool has_uid,
			 uint64_t uid);
	/* reason: of a REJ of InfiniBand, 28 or 35; 0: 28. */
	int (*cm_reject)(uint32_t id, uint8_t reason, const void *private_data, uint8_t len);
	int (*cm_disconnect)(uint32_t id);
	/* The attributes with which the id's QP goes to qp_state. */
	int (*cm_init_qp_attr)(uint32_t id, uint32_t qp_state, struct rnic_qp_attr *attr);
	/* level and name as in <rdma/rdma_user_cm.h>: RDMA_OPTION_ID_*, RDMA_OPTION_IB_*. */
	int (*cm_set_option)(uint32_t id, int level, int name, const void *val, size_t len);
	/* rdma_notify(): event is an enum ibv_event_type. */
	int (*cm_notify)(uint32_t id, uint32_t event);
	/*
	 * The id, which is for datagrams and bound to an address, joins a multicast group, or may only send to
	 * it. *handle names the membership, which has events of its own: a MULTICAST_JOIN with this handle and
	 * uid comes at once. -EINVAL: no group, or the wrong kind or state of id; -ENOSYS: the carrier has no
	 * multicast.
	 */
	int (*cm_join_mcast)(uint32_t id, const struct sockaddr *group, uint64_t uid,
			     bool send_only, uint32_t *handle);
	/* -EINVAL: the membership is of an id on another channel. *events_reported: that were read of it. */
	int (*cm_leave_mcast)(struct rnic_channel *chan, uint32_t handle,
			      uint32_t *events_reported);
	/*
	 * rdma_write_cm_event(): queues the program's own event on the id, with this status and
	 * argument. event: RNIC_CM_EVENT_USER, or RNIC_CM_EVENT_INTERNAL from librdmacm.
	 */
	int (*cm_write_event)(uint32_t id, uint32_t event, int32_t status, uint64_t arg);
};

#endif
