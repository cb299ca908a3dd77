/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lets a test control the fake RNIC, and read the arguments of its calls. The fake exports it as
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
	/* Makes a connection request on a listening id. Returns the new id. */
	uint32_t (*connect_request)(uint32_t listener);
	/*
	 * Makes an async channel, as a provider does inside alloc_context(). Returns its
	 * descriptor.
	 */
	int (*open_async)(void);
	/* Claims a signal, as the RNIC does (sigchain.h). */
	void (*claim)(int sig, bool (*handler)(int, siginfo_t *, void *));
	int channels; /* open at present */
	int ids;      /* existing at present */
	/* Arguments of the last calls of the RNIC. */
	uint64_t last_uid;
	struct rnic_conn_param last_param;
	uint8_t last_reason; /* of a reject */
	unsigned char last_option[64];
	size_t last_option_len;
	int last_backlog;
	struct sockaddr_storage last_addr;
	bool last_had_src;
	bool last_send_only; /* of a join */
	int groups;	     /* joined groups, all with the handle FAKE_GROUP */
	int own_fd;	     /* a descriptor that the RNIC reports as its own, or 0 */
	/*
	 * Called when a channel has no connection event, before this answer is returned; or NULL.
	 */
	void (*_Atomic on_no_event)(void);
	uint32_t forks; /* the number of fork() calls that the RNIC reports */
	/* A region of the program, and the losses reported since `begun` was last 0. */
	uint64_t region, region_len;
	int begun, ended; /* calls */
	uint64_t lost, lost_len;
	bool lost_unmapped; /* the last loss was of unmapped pages */
	/* Called when this library is unloaded; or NULL. */
	void (*on_unload)(void);
};

/* Returns the control of the provider that the launcher has set, or NULL if it is no fake. */
static inline struct fake_control *fake(void)
{
	void *handle = dlopen(getenv("SCTPIW_PROVIDER"), RTLD_NOW);

	return handle ? dlsym(handle, "fake_control") : NULL;
}

#endif
