/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Descriptors: copies of the device's descriptors also belong to the device. Reads and writes of
 * any other descriptor are not affected.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"
#include "fake_rnic.h"

static struct fake_control *ctl;
static int uverbs;

struct channel_request {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_create_comp_channel cmd;
};

/* Returns a command whose response goes to *resp. */
static struct channel_request channel_request(struct ib_uverbs_create_comp_channel_resp *resp)
{
	return (struct channel_request){
		.hdr = { IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, sizeof(struct channel_request) / 4,
			 1 },
		.cmd.response = (uintptr_t)resp,
	};
}

static int create_comp_channel(int fd)
{
	struct ib_uverbs_create_comp_channel_resp resp = { .fd = ~0u };
	struct channel_request req = channel_request(&resp);

	check(write(fd, &req, sizeof(req)) == sizeof(req));
	return (int)resp.fd;
}

static void test_uverbs_commands(void)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_comp_channel cmd;
		char room[64];
	} req = { .hdr = { IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, 4, 1 } };
	int before = ctl->channels;
	char buf[8];

	check_fails(ioctl(uverbs, _IOWR(0x1b, 1, char[24]), &req), ENOTTY);
	check_fails(write(uverbs, &req, 4), EINVAL);
	check_fails(write(uverbs, &req, 12), EINVAL);
	check_fails(write(uverbs, &req, 16), EFAULT); /* the response has no address */
	req.cmd.response = 0x10;
	check_fails(write(uverbs, &req, 16), EFAULT);
	req.hdr.out_words = 0;
	check_fails(write(uverbs, &req, 16), ENOSPC);
	req.hdr.command = IB_USER_VERBS_CMD_QUERY_DEVICE;
	check_fails(write(uverbs, &req, 16), EOPNOTSUPP);
	req.hdr.command = 1000;
	check_fails(write(uverbs, &req, 16), EINVAL);
	req.hdr.command = IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE;
	check_fails(write(uverbs, &req, 24), EOPNOTSUPP);
	check_fails(read(uverbs, buf, sizeof(buf)), EINVAL);
	check(ctl->channels == before);
}

/* Each buffer is a separate command, up to the first that fails. */
static void test_gathered_commands(void)
{
	struct ib_uverbs_create_comp_channel_resp resp[2];
	struct channel_request req[2] = { channel_request(&resp[0]), channel_request(&resp[1]) };
	struct iovec iov[3] = { { &req[0], sizeof(req[0]) },
				{ &req[1], sizeof(req[1]) },
				{ &req[0], 4 } };
	int before = ctl->channels;

	errno = 1234;
	check(writev(uverbs, iov, 3) == 2 * sizeof(req[0]) && errno == 1234);
	check(ctl->channels == before + 2);
	check(!close((int)resp[0].fd) && !close((int)resp[1].fd));
	check_fails(writev(uverbs, iov + 2, 1), EINVAL);
	check(ctl->channels == before);
}

/* Makes this system call fail with EPERM in this process. */
static void forbid(uint32_t call)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	check(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	check(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) || errno == EINVAL);
}

static int status_of(pid_t pid)
{
	int status;

	check(waitpid(pid, &status, 0) == pid);
	return status;
}

/* In a sandbox that forbids a necessary call, the library prints a line. */
static void test_sandbox_without_memfd(void)
{
	char line[200] = "";
	int fds[2];
	pid_t pid;

	check(!pipe(fds));
	pid = fork();
	if (!pid) {
		dup2(fds[1], STDERR_FILENO);
		forbid(SYS_memfd_create);
		if (syscall(SYS_memfd_create, "", MFD_CLOEXEC) >=
		    0) { /* qemu-user has no filters */
			printf("SKIP a sandbox without memfd_create(): no filters here\n");
			fflush(stdout);
			dprintf(STDERR_FILENO, "memfd_create");
			_exit(0);
		}
		for (int i = 0; i < 2; i++)
			check_fails(open("/dev/infiniband/uverbs0", O_RDWR), EPERM);
		_exit(0);
	}
	close(fds[1]);
	check(status_of(pid) == 0);
	check(read(fds[0], line, sizeof(line) - 1) > 0);
	check(strstr(line, "memfd_create") && !strchr(strchrnul(line, '\n') + 1, '\n'));
	close(fds[0]);
}

static bool readable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

static void *post_later(void *arg)
{
	uint64_t event = 0x1234;

	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	ctl->post(*(int *)arg, &event, sizeof(event));
	return NULL;
}

static void test_channel(void)
{
	uint64_t event = 0x4321, got[2] = { 0 };
	int fd = create_comp_channel(uverbs), async, before = ctl->channels;
	pthread_t thread;

	check(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	check(!readable(fd));
	ctl->post(fd, &event, sizeof(event));
	check(readable(fd));
	check_fails(read(fd, got, 4), EINVAL);
	check(read(fd, got, sizeof(got)) == 8 && got[0] == event);
	check(!readable(fd));
	ctl->post(fd, &event, sizeof(event));
	check(readv(fd, &(struct iovec){ got, 16 }, 1) == 8);
	check(!fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK));
	check_fails(read(fd, got, sizeof(got)), EAGAIN);
	check(!fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK));
	check(!pthread_create(&thread, NULL, post_later, &fd));
	check(read(fd, got, sizeof(got)) == 8 && got[0] == 0x1234);
	pthread_join(thread, NULL);

	async = ctl->open_async();
	check(async >= 0 && ctl->channels == before + 1);
	ctl->post(async, got, 16);
	check(read(async, got, sizeof(got)) == 16);
	check(!close(async) && ctl->channels == before);
	check(!close(fd) && ctl->channels == before - 1);
}

/*
 * The kernel's device and channels support hardly any ioctl(), so the descriptors here must not
 * either. But an ioctl() can set each flag of a descriptor.
 */
static void check_ioctls(int fd)
{
	int count = -1, on = 1;
	char command[24] = { 0 };

	check_fails(ioctl(fd, FIONREAD, &count), ENOTTY);
	check_fails(ioctl(fd, _IOWR(0x1b, 1, char[24]), command), ENOTTY);
	check_fails(ioctl(fd, _IO('s', 1), NULL), ENOTTY);
	check(count == -1);
	check(!ioctl(fd, FIONCLEX) && !(fcntl(fd, F_GETFD) & FD_CLOEXEC));
	check(!ioctl(fd, FIOCLEX) && fcntl(fd, F_GETFD) & FD_CLOEXEC);
	check(!ioctl(fd, FIONBIO, &on) && fcntl(fd, F_GETFL) & O_NONBLOCK);
	on = 0;
	check(!ioctl(fd, FIONBIO, &on) && !(fcntl(fd, F_GETFL) & O_NONBLOCK));
}

static void test_ioctl(void)
{
	int cm = open("/dev/infiniband/rdma_cm", O_RDWR), channel = create_comp_channel(uverbs);
	uint64_t event = 1;

	ctl->post(channel, &event, sizeof(event));
	check_ioctls(uverbs);
	check_ioctls(cm);
	check_ioctls(channel);
	check(!close(channel) && !close(cm));
}

static void on_alarm(int sig)
{
}

static void set_alarm(int flags, void (*handler)(int))
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };
	struct itimerval in_50ms = { .it_value = { .tv_usec = 50000 } };

	check(!sigaction(SIGALRM, &sa, NULL));
	check(!setitimer(ITIMER_REAL, &in_50ms, NULL));
}

static int alarm_channel;

static void post_on_alarm(int sig)
{
	uint64_t event = 7;

	ctl->post(alarm_channel, &event, sizeof(event));
}

static void *blocked_reader(void *arg)
{
	uint64_t got;

	return (void *)read(*(int *)arg, &got, sizeof(got));
}

static void test_interrupted(void)
{
	int fd = create_comp_channel(uverbs), before = ctl->channels;
	pthread_t thread;
	uint64_t got;
	void *ret;

	set_alarm(0, on_alarm);
	check_fails(read(fd, &got, sizeof(got)), EINTR);
	alarm_channel = fd;
	set_alarm(SA_RESTART, post_on_alarm);
	check(read(fd, &got, sizeof(got)) == 8 && got == 7);

	/* A thread that is cancelled in read() holds no reference. */
	check(!pthread_create(&thread, NULL, blocked_reader, &fd));
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	check(!pthread_cancel(thread));
	check(!pthread_join(thread, &ret) && ret == PTHREAD_CANCELED);
	check(!close(fd) && ctl->channels == before - 1);
}

static void test_copies(void)
{
	int fd = create_comp_channel(uverbs), before = ctl->channels, copies[5];
	uint64_t event = 5, got;

	copies[0] = dup(fd);
	copies[1] = fcntl(fd, F_DUPFD, 100);
	copies[2] = fcntl(fd, F_DUPFD_CLOEXEC, 2000);
	copies[3] = dup2(fd, 200);
	copies[4] = dup3(fd, 201, O_CLOEXEC);
	check(copies[2] >= 2000);
	check(dup2(fd, fd) == fd);
	check(!close(fd));
	for (int i = 0; i < 5; i++) {
		check(ctl->channels == before);
		ctl->post(copies[i], &event, sizeof(event));
		check(read(copies[i], &got, sizeof(got)) == 8 && got == 5);
		check(!close(copies[i]));
	}
	check(ctl->channels == before - 1);
	fd = dup(uverbs);
	check(!close(create_comp_channel(fd)));
	check(!close(fd));
}

static void check_stranger(int fd, int other)
{
	char buf[16];

	check(write(other, "12345678", 8) == 8);
	check(read(fd, buf, sizeof(buf)) == 8 && !memcmp(buf, "12345678", 8));
	check(!close(fd));
	check(!close(other));
}

/* Another file replaces a channel's descriptor, by calls with and without hooks. */
static void test_replaced(void)
{
	int fds[2], fd, before = ctl->channels;
	FILE *fp;

	fd = create_comp_channel(uverbs);
	check(!pipe(fds));
	check(dup2(fds[0], fd) == fd);
	check(!close(fds[0]));
	check(ctl->channels == before);
	check_stranger(fd, fds[1]);

	fd = create_comp_channel(uverbs);
	check(!syscall(SYS_close, fd));
	check(!pipe(fds) && fds[0] == fd);
	check_stranger(fds[0], fds[1]);
	check(ctl->channels == before); /* the read() above has noticed the change */

	fd = create_comp_channel(uverbs);
	fp = fdopen(fd, "r");
	check(!fclose(fp));
	check(!socketpair(AF_UNIX, SOCK_STREAM, 0, fds) && fds[0] == fd);
	check_stranger(fds[0], fds[1]);
	check(ctl->channels == before);

	fd = create_comp_channel(uverbs);
	check(!close_range((unsigned int)fd, (unsigned int)fd, CLOSE_RANGE_CLOEXEC));
	check(ctl->channels == before + 1);
	check(!close_range((unsigned int)fd, (unsigned int)fd, 0));
	check(ctl->channels == before);
	check(dup2(create_comp_channel(uverbs), 900) == 900);
	closefrom(900);
	closefrom(fd);
	check(ctl->channels == before);
}

/*
 * Runs in a child whose parent's fd is readable. The parent's descriptors do not work there, and
 * closing them is harmless.
 */
static void check_child(int fd, int cm, int channels)
{
	uint64_t got = 0;
	int fds[2];

	check_fails(read(fd, &got, sizeof(got)), EIO);
	check_fails(write(uverbs, &got, sizeof(got)), EIO);
	check_fails(write(cm, &got, sizeof(got)), EIO);
	check_fails(ioctl(uverbs, FIONREAD, &got), ENOTTY);
	check_fails(ioctl(fd, FIONREAD, &got), ENOTTY);
	check(!close(fd));
	check(!pipe(fds));
	check(fds[0] == fd);
	check_stranger(fds[0], fds[1]);
	check(!close(cm));
	check(ctl->channels == channels); /* a child releases nothing */
	closefrom(3);
	check(ctl->channels == channels);
}

static int cloned(void *arg)
{
	const int *fds = arg;

	check_child(fds[0], fds[1], fds[2]);
	return 0;
}

static void test_children(void)
{
	int fd = create_comp_channel(uverbs), cm = open("/dev/infiniband/rdma_cm", O_RDWR);
	static _Alignas(16) char stack[65536];
	int before = ctl->channels;
	uint64_t event = 3, got;
	extern char **environ;
	pid_t pid;

	check(cm >= 0);
	before = ctl->channels;
	ctl->post(fd, &event, sizeof(event));
	pid = fork();
	if (!pid) {
		check_child(fd, cm, before);
		_exit(0);
	}
	check(status_of(pid) == 0);

	/* A child without the handlers of pthread_atfork(). */
	pid = clone(cloned, stack + sizeof(stack), SIGCHLD, (int[]){ fd, cm, before });
	check(pid > 0 && status_of(pid) == 0);

	/* The child of a vfork() shares the memory with the table, but not the descriptors. */
	pid = vfork();
	if (!pid) {
		if (close(fd) || dup2(2, cm) != cm || close(uverbs))
			_exit(1);
		closefrom(3);
		_exit(0);
	}
	check(status_of(pid) == 0);
	check(ctl->channels == before);
	check(read(fd, &got, sizeof(got)) == 8 && got == 3);

	check(!posix_spawn(&pid, "/bin/true", NULL, NULL, (char *[]){ "true", NULL }, environ));
	check(status_of(pid) == 0);

	/* A child may open the device anew. */
	pid = fork();
	if (!pid) {
		int own = open("/dev/infiniband/uverbs0", O_RDWR);

		check(own >= 0);
		fd = create_comp_channel(own);
		check(!fcntl(fd, F_SETFL, O_NONBLOCK));
		check_fails(read(fd, &got, sizeof(got)), EAGAIN);
		check(!close(fd));
		_exit(0);
	}
	check(status_of(pid) == 0);
	check(!close(fd) && !close(cm));
	check(ctl->channels == before - 2);
}

#define ROUNDS 20000

static void *churn(void *arg)
{
	uint64_t got;

	for (int i = 0; i < ROUNDS / 40; i++) {
		int fd = create_comp_channel(uverbs), copy = dup(fd);

		fcntl(fd, F_SETFL, O_NONBLOCK);
		check_fails(read(copy, &got, sizeof(got)), EAGAIN);
		check(!close(fd));
		check(!close(copy));
	}
	return NULL;
}

/*
 * Threads use all descriptors while others open and close them. No thread gets another's data, and
 * no data is lost.
 */
static void test_threads(void)
{
	int before = ctl->channels;
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		check(!pthread_create(&threads[i], NULL, churn, NULL));
	for (int i = 0; i < ROUNDS; i++) {
		struct stat st;

		if (!fstat(3 + i % 16, &st)) /* the hook checks if it is the device's */
			check(S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode) ||
			      S_ISSOCK(st.st_mode)); /* a copy of the fake RNIC's */
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	check(ctl->channels == before);
}

/* After exec(), the origin of an inherited descriptor is unknown: it is an ordinary file. */
static int after_exec(int fd)
{
	char c;

	check(read(fd, &c, 1) == 1);
	check(!close(fd));
	return 0;
}

static void test_exec(char *self)
{
	int fd = create_comp_channel(uverbs);
	uint64_t event = 9;
	char arg[16];
	pid_t pid;

	ctl->post(fd, &event, sizeof(event));
	snprintf(arg, sizeof(arg), "%d", fd);
	pid = fork();
	if (!pid) {
		fcntl(fd, F_SETFD, 0);
		execl(self, self, arg, NULL);
		_exit(9);
	}
	check(status_of(pid) == 0);
	check(!close(fd));
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return after_exec(atoi(argv[1]));
	alarm(60);
	uverbs = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
	check(uverbs >= 0);
	ctl = fake();
	check(ctl);
	test_uverbs_commands();
	test_gathered_commands();
	test_sandbox_without_memfd();
	test_channel();
	test_ioctl();
	test_copies();
	test_replaced();
	test_children();
	test_exec(argv[0]);
	test_threads();
	alarm(0);
	test_interrupted();
	check(!close(uverbs));
	check(!ctl->channels);
	return 0;
}
