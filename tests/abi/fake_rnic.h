/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a test can do to the fake RNIC, and see of it. Exported as "fake_control". */
#ifndef TESTS_ABI_FAKE_RNIC_H
#define TESTS_ABI_FAKE_RNIC_H

#include <dlfcn.h>
#include <stdbool.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "rnic_api.h"

#define FAKE_GUID_TEXT "0102:0304:0506:0708\n"
#define FAKE_GID_TEXT "0000:0000:0000:0000:0000:ffff:7f00:0001\n"

struct fake_control {
	/* Queue an event on the channel whose descriptor this is. */
	void (*post)(int fd, const void *event, size_t len);
	/* A connection request on a listening id; the new id. */
	uint32_t (*connect_request)(uint32_t listener);
	/* Make an async channel, as a provider does inside alloc_context. */
	int (*open_async)(void);
	void (*claim)(int sig, bool (*handler)(int, siginfo_t *, void *));
	int channels; /* alive */
	int ids;
	uint64_t last_uid;
	struct rnic_conn_param last_param;
	unsigned char last_option[64];
	size_t last_option_len;
	int last_backlog;
	struct sockaddr_storage last_addr;
	bool last_had_src;
	int own_fd; /* a descriptor of the RNIC's own, or 0 */
};

static inline struct fake_control *fake(void)
{
	void *handle = dlopen(getenv("SCTPIW_PROVIDER"), RTLD_NOW);

	return handle ? dlsym(handle, "fake_control") : NULL;
}

#endif
