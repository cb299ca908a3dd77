/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Steps of a connection, for the tests of the connection manager. */
#ifndef TESTS_VERBS_CM_H
#define TESTS_VERBS_CM_H

#include "fixture.h"

#include <netinet/in.h>

/* A call that returns non-zero and sets errno. */
#define CHECK_ERRNO(call, error)                                                                   \
	do {                                                                                       \
		errno = 0;                                                                         \
		CHECK((call) != 0);                                                                \
		CHECK_EQ(errno, error);                                                            \
	} while (0)

/* The next event, which must be this one with this status; to be acknowledged. */
struct rdma_cm_event *cm_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type,
			       int status);
/* The same, acknowledged. */
void cm_expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type, int status);
void cm_expect_none(struct rdma_event_channel *channel, int ms);

struct rdma_event_channel *cm_channel(void);
struct rdma_cm_id *cm_id(struct rdma_event_channel *channel);
/* 127.0.0.1 or ::1 */
struct sockaddr_storage cm_loopback(int family, uint16_t port);
struct sockaddr_storage cm_any(int family, uint16_t port);
/* The loopback address with the port of a listener. */
struct sockaddr_storage cm_address_of(struct rdma_cm_id *listener, int family);
struct rdma_cm_id *cm_listener(struct rdma_event_channel *channel, int family, int backlog);
/* An id that is ready for rdma_connect(), with a QP. */
struct rdma_cm_id *cm_resolved(struct rdma_event_channel *channel,
			       const struct sockaddr_storage *to);
void cm_add_qp(struct rdma_cm_id *id);
/* rdma_connect() and rdma_accept() with sensible parameters: 0 or the errno. */
int cm_connect(struct rdma_cm_id *id);
int cm_accept(struct rdma_cm_id *id);
/* The id of the next request at a listener's channel. */
struct rdma_cm_id *cm_request(struct rdma_event_channel *channel);
/* A QP of cm_add_qp() and the id. */
void cm_destroy(struct rdma_cm_id *id);

/* Both ends in this process, connected. */
struct cm_link {
	struct rdma_event_channel *listening, *active, *passive;
	struct rdma_cm_id *listener, *a, *b;
};
void cm_link_open(struct cm_link *l);
void cm_link_close(struct cm_link *l);
/* cm_resolved() to the same listener. */
struct rdma_cm_id *cm_link_another(const struct cm_link *l);
/* A 64-byte Send from one to the other. */
void cm_transfer(struct rdma_cm_id *from, struct rdma_cm_id *to);

#endif
