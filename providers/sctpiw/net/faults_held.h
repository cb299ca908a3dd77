/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Packets that faults hold back, until their time has come or others have overtaken them. Shard lock. */
#ifndef SCTPIW_NET_FAULTS_HELD_H
#define SCTPIW_NET_FAULTS_HELD_H

#include "net/faults_packet.h"
#include "util/list.h"

/* What is held at once, bytes; more is lost, as in any queue of a network. */
#define FAULTS_HELD_MAX ((size_t)16 << 20)
/* A packet that is to be overtaken waits so long at most, ns: perhaps nothing comes behind it. */
#define FAULTS_HELD_OVERTAKE 100000000ull

struct faults_held_packet {
	struct list_node node;
	uint64_t due;
	uint64_t behind; /* packets that have to overtake it; 0: none */
	uint32_t rule;
	struct faults_packet p; /* p.data is bytes, and there are no references */
	uint8_t bytes[];
};

struct faults_held {
	struct list_node due;	     /* by ascending time */
	struct list_node overtaking; /* by ascending time: those with behind */
	size_t bytes;
};

void faults_held_init(struct faults_held *h);
/* Drops all packets; of ep alone if that is not NULL. */
void faults_held_drop(struct faults_held *h, const struct endpoint *ep);

/*
 * Keeps a copy of the packet until then, or until `behind` others have overtaken it. False: there is no room, and it
 * is lost.
 */
bool faults_held_add(struct faults_held *h, const struct faults_packet *p, uint32_t rule,
		     uint64_t due, uint64_t behind);
/* The same packet again, whose turn had come too early. */
void faults_held_again(struct faults_held *h, struct faults_held_packet *held, uint64_t due);
/* This packet was sent on: those that wait for it may be due now. */
void faults_held_overtake(struct faults_held *h, const struct faults_packet *p, uint64_t now);
/* All packets of the rule are due now; rule 0: of all. */
void faults_held_release(struct faults_held *h, uint32_t rule, uint64_t now);

/* When the next one is due; TIME_NEVER: there is none. */
uint64_t faults_held_next(const struct faults_held *h);
/* Takes out the next one that is due, which is the caller's to free; NULL: none is. */
struct faults_held_packet *faults_held_take(struct faults_held *h, uint64_t now);
/* As that, but of those that leave alone. */
struct faults_held_packet *faults_held_take_out(struct faults_held *h, uint64_t now);
/* It is not held any more. */
void faults_held_free(struct faults_held *h, struct faults_held_packet *held);

#endif
