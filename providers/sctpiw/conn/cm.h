/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The connection manager (CM) with its rdma_cm ids, which behave as the kernel's ids for an iWARP
 * device. A handle identifies an id; no id has handle 0. An id belongs to one shard, whose lock
 * guards it. At first this is the RNIC's first shard. The id moves once its port or peer determines
 * the shard of its association. Operations of an application need the locks of all shards, since
 * ids move between shards, and all shards use the listeners. Events of an id's session, and timers,
 * need only the lock of the id's shard.
 *
 * The operations return 0 or -errno, as their man pages say. They return -EINVAL if the id is in a
 * wrong state.
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
	CM_CONNECTING, /* active side: waits for the association, or for the Accept */
	CM_LISTEN,
	CM_REQUESTED, /* passive side: waits until the application accepts or rejects */
	CM_ACCEPTED,  /* passive side: waits for the initiator's RTR indication (RFC 6581 9.2) */
	CM_ESTABLISHED,
	CM_OVER, /* after a connection, or a failed attempt */
};

/* Same numbers as in enum rdma_cm_event_type. */
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

/* Same numbers as in <rdma/rdma_user_cm.h> and <rdma/ib_user_verbs.h>. */
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

/* Options that the application sets before the id is bound or connected. */
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
	struct list_node node;	    /* cm.accepting, while the id waits for the peer's answer */
	uint64_t deadline;
	unsigned int moves; /* number of moves to other local ports (leave_full()) */
	bool messages;	    /* conn_assoc.cm_messages of the session's association */
	bool retried;	    /* the first association was lost, and the id tried another one */
};

/*
 * Used after the end of the session: DISCONNECTED is posted once the application has polled all
 * earlier completions.
 */
struct cm_ending {
	struct list_node node; /* cm.ending */
	uint64_t deadline;
	bool in_send_cq;		/* pos is in the send CQ, else in the receive CQ */
	uint32_t pos;			/* position of an unpolled success: iw_cq_find_success() */
	struct list_node timewait_node; /* cm.timewait, between DISCONNECTED and TIMEWAIT_EXIT */
	uint64_t timewait_until;
};

/* State of a listener. */
struct cm_listening {
	unsigned int backlog;	   /* maximum of `pending` */
	unsigned int pending;	   /* number of requests that the application has not read */
	struct list_node requests; /* cm_request_link.node */
};

/* State of a passive id, which was made for a peer's request. */
struct cm_request_link {
	struct cm_id *listener;	    /* of any shard; NULL once the request was read */
	struct list_node node;	    /* cm_listening.requests, while listener is set */
	struct list_node undecided; /* cm_id_table.undecided, until accepted or rejected */
};

struct cm_id {
	struct conn *conn;
	struct conn *any_port; /* chooses the port if the program does not; NULL: `conn` does */
	uint32_t handle;
	enum cm_state state;
	struct event_source source;
	uint64_t uid;	     /* the application's identifier in events of the id */
	bool connected_type; /* the id is for reliable connections; else for datagrams (sidr.h) */
	uint8_t type;	     /* type of the id's QPs, if connected_type: enum cm_message_type */
	struct cm_options opt;

	struct sockaddr_storage src, dst; /* family 0: not set */
	struct endpoint *ep;	     /* holds a reference; NULL for passive ids for connections */
	struct list_node bound_node; /* endpoint.ids */
	bool beside_socket; /* a socket has the port of src; the endpoint has another port */
	uint16_t own_port;  /* port of src, from conn_ops.take_port(); 0: the endpoint's port */

	struct iw_session *session; /* NULL before and after the connection */
	uint32_t qp_num;
	uint32_t peer_qp_num;	/* QP number in the peer's message; 0: none */
	uint32_t named_qp_num;	/* QP number that the application passed; sent to the peer */
	struct iw_qp *stand_in; /* the QP qp_num if it is a stand-in (stand_in.h); else NULL */
	struct iw_session_param param;
	struct cm_counts counts, peer_counts; /* CM_COUNTS_MOST until they are set */
	struct cm_setup setup;
	struct cm_ending ending;
	struct sidr_request sidr; /* used for datagrams */
	struct list_node groups;  /* cm_mcast.node, for each joined multicast group */
	uint32_t group_events;	  /* events read from groups that the id has left */

	struct cm_listening listening;
	struct cm_request_link request;
};

/*
 * Reasons in an InfiniBand REJ (IBA 12.6.7.2). They are the status of REJECTED if the device is a
 * channel adapter.
 */
enum cm_rej_reason {
	CM_REJ_INVALID_SERVICE_ID = 8, /* no program listens */
	CM_REJ_CONSUMER_DEFINED = 28,  /* a program rejected or abandoned the request */
	CM_REJ_VENDOR_OPTION_NOT_SUPPORTED = 35,
};

/*
 * Bytes of private data in InfiniBand's messages, without the header of rdma_cm. If the device is a
 * channel adapter, programs may pass at most this many bytes. Events then always have this length:
 * zeros follow the peer's data.
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
 * Retry counts for a program or peer that sets none. They are the maximum, so that no operation
 * fails early.
 */
#define CM_COUNTS_MOST                                                                             \
	(struct cm_counts)                                                                         \
	{                                                                                          \
		.retry = 7, .rnr_retry = 7                                                         \
	}

/*
 * The peer's QP number in rdma_init_qp_attr() with InfiniBand's masks, if the peer sent none. Other
 * stacks use the same number. ibv_modify_qp() recognizes QPs of the connection manager by it, since
 * no peer of a QP connected out of band has this number.
 */
#define CM_DEST_QP_NUM 1

/*
 * Time in which a request to a port without a listener is not refused. It begins when an id is
 * bound, when a listener ends while its port has associations, and when a request arrives on an
 * existing association. Some programs announce their port before they listen, or listen again for
 * another purpose. A peer on the same host may connect before the program listens. During this
 * time, an INIT is dropped. The peer retransmits the INIT after SCTP's initial RTO of 1 s. A
 * request on an existing association waits.
 */
#define CM_LISTEN_GRACE (1 * NSEC_PER_SEC)

/* Part of struct conn. */
struct cm {
	struct cm_id_table *ids;    /* the table that all shards of the RNIC share */
	struct list_node accepting; /* cm_setup.node, by deadline */
	struct list_node ending;    /* cm_ending.node */
	struct list_node timewait;  /* cm_ending.timewait_node, by timewait_until */
	struct list_node early;	    /* requests that arrived before a listener (cm_early.c) */
	unsigned int n_early;
	uint32_t last_mcast; /* handle of the last group that an id joined */
	uint64_t end_check;  /* next time to check the ids of `ending` */
	uint64_t last_event; /* time of the last event; 0: none yet */
};

void cm_init(struct cm *cm, struct cm_id_table *ids);

/* ---- cm_id.c: the table of ids, one for the whole RNIC ---- */

struct cm_id_table *cm_id_table_new(void); /* NULL when out of memory */
/*
 * Frees all ids without notice to their peers, and releases their references on channels. Empties
 * the table. The child of a fork() calls this together with conn_forget(); the conn must not use
 * the ids afterwards.
 */
void cm_id_table_forget(struct cm_id_table *t, const struct conn_events_ops *events);
/* Does the same as cm_id_table_forget(), and frees the table. */
void cm_id_table_free(struct cm_id_table *t, const struct conn_events_ops *events);
/* Returns a new id whose events go to chan, or NULL when out of memory. */
struct cm_id *cm_id_new(struct conn *c, struct rnic_channel *chan, uint64_t uid);
/*
 * Returns the id of any conn of the RNIC with this handle, or NULL. The caller holds the locks of
 * all shards.
 */
struct cm_id *cm_id_get(const struct conn *c, uint32_t handle);
/* Returns the id of this conn with this handle, or NULL. */
struct cm_id *cm_id_here(const struct conn *c, uint32_t handle);
/*
 * Frees an id, after ending its connection and dropping its unread events. Returns the number of
 * its events that the application has read.
 */
uint32_t cm_id_free(struct cm_id *id);
/* Returns the first id at or after position *pos of the table, or NULL. Advances *pos. */
struct cm_id *cm_id_next(const struct conn *c, uint32_t *pos);
/* Puts the id's request into the listener's backlog, and into the list of undecided requests. */
void cm_enter_backlog(struct cm_id *id, struct cm_id *listener);
/* Removes the id's request from the backlog, once the application has read the CONNECT_REQUEST. */
void cm_leave_backlog(struct cm_id *id);
/*
 * True if the backlog is full. If several shards check at the same time, each may add a request, so
 * that the backlog exceeds its limit slightly.
 */
bool cm_backlog_is_full(const struct cm_id *listener);
/*
 * Returns the number of requests to all listeners of the RNIC that were neither accepted nor
 * rejected, whether read or not.
 */
unsigned int cm_undecided(const struct conn *c);
/*
 * True if an undecided request came from this address and has this QP number. qp_num must not be 0.
 */
bool cm_is_asked_by(const struct conn *c, uint32_t qp_num, const struct ip_addr *from);
/*
 * Removes the id's request from the list of undecided requests. Does nothing if the list does not
 * contain it.
 */
void cm_decided(struct cm_id *id);
const char *cm_state_name(enum cm_state state);

/* ---- cm_event.c ---- */

/* Posts an event of the id. status is 0 or -errno. */
void cm_post(struct cm_id *id, enum cm_event_type type, int status);
/* Posts an event with the peer's parameters. param may be NULL. */
void cm_post_param(struct cm_id *id, enum cm_event_type type, int status,
		   const struct iw_session_param *param);
/*
 * Posts an event of a datagram id, with the peer's reply or NULL. status may also be a status of
 * wire/sidr.h.
 */
void cm_post_datagram(struct cm_id *id, enum cm_event_type type, int status,
		      const struct wire_sidr *reply);
/*
 * Queues an event that the application passed (rdma_write_cm_event(); see rnic_api.h). Returns 0 or
 * -ENOMEM.
 */
int cm_write_event(struct cm_id *id, uint32_t event, int status, uint64_t arg);
/* Posts CONNECT_REQUEST on the listener, for the new id. Returns 0 or -ENOMEM. */
int cm_post_request(struct cm_id *listener, struct cm_id *child,
		    const struct iw_session_param *param);
/* Pads the event's private data to InfiniBand's length, if the device is a channel adapter. */
void cm_event_pad(const struct conn *c, struct rnic_cm_event *ev);
/*
 * Posts REJECTED. The event's status is the reason if the device is a channel adapter, else the
 * error.
 */
void cm_rejected(struct cm_id *id, int error, enum cm_rej_reason reason,
		 const struct iw_session_param *param);
/* Posts the event that belongs to the error of a failed attempt to connect. */
void cm_connect_failed(struct cm_id *id, int error);

/* ---- cm_connect.c ---- */

/* Moves the id, before it connects, to the conn that receives its peer's packets. */
void cm_choose_conn(struct cm_id *id);
/* Returns the UDP port to which packets for a peer's SCTP port are sent. */
uint16_t cm_encap_port(const struct conn *c, uint16_t port);
/*
 * cm_assoc_up() continues the ids that wait for the association. cm_assoc_failed() lets these ids
 * try once more or fail, after the association was lost.
 */
void cm_assoc_up(struct conn_assoc *a);
void cm_assoc_failed(struct conn_assoc *a, int error);
/* Moves the id to a new association, after the association that it waited for was closed. */
void cm_reconnect(struct cm_id *id);
uint64_t cm_next_timeout(const struct conn *c);
void cm_timers(struct conn *c);
/* Fills *user for a session of the id. Events of the session find the id by its handle. */
void cm_session_user(const struct cm_id *id, struct iw_session_user *user);

/* ---- cm_end.c ---- */

/*
 * Reports the end of the connection to the application. The cause may be the peer, the end of its
 * process, the network, or the state of the local QP.
 */
void cm_end(struct cm_id *id);
/* Abandons the id's connection or request, without an event to the application. */
void cm_hang_up(struct cm_id *id);
uint64_t cm_end_next_timeout(const struct conn *c);
void cm_end_timers(struct conn *c);

/* ---- cm_listen.c ---- */

/* Handles an Initiate for rdma_cm. oob_request() handles those for QPs connected out of band. */
void cm_request(struct conn *c, const struct iw_event *ev);
/*
 * Passes a request to the listener's application, or refuses it. A request that waited for a
 * listener gets here after its wait. param: contents of the request. Removes the CM's own message
 * from param, so that only the application's private data remain.
 */
void cm_judge(struct conn *c, struct iw_session *s, struct iw_session_param *param);
/*
 * Returns the reason to refuse a request without asking the application, or NULL if there is none.
 * listener may be NULL.
 */
const char *cm_why_not(const struct conn *c, const struct cm_id *listener, size_t private_data_len);
/*
 * Returns a new id for a request to ep from path, or NULL when out of memory. port: port of the
 * peer's id. The request waits until the listener's application accepts or rejects it.
 */
struct cm_id *cm_request_new(const struct endpoint *ep, const struct path_addr *path,
			     uint16_t port);
/* Ends listening, and refuses the number of requests that the application has not read. */
void cm_unlisten(struct cm_id *id);
/* Starts a time of CM_LISTEN_GRACE in which associations to the endpoint are not refused. */
void cm_grant_grace(struct endpoint *ep);

/* ---- cm_early.c: requests without a listener, each kept for CM_LISTEN_GRACE ---- */

/* Keeps the request of this event. Returns false when out of memory. */
bool cm_early_keep(struct conn *c, const struct iw_event *ev);
/* Passes the kept requests to the endpoint's new listener, in order of arrival. */
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
/*
 * Leaves all multicast groups. Returns the number of events that the application has read from all
 * groups of the id, including those that it left before.
 */
uint32_t cm_leave_all(struct cm_id *id);
/*
 * Moves the events of the id's groups to another channel, by calling `migrate`. Returns the same
 * number as cm_leave_all().
 */
uint32_t cm_migrate_groups(struct cm_id *id, struct rnic_channel *to,
			   uint32_t (*migrate)(struct event_source *src, struct rnic_channel *to));
/* Frees the id's groups, for cm_id_table_forget(). */
void cm_forget_groups(struct cm_id *id, const struct conn_events_ops *events);

/* ---- operations of rnic_api.h, see there ---- */

/*
 * True if len bytes of private data fit into the device's message. max: InfiniBand's limit for this
 * message, which applies to channel adapters.
 */
bool cm_private_fits(const struct conn *c, size_t len, enum cm_private_max max);

int cm_bind(struct cm_id *id, const struct sockaddr *addr);
int cm_resolve_addr(struct cm_id *id, const struct sockaddr *src, const struct sockaddr *dst);
int cm_resolve_route(struct cm_id *id);
int cm_connect(struct cm_id *id, const struct rnic_conn_param *param);
int cm_listen(struct cm_id *id, int backlog);
int cm_accept(struct cm_id *id, const struct rnic_conn_param *param, bool has_uid, uint64_t uid);
int cm_reject(struct cm_id *id, uint8_t reason, const void *private_data, uint8_t len);
int cm_disconnect(struct cm_id *id);
/* Fills all of info except node_guid. info->port_num is 0 until the id has a device. */
int cm_query(struct cm_id *id, struct rnic_addr_info *info);
int cm_init_qp_attr(struct cm_id *id, uint32_t qp_state, struct rnic_qp_attr *attr);
/* Returns 0, or -EINVAL if the id has neither connected nor listened yet. */
int cm_notify(const struct cm_id *id);
int cm_set_option(struct cm_id *id, int level, int name, const void *val, size_t len);

#endif
