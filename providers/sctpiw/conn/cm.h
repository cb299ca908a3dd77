/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The connection manager: rdma_cm ids, which behave as the kernel's ids for an iWARP device. A
 * handle names an id; 0 names none. An id belongs to one shard, whose lock guards it. This is the
 * first shard, until the id's port or peer determines the shard of its association. Operations of
 * an application need the locks of all shards, since ids move, and all shards see the listeners.
 * Events of an id's session, and timers, need only the lock of the id's shard.
 *
 * The operations return 0 or -errno as in their man pages. -EINVAL: the id is in a wrong state.
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
	CM_OVER, /* after a connection, or a failed attempt */
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

/* Options that the application set before the id was bound or connected. */
struct cm_options {
	bool reuse;  /* RDMA_OPTION_ID_REUSEADDR */
	bool afonly; /* RDMA_OPTION_ID_AFONLY */
	bool tos_set;
	uint8_t tos; /* without the ECN bits */
	bool ack_timeout_set;
	uint8_t ack_timeout; /* RDMA_OPTION_ID_ACK_TIMEOUT, as in ibv_modify_qp() */
};

/* Used from rdma_connect() or rdma_accept() until the connection is established. */
struct cm_setup {
	struct list_node wait_node; /* conn_assoc.waiting, until the association is up */
	struct list_node node;	    /* cm.accepting: waits for the peer's answer until deadline */
	uint64_t deadline;
	unsigned int moves; /* to other local ports, away from associations without a free stream */
	bool messages;	    /* the session's association has cm_messages */
	bool retried;	    /* on another association, after a loss between Initiate and answer */
};

/* After the end of the session: DISCONNECTED waits until earlier completions are polled. */
struct cm_ending {
	struct list_node node; /* cm.ending */
	uint64_t deadline;
	bool in_send_cq;		/* CQ of a successful completion that was not polled */
	uint32_t pos;			/* its entry: iw_cq_find_success() */
	struct list_node timewait_node; /* cm.timewait: between DISCONNECTED and TIMEWAIT_EXIT */
	uint64_t timewait_until;
};

/* State of a listener. */
struct cm_listening {
	unsigned int backlog;	   /* maximum of requests that wait to be read */
	unsigned int pending;	   /* requests that wait now */
	struct list_node requests; /* cm_request_link.node */
};

/* State of an id made for a request. */
struct cm_request_link {
	struct cm_id *listener;	    /* of any shard; NULL once CONNECT_REQUEST is read */
	struct list_node node;	    /* cm_listening.requests, while listener is set */
	struct list_node undecided; /* cm_id_table.undecided, until accept or reject */
};

struct cm_id {
	struct conn *conn;
	struct conn *any_port; /* gives the id a port, if the application names none; NULL: conn */
	uint32_t handle;
	enum cm_state state;
	struct event_source source;
	uint64_t uid;	     /* the application's identifier in events of the id */
	bool connected_type; /* for a reliable connection; else for datagrams (conn/sidr.h) */
	uint8_t type;	     /* type of its QPs, if connected_type: enum cm_message_type */
	struct cm_options opt;

	struct sockaddr_storage src, dst; /* family 0: not set */
	struct endpoint *ep;	     /* holds a reference; NULL for passive ids for connections */
	struct list_node bound_node; /* endpoint.ids */
	bool beside_socket; /* a socket of the host has src's port, the endpoint another one */
	uint16_t own_port;  /* port in src, from conn_ops.take_port(); 0: port of the endpoint */

	struct iw_session *session; /* NULL before and after the connection */
	uint32_t qp_num;
	uint32_t peer_qp_num;	/* as named by the peer; 0: not named */
	uint32_t named_qp_num;	/* as named by the application; sent to the peer */
	struct iw_qp *stand_in; /* the QP with qp_num if the application named none; else NULL */
	struct iw_session_param param;
	struct cm_counts counts, peer_counts; /* CM_COUNTS_MOST until set */
	struct cm_setup setup;
	struct cm_ending ending;
	struct sidr_request sidr; /* used for datagrams */
	struct list_node groups;  /* cm_mcast.node: multicast groups joined */
	uint32_t group_events;	  /* events read of groups left since */

	struct cm_listening listening;
	struct cm_request_link request;
};

/* Reasons of an InfiniBand REJ (IBA 12.6.7.2): status of REJECTED with a channel adapter. */
enum cm_rej_reason {
	CM_REJ_INVALID_SERVICE_ID = 8, /* nobody listens */
	CM_REJ_CONSUMER_DEFINED = 28,  /* a program rejected or abandoned the request */
	CM_REJ_VENDOR_OPTION_NOT_SUPPORTED = 35,
};

/*
 * Bytes of private data in InfiniBand's messages, without the header of rdma_cm. With a channel
 * adapter, these are the limits for programs, and the lengths in events, where zeros follow the
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

/* Counts of a program or peer that set none: the maximum, so that waits are not cut short. */
#define CM_COUNTS_MOST                                                                             \
	(struct cm_counts)                                                                         \
	{                                                                                          \
		.retry = 7, .rnr_retry = 7                                                         \
	}

/*
 * The peer's QP number in rdma_init_qp_attr() with InfiniBand's masks, if the peer named none, as
 * in other stacks. It marks QPs that the connection manager connects: no QP connected out of band
 * has this number.
 */
#define CM_DEST_QP_NUM 1

/*
 * Time in which a request without a listener is not refused. It applies after rdma_bind_addr(),
 * after the end of a listener with remaining connections, and on associations to the port. Programs
 * announce their port and listen later, or listen again for another purpose. A peer on the same
 * host may be faster. In this time, an INIT is dropped, and retransmitted after SCTP's initial RTO
 * of 1 s. A request on an association waits.
 */
#define CM_LISTEN_GRACE (1 * NSEC_PER_SEC)

/* Part of struct conn. */
struct cm {
	struct cm_id_table *ids;    /* table of the RNIC */
	struct list_node accepting; /* cm_setup.node, by deadline */
	struct list_node ending;    /* cm_ending.node */
	struct list_node timewait;  /* cm_ending.timewait_node, by timewait_until */
	struct list_node early;	    /* requests received without a listener (cm_early.c) */
	unsigned int n_early;
	uint32_t last_mcast; /* last handle given to a joined group */
	uint64_t end_check;  /* next time to check the ids of `ending` */
	uint64_t last_event; /* time of the last event; 0: none yet */
};

void cm_init(struct cm *cm, struct cm_id_table *ids);

/* ---- cm_id.c: the table of ids, one for the whole RNIC ---- */

struct cm_id_table *cm_id_table_new(void); /* NULL when out of memory */
/*
 * Frees all ids without notice to their peers, and releases their references on channels. The table
 * is empty then. For the child of a fork(), with conn_forget(): the conn must not use the ids any
 * more.
 */
void cm_id_table_forget(struct cm_id_table *t, const struct conn_events_ops *events);
/* As cm_id_table_forget(), and frees the table. */
void cm_id_table_free(struct cm_id_table *t, const struct conn_events_ops *events);
/* Returns a new id whose events go to chan, or NULL when out of memory. */
struct cm_id *cm_id_new(struct conn *c, struct rnic_channel *chan, uint64_t uid);
/* Returns the id with this handle, of any conn of the RNIC, or NULL. Locks of all shards. */
struct cm_id *cm_id_get(const struct conn *c, uint32_t handle);
/* As cm_id_get(), but only for ids of this conn. */
struct cm_id *cm_id_here(const struct conn *c, uint32_t handle);
/* Frees an id: ends its connection and drops its events. Returns the number of its read events. */
uint32_t cm_id_free(struct cm_id *id);
/* Returns the next id at or after *pos of the table, or NULL, and advances *pos. */
struct cm_id *cm_id_next(const struct conn *c, uint32_t *pos);
/* Puts the id's request into the listener's backlog, and into the list of undecided requests. */
void cm_enter_backlog(struct cm_id *id, struct cm_id *listener);
/* Takes the id's request out of the backlog, once the application read the CONNECT_REQUEST. */
void cm_leave_backlog(struct cm_id *id);
/* True if the backlog is full. Shards that check at the same time may each add one too many. */
bool cm_backlog_is_full(const struct cm_id *listener);
/* Returns the number of requests without a decision, read or not, on all ids of the RNIC. */
unsigned int cm_undecided(const struct conn *c);
/* True if an undecided request came from this address and names this QP. qp_num is not 0. */
bool cm_is_asked_by(const struct conn *c, uint32_t qp_num, const struct ip_addr *from);
/* Takes the id's request out of the undecided ones. May be called again, or for any id. */
void cm_decided(struct cm_id *id);
/* Returns a name for the log. */
const char *cm_state_name(enum cm_state state);

/* ---- cm_event.c ---- */

/* Posts an event of the id; status: 0 or -errno. */
void cm_post(struct cm_id *id, enum cm_event_type type, int status);
/* As cm_post(), with the peer's parameters. param may be NULL. */
void cm_post_param(struct cm_id *id, enum cm_event_type type, int status,
		   const struct iw_session_param *param);
/* As cm_post() for a datagram id, with a reply or NULL. status may also be one of wire/sidr.h. */
void cm_post_datagram(struct cm_id *id, enum cm_event_type type, int status,
		      const struct wire_sidr *reply);
/* Queues an event of the application itself, see rnic_api.h. Returns 0 or -ENOMEM. */
int cm_write_event(struct cm_id *id, uint32_t event, int status, uint64_t arg);
/* Posts CONNECT_REQUEST on the listener, for the new id. Returns 0 or -ENOMEM. */
int cm_post_request(struct cm_id *listener, struct cm_id *child,
		    const struct iw_session_param *param);
/* Pads the event's private data to the length for a channel adapter. */
void cm_event_pad(const struct conn *c, struct rnic_cm_event *ev);
/* Posts REJECTED. The status is the error, or the reason with a channel adapter. */
void cm_rejected(struct cm_id *id, int error, enum cm_rej_reason reason,
		 const struct iw_session_param *param);
/* Posts the event for a failed attempt to connect, by its error. */
void cm_connect_failed(struct cm_id *id, int error);

/* ---- cm_connect.c ---- */

/* Before a connect, moves the id to the conn that gets its peer's packets. */
void cm_choose_conn(struct cm_id *id);
/* Returns the UDP port for a peer's SCTP port. */
uint16_t cm_encap_port(const struct conn *c, uint16_t port);
/* Continue the ids that wait for the association, which is up, or was lost before. */
void cm_assoc_up(struct conn_assoc *a);
void cm_assoc_failed(struct conn_assoc *a, int error);
/* Moves the id to a new association, after the one that it waited for was closed. */
void cm_reconnect(struct cm_id *id);
uint64_t cm_next_timeout(const struct conn *c);
void cm_timers(struct conn *c);
/* Sets *user for a session of the id: its events find the id by its handle. */
void cm_session_user(const struct cm_id *id, struct iw_session_user *user);

/* ---- cm_end.c ---- */

/*
 * Reports the end of the connection, caused by the peer, its process, the network or the QP's
 * state.
 */
void cm_end(struct cm_id *id);
/* Abandons the id's connection or request, without an event to the application. */
void cm_hang_up(struct cm_id *id);
uint64_t cm_end_next_timeout(const struct conn *c);
void cm_end_timers(struct conn *c);

/* ---- cm_listen.c ---- */

/* Handles an Initiate that is for no QP connected out of band. */
void cm_request(struct conn *c, const struct iw_event *ev);
/*
 * Passes a request to the listener's application, or refuses it, after its wait if any. param: the
 * request's contents; only the application's private data remain in it.
 */
void cm_judge(struct conn *c, struct iw_session *s, struct iw_session_param *param);
/* Returns the reason to refuse a request without the application, or NULL. listener may be NULL. */
const char *cm_why_not(const struct conn *c, const struct cm_id *listener, size_t private_data_len);
/*
 * Returns a new id for a request to ep from path, or NULL when out of memory. port: port that the
 * peer's id shows. The request waits for the decision of the listener's application.
 */
struct cm_id *cm_request_new(const struct endpoint *ep, const struct path_addr *path,
			     uint16_t port);
/* Ends listening, and rejects the requests that were not read. */
void cm_unlisten(struct cm_id *id);
/* For CM_LISTEN_GRACE, associations to the endpoint are not refused. */
void cm_grant_grace(struct endpoint *ep);

/* ---- cm_early.c: requests without a listener, each kept for CM_LISTEN_GRACE ---- */

/* Keeps the request of this event. Returns false when out of memory. */
bool cm_early_keep(struct conn *c, const struct iw_event *ev);
/* Passes kept requests to the endpoint's new listener, in the order of their arrival. */
void cm_early_take(struct endpoint *ep);
uint64_t cm_early_next_timeout(const struct conn *c);
void cm_early_timers(struct conn *c);

/* ---- cm_mcast.c ---- */

struct cm_join {
	uint64_t uid;	      /* the application's identifier in events of the group */
	unsigned int ifindex; /* interface that the id is bound to */
	bool send_only;
};

int cm_join_mcast(struct cm_id *id, const struct sockaddr *addr, const struct cm_join *join,
		  uint32_t *handle);
int cm_leave_mcast(struct conn *c, const struct rnic_channel *chan, uint32_t handle,
		   uint32_t *events_reported);
/* Leaves all groups. Returns the number of their read events, including groups left before. */
uint32_t cm_leave_all(struct cm_id *id);
/* Moves the events of the id's groups with `migrate`. Returns the same as cm_leave_all(). */
uint32_t cm_migrate_groups(struct cm_id *id, struct rnic_channel *to,
			   uint32_t (*migrate)(struct event_source *src, struct rnic_channel *to));
/* For cm_id_table_forget(). */
void cm_forget_groups(struct cm_id *id, const struct conn_events_ops *events);

/* ---- operations of rnic_api.h, see there ---- */

/* True if the device's messages have room for len bytes of private data. */
bool cm_private_fits(const struct conn *c, size_t len, enum cm_private_max max);

int cm_bind(struct cm_id *id, const struct sockaddr *addr);
int cm_resolve_addr(struct cm_id *id, const struct sockaddr *src, const struct sockaddr *dst);
int cm_resolve_route(struct cm_id *id);
int cm_connect(struct cm_id *id, const struct rnic_conn_param *param);
int cm_listen(struct cm_id *id, int backlog);
int cm_accept(struct cm_id *id, const struct rnic_conn_param *param, bool has_uid, uint64_t uid);
int cm_reject(struct cm_id *id, uint8_t reason, const void *private_data, uint8_t len);
int cm_disconnect(struct cm_id *id);
/* Fills all but info->node_guid. info->port_num is 0 until the id has a device. */
int cm_query(struct cm_id *id, struct rnic_addr_info *info);
int cm_init_qp_attr(struct cm_id *id, uint32_t qp_state, struct rnic_qp_attr *attr);
/* -EINVAL: the id has not connected or listened yet. */
int cm_notify(const struct cm_id *id);
int cm_set_option(struct cm_id *id, int level, int name, const void *val, size_t len);

#endif
