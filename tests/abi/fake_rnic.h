/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a test can make the fake RNIC do, and see of what it was told. The fake exports it as
 * "fake_control".
 */
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

#define FAKE_GROUP 77

struct fake_control {
	/* Queues len bytes as the next event of the channel whose descriptor is fd. */
	void (*post)(int fd, const void *event, size_t len);
	/* Makes a connection request on a listening id, and returns the new id. */
	uint32_t (*connect_request)(uint32_t listener);
	/*
	 * Makes an async channel, as a provider does inside alloc_context(), and returns its
	 * descriptor.
	 */
	int (*open_async)(void);
	/* Claims a signal, as the RNIC does (sigchain.h). */
	void (*claim)(int sig, bool (*handler)(int, siginfo_t *, void *));
	int channels; /* that are open now */
	int ids;      /* that there are now */
	/* What the RNIC was told last. */
	uint64_t last_uid;
	struct rnic_conn_param last_param;
	uint8_t last_reason; /* of a reject */
	unsigned char last_option[64];
	size_t last_option_len;
	int last_backlog;
	struct sockaddr_storage last_addr;
	bool last_had_src;
	bool last_send_only; /* of a join */
	int groups;	     /* that are joined, all under the handle FAKE_GROUP */
	int own_fd;	     /* a descriptor that the RNIC is to have for itself, or 0 */
	/* Called when a channel of connection events has been asked in vain, before the answer is given; or NULL. */
	void (*_Atomic on_no_event)(void);
	uint32_t forks; /* how many times fork() is to lie behind the process */
	/* A region of the program, and the losses reported since `begun` was last 0. */
	uint64_t region, region_len;
	int begun, ended; /* calls */
	uint64_t lost, lost_len;
	bool lost_unmapped; /* the last loss was of unmapped pages */
	/* Called when this library is unloaded; or NULL. */
	void (*on_unload)(void);
};

/* The control of the RNIC that the launcher has named; NULL if it is not a fake. */
static inline struct fake_control *fake(void)
{
	void *handle = dlopen(getenv("SCTPIW_PROVIDER"), RTLD_NOW);

	return handle ? dlsym(handle, "fake_control") : NULL;
}

#endif
