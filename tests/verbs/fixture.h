/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checks, and a connected pair of QPs in one process. Whatever does not come within
 * WAIT_SECONDS is a failure; a failed check ends the program.
 */
#ifndef TESTS_VERBS_FIXTURE_H
#define TESTS_VERBS_FIXTURE_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "conformance/rows.h"

#define WAIT_SECONDS 20

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			check_failed(__FILE__, __LINE__, #cond);                                   \
	} while (0)

#define CHECK_EQ(a, b) check_equal(__FILE__, __LINE__, #a " == " #b, (int64_t)(a), (int64_t)(b))

/* A call that returns NULL and sets errno. */
#define CHECK_FAILS(call, error)                                                                   \
	do {                                                                                       \
		errno = 0;                                                                         \
		CHECK(!(call));                                                                    \
		CHECK_EQ(errno, error);                                                            \
	} while (0)

void check_failed(const char *file, int line, const char *what) __attribute__((noreturn));
void check_equal(const char *file, int line, const char *what, int64_t a, int64_t b);

struct test {
	const char *name;
	void (*run)(void);
};

/* Those named in argv, or all. */
int run_tests(int argc, char **argv, const struct test *tests, size_t n);
#define RUN_TESTS(argc, argv, tests)                                                               \
	run_tests(argc, argv, tests, sizeof(tests) / sizeof((tests)[0]))

struct ibv_context *open_device(void);
/* The one that librdmacm has opened, and closes. */
struct ibv_context *cm_device(void);
double now_seconds(void);
void sleep_ms(unsigned int ms);
long resident_kib(void); /* memory of this process that is there */

/* One end: its own PD, its own CQs, one MR over buf with every right. */
#define SIDE_BUF (1 << 20)

struct side {
	struct rdma_event_channel *cm_channel;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_td *td;	/* with thread_domain */
	struct ibv_pd *domain;	/* the QP and the MR are on this: a parent domain of td, or pd */
	bool pd_shared; /* another pair's, or of pair_options.srq */
	struct ibv_comp_channel *channel; /* of recv_cq */
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_qp *qp;
	uint8_t *buf;
	struct ibv_mr *mr;
	bool shares; /* its receives and recv_cq are the caller's: pair_options.srq */
};

struct pair {
	struct rdma_cm_id *listener;
	struct side a, b; /* a connected to b */
};

struct pair_options {
	struct ibv_qp_cap cap; /* zero: sensible values */
	int recv_cqe;	       /* zero: enough */
	bool sq_sig_all;
	uint64_t send_ops; /* not 0: the QPs are for ibv_wr_*, with these */
	bool thread_domain;
	uint8_t rnr_retry; /* 7 unless rnr_set */
	bool rnr_set;
	const struct pair *share; /* whose PDs it uses, side by side; closed after it */
	bool extended_cqs; /* both, and without a channel */
	struct ibv_srq *srq;	 /* of side b; with its PD, and with recv_cq. The caller's. */
	struct ibv_cq *recv_cq;
};

void pair_open(struct pair *p, const struct pair_options *o); /* o NULL: defaults */
/* QPs may be in any state. */
void pair_close(struct pair *p);

/* The next completion, in wc; its status must be the one expected. */
void expect_wc(struct ibv_cq *cq, enum ibv_wc_status status, struct ibv_wc *wc);
void wait_wc(struct ibv_cq *cq, struct ibv_wc *wc);
void wait_start_poll(struct ibv_cq_ex *cq); /* until there is an entry: ibv_end_poll() is owed */
/* Nothing comes for ms milliseconds. */
void expect_no_wc(struct ibv_cq *cq, unsigned int ms);
void expect_qp_state(struct ibv_qp *qp, enum ibv_qp_state state);
/* The next n asynchronous events of the device, in any order; they are acknowledged. */
struct async {
	enum ibv_event_type type;
	const void *element;
};
void expect_async(struct ibv_context *ctx, const struct async *events, size_t n);
#define EXPECT_ASYNC(ctx, ...)                                                                     \
	do {                                                                                       \
		const struct async events_[] = { __VA_ARGS__ };                                    \
		expect_async(ctx, events_, sizeof(events_) / sizeof(events_[0]));                  \
	} while (0)
void expect_no_async(struct ibv_context *ctx, unsigned int ms);
void expect_cm_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type);

struct ibv_sge sge_of(const struct ibv_mr *mr, const void *addr, uint32_t length);
/* Post one; 0 or the errno. */
int post_recv(struct side *s, uint64_t wr_id, const struct ibv_sge *sge, int n);
int post_send(struct side *s, uint64_t wr_id, const struct ibv_sge *sge, int n, unsigned int flags);
int post_rdma(struct side *s, enum ibv_wr_opcode opcode, uint64_t wr_id, const struct ibv_sge *sge,
	      int n, uint64_t remote, uint32_t rkey, unsigned int flags);
/* Binds by a work request, under this key. */
int post_bind(struct side *s, uint64_t wr_id, struct ibv_mw *mw, uint32_t rkey, struct ibv_mr *mr,
	      const void *addr, uint64_t length, unsigned int access);
int post_inv(struct side *s, enum ibv_wr_opcode opcode, uint64_t wr_id, const struct ibv_sge *sge,
	     int n, uint32_t rkey);

/* A connection that ended on an error: both QPs are in the error state, both CM ids know. */
void expect_broken(struct pair *p);
/*
 * a's access to b's memory with this key, from or to the beginning of a's buffer: what becomes of
 * it.
 */
enum ibv_wc_status access_remote(struct pair *p, enum ibv_wr_opcode opcode, uint64_t to,
				 uint32_t rkey, uint32_t len);
/*
 * And that it was what is at that place of b's, or is there then; or that it cost the connection.
 */
void read_works(struct pair *p, const void *at, uint64_t to, uint32_t rkey, uint32_t len);
void read_fails(struct pair *p, uint64_t to, uint32_t rkey, uint32_t len);
void write_works(struct pair *p, uint8_t *at, uint64_t to, uint32_t rkey, uint32_t len);
void write_fails(struct pair *p, uint64_t to, uint32_t rkey, uint32_t len);

/* Writes of a's first len bytes to b, 16 at a time, by a thread: until one fails, or is flushed. */
struct stream {
	struct pair *p;
	uint64_t remote;
	uint32_t rkey, len;
	_Atomic int completed;
	pthread_t thread;
};

/* Returns once n of them are complete. */
void stream_start(struct stream *s, struct pair *p, uint64_t remote, uint32_t rkey, uint32_t len, int n);
void stream_join(struct stream *s);

void fill(uint8_t *buf, size_t len, unsigned int seed);
bool filled(const uint8_t *buf, size_t len, unsigned int seed);

#endif
