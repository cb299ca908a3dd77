/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Raising events. Each object that can have events contains a node with one bit per event type. The
 * shard's queue consists of these nodes, so events need no memory and are never lost. Needs the
 * shard's lock.
 */
#ifndef SCTPIW_IWARP_EVENT_H
#define SCTPIW_IWARP_EVENT_H

#include <stdint.h>

#include "iwarp/iw_event.h"
#include "util/list.h"

enum iw_event_owner { IW_OWNER_SESSION, IW_OWNER_QP, IW_OWNER_CQ, IW_OWNER_SRQ };

struct iw_event_node {
	struct list_node node; /* iw_shard.events, if bits is not 0 */
	uint8_t owner;	       /* enum iw_event_owner: kind of object that contains the node */
	uint16_t bits;	       /* 1 << enum iw_event_type of each pending event */
};

void iw_event_init(struct iw_event_node *e, enum iw_event_owner owner);
void iw_event_raise(struct iw_shard *shard, struct iw_event_node *e, enum iw_event_type type);
/* Drops all pending events; call before freeing the object. */
void iw_event_clear(struct iw_event_node *e);

#endif
