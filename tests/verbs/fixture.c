/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "fixture.h"

#include <arpa/inet.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

static const char *running = "start";

void check_failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "FAIL %s: %s:%d: %s (errno %d)\n", running, file, line, what, errno);
	_exit(1);
}

void check_equal(const char *file, int line, const char *what, int64_t a, int64_t b)
{
	if (a == b)
		return;
	fprintf(stderr, "FAIL %s: %s:%d: %s: %lld, not %lld\n", running, file, line, what,
		(long long)a, (long long)b);
	_exit(1);
}

int run_tests(int argc, char **argv, const struct test *tests, size_t n)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < n; i++) {
		bool wanted = argc < 2;

		for (int j = 1; j < argc; j++)
			wanted |= !strcmp(argv[j], tests[i].name);
		if (!wanted)
			continue;
		running = tests[i].name;
		printf("%s\n", running);
		alarm(120); /* something hangs */
		tests[i].run();
	}
	return 0;
}

double now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

void sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

long resident_kib(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long size, resident;

	CHECK(f && fscanf(f, "%ld %ld", &size, &resident) == 2);
	fclose(f);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

struct ibv_context *open_device(void)
{
	struct ibv_device **list;
	struct ibv_context *ctx;
	int n = 0;

	list = ibv_get_device_list(&n);
	CHECK(list && n >= 1);
	CHECK(!strncmp(ibv_get_device_name(list[0]), "sctpiw", 6));
	ctx = ibv_open_device(list[0]);
	CHECK(ctx);
	ibv_free_device_list(list);
	return ctx;
}

struct ibv_context *cm_device(void)
{
	struct ibv_context **list = rdma_get_devices(NULL);
	struct ibv_context *ctx;

	CHECK(list && list[0]);
	ctx = list[0];
	rdma_free_devices(list);
	return ctx;
}

static struct rdma_cm_event *next_cm_event(struct rdma_event_channel *channel)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	CHECK_EQ(poll(&pfd, 1, WAIT_SECONDS * 1000), 1);
	CHECK_EQ(rdma_get_cm_event(channel, &event), 0);
	return event;
}

void expect_cm_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = next_cm_event(channel);

	if (event->event != type)
		fprintf(stderr, "got %s, status %d\n", rdma_event_str(event->event), event->status);
	CHECK_EQ(event->event, type);
	rdma_ack_cm_event(event);
}

static void open_domain(struct side *s)
{
	struct ibv_parent_domain_init_attr attr = { .pd = s->pd };
	struct ibv_td_init_attr td_attr = { 0 };

	s->td = ibv_alloc_td(s->pd->context, &td_attr);
	CHECK(s->td);
	attr.td = s->td;
	s->domain = ibv_alloc_parent_domain(s->pd->context, &attr);
	CHECK(s->domain && s->domain != s->pd);
}

/* shared: the PD, or NULL; shares: its receives are those of o->srq. */
static void side_open(struct side *s, const struct pair_options *o, struct ibv_pd *shared, bool shares)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC, .cap = o->cap,
					    .sq_sig_all = o->sq_sig_all,
					    .send_ops_flags = o->send_ops };
	struct ibv_cq_init_attr_ex ex = { .cqe = 256, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct ibv_context *ctx = s->id->verbs;

	if (!attr.cap.max_send_wr)
		attr.cap = (struct ibv_qp_cap){ 64, 64, 16, 16, 256 };
	s->shares = shares;
	s->pd_shared = shared || shares;
	s->pd = shares ? o->srq->pd : shared ? shared : ibv_alloc_pd(ctx);
	CHECK(s->pd);
	s->channel = ibv_create_comp_channel(ctx);
	CHECK(s->channel);
	if (o->extended_cqs)
		s->send_cq = ibv_cq_ex_to_cq(ibv_create_cq_ex(ctx, &ex));
	else
		s->send_cq = ibv_create_cq(ctx, 256, NULL, NULL, 0);
	CHECK(s->send_cq);
	if (shares)
		s->recv_cq = o->recv_cq;
	else if (o->extended_cqs)
		s->recv_cq = ibv_cq_ex_to_cq(ibv_create_cq_ex(ctx, &ex));
	else
		s->recv_cq = ibv_create_cq(ctx, o->recv_cqe ? o->recv_cqe : 256, s, s->channel, 0);
	CHECK(s->recv_cq);
	attr.srq = shares ? o->srq : NULL;
	attr.send_cq = s->send_cq;
	attr.recv_cq = s->recv_cq;
	s->domain = s->pd;
	if (o->thread_domain)
		open_domain(s);
	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	attr.pd = s->domain;
	if (o->send_ops)
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	CHECK_EQ(rdma_create_qp_ex(s->id, &attr), 0);
	s->qp = s->id->qp;
	s->buf = calloc(1, SIDE_BUF);
	CHECK(s->buf);
	s->mr = ibv_reg_mr(s->domain, s->buf, SIDE_BUF,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC);
	CHECK(s->mr);
}

void pair_open(struct pair *p, const struct pair_options *options)
{
	static const struct pair_options defaults;
	const struct pair_options *o = options ? options : &defaults;
	struct sockaddr_in addr = { .sin_family = AF_INET };
	struct rdma_conn_param param = { .responder_resources = 16, .initiator_depth = 16,
					 .retry_count = 7,
					 .rnr_retry_count = o->rnr_set ? o->rnr_retry : 7 };
	struct rdma_cm_event *event;

	memset(p, 0, sizeof(*p));
	inet_pton(AF_INET, "127.0.0.1", &addr.sin_addr);
	p->a.cm_channel = rdma_create_event_channel();
	p->b.cm_channel = rdma_create_event_channel();
	CHECK(p->a.cm_channel && p->b.cm_channel);
	CHECK_EQ(rdma_create_id(p->b.cm_channel, &p->listener, NULL, RDMA_PS_TCP), 0);
	CHECK_EQ(rdma_bind_addr(p->listener, (struct sockaddr *)&addr), 0);
	CHECK_EQ(rdma_listen(p->listener, 4), 0);
	addr.sin_port = rdma_get_src_port(p->listener);
	CHECK(addr.sin_port);

	CHECK_EQ(rdma_create_id(p->a.cm_channel, &p->a.id, NULL, RDMA_PS_TCP), 0);
	CHECK_EQ(rdma_resolve_addr(p->a.id, NULL, (struct sockaddr *)&addr, 2000), 0);
	expect_cm_event(p->a.cm_channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK_EQ(rdma_resolve_route(p->a.id, 2000), 0);
	expect_cm_event(p->a.cm_channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	side_open(&p->a, o, o->share ? o->share->a.pd : NULL, false);
	CHECK_EQ(p->a.qp->state, IBV_QPS_INIT);
	CHECK_EQ(rdma_connect(p->a.id, &param), 0);

	event = next_cm_event(p->b.cm_channel);
	CHECK_EQ(event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
	p->b.id = event->id;
	rdma_ack_cm_event(event);
	side_open(&p->b, o, o->share ? o->share->b.pd : NULL, o->srq != NULL);
	CHECK_EQ(rdma_accept(p->b.id, &param), 0);
	expect_cm_event(p->b.cm_channel, RDMA_CM_EVENT_ESTABLISHED);
	expect_cm_event(p->a.cm_channel, RDMA_CM_EVENT_ESTABLISHED);
	expect_qp_state(p->a.qp, IBV_QPS_RTS);
	expect_qp_state(p->b.qp, IBV_QPS_RTS);
}

static void side_close(struct side *s)
{
	if (s->qp)
		rdma_destroy_qp(s->id);
	CHECK_EQ(rdma_destroy_id(s->id), 0);
	CHECK_EQ(ibv_destroy_cq(s->send_cq), 0);
	if (!s->shares)
		CHECK_EQ(ibv_destroy_cq(s->recv_cq), 0);
	CHECK_EQ(ibv_destroy_comp_channel(s->channel), 0);
	if (s->mr)
		CHECK_EQ(ibv_dereg_mr(s->mr), 0);
	if (s->td) {
		CHECK_EQ(ibv_dealloc_pd(s->domain), 0);
		CHECK_EQ(ibv_dealloc_td(s->td), 0);
	}
	if (!s->pd_shared)
		CHECK_EQ(ibv_dealloc_pd(s->pd), 0);
	free(s->buf);
}

void pair_close(struct pair *p)
{
	side_close(&p->a);
	side_close(&p->b);
	CHECK_EQ(rdma_destroy_id(p->listener), 0);
	rdma_destroy_event_channel(p->a.cm_channel);
	rdma_destroy_event_channel(p->b.cm_channel);
}

void wait_wc(struct ibv_cq *cq, struct ibv_wc *wc)
{
	double end = now_seconds() + WAIT_SECONDS;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, wc)))
		CHECK(now_seconds() < end);
	CHECK_EQ(n, 1);
}

void wait_start_poll(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = { 0 };
	double end = now_seconds() + WAIT_SECONDS;

	while (ibv_start_poll(cq, &attr))
		CHECK(now_seconds() < end);
}

void expect_wc(struct ibv_cq *cq, enum ibv_wc_status status, struct ibv_wc *wc)
{
	wait_wc(cq, wc);
	if (wc->status != status)
		fprintf(stderr, "wr %llu: %s, vendor_err 0x%x\n", (unsigned long long)wc->wr_id,
			ibv_wc_status_str(wc->status), wc->vendor_err);
	CHECK_EQ(wc->status, status);
}

void expect_no_wc(struct ibv_cq *cq, unsigned int ms)
{
	double end = now_seconds() + ms * 1e-3;
	struct ibv_wc wc;

	do
		CHECK_EQ(ibv_poll_cq(cq, 1, &wc), 0);
	while (now_seconds() < end);
}

void expect_qp_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	double end = now_seconds() + WAIT_SECONDS;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	do {
		CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
		if (attr.qp_state == state)
			return;
		sleep_ms(1);
	} while (now_seconds() < end);
	CHECK_EQ(attr.qp_state, state);
}

void expect_async(struct ibv_context *ctx, const struct async *events, size_t n)
{
	struct pollfd pfd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	unsigned int seen = 0;

	while (seen != (1u << n) - 1) {
		size_t i = 0;

		CHECK_EQ(poll(&pfd, 1, WAIT_SECONDS * 1000), 1);
		CHECK_EQ(ibv_get_async_event(ctx, &event), 0);
		while (i < n && (seen & 1u << i || events[i].type != event.event_type ||
				 events[i].element != (void *)event.element.qp))
			i++;
		if (i == n)
			fprintf(stderr, "got %s\n", ibv_event_type_str(event.event_type));
		CHECK(i < n);
		seen |= 1u << i;
		ibv_ack_async_event(&event);
	}
}

void expect_no_async(struct ibv_context *ctx, unsigned int ms)
{
	struct pollfd pfd = { .fd = ctx->async_fd, .events = POLLIN };

	CHECK_EQ(poll(&pfd, 1, ms), 0);
}

struct ibv_sge sge_of(const struct ibv_mr *mr, const void *addr, uint32_t length)
{
	return (struct ibv_sge){ (uintptr_t)addr, length, mr->lkey };
}

int post_recv(struct side *s, uint64_t wr_id, const struct ibv_sge *sge, int n)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = (struct ibv_sge *)sge, .num_sge = n };
	struct ibv_recv_wr *bad = NULL;
	int err = ibv_post_recv(s->qp, &wr, &bad);

	CHECK(bad == (err ? &wr : NULL));
	return err;
}

static int post(struct side *s, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;
	int err = ibv_post_send(s->qp, wr, &bad);

	CHECK(bad == (err ? wr : NULL));
	return err;
}

int post_send(struct side *s, uint64_t wr_id, const struct ibv_sge *sge, int n, unsigned int flags)
{
	struct ibv_send_wr wr = { .wr_id = wr_id, .sg_list = (struct ibv_sge *)sge, .num_sge = n,
				  .opcode = IBV_WR_SEND, .send_flags = flags };

	return post(s, &wr);
}

int post_rdma(struct side *s, enum ibv_wr_opcode opcode, uint64_t wr_id, const struct ibv_sge *sge,
	      int n, uint64_t remote, uint32_t rkey, unsigned int flags)
{
	struct ibv_send_wr wr = { .wr_id = wr_id, .sg_list = (struct ibv_sge *)sge, .num_sge = n,
				  .opcode = opcode, .send_flags = flags,
				  .wr.rdma = { remote, rkey } };

	return post(s, &wr);
}

int post_bind(struct side *s, uint64_t wr_id, struct ibv_mw *mw, uint32_t rkey, struct ibv_mr *mr,
	      const void *addr, uint64_t length, unsigned int access)
{
	struct ibv_send_wr wr = { .wr_id = wr_id, .opcode = IBV_WR_BIND_MW,
				  .send_flags = IBV_SEND_SIGNALED,
				  .bind_mw = { mw, rkey, { mr, (uintptr_t)addr, length, access } } };

	return post(s, &wr);
}

int post_inv(struct side *s, enum ibv_wr_opcode opcode, uint64_t wr_id, const struct ibv_sge *sge,
	     int n, uint32_t rkey)
{
	struct ibv_send_wr wr = { .wr_id = wr_id, .sg_list = (struct ibv_sge *)sge, .num_sge = n,
				  .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
				  .invalidate_rkey = rkey };

	return post(s, &wr);
}

enum ibv_wc_status access_remote(struct pair *p, enum ibv_wr_opcode opcode, uint64_t to,
				 uint32_t rkey, uint32_t len)
{
	struct ibv_sge sge = sge_of(p->a.mr, p->a.buf, len);
	struct ibv_wc wc;

	CHECK_EQ(post_rdma(&p->a, opcode, 1, &sge, 1, to, rkey, IBV_SEND_SIGNALED), 0);
	wait_wc(p->a.send_cq, &wc);
	return wc.status;
}

void expect_broken(struct pair *p)
{
	expect_qp_state(p->a.qp, IBV_QPS_ERR);
	expect_qp_state(p->b.qp, IBV_QPS_ERR);
	expect_cm_event(p->a.cm_channel, RDMA_CM_EVENT_DISCONNECTED);
	expect_cm_event(p->b.cm_channel, RDMA_CM_EVENT_DISCONNECTED);
}

void read_works(struct pair *p, const void *at, uint64_t to, uint32_t rkey, uint32_t len)
{
	memset(p->a.buf, 0xee, len);
	CHECK_EQ(access_remote(p, IBV_WR_RDMA_READ, to, rkey, len), IBV_WC_SUCCESS);
	CHECK(!memcmp(p->a.buf, at, len));
}

void read_fails(struct pair *p, uint64_t to, uint32_t rkey, uint32_t len)
{
	memset(p->a.buf, 0xa5, len);
	CHECK_EQ(access_remote(p, IBV_WR_RDMA_READ, to, rkey, len), IBV_WC_REM_ACCESS_ERR);
	expect_broken(p);
	for (uint32_t i = 0; i < len; i++)
		CHECK(p->a.buf[i] == 0xa5);
}

/* The read behind it tells that a write has come. */
void write_works(struct pair *p, uint8_t *at, uint64_t to, uint32_t rkey, uint32_t len)
{
	fill(p->a.buf, len, 77);
	CHECK_EQ(access_remote(p, IBV_WR_RDMA_WRITE, to, rkey, len), IBV_WC_SUCCESS);
	CHECK_EQ(access_remote(p, IBV_WR_RDMA_READ, (uintptr_t)p->b.buf, p->b.mr->rkey, 1),
		 IBV_WC_SUCCESS);
	CHECK(filled(at, len, 77));
}

void write_fails(struct pair *p, uint64_t to, uint32_t rkey, uint32_t len)
{
	enum ibv_wc_status status = access_remote(p, IBV_WR_RDMA_WRITE, to, rkey, len);

	CHECK(status == IBV_WC_SUCCESS || status == IBV_WC_REM_ACCESS_ERR);
	expect_broken(p);
}

static void *stream_writes(void *arg)
{
	struct stream *s = arg;
	struct side *a = &s->p->a;
	struct ibv_sge sge = sge_of(a->mr, a->buf, s->len);
	struct ibv_wc wc;
	int posted = 0;

	do {
		while (posted - s->completed < 16)
			CHECK_EQ(post_rdma(a, IBV_WR_RDMA_WRITE, posted++, &sge, 1, s->remote, s->rkey,
					   IBV_SEND_SIGNALED), 0);
		wait_wc(a->send_cq, &wc);
		CHECK_EQ(wc.wr_id, s->completed);
		s->completed++;
	} while (wc.status == IBV_WC_SUCCESS);
	return NULL;
}

void stream_start(struct stream *s, struct pair *p, uint64_t remote, uint32_t rkey, uint32_t len, int n)
{
	*s = (struct stream){ .p = p, .remote = remote, .rkey = rkey, .len = len };
	CHECK_EQ(pthread_create(&s->thread, NULL, stream_writes, s), 0);
	while (s->completed < n)
		sleep_ms(1);
}

void stream_join(struct stream *s)
{
	CHECK_EQ(pthread_join(s->thread, NULL), 0);
}

static uint8_t pattern(size_t i, unsigned int seed)
{
	return (uint8_t)(i * 131 + (i >> 8) * 7 + seed * 29 + 1);
}

void fill(uint8_t *buf, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = pattern(i, seed);
}

bool filled(const uint8_t *buf, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++)
		if (buf[i] != pattern(i, seed))
			return false;
	return true;
}
