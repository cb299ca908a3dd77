/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: util */
/*
 * An application writes command buffers of any content and length to /dev/infiniband/rdma_cm and
 * uverbs0, over an RNIC without a network. The answers must go to the response address or, if this
 * is invalid, nowhere. All ids and channels must be gone after the descriptors are closed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/fake_rnic.h"
#include "fdtable.h"
#include "fixture/input.h"
#include "libc.h"
#include "ucma.h"
#include "unused.h"
#include "uverbs.h"

#define STEPS 64
#define CHANNELS 2
#define COMMAND_MAX 700
#define RESPONSE_MAX 4096

static struct fake_control *ctl;
static uint8_t *response; /* the next page is not mapped */
static int cm[CHANNELS], verbs;
static uint32_t last_id;

/* The libc functions that kernel-abi calls. */
int libc_open(const char *path, int flags)
{
	return open(path, flags);
}

int libc_close(int fd)
{
	return close(fd);
}

int libc_fstat(int fd, struct stat *st)
{
	return fstat(fd, st);
}

int libc_fstatat(int dirfd, const char *path, struct stat *st, int flags)
{
	return fstatat(dirfd, path, st, flags);
}

int libc_fcntl(int fd, int cmd, long arg)
{
	return fcntl(fd, cmd, arg);
}

int libc_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	return sigaction(sig, act, old);
}

/* No `sctpiw run` waits until this process opens the device. */
void unused_over(void)
{
}

static void prepare(void)
{
	long page = sysconf(_SC_PAGESIZE);
	uint8_t *p;

	setenv("SCTPIW_PROVIDER", FUZZ_PROVIDER, 1);
	ctl = fake();
	must(ctl);
	p = mmap(NULL, RESPONSE_MAX + (size_t)page, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(p != MAP_FAILED);
	must(!mprotect(p + RESPONSE_MAX, (size_t)page, PROT_NONE));
	response = p;
}

static ssize_t command(int fd, const void *buf, size_t len)
{
	/* In its own heap block, so that a sanitizer detects reads beyond its end. */
	uint8_t *copy = malloc(len ? len : 1);
	struct kfile *kf = fdtable_get(fd);
	ssize_t n;

	must(copy && kf);
	memcpy(copy, buf, len);
	n = kf->ops->write(kf, fd, copy, len);
	must(n == (ssize_t)len || (n < 0 && n > -4096));
	kfile_put(kf);
	free(copy);
	return n;
}

/* Returns the address for an answer: the page, a place that is too short, or an invalid one. */
static uint64_t place(uint8_t which)
{
	if (which < 0xc0)
		return (uintptr_t)response;
	if (which < 0xe0)
		return (uintptr_t)response + RESPONSE_MAX - which % 32;
	return which & 1 ? 0 : UINT64_MAX - which;
}

static void rdma_cm_command(struct input *in)
{
	uint8_t what = in_u8(in), where = in_u8(in);
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		uint8_t in[COMMAND_MAX];
	} rq = { .hdr.cmd = what % 24 };
	const uint8_t *bytes;
	uint64_t addr = place(in_u8(in));
	size_t len;

	bytes = in_bytes(in, where & 1 ? in_u8(in) * 3u : in_u8(in) % 32, &len);
	len = len < COMMAND_MAX ? len : COMMAND_MAX;
	memcpy(rq.in, bytes, len);
	rq.hdr.in = (uint16_t)(where & 2 ? in_u16(in) : len < 512 ? 512 : len);
	rq.hdr.out = (uint16_t)(where & 4 ? in_u16(in) : RESPONSE_MAX);
	if (rq.hdr.cmd == RDMA_USER_CM_CMD_CREATE_ID && !(where & 16)) {
		struct rdma_ucm_create_id good = { .uid = what,
						   .response = addr,
						   .ps = RDMA_PS_TCP };

		memcpy(rq.in, &good, sizeof(good));
	} else {
		/* The other commands begin with their response address or with an id. */
		memcpy(rq.in, &addr, sizeof(addr));
		if (where & 32)
			memcpy(rq.in + 8, &last_id, sizeof(last_id));
	}
	/* A pointer from the input could point to memory of this program. */
	if (rq.hdr.cmd == RDMA_USER_CM_CMD_CREATE_ID)
		memcpy(rq.in + offsetof(struct rdma_ucm_create_id, response), &addr, sizeof(addr));
	if (rq.hdr.cmd == RDMA_USER_CM_CMD_SET_OPTION)
		memcpy(rq.in + offsetof(struct rdma_ucm_set_option, optval), &addr, sizeof(addr));
	if (command(cm[where & 64 ? 1 : 0], &rq,
		    sizeof(rq.hdr) + (where & 128 ? len : COMMAND_MAX)) > 0 &&
	    rq.hdr.cmd == RDMA_USER_CM_CMD_CREATE_ID && addr == (uintptr_t)response)
		memcpy(&last_id, response, sizeof(last_id));
}

static void uverbs_command(struct input *in)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_comp_channel cmd;
		uint8_t more[64];
	} rq = { .cmd.response = place(in_u8(in)) };
	uint8_t how = in_u8(in);
	size_t len = sizeof(rq.hdr) + (how & 1 ? in_u8(in) % 72 : sizeof(rq.cmd));
	struct ib_uverbs_create_comp_channel_resp resp;

	rq.hdr.command = how & 2 ? in_u32(in) : IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL;
	rq.hdr.in_words = how & 4 ? in_u16(in) : (uint16_t)(len / 4);
	rq.hdr.out_words = how & 8 ? in_u16(in) : 64;
	if (command(verbs, &rq, len) > 0) {
		struct kfile *kf;

		memcpy(&resp, (const void *)(uintptr_t)rq.cmd.response, sizeof(resp));
		kf = fdtable_take((int)resp.fd);
		must(kf);
		close((int)resp.fd);
		kfile_put(kf);
	}
}

static void take_events(void)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_get_event cmd;
	} rq = { .hdr = { RDMA_USER_CM_CMD_GET_EVENT, sizeof(rq.cmd), RESPONSE_MAX },
		 .cmd.response = (uintptr_t)response };

	for (int i = 0; i < CHANNELS; i++)
		while (command(cm[i], &rq, sizeof(rq)) > 0)
			;
}

static void close_device(int fd)
{
	struct kfile *kf = fdtable_take(fd);

	must(kf);
	close(fd);
	kfile_put(kf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_of(data, size);

	if (!ctl)
		prepare();
	last_id = 0;
	for (int i = 0; i < CHANNELS; i++) {
		cm[i] = ucma_open(O_RDWR | O_NONBLOCK | O_CLOEXEC);
		must(cm[i] >= 0);
	}
	verbs = uverbs_open(O_RDWR | O_CLOEXEC);
	must(verbs >= 0);
	for (int i = 0; i < STEPS && in_more(&in); i++) {
		if (in_u8(&in) < 0x30)
			uverbs_command(&in);
		else
			rdma_cm_command(&in);
		take_events();
	}
	for (int i = 0; i < CHANNELS; i++)
		close_device(cm[i]);
	close_device(verbs);
	must(!ctl->ids && !ctl->channels);
	return 0;
}
