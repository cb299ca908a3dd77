/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The private interface between the two shared objects: the provider, with the
 * RNIC inside, exports one symbol, SCTPIW_RNIC_API_SYMBOL, and the stand-in for
 * the kernel's ABI finds it with dlsym(). It needs libc alone.
 *
 * Functions return 0 or -errno unless said otherwise. All are thread-safe.
 * Addresses are sockaddr_in / sockaddr_in6 in network byte order, as usual.
 */
#ifndef SCTPIW_RNIC_API_H
#define SCTPIW_RNIC_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#define SCTPIW_RNIC_API_VERSION 4
#define SCTPIW_RNIC_API_SYMBOL "sctpiw_rnic_api"

/*
 * An event channel: a queue in the RNIC and a descriptor that is readable (POLLIN)
 * exactly while the queue is not empty. The descriptor is an end of a pipe of its
 * own (a unique st_dev/st_ino). O_NONBLOCK of the descriptor is the application's.
 */
struct rnic_channel;

struct cm_id;

#define RNIC_PRIVATE_DATA_MAX 255
#define RNIC_GIDS 128
/* Numbers of enum ibv_node_type. */
#define RNIC_NODE_CA 1
#define RNIC_NODE_RNIC 4

/* Lengths, depths and counts as rdma_cm carries them (8 bits). */
struct rnic_conn_param {
	uint32_t qp_num;
	uint8_t responder_resources; /* IRD of this side */
	uint8_t initiator_depth;     /* ORD of this side */
	uint8_t flow_control;
	uint8_t retry_count;
	uint8_t rnr_retry_count; /* 7: a Send waits for a receive for ever */
	uint8_t srq;
	uint8_t private_data_len;
	uint8_t private_data[RNIC_PRIVATE_DATA_MAX];
};

/* Numbers of enum rdma_cm_event_type (rdma/rdma_cma.h), which equal the kernel's. */
struct rnic_cm_event {
	uint32_t event;
	int32_t status;	     /* 0 or -errno */
	uint64_t uid;	     /* of the id it happened on */
	uint32_t id;	     /* handle of that id */
	struct rnic_conn_param param; /* CONNECT_REQUEST, ESTABLISHED, REJECTED ... */
	/* CONNECT_REQUEST: the handle of the new id is `id`, and uid is the listener's. */
};

/* As ibv_qp_attr, in the kernel ABI's numbers; filled by init_qp_attr. */
struct rnic_qp_attr {
	uint32_t mask; /* IBV_QP_* */
	uint32_t qp_state;
	uint32_t qp_access_flags;
	uint8_t max_rd_atomic;
	uint8_t max_dest_rd_atomic;
	uint8_t port_num;
	uint16_t pkey_index;
};

struct rnic_addr_info {
	struct sockaddr_storage src;
	struct sockaddr_storage dst; /* ss_family 0 where there is none yet */
	uint64_t node_guid;	     /* network byte order; 0: not bound to the device yet */
	uint8_t port_num;
	uint8_t sgid[16]; /* the device's GID, and the destination's as far as it has one */
	uint8_t dgid[16];
};

struct rnic_port {
	bool active;
	uint8_t width; /* numbers of ibv_port_attr.active_width and active_speed */
	uint8_t speed;
};

struct sctpiw_rnic_api {
	uint32_t version; /* SCTPIW_RNIC_API_VERSION */
	uint32_t size;	  /* of this struct */

	/*
	 * Event channels. read: the next event's bytes as the kernel's read() on such a
	 * descriptor would give them (comp: 8, async: struct ib_uverbs_async_event_desc);
	 * it never blocks: -EAGAIN when empty (the caller polls the descriptor and asks
	 * again), -EINVAL when len is too small. release: the descriptor was closed.
	 */
	int (*comp_channel_create)(struct rnic_channel **chan, int *fd);
	ssize_t (*channel_read)(struct rnic_channel *chan, void *buf, size_t len);
	void (*channel_release)(struct rnic_channel *chan);
	/* The channel whose descriptor this is (async ones are made inside the provider), or NULL. */
	struct rnic_channel *(*channel_by_fd)(int fd);

	/*
	 * Called at load: the stand-in tells where the RNIC reports descriptors that it
	 * hands to the application by itself (the async event descriptor), so that read()
	 * on them is served.
	 */
	void (*set_fd_hooks)(void (*opened)(int fd, struct rnic_channel *chan));
	/*
	 * The lowest of the RNIC's own descriptors within [first, last], or -1: the application is
	 * kept from closing these. May be called from signal handlers and after vfork().
	 */
	int (*own_fd)(unsigned int first, unsigned int last);

	/*
	 * The device: GUID (network order) and the GID table for sysfs, of RNIC_GIDS slots, with the interface
	 * of each address. Of an empty slot everything is zero: -ENODATA.
	 */
	uint64_t (*node_guid)(void);
	/*
	 * How many times fork() lies between this process and the one that had the device first. The child's device is
	 * another one: with another GUID, and made later, as sysfs shows it.
	 */
	uint32_t (*forks)(void);
	int (*node_type)(void); /* RNIC_NODE_* */
	int (*query_gid)(unsigned int index, uint8_t gid[16], unsigned int *ifindex);
	int (*query_port)(struct rnic_port *port);
	/* By the name of its file in counters or hw_counters; -ENOENT: not one that is counted. */
	int (*query_counter)(const char *name, uint64_t *value);

	/* RDMA CM. An id is named by its handle, a channel-independent positive number. */
	int (*cm_channel_create)(struct rnic_channel **chan, int *fd);
	/* Destroys the ids that are left on it. */
	void (*cm_channel_release)(struct rnic_channel *chan);
	/* -EAGAIN when none waits */
	int (*cm_get_event)(struct rnic_channel *chan, struct rnic_cm_event *ev);
	int (*cm_create_id)(struct rnic_channel *chan, uint64_t uid, uint16_t ps, uint8_t qp_type,
			    uint32_t *id);
	/* events_reported: how many events of this id get_event has delivered */
	int (*cm_destroy_id)(uint32_t id, uint32_t *events_reported);
	int (*cm_migrate_id)(uint32_t id, struct rnic_channel *to, uint32_t *events_reported);
	int (*cm_bind)(uint32_t id, const struct sockaddr *addr);
	int (*cm_resolve_addr)(uint32_t id, const struct sockaddr *src /* or NULL */,
			       const struct sockaddr *dst, uint32_t timeout_ms);
	int (*cm_resolve_route)(uint32_t id, uint32_t timeout_ms);
	int (*cm_query)(uint32_t id, struct rnic_addr_info *info);
	int (*cm_connect)(uint32_t id, const struct rnic_conn_param *param);
	int (*cm_listen)(uint32_t id, int backlog);
	/* param NULL: accept without QP parameters; uid: becomes the id's, where has_uid */
	int (*cm_accept)(uint32_t id, const struct rnic_conn_param *param, bool has_uid,
			 uint64_t uid);
	int (*cm_reject)(uint32_t id, const void *private_data, uint8_t len);
	int (*cm_disconnect)(uint32_t id);
	int (*cm_init_qp_attr)(uint32_t id, uint32_t qp_state, struct rnic_qp_attr *attr);
	/* level and name of <rdma/rdma_user_cm.h>: RDMA_OPTION_ID_*, RDMA_OPTION_IB_* */
	int (*cm_set_option)(uint32_t id, int level, int name, const void *val, size_t len);
	int (*cm_notify)(uint32_t id, uint32_t event);
};

#endif
