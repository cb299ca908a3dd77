/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reports the state of associations for tools. iwarp/iw_inspect.h reports the state of other
 * objects. Callers hold the shard's lock.
 */
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
	bool initiator;		  /* the local side opened it */
	bool up;		  /* the handshake is complete, and the association has not ended */
	unsigned int streams;	  /* pairs of streams for sessions; 0 if not up */
	unsigned int sessions;	  /* sessions that have not ended */
	bool sealed;		  /* the carrier encrypts packets to the peer */
	char key[CONFIG_IDENTITY_MAX + 1]; /* identity of the key, or "" */
	bool has_sctp;			   /* the transport has filled `sctp` */
	struct sctp_assoc_info sctp;
};

struct conn_paths_info {
	uint16_t local_port;
	char peer[SOCKADDR_TEXT];
	unsigned int n;
	struct sctp_path_info path[SCTP_PATHS_INFO_MAX];
};

unsigned int conn_count_assocs(const struct conn *c);
/* Reports the next association. See iw_next_qp() for the use of mark. */
bool conn_next_assoc(struct conn *c, struct list_node *mark, struct conn_assoc_info *info);
/* Reports the paths of the next association. Otherwise as conn_next_assoc(). */
bool conn_next_paths(struct conn *c, struct list_node *mark, struct conn_paths_info *info);

#endif
