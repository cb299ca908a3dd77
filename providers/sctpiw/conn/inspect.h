/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What tools are told of associations, as iwarp/iw_inspect.h has it for other objects. Shard lock. */
#ifndef SCTPIW_CONN_INSPECT_H
#define SCTPIW_CONN_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config_keys.h"
#include "sctp/inspect.h"
#include "util/list.h"
#include "util/sockaddr.h"

struct conn;

struct conn_assoc_info {
	uint16_t local_port;
	char peer[SOCKADDR_TEXT]; /* address and port */
	bool initiator;		  /* this side opened it */
	bool up;		  /* it has had its handshake, and is not over */
	unsigned int streams;	  /* pairs that sessions may use; 0 if it is not up */
	unsigned int sessions;	  /* that are not over */
	bool sealed;		  /* packets to the peer are sealed */
	char key[CONFIG_IDENTITY_MAX +
		 1];   /* the identity of the key that they are sealed with, or "" */
	bool has_sctp; /* the transport can tell of sctp */
	struct sctp_assoc_info sctp;
};

/* The paths of an association. */
struct conn_paths_info {
	uint16_t local_port;
	char peer[SOCKADDR_TEXT];
	unsigned int n;
	struct sctp_path_info path[SCTP_PATHS_INFO_MAX];
};

/* How many associations there are. */
unsigned int conn_count_assocs(const struct conn *c);
/* As iw_next_qp(). */
bool conn_next_assoc(struct conn *c, struct list_node *mark, struct conn_assoc_info *info);
/* The same for the paths of the next association. */
bool conn_next_paths(struct conn *c, struct list_node *mark, struct conn_paths_info *info);

#endif
