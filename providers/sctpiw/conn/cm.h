/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The connection manager: the rdma_cm ids, as the kernel's serves them for an iWARP device. A
 * handle names an id; 0 is none. Everything needs the engine lock, and so does the table.
 */
#ifndef SCTPIW_ENGINE_CM_H
#define SCTPIW_ENGINE_CM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "runtime/channel.h"
#include "runtime/private.h"
#include "rnic_api.h"

enum cm_state {
	CM_IDLE,
	CM_BOUND,
	CM_ADDR_RESOLVED,
	CM_ROUTE_RESOLVED,
	CM_CONNECTING, /* active: waits for the association, or for the Accept */
	CM_LISTEN,
	CM_REQUESTED, /* passive: waits for accept or reject */
	CM_ACCEPTED,  /* passive: waits for the initiator's RTR indication */
	CM_ESTABLISHED,
	CM_OVER, /* was connected, or failed to be */
};

/* Numbers of enum rdma_cm_event_type. */
enum cm_event_type {
	CM_EVENT_ADDR_RESOLVED = 0,
	CM_EVENT_ADDR_ERROR = 1,
	CM_EVENT_ROUTE_RESOLVED = 2,
	CM_EVENT_CONNECT_REQUEST = 4,
	CM_EVENT_CONNECT_ERROR = 6,
	CM_EVENT_UNREACHABLE = 7,
	CM_EVENT_REJECTED = 8,
	CM_EVENT_ESTABLISHED = 9,
	CM_EVENT_DISCONNECTED = 10,
};

/* Numbers of <rdma/rdma_user_cm.h> and <rdma/ib_user_verbs.h>. */
enum cm_port_space {
	CM_PS_IPOIB = 0x0002,
	CM_PS_TCP = 0x0106,
	CM_PS_UDP = 0x0111,
	CM_PS_IB = 0x013f,
};
enum cm_qp_type { CM_QPT_RC = 2, CM_QPT_UD = 4 };
enum cm_option_level { CM_OPTION_ID = 0, CM_OPTION_IB = 1 };
enum cm_option_id {
	CM_OPTION_ID_TOS = 0,
	CM_OPTION_ID_REUSEADDR = 1,
	CM_OPTION_ID_AFONLY = 2,
	CM_OPTION_ID_ACK_TIMEOUT = 3,
};

struct cm_id {
	struct engine *engine;
	uint32_t handle;
	enum cm_state state;
	struct channel_source source;
	uint64_t uid;
	bool connected_type; /* of a reliable connection: all that this device has */
	bool reuse, afonly, tos_set;
	uint8_t tos;

	struct sockaddr_storage src, dst; /* family 0: none yet */
	struct endpoint *ep;		  /* referenced, or NULL; passive ids have none */
	struct list_node bound_node;	  /* endpoint.ids */

	/* Connections */
	struct conn_assoc *assoc;	      /* while waiting for it to come up */
	struct list_node wait_node;   /* assoc.waiting */
	struct list_node accept_node; /* engine.accepting, or .ending */
	uint64_t accept_deadline;
	uint64_t end_deadline; /* in engine.ending */
	uint32_t end_recv;     /* iw_cq_find_recv() */
	int end_status;
	unsigned int moves; /* to other ports of ours, from associations without a stream */
	bool retried; /* on another association, since the first was lost under the Initiate */
	struct iw_session *session; /* NULL before and after */
	uint32_t qp_num;
	struct iw_session_param param;

	/* Listeners, and those who wait in their backlog until their CONNECT_REQUEST is read */
	unsigned int backlog, pending;
	struct list_node requests; /* of a listener: request_node */
	struct list_node request_node;
	struct cm_id *listener; /* NULL once it is the application's */
};

/* cm_id.c: the table */
struct cm_id *cm_id_new(struct engine *e, struct rnic_channel *chan, uint64_t uid);
struct cm_id *cm_id_get(struct engine *e, uint32_t handle); /* NULL: no such id */
/* Ends what it has going on with the peer, forgets its events; returns how many were read. */
uint32_t cm_id_free(struct cm_id *id);
/* The next id at or behind *pos of the table, or NULL. */
struct cm_id *cm_id_next(struct engine *e, uint32_t *pos);
/* Takes the id out of its listener's backlog. */
void cm_leave_backlog(struct cm_id *id);
/* For the child of a fork: a table without ids. */
void cm_forget_all(void);

/* For the log. */
const char *cm_state_name(enum cm_state state);

/* cm_event.c */
void cm_post(struct cm_id *id, enum cm_event_type type, int status);
void cm_post_param(struct cm_id *id, enum cm_event_type type, int status,
		   const struct iw_session_param *param);
int cm_post_request(struct cm_id *listener, struct cm_id *child,
		    const struct iw_session_param *param);
/* A connection attempt failed: the event that this error means to an application. */
void cm_connect_failed(struct cm_id *id, int error, const struct iw_session_param *param);

/* cm_connect.c */
/* The UDP port behind which the peer's SCTP port is. */
uint16_t cm_encap_port(const struct engine *e, uint16_t port);
/* The association is up, or is gone before it was. */
void cm_assoc_up(struct conn_assoc *a);
void cm_assoc_failed(struct conn_assoc *a, int error);
void cm_session_event(struct engine *e, const struct iw_event *ev);
uint64_t cm_next_timeout(const struct engine *e);
void cm_timers(struct engine *e);
/* For an id whose association was closed before it was of use: on to a new one. */
void cm_reconnect(struct cm_id *id);
/* Gives up what the id has with a peer, without an event to the application. */
void cm_hang_up(struct cm_id *id);

/* cm_listen.c */
void cm_request(struct engine *e, const struct iw_event *ev);
/* Rejects what was not read. */
void cm_unlisten(struct cm_id *id);

/* The operations of rnic_api.h, under the lock. */
int cm_bind(struct cm_id *id, const struct sockaddr *addr);
int cm_resolve_addr(struct cm_id *id, const struct sockaddr *src, const struct sockaddr *dst);
int cm_resolve_route(struct cm_id *id);
int cm_connect(struct cm_id *id, const struct rnic_conn_param *param);
int cm_listen(struct cm_id *id, int backlog);
int cm_accept(struct cm_id *id, const struct rnic_conn_param *param, bool has_uid, uint64_t uid);
int cm_reject(struct cm_id *id, const void *private_data, uint8_t len);
int cm_disconnect(struct cm_id *id);
int cm_query(struct cm_id *id, struct rnic_addr_info *info);
int cm_init_qp_attr(struct cm_id *id, uint32_t qp_state, struct rnic_qp_attr *attr);
/* -EINVAL: nothing is going on with a peer, nor has been. */
int cm_notify(const struct cm_id *id);
int cm_set_option(struct cm_id *id, int level, int name, const void *val, size_t len);

#endif
