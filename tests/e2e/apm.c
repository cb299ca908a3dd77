/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One end of a QP pair that is connected by hand, with a second path for automatic path migration:
 *
 *   e2e-apm serve   ADDRESS PORT FIRST SECOND
 *   e2e-apm connect ADDRESS PORT FIRST SECOND
 *
 * FIRST and SECOND are local addresses. QP numbers and GIDs go over a TCP connection to ADDRESS.
 * Then the client sends messages, the server returns them, and both compare. Each side prints
 * "armed" when its QP is armed. After the event of a migration to the second path it prints
 * "migrated", and arms the QP with the first path. When the client is armed again, it migrates the
 * QP back, and ends after the event of this migration.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LEN 64

/* The data that each side sends to the other, in the byte order of this machine. */
struct end {
	union ibv_gid gid[2];
	uint32_t qp_num;
};

static struct ibv_context *ctx;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static uint8_t buf[2][LEN]; /* sent, and received */
static struct end own, peer;
static unsigned int on; /* the last path of the QP */

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void say(const char *what)
{
	puts(what);
	fflush(stdout);
}

/* Sets a GID to that of the address. */
static void set_gid(unsigned int i, const char *address)
{
	own.gid[i].raw[10] = own.gid[i].raw[11] = 0xff;
	if (inet_pton(AF_INET, address, own.gid[i].raw + 12) != 1)
		die(address);
}

/* Returns the GID's current index, or -1: a GID has none while its link is down. */
static int index_of(unsigned int i)
{
	union ibv_gid gid;

	for (int index = 0; !ibv_query_gid(ctx, 1, index, &gid); index++)
		if (!memcmp(&gid, &own.gid[i], sizeof(gid)))
			return index;
	return -1;
}

static int connection(bool serve, const char *address, const char *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), on_off = 1, got;

	inet_pton(AF_INET, address, &to.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on_off, sizeof(on_off));
	if (!serve) {
		if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
			die("connect");
		return fd;
	}
	if (bind(fd, (struct sockaddr *)&to, sizeof(to)) || listen(fd, 1))
		die("listen");
	say("listening");
	got = accept(fd, NULL, NULL);
	close(fd);
	return got;
}

static struct ibv_ah_attr way(unsigned int i)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = peer.gid[i], .sgid_index = (uint8_t)index_of(i), .hop_limit = 64 },
	};
}

/* Makes the QP's unused path its alternate path, as soon as the path has a GID. */
static bool rearm(void)
{
	struct ibv_qp_attr attr = { .alt_port_num = 1,
				    .alt_timeout = 14,
				    .path_mig_state = IBV_MIG_REARM };

	if (index_of(!on) < 0)
		return false;
	attr.alt_ah_attr = way(!on);
	if (ibv_modify_qp(qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE))
		die("rearm");
	return true;
}

static void wire(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	if (ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		die("INIT");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer.qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = way(0),
		.alt_ah_attr = way(1),
		.alt_port_num = 1,
	};
	if (ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER |
				  IBV_QP_ALT_PATH))
		die("RTR");
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
				     .timeout = 14,
				     .retry_cnt = 7,
				     .rnr_retry = 7,
				     .max_rd_atomic = 1,
				     .path_mig_state = IBV_MIG_REARM };
	if (ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_PATH_MIG_STATE))
		die("RTS");
}

static void post_receive(void)
{
	struct ibv_sge sge = { (uintptr_t)buf[1], LEN, mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(qp, &wr, &bad))
		die("post_recv");
}

static void send_message(void)
{
	struct ibv_sge sge = { (uintptr_t)buf[0], LEN, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;

	if (ibv_post_send(qp, &wr, &bad))
		die("post_send");
}

/* Waits for n completions. Returns false if the TCP connection has ended. */
static bool complete(int fd, unsigned int n)
{
	struct pollfd ended = { .fd = fd, .events = POLLIN };
	struct ibv_wc wc;

	while (n) {
		int got = ibv_poll_cq(cq, 1, &wc);

		if (got < 0 || (got && wc.status)) {
			fprintf(stderr, "a completion says %s\n", ibv_wc_status_str(wc.status));
			exit(1);
		}
		n -= (unsigned int)got;
		if (!got && poll(&ended, 1, 1) > 0)
			return false;
	}
	return true;
}

static struct ibv_qp_attr queried(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(qp, &attr, IBV_QP_PATH_MIG_STATE | IBV_QP_AV | IBV_QP_ALT_PATH, &init))
		die("query_qp");
	return attr;
}

/* True if the QP has migrated. Then its attributes must show this. */
static bool has_migrated(void)
{
	struct ibv_async_event ev;
	struct ibv_qp_attr attr;

	if (ibv_get_async_event(ctx, &ev))
		return false;
	ibv_ack_async_event(&ev);
	if (ev.event_type != IBV_EVENT_PATH_MIG || ev.element.qp != qp)
		return false;
	on = !on;
	attr = queried();
	if (attr.path_mig_state != IBV_MIG_MIGRATED ||
	    memcmp(&attr.ah_attr.grh.dgid, &peer.gid[on], 16) ||
	    memcmp(&attr.alt_ah_attr.grh.dgid, &peer.gid[!on], 16)) {
		fprintf(stderr, "the QP's attributes are not those of the other path\n");
		exit(1);
	}
	return true;
}

static void go_back(void)
{
	struct ibv_qp_attr attr = { .path_mig_state = IBV_MIG_MIGRATED };

	if (ibv_modify_qp(qp, &attr, IBV_QP_PATH_MIG_STATE))
		die("migrate");
}

/* Exchanges messages until the client is back on the first path, or the server's peer has gone. */
static void talk(int fd, bool serve)
{
	unsigned int migrations = 0;
	bool wanted = true, armed = false;

	for (uint32_t round = 0;; round++) {
		if (!serve) {
			memset(buf[0], (int)round, LEN);
			send_message();
		}
		if (!complete(fd, serve ? 1 : 2))
			return;
		if (buf[1][0] != (uint8_t)round || buf[1][LEN - 1] != (uint8_t)round) {
			fprintf(stderr, "message %u is another one\n", round);
			exit(1);
		}
		post_receive();
		if (serve) {
			memcpy(buf[0], buf[1], LEN);
			send_message();
			if (!complete(fd, 1))
				return;
		}
		if (has_migrated()) {
			say("migrated");
			if (!serve && ++migrations == 2)
				return;
			wanted = armed = false;
		}
		if (!wanted)
			wanted = rearm();
		if (!armed && queried().path_mig_state == IBV_MIG_ARMED) {
			say("armed");
			armed = true;
			if (!serve && migrations)
				go_back();
		}
		nanosleep(&(struct timespec){ .tv_nsec = serve ? 0 : 2000000 }, NULL);
	}
}

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 } };
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device_attr dev;
	struct ibv_pd *pd;
	bool serve;
	int fd;

	if (argc != 6 || !list || !list[0])
		die("usage, or no device");
	serve = !strcmp(argv[1], "serve");
	ctx = ibv_open_device(list[0]);
	if (!ctx || ibv_query_device(ctx, &dev) ||
	    !(dev.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG))
		die("a device with path migration");
	fcntl(ctx->async_fd, F_SETFL, O_NONBLOCK);
	set_gid(0, argv[4]);
	set_gid(1, argv[5]);
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	mr = ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE);
	init.send_cq = init.recv_cq = cq;
	qp = ibv_create_qp(pd, &init);
	if (!qp || !mr)
		die("create_qp");
	own.qp_num = qp->qp_num;
	fd = connection(serve, argv[2], argv[3]);
	if (write(fd, &own, sizeof(own)) != sizeof(own) ||
	    recv(fd, &peer, sizeof(peer), MSG_WAITALL) != sizeof(peer))
		die("exchange");
	wire();
	post_receive();
	talk(fd, serve);
	say("done");
	return 0;
}
