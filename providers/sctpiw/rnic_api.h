/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The private interface between sctpiw's two shared objects: the provider for libibverbs, which
 * contains the RNIC, and the preload library, which stands in for the kernel's RDMA ABI. The
 * provider exports one symbol, SCTPIW_RNIC_API_SYMBOL, of type struct sctpiw_rnic_api. The preload
 * library finds this symbol with dlsym(), and uses no other symbol of the provider.
 *
 * Functions return 0 or -errno unless stated otherwise. All functions are thread-safe. Socket
 * addresses are sockaddr_in or sockaddr_in6.
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
 * is not empty. The descriptor is one end of a pipe that belongs to this channel alone, so that its
 * st_dev and st_ino are unique. The application decides whether the descriptor is O_NONBLOCK.
 */
struct rnic_channel;

#define RNIC_PRIVATE_DATA_MAX 255 /* bytes */
#define RNIC_GIDS 128		  /* number of slots of the GID table */
/* Same numbers as in enum ibv_node_type. */
#define RNIC_NODE_CA 1
#define RNIC_NODE_RNIC 4

/* The parameters of a connection. Lengths, depths and counts have 8 bits, as in rdma_cm. */
struct rnic_conn_param {
	uint32_t qp_num;
	uint32_t qkey;		     /* for datagram ids; 0: RDMA_UDP_QKEY */
	uint8_t responder_resources; /* IRD of the local side */
	uint8_t initiator_depth;     /* ORD of the local side */
	uint8_t flow_control;
	uint8_t retry_count;
	uint8_t rnr_retry_count; /* 7: a Send waits for a posted receive without a limit */
	uint8_t srq;
	uint8_t private_data_len;
	uint8_t private_data[RNIC_PRIVATE_DATA_MAX];
};

/* The destination of datagrams to a peer, for an address handle. */
struct rnic_ah {
	uint8_t sgid[16];
	uint8_t dgid[16];
	uint8_t sgid_index;
	uint8_t traffic_class;
	uint16_t dlid; /* 0 unless the link layer is InfiniBand */
};

/* Events that a program queues itself, with the same numbers as in enum rdma_cm_event_type. */
#define RNIC_CM_EVENT_USER 18
#define RNIC_CM_EVENT_INTERNAL 19

/* An RDMA CM event. */
struct rnic_cm_event {
	uint32_t event;	   /* enum rdma_cm_event_type of <rdma/rdma_cma.h> */
	int32_t status;	   /* 0 or -errno */
	uint64_t uid;	   /* uid of the event's id; for CONNECT_REQUEST, of the listener */
	uint32_t id;	   /* handle of the event's id; for CONNECT_REQUEST, of the new id */
	bool datagram;	   /* the id is for datagrams, for which the ABI has another param */
	struct rnic_ah ah; /* for ESTABLISHED of a datagram id */
	uint64_t arg;	   /* for an event of cm_write_event(); such an event has no param */
	struct rnic_conn_param param; /* for CONNECT_REQUEST, ESTABLISHED, REJECTED ... */
};

/*
 * The attributes with which to move an id's QP to its next state. Values have the same numbers as
 * in the kernel's ABI.
 */
struct rnic_qp_attr {
	uint32_t mask; /* IBV_QP_* flags of the valid attributes */
	uint32_t qp_state;
	uint32_t qp_access_flags;
	uint32_t qkey;
	uint8_t max_rd_atomic;
	uint8_t max_dest_rd_atomic;
	uint8_t port_num;
	uint16_t pkey_index;
	struct rnic_ah ah; /* address of the peer */
	uint32_t dest_qp_num;
	uint32_t rq_psn, sq_psn;
	uint8_t path_mtu; /* enum ibv_mtu */
	uint8_t min_rnr_timer;
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
};

/* Contents of an InfiniBand path record, besides its GIDs. */
struct rnic_path {
	uint8_t mtu; /* enum ibv_mtu; 0: no path record, for iWARP or an unresolved route */
	uint8_t traffic_class;
	uint16_t slid, dlid; /* 0 unless the link layer is InfiniBand */
};

struct rnic_addr_info {
	struct sockaddr_storage src;
	struct sockaddr_storage dst; /* ss_family 0: no destination yet */
	uint64_t node_guid;	     /* network byte order; 0: not yet bound to the device */
	uint8_t port_num;
	uint8_t sgid[16]; /* GID of the device */
	uint8_t dgid[16]; /* GID of the destination; zeros without a destination */
	struct rnic_path path;
};

struct rnic_port {
	bool active;
	uint8_t width; /* as ibv_port_attr.active_width */
	uint8_t speed; /* as ibv_port_attr.active_speed */
	bool ib;       /* the link layer is InfiniBand; else Ethernet */
	uint16_t lid;  /* 0 unless ib */
};

struct sctpiw_rnic_api {
	uint32_t version; /* SCTPIW_RNIC_API_VERSION */
	uint32_t size;	  /* bytes of this struct */

	/* Creates a completion channel. The caller owns chan and fd. */
	int (*comp_channel_create)(struct rnic_channel **chan, int *fd);
	/*
	 * Writes the next event of a completion or async channel to buf, in the format of the
	 * kernel's read(): 8 bytes, or a struct ib_uverbs_async_event_desc. Returns the length in
	 * bytes. Does not block. Returns -EAGAIN if the queue is empty; the caller may then poll
	 * the descriptor. Returns -EINVAL if len is too small.
	 */
	ssize_t (*channel_read)(struct rnic_channel *chan, void *buf, size_t len);
	/* Releases chan. Call this after the descriptor was closed. */
	void (*channel_release)(struct rnic_channel *chan);
	/* Returns the channel with this descriptor, or NULL. */
	struct rnic_channel *(*channel_by_fd)(int fd);

	/*
	 * The preload library calls this once, after the provider was loaded. The RNIC then calls
	 * `opened` for each descriptor that it opens for the application without a request of the
	 * preload library, such as the descriptor for asynchronous events. From then on, the
	 * preload library serves read() on this descriptor, and owns fd and chan.
	 */
	void (*set_fd_hooks)(void (*opened)(int fd, struct rnic_channel *chan));
	/*
	 * Returns the lowest of the RNIC's private descriptors in [first, last], or -1. The preload
	 * library prevents the application from closing these descriptors. May be called from
	 * signal handlers, and in the child of a vfork().
	 */
	int (*own_fd)(unsigned int first, unsigned int last);

	/*
	 * copy() is a memcpy() for addresses from the application's commands. For an invalid
	 * address, it returns -EFAULT, if guard() has returned 0 in this process before. Bytes that
	 * were copied before the fault remain copied. guard() installs handlers of SIGSEGV and
	 * SIGBUS, and may be called again.
	 */
	int (*guard)(void);
	int (*copy)(void *dst, const void *src, size_t len);

	/*
	 * Call unmap_begin() before the program unmaps all or part of [addr, addr + len). It
	 * returns false if no memory region contains any of these bytes; the other functions are
	 * then not needed. After true, the RNIC reads and writes no region's memory until the same
	 * thread calls unmap_end(). Before unmap_end(), the caller reports the unmapped pages.
	 * unmap_lose() reports [addr, addr + len) with its end rounded up to a whole page.
	 * unmap_lose_unmapped() itself finds the pages in this range that are unmapped. The
	 * functions do not change errno, and may be called from a signal handler.
	 */
	bool (*unmap_begin)(uint64_t addr, uint64_t len);
	void (*unmap_lose)(uint64_t addr, uint64_t len);
	void (*unmap_lose_unmapped)(uint64_t addr, uint64_t len);
	void (*unmap_end)(void);

	/* Returns the device's GUID, in network byte order. */
	uint64_t (*node_guid)(void);
	/*
	 * Returns the number of forks between the first process with the device and this process.
	 * The child of a fork has another device, with another GUID and a later creation time in
	 * sysfs.
	 */
	uint32_t (*forks)(void);
	int (*node_type)(void); /* returns RNIC_NODE_* */
	/*
	 * Reads a slot of the GID table, and the interface that has the address. Returns -ENODATA
	 * and sets zeros if the slot is empty.
	 */
	int (*query_gid)(unsigned int index, uint8_t gid[16], unsigned int *ifindex);
	int (*query_port)(struct rnic_port *port);
	/*
	 * Reads a counter by the name of its file in counters/ or hw_counters/ of sysfs. Returns
	 * -ENOENT if there is no such counter.
	 */
	int (*query_counter)(const char *name, uint64_t *value);

	/*
	 * RDMA CM. These functions do the same as those of <rdma/rdma_cma.h>, but do not wait. A
	 * handle identifies an id. Handles are positive and unique in the process. The functions
	 * return -ENOENT if no id has the handle. They return -EINVAL if the id is in the wrong
	 * state, or has no device although the operation needs one.
	 */
	int (*cm_channel_create)(struct rnic_channel **chan, int *fd);
	/* Destroys the channel and its remaining ids. */
	void (*cm_channel_release)(struct rnic_channel *chan);
	/*
	 * Removes the next event from the queue, and writes it to *ev. Returns -EAGAIN if there is
	 * none.
	 */
	int (*cm_get_event)(struct rnic_channel *chan, struct rnic_cm_event *ev);
	int (*cm_create_id)(struct rnic_channel *chan, uint64_t uid, uint16_t ps, uint8_t qp_type,
			    uint32_t *id);
	/*
	 * Sets *events_reported to the number of this id's events that cm_get_event() has returned.
	 */
	int (*cm_destroy_id)(uint32_t id, uint32_t *events_reported);
	int (*cm_migrate_id)(uint32_t id, struct rnic_channel *to, uint32_t *events_reported);
	int (*cm_bind)(uint32_t id, const struct sockaddr *addr);
	int (*cm_resolve_addr)(uint32_t id, const struct sockaddr *src /* or NULL */,
			       const struct sockaddr *dst, uint32_t timeout_ms);
	int (*cm_resolve_route)(uint32_t id, uint32_t timeout_ms);
	int (*cm_query)(uint32_t id, struct rnic_addr_info *info);
	int (*cm_connect)(uint32_t id, const struct rnic_conn_param *param);
	int (*cm_listen)(uint32_t id, int backlog);
	/* param is NULL if there is no QP to set up. If has_uid, the id's uid changes to uid. */
	int (*cm_accept)(uint32_t id, const struct rnic_conn_param *param, bool has_uid,
			 uint64_t uid);
	/* reason: reason in an InfiniBand REJ, 28 or 35; 0 means 28. */
	int (*cm_reject)(uint32_t id, uint8_t reason, const void *private_data, uint8_t len);
	int (*cm_disconnect)(uint32_t id);
	/* Returns the attributes that move the id's QP to qp_state. */
	int (*cm_init_qp_attr)(uint32_t id, uint32_t qp_state, struct rnic_qp_attr *attr);
	/* level and name: RDMA_OPTION_ID_* or RDMA_OPTION_IB_* of <rdma/rdma_user_cm.h>. */
	int (*cm_set_option)(uint32_t id, int level, int name, const void *val, size_t len);
	/* Implements rdma_notify(). event: enum ibv_event_type. */
	int (*cm_notify)(uint32_t id, uint32_t event);
	/*
	 * Joins a multicast group, to send and receive, or only to send. The id must be for
	 * datagrams, and bound to an address. Sets *handle to a handle of the membership, which has
	 * its own events. A MULTICAST_JOIN event with this handle and uid follows at once. Returns
	 * -EINVAL if the address is not a multicast address, or if the id has the wrong type or
	 * state. Returns -ENOSYS if the carrier does not support multicast.
	 */
	int (*cm_join_mcast)(uint32_t id, const struct sockaddr *group, uint64_t uid,
			     bool send_only, uint32_t *handle);
	/*
	 * Sets *events_reported to the number of the membership's events that cm_get_event() has
	 * returned. Returns -EINVAL if chan is not the membership's channel.
	 */
	int (*cm_leave_mcast)(struct rnic_channel *chan, uint32_t handle,
			      uint32_t *events_reported);
	/*
	 * Implements rdma_write_cm_event(): queues an event that the program passes, with this
	 * status and argument. event: RNIC_CM_EVENT_USER, or RNIC_CM_EVENT_INTERNAL from librdmacm.
	 */
	int (*cm_write_event)(uint32_t id, uint32_t event, int32_t status, uint64_t arg);
};

#endif
