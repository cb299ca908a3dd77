/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A process with QPs, MRs and traffic starts other processes: by fork(), and another program by
 * vfork(), posix_spawn() and system(). Processes that use RDMA exchange data with their parent. The
 * others work normally.
 */
#define _GNU_SOURCE
#include "out_of_band.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 50
#define WRITTEN (2 * LEN) /* target of the peer's Writes */
#define READ_AT (3 * LEN) /* source of the peer's Reads */

/* The traffic of the process */

static struct traffic {
	struct side a, b;
	pthread_t thread;
	_Atomic bool stop;
	_Atomic unsigned int rounds;
} traffic;

static void *run_traffic(void *arg)
{
	while (!traffic.stop) {
		exchange(&traffic.a, &traffic.b, 10 * traffic.rounds);
		traffic.rounds++;
	}
	return NULL;
}

/* Checks that traffic continues. */
static void traffic_goes_on(void)
{
	unsigned int before = traffic.rounds;
	double end = now_seconds() + WAIT_SECONDS;

	while (traffic.rounds - before < 3) {
		CHECK(now_seconds() < end);
		sleep_ms(1);
	}
}

static void traffic_start(void)
{
	oob_open();
	oob_connect_pair(&traffic.a, &traffic.b);
	traffic.stop = false;
	CHECK_EQ(pthread_create(&traffic.thread, NULL, run_traffic, NULL), 0);
	traffic_goes_on();
}

static void traffic_end(void)
{
	traffic_goes_on();
	traffic.stop = true;
	CHECK_EQ(pthread_join(traffic.thread, NULL), 0);
	close_pair(&traffic.a, &traffic.b);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* Data between two processes */

static void rdma(struct side *s, enum ibv_wr_opcode opcode, size_t at, const struct where *to,
		 size_t remote)
{
	struct ibv_sge sge = sge_of(s->mr, s->buf + at, LEN);
	struct ibv_wc wc;

	CHECK_EQ(post_rdma(s, opcode, 9, &sge, 1, to->addr + remote, to->rkey, IBV_SEND_SIGNALED),
		 0);
	expect_wc(s->send_cq, IBV_WC_SUCCESS, &wc);
}

/* Runs on both sides: Sends in each direction, and RDMA. */
static void talk(int in, int out)
{
	struct where me, to;
	struct side s;

	open_side(&s);
	me = where_is(&s);
	put(out, &me, sizeof(me));
	get(in, &to, sizeof(to));
	oob_connect(&s, &to);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		recv_at(&s, i);
		CHECK_EQ(send_from(&s, 1000 + i), 0);
		expect_sent(&s, 1000 + i);
		expect_received(&s, i, 1000 + i);
	}
	fill(s.buf, LEN, 77);
	fill(s.buf + READ_AT, LEN, 78);
	meet(in, out);
	rdma(&s, IBV_WR_RDMA_WRITE, 0, &to, WRITTEN);
	rdma(&s, IBV_WR_RDMA_READ, LEN, &to, READ_AT); /* the Write is then complete, too */
	CHECK(filled(s.buf + LEN, LEN, 78));
	meet(in, out);
	CHECK(filled(s.buf + WRITTEN, LEN, 77));
	close_side(&s);
}

/* The other program */

/*
 * A program must not inherit sockets or similar descriptors, which would keep its parent's ports
 * and connections.
 */
static void nothing_is_left_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	char link[PATH_MAX];
	struct dirent *d;

	CHECK(dir);
	while ((d = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), d->d_name, link, sizeof(link) - 1);

		if (n < 0 || atoi(d->d_name) <= STDERR_FILENO)
			continue;
		link[n] = 0;
		if (!strncmp(link, "socket:", 7) || !strncmp(link, "anon_inode:", 11) ||
		    strstr(link, "infiniband"))
			fprintf(stderr, "descriptor %s is %s\n", d->d_name, link);
		CHECK(strncmp(link, "socket:", 7) && strncmp(link, "anon_inode:", 11) &&
		      !strstr(link, "infiniband"));
	}
	closedir(dir);
}

static int other_program(char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves no process behind */
	nothing_is_left_open();
	oob_open();
	talk(atoi(argv[2]), atoi(argv[3]));
	CHECK_EQ(ibv_close_device(ctx), 0);
	return 0;
}

struct start {
	int to[2], from[2]; /* pipes for its input and output */
	char program[PATH_MAX], in[16], out[16];
	char *argv[5];
	int status; /* result of system() */
};

static void prepare(struct start *s)
{
	ssize_t n = readlink("/proc/self/exe", s->program, sizeof(s->program) - 1);

	CHECK(n > 0);
	s->program[n] = 0;
	CHECK(!pipe(s->to) && !pipe(s->from));
	CHECK_EQ(fcntl(s->to[1], F_SETFD, FD_CLOEXEC), 0);
	CHECK_EQ(fcntl(s->from[0], F_SETFD, FD_CLOEXEC), 0);
	snprintf(s->in, sizeof(s->in), "%d", s->to[0]);
	snprintf(s->out, sizeof(s->out), "%d", s->from[1]);
	memcpy(s->argv, (char *[]){ s->program, "--peer", s->in, s->out, NULL }, sizeof(s->argv));
}

static void started(struct start *s)
{
	close(s->to[0]);
	close(s->from[1]);
	talk(s->from[0], s->to[1]);
	traffic_goes_on();
	close(s->to[1]);
	close(s->from[0]);
}

static void ended(pid_t pid)
{
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

static pid_t by_fork(struct start *s)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		execv(s->program, s->argv);
		_exit(127);
	}
	return pid;
}

static pid_t by_vfork(struct start *s)
{
	pid_t pid = vfork();

	CHECK(pid >= 0);
	if (!pid) {
		execv(s->program, s->argv);
		_exit(127);
	}
	return pid;
}

static pid_t by_spawn(struct start *s)
{
	pid_t pid;

	CHECK_EQ(posix_spawn(&pid, s->program, NULL, NULL, s->argv, environ), 0);
	return pid;
}

static void start_by(pid_t (*how)(struct start *s))
{
	traffic_start();
	for (int i = 0; i < 3; i++) {
		struct start s;
		pid_t pid;

		prepare(&s);
		pid = how(&s);
		started(&s);
		ended(pid);
	}
	traffic_end();
}

static void test_fork_and_exec(void)
{
	start_by(by_fork);
}

static void test_vfork_and_exec(void)
{
	start_by(by_vfork);
}

static void test_spawn(void)
{
	start_by(by_spawn);
}

static void *call_system(void *arg)
{
	struct start *s = arg;
	char command[PATH_MAX + 64];

	snprintf(command, sizeof(command), "'%s' --peer %s %s", s->program, s->in, s->out);
	s->status = system(command);
	return NULL;
}

static void test_system(void)
{
	pthread_t thread;
	struct start s;
	char c;

	traffic_start();
	prepare(&s);
	CHECK_EQ(pthread_create(&thread, NULL, call_system, &s), 0);
	talk(s.from[0], s.to[1]);
	traffic_goes_on();
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_EQ(s.status, 0);
	close(s.from[1]);
	CHECK_EQ(read(s.from[0], &c, 1), 0);
	close(s.from[0]);
	close(s.to[0]);
	close(s.to[1]);
	CHECK_EQ(WEXITSTATUS(system("exit 3")), 3);
	traffic_end();
}

/* The child opens the device again, without another program. Its parent is a peer like others. */
static void test_fork_alone(void)
{
	traffic_start();
	for (int i = 0; i < 3; i++) {
		struct start s;
		pid_t pid;

		prepare(&s);
		fflush(NULL);
		pid = fork();
		CHECK(pid >= 0);
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(s.to[1]);
			close(s.from[0]);
			oob_open();
			talk(s.to[0], s.from[1]);
			CHECK_EQ(ibv_close_device(ctx), 0);
			exit(0);
		}
		started(&s);
		ended(pid);
	}
	traffic_end();
}

/* Children without RDMA */

/*
 * The child's memory is a copy from the moment of the fork, whatever the parent's peers write. The
 * child can use it freely.
 */
static void use_memory(int in, int out)
{
	struct side *a = &traffic.a;
	char c;

	put(out, "f", 1);
	get(in, &c, 1); /* the parent's peer writes in between */
	CHECK(filled(a->buf + WRITTEN, LEN, 5));
	memset(a->buf, 0xee, SIDE_BUF);
	CHECK_EQ(munmap(mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			LEN),
		 0);
	put(out, "d", 1);
	get(in, &c, 1);
}

static void test_child_without_rdma(void)
{
	struct side *a = &traffic.a, *b = &traffic.b;
	struct where at_a;

	oob_open();
	oob_connect_pair(a, b);
	at_a = where_is(a);
	for (int i = 0; i < 4; i++) {
		struct start s;
		int status;
		pid_t pid;
		char c;

		prepare(&s);
		fill(a->buf + WRITTEN, LEN, 5);
		fflush(NULL);
		pid = fork();
		CHECK(pid >= 0);
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			use_memory(s.to[0], s.from[1]);
			if (i == 0)
				exit(0); /* with all exit handlers */
			if (i == 1)
				_exit(0);
			if (i == 2)
				execl("/bin/true", "true", NULL);
			abort(); /* the end of the last child */
		}
		get(s.from[0], &c, 1);
		fill(b->buf, LEN, 6);
		rdma(b, IBV_WR_RDMA_WRITE, 0, &at_a, WRITTEN);
		rdma(b, IBV_WR_RDMA_READ, LEN, &at_a, WRITTEN);
		CHECK(filled(a->buf + WRITTEN, LEN, 6));
		put(s.to[1], "w", 1);
		get(s.from[0], &c, 1);
		CHECK(filled(a->buf + WRITTEN, LEN, 6));
		exchange(a, b, 20);
		put(s.to[1], "e", 1);
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK_EQ(status & 0x7f, i == 3 ? SIGABRT : 0);
		CHECK_EQ(WEXITSTATUS(status), 0);
		exchange(a, b, 30);
		for (int k = 0; k < 2; k++) {
			close(s.to[k]);
			close(s.from[k]);
		}
	}
	close_pair(a, b);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* Many such children, during traffic. */
static void test_many_children(void)
{
	traffic_start();
	fflush(NULL);
	for (int i = 0; i < 100; i++) {
		pid_t pid = i % 2 ? fork() : -1;

		if (i % 2 == 0)
			CHECK_EQ(posix_spawn(&pid, "/bin/true", NULL, NULL,
					     (char *[]){ "true", NULL }, environ),
				 0);
		CHECK(pid >= 0);
		if (!pid)
			exit(0);
		ended(pid);
	}
	traffic_end();
}

static const struct test tests[] = {
	{ "fork_and_exec", test_fork_and_exec },
	{ "vfork_and_exec", test_vfork_and_exec },
	{ "spawn", test_spawn },
	{ "system", test_system },
	{ "fork_alone", test_fork_alone },
	{ "child_without_rdma", test_child_without_rdma },
	{ "many_children", test_many_children },
};

int main(int argc, char **argv)
{
	if (argc > 3 && !strcmp(argv[1], "--peer"))
		return other_program(argv);
	/* Descriptors from this process's own parent do not count. */
	CHECK_EQ(close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC), 0);
	return RUN_TESTS(argc, argv, tests);
}
