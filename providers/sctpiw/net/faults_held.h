/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Packets that faults hold back until a time, or until others have overtaken them. Shard lock. */
#ifndef SCTPIW_NET_FAULTS_HELD_H
#define SCTPIW_NET_FAULTS_HELD_H

#include "net/faults_packet.h"
#include "util/list.h"

/* Maximum bytes held at once. Further packets are lost, as in any queue of a network. */
#define FAULTS_HELD_MAX ((size_t)16 << 20)
/* ns. Maximum wait of a packet to be overtaken: perhaps no packet follows it. */
#define FAULTS_HELD_OVERTAKE 100000000ull

struct faults_held_packet {
	struct list_node node;
	uint64_t due;
	uint64_t behind; /* packets that have yet to overtake it; 0: none */
	uint32_t rule;
	struct faults_packet p; /* p.data is bytes, without references */
	uint8_t bytes[];
};

struct faults_held {
	struct list_node due;	     /* by ascending time */
	struct list_node overtaking; /* packets to be overtaken, by ascending time */
	size_t bytes;
};

void faults_held_init(struct faults_held *h);
/* Drops all packets, or only those of ep if that is not NULL. */
void faults_held_drop(struct faults_held *h, const struct endpoint *ep);

/*
 * Keeps a copy of the packet until `due`, or until `behind` others have overtaken it. Returns false
 * if there is no room; the packet is then lost.
 */
bool faults_held_add(struct faults_held *h, const struct faults_packet *p, uint32_t rule,
		     uint64_t due, uint64_t behind);
/* Holds a packet again that was taken too early. */
void faults_held_again(struct faults_held *h, struct faults_held_packet *held, uint64_t due);
/* Notes that this packet was sent on: packets that wait for it may be due now. */
void faults_held_overtake(struct faults_held *h, const struct faults_packet *p, uint64_t now);
/* Makes all packets of the rule due now; rule 0: of all rules. */
void faults_held_release(struct faults_held *h, uint32_t rule, uint64_t now);

/* Returns the time when the next packet is due, or TIME_NEVER. */
uint64_t faults_held_next(const struct faults_held *h);
/* Takes the next packet that is due, or returns NULL. The caller frees it. */
struct faults_held_packet *faults_held_take(struct faults_held *h, uint64_t now);
/* The same for outgoing packets only. */
struct faults_held_packet *faults_held_take_out(struct faults_held *h, uint64_t now);
/* Frees a packet, held or taken. */
void faults_held_free(struct faults_held *h, struct faults_held_packet *held);

#endif
