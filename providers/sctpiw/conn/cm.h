/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The connection manager: the rdma_cm ids, as the kernel's serves them for an iWARP device. A handle names
 * an id; 0 names none. An id belongs to one shard, whose lock guards it: to the first one, until its port or its
 * peer says which one has its association. What an application asks of an id needs the locks of all
 * shards, and so do the operations below, since ids move, and listeners are known to all shards; events of
 * its session, and timers, come under the lock of its own.
 *
 * The operations return 0 or -errno as their man pages have it; -EINVAL stands for a wrong state of the id.
 */
#ifndef SCTPIW_CONN_CM_H
#define SCTPIW_CONN_CM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "conn/cm_message.h"
#include "conn/events.h"
#include "conn/sidr.h"
#include "iwarp/iwarp.h"
#include "rnic_api.h"
#include "util/list.h"

struct conn;
struct conn_assoc;
struct endpoint;
struct wire_sidr;

enum cm_state {
	CM_IDLE,
	CM_BOUND,
	CM_ADDR_RESOLVED,
	CM_ROUTE_RESOLVED,
	CM_CONNECTING, /* active: waits for the association, or for the Accept */
	CM_LISTEN,
	CM_REQUESTED, /* passive: waits for accept or reject */
	CM_ACCEPTED,  /* passive: waits for the initiator's RTR indication (RFC 6581 9.2) */
	CM_ESTABLISHED,
	CM_OVER, /* was connected, or failed to be */
};

/* Numbers of enum rdma_cm_event_type. */
enum cm_event_type {
	CM_EVENT_ADDR_RESOLVED = 0,
	CM_EVENT_ADDR_ERROR = 1,
	CM_EVENT_ROUTE_RESOLVED = 2,
	CM_EVENT_ROUTE_ERROR = 3,
	CM_EVENT_CONNECT_REQUEST = 4,
	CM_EVENT_CONNECT_RESPONSE = 5,
	CM_EVENT_CONNECT_ERROR = 6,
	CM_EVENT_UNREACHABLE = 7,
	CM_EVENT_REJECTED = 8,
	CM_EVENT_ESTABLISHED = 9,
	CM_EVENT_DISCONNECTED = 10,
	CM_EVENT_DEVICE_REMOVAL = 11,
	CM_EVENT_MULTICAST_JOIN = 12,
	CM_EVENT_ADDR_CHANGE = 14,
	CM_EVENT_TIMEWAIT_EXIT = 15,
};

/* Numbers of <rdma/rdma_user_cm.h> and <rdma/ib_user_verbs.h>. */
enum cm_port_space {
	CM_PS_IPOIB = 0x0002,
	CM_PS_TCP = 0x0106,
	CM_PS_UDP = 0x0111,
	CM_PS_IB = 0x013f,
};
enum cm_qp_type { CM_QPT_RC = 2, CM_QPT_UD = 4, CM_QPT_XRC_SEND = 9, CM_QPT_XRC_RECV = 10 };
enum cm_option_level { CM_OPTION_ID = 0, CM_OPTION_IB = 1 };
enum cm_option_id {
	CM_OPTION_ID_TOS = 0,
	CM_OPTION_ID_REUSEADDR = 1,
	CM_OPTION_ID_AFONLY = 2,
	CM_OPTION_ID_ACK_TIMEOUT = 3,
};

/* What the application has set before the id is bound or connected. */
struct cm_options {
	bool reuse;  /* RDMA_OPTION_ID_REUSEADDR */
	bool afonly; /* RDMA_OPTION_ID_AFONLY */
	bool tos_set;
	uint8_t tos; /* without the bits of ECN */
	bool ack_timeout_set;
	uint8_t ack_timeout; /* RDMA_OPTION_ID_ACK_TIMEOUT, as ibv_modify_qp() has it */
};

/* From rdma_connect() or rdma_accept() until the connection stands. */
struct cm_setup {
	struct list_node wait_node; /* conn_assoc.waiting, until that is up */
	struct list_node node;	    /* cm.accepting: the peer's answer is awaited, until deadline */
	uint64_t deadline;
	unsigned int moves; /* to other ports of ours, from associations without a free stream */
	bool messages;	    /* the session is on an association with cm_messages */
	bool retried; /* on another association, since the first was lost under the Initiate */
};

/* Behind the end of the session: DISCONNECTED waits until the application has polled what succeeded before. */
struct cm_ending {
	struct list_node node; /* cm.ending */
	uint64_t deadline;
	bool in_send_cq;		/* where a completion waits that was not polled */
	uint32_t pos;			/* and at which entry: iw_cq_find_success() */
	struct list_node timewait_node; /* cm.timewait: DISCONNECTED is told, TIMEWAIT_EXIT is not */
	uint64_t timewait_until;
};

/* Of a listener. */
struct cm_listening {
	unsigned int backlog;	   /* at most so many requests wait to be read */
	unsigned int pending;	   /* so many do */
	struct list_node requests; /* cm_request_link.node */
};

/* Of an id made for a request. */
struct cm_request_link {
	struct cm_id *
		listener; /* until the application has read the CONNECT_REQUEST; then NULL. Of any shard */
	struct list_node node;	    /* cm_listening.requests, for as long */
	struct list_node undecided; /* cm_id_table.undecided, until it is accepted or rejected */
};

struct cm_id {
	struct conn *conn;
	struct conn
		*any_port; /* where it gets a port, if the application names none; NULL: at conn */
	uint32_t handle;
	enum cm_state state;
	struct event_source source;
	uint64_t uid;	     /* the application's name for the id, in its events */
	bool connected_type; /* for a reliable connection; else for datagrams (conn/sidr.h) */
	uint8_t type;	     /* of its QPs, if connected_type: enum cm_message_type */
	struct cm_options opt;

	struct sockaddr_storage src, dst; /* family 0: none yet */
	struct endpoint *ep; /* referenced, or NULL; passive ids for connections have none */
	struct list_node bound_node; /* endpoint.ids */
	bool beside_socket; /* a socket of the host has the port of src: the endpoint has another one */
	uint16_t own_port; /* the port in src, from conn_ops.take_port(); 0: the endpoint's */

	struct iw_session *session; /* NULL before and after the connection */
	uint32_t qp_num;
	uint32_t peer_qp_num; /* that the peer has named; 0: it has not */
	uint32_t named_qp_num; /* by the application, which the peer is told: another one if there is a stand_in */
	struct iw_qp
		*stand_in; /* the QP of this number, if the application has named none; else NULL */
	struct iw_session_param param;
	struct cm_counts counts, peer_counts; /* CM_COUNTS_MOST until they are set */
	struct cm_setup setup;
	struct cm_ending ending;
	struct sidr_request sidr; /* of ids for datagrams */
	struct list_node groups;  /* cm_mcast.node: the multicast groups that it has joined */
	uint32_t group_events;	  /* that were read of groups that it has left */

	struct cm_listening listening;
	struct cm_request_link request;
};

/* Reasons of a REJ of InfiniBand (IBA 12.6.7.2): the statuses of REJECTED with a channel adapter. */
enum cm_rej_reason {
	CM_REJ_INVALID_SERVICE_ID = 8, /* nobody listens */
	CM_REJ_CONSUMER_DEFINED = 28,  /* a program has rejected or given up the request */
	CM_REJ_VENDOR_OPTION_NOT_SUPPORTED = 35,
};

/*
 * Private data of InfiniBand's messages, in bytes, less the header of rdma_cm. With a channel
 * adapter these are the limits for programs, and the lengths in events, where zeros follow the
 * peer's data.
 */
enum cm_private_max {
	CM_PRIVATE_REQ = 56,
	CM_PRIVATE_REP = 196,
	CM_PRIVATE_REJ = 148,
	CM_PRIVATE_SIDR_REQ = 180,
	CM_PRIVATE_SIDR_REP = 136,
};

struct cm_id_table;

/*
 * The counts of a program or peer that has set none: the highest, so that waits are not cut short.
 */
#define CM_COUNTS_MOST                                                                             \
	(struct cm_counts)                                                                         \
	{                                                                                          \
		.retry = 7, .rnr_retry = 7                                                         \
	}

/*
 * With the masks of InfiniBand, rdma_init_qp_attr() names the peer's QP by this number if the peer has named none, as
 * other stacks do. By it is known that the connection manager is to connect a QP that it is given to: no QP that is
 * connected out of band has it.
 */
#define CM_DEST_QP_NUM 1

/*
 * For so long a peer that asks while nobody listens is not refused: behind rdma_bind_addr(), behind the end of a
 * listener whose connections live on, and if it has an association to the port. Programs tell their peers the
 * port that they were given and listen then, or listen again for another purpose, and a peer on the same host
 * may be quicker. An INIT is dropped meanwhile, and comes again after SCTP's initial RTO of 1 s; a request on an
 * association waits.
 */
#define CM_LISTEN_GRACE (1 * NSEC_PER_SEC)

/* Part of struct conn. */
struct cm {
	struct cm_id_table *ids;    /* the RNIC's */
	struct list_node accepting; /* cm_setup.node, by deadline */
	struct list_node ending;    /* cm_ending.node */
	struct list_node timewait;  /* cm_ending.timewait_node, by timewait_until */
	struct list_node early;	    /* requests that came while nobody listened (cm_early.c) */
	unsigned int n_early;
	uint32_t last_mcast; /* the handle that was given last to a group that an id has joined */
	uint64_t end_check;  /* when the ids of `ending` are looked at next */
	uint64_t last_event; /* when an event was posted last; 0: never */
};

void cm_init(struct cm *cm, struct cm_id_table *ids);

/* ---- cm_id.c: the table of ids, one for the whole RNIC ---- */

struct cm_id_table *cm_id_table_new(void); /* NULL: out of memory */
/*
 * Frees all ids without a word to their peers, and gives back their references on channels. The table is
 * empty then. For the child of a fork(), with conn_forget(): the conn must not use the ids any more.
 */
void cm_id_table_forget(struct cm_id_table *t, const struct conn_events_ops *events);
/* The same, and frees the table. */
void cm_id_table_free(struct cm_id_table *t, const struct conn_events_ops *events);
/* A new id whose events go to chan. NULL: out of memory. */
struct cm_id *cm_id_new(struct conn *c, struct rnic_channel *chan, uint64_t uid);
/* The id with this handle, of any conn of the RNIC; NULL: there is none. Locks of all shards. */
struct cm_id *cm_id_get(const struct conn *c, uint32_t handle);
/* The same, if it belongs to this conn. */
struct cm_id *cm_id_here(const struct conn *c, uint32_t handle);
/* Ends what the id has going on with the peer and drops its events; returns how many were read before. */
uint32_t cm_id_free(struct cm_id *id);
/* The next id at or behind *pos of the table, or NULL; *pos moves on. */
struct cm_id *cm_id_next(const struct conn *c, uint32_t *pos);
/* The id's request waits in the listener's backlog for being read, and for a decision. */
void cm_enter_backlog(struct cm_id *id, struct cm_id *listener);
/* The application has read the id's CONNECT_REQUEST: it leaves its listener's backlog. */
void cm_leave_backlog(struct cm_id *id);
/* Whether the backlog is full. Shards that look at the same time may put a request each too many there. */
bool cm_backlog_is_full(const struct cm_id *listener);
/* How many requests wait for the decision of applications, on all ids of the RNIC, read or not. */
unsigned int cm_undecided(const struct conn *c);
/* Whether one of them came from this address and names this QP, which is not 0. */
bool cm_is_asked_by(const struct conn *c, uint32_t qp_num, const struct ip_addr *from);
/* The id's request is decided about. May be called again, or for any id. */
void cm_decided(struct cm_id *id);
/* A word for the log. */
const char *cm_state_name(enum cm_state state);

/* ---- cm_event.c ---- */

/* Posts an event of the id; status: 0 or -errno. */
void cm_post(struct cm_id *id, enum cm_event_type type, int status);
/* The same with what the peer said, or NULL. */
void cm_post_param(struct cm_id *id, enum cm_event_type type, int status,
		   const struct iw_session_param *param);
/* The same on an id for datagrams, with what a reply said, or NULL. status may be one of wire/sidr.h, too. */
void cm_post_datagram(struct cm_id *id, enum cm_event_type type, int status,
		      const struct wire_sidr *reply);
/* Queues an event for the application itself, see rnic_api.h. Returns 0, or -ENOMEM. */
int cm_write_event(struct cm_id *id, uint32_t event, int status, uint64_t arg);
/* CONNECT_REQUEST on the listener, for the new id. -ENOMEM. */
int cm_post_request(struct cm_id *listener, struct cm_id *child,
		    const struct iw_session_param *param);
/* Pads the private data of the event to the length that a channel adapter has. */
void cm_event_pad(const struct conn *c, struct rnic_cm_event *ev);
/* Posts REJECTED, with the error as status or, with a channel adapter, the reason. */
void cm_rejected(struct cm_id *id, int error, enum cm_rej_reason reason,
		 const struct iw_session_param *param);
/* The attempt to connect failed: posts the event that this error means to an application. */
void cm_connect_failed(struct cm_id *id, int error);

/* ---- cm_connect.c ---- */

/* Brings an id that is about to connect to the conn that gets what its peer sends. */
void cm_choose_conn(struct cm_id *id);
/* The UDP port behind which the peer's SCTP port is. */
uint16_t cm_encap_port(const struct conn *c, uint16_t port);
/* The association is up; or it is gone before it was up. */
void cm_assoc_up(struct conn_assoc *a);
void cm_assoc_failed(struct conn_assoc *a, int error);
/* The association that the id waited for was closed before it was of use: the id goes on to a new one. */
void cm_reconnect(struct cm_id *id);
uint64_t cm_next_timeout(const struct conn *c);
void cm_timers(struct conn *c);
/* The events of a session that belongs to the id of this handle. */
void cm_session_user(const struct cm_id *id, struct iw_session_user *user);

/* ---- cm_end.c ---- */

/*
 * The connection has ended, because of the peer, its process, the network or the state of the QP.
 */
void cm_end(struct cm_id *id);
/* Gives up what the id has with a peer, without an event to the application. */
void cm_hang_up(struct cm_id *id);
uint64_t cm_end_next_timeout(const struct conn *c);
void cm_end_timers(struct conn *c);

/* ---- cm_listen.c ---- */

/* An Initiate came that is for no QP connected out of band. */
void cm_request(struct conn *c, const struct iw_event *ev);
/*
 * Decides about a request that does not wait, or not any more: the listener's application gets it, or it is refused.
 * param: what the request says; only what is the application's is left in it.
 */
void cm_judge(struct conn *c, struct iw_session *s, struct iw_session_param *param);
/* Why a request is refused before an application hears of it, or NULL. listener: NULL if there is none. */
const char *cm_why_not(const struct conn *c, const struct cm_id *listener, size_t private_data_len);
/*
 * Returns a new id for a request that came to ep on path, or NULL without memory. port: the port
 * that the peer's id shows. The request waits for the decision of the listener's application.
 */
struct cm_id *cm_request_new(const struct endpoint *ep, const struct path_addr *path,
			     uint16_t port);
/* The id listens no more; requests that were not read are rejected. */
void cm_unlisten(struct cm_id *id);
/* Peers that open an association to the endpoint are not refused for CM_LISTEN_GRACE. */
void cm_grant_grace(struct endpoint *ep);

/* ---- cm_early.c: requests that came while nobody listened, each for CM_LISTEN_GRACE ---- */

/* Keeps the request of this event. False: no memory. */
bool cm_early_keep(struct conn *c, const struct iw_event *ev);
/* The endpoint has a listener now, which gets what is kept for it, in the order in which it came. */
void cm_early_take(struct endpoint *ep);
uint64_t cm_early_next_timeout(const struct conn *c);
void cm_early_timers(struct conn *c);

/* ---- cm_mcast.c ---- */

struct cm_join {
	uint64_t uid;	      /* the application's name for the group, in its events */
	unsigned int ifindex; /* of the interface that the id is bound to */
	bool send_only;
};

int cm_join_mcast(struct cm_id *id, const struct sockaddr *addr, const struct cm_join *join,
		  uint32_t *handle);
int cm_leave_mcast(struct conn *c, const struct rnic_channel *chan, uint32_t handle,
		   uint32_t *events_reported);
/* Leaves all groups of the id; returns how many of their events were read, those left before among them. */
uint32_t cm_leave_all(struct cm_id *id);
/* Moves the events of the id's groups by `migrate`; returns as cm_leave_all(). */
uint32_t cm_migrate_groups(struct cm_id *id, struct rnic_channel *to,
			   uint32_t (*migrate)(struct event_source *src, struct rnic_channel *to));
/* Of cm_id_table_forget(). */
void cm_forget_groups(struct cm_id *id, const struct conn_events_ops *events);

/* ---- the operations of rnic_api.h, see there ---- */

/* Whether the device's messages have room for len bytes of private data. */
bool cm_private_fits(const struct conn *c, size_t len, enum cm_private_max max);

int cm_bind(struct cm_id *id, const struct sockaddr *addr);
int cm_resolve_addr(struct cm_id *id, const struct sockaddr *src, const struct sockaddr *dst);
int cm_resolve_route(struct cm_id *id);
int cm_connect(struct cm_id *id, const struct rnic_conn_param *param);
int cm_listen(struct cm_id *id, int backlog);
int cm_accept(struct cm_id *id, const struct rnic_conn_param *param, bool has_uid, uint64_t uid);
int cm_reject(struct cm_id *id, uint8_t reason, const void *private_data, uint8_t len);
int cm_disconnect(struct cm_id *id);
/* Fills all but info->node_guid; info->port_num is 0 while the id has no device. */
int cm_query(struct cm_id *id, struct rnic_addr_info *info);
int cm_init_qp_attr(struct cm_id *id, uint32_t qp_state, struct rnic_qp_attr *attr);
/* -EINVAL: nothing is going on with a peer, nor has been. */
int cm_notify(const struct cm_id *id);
int cm_set_option(struct cm_id *id, int level, int name, const void *val, size_t len);

#endif
