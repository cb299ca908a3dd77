/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Packets that faults hold back until a time, or until other packets overtake them. Shard lock. */
#ifndef SCTPIW_NET_FAULTS_HELD_H
#define SCTPIW_NET_FAULTS_HELD_H

#include "net/faults_packet.h"
#include "util/list.h"

/* Maximum bytes held at once. Further packets are lost, as in a full queue. */
#define FAULTS_HELD_MAX ((size_t)16 << 20)
/* ns. Maximum time to wait for overtaking packets, since perhaps no packet follows. */
#define FAULTS_HELD_OVERTAKE 100000000ull

struct faults_held_packet {
	struct list_node node;
	uint64_t due;
	/* number of packets that must still overtake; 0: waits only for the time */
	uint64_t behind;
	uint32_t rule;
	struct faults_packet p; /* p.data points to bytes; no references */
	uint8_t bytes[];
};

struct faults_held {
	/* packets that wait only until a given time, in ascending order of this time */
	struct list_node due;
	struct list_node overtaking; /* packets to be overtaken, in ascending order of due */
	size_t bytes;
};

void faults_held_init(struct faults_held *h);
/* Drops all packets, or only those of ep if that is not NULL. */
void faults_held_drop(struct faults_held *h, const struct endpoint *ep);

/*
 * Keeps a copy of the packet until `due`. If the last argument is not 0, the packet becomes due
 * earlier once this number of packets has overtaken it. Returns false if there is no room or the
 * packet cannot be copied; it is then lost.
 */
bool faults_held_add(struct faults_held *h, const struct faults_packet *p, uint32_t rule,
		     uint64_t due, uint64_t behind);
/* Puts back a packet that was taken but could not be sent, until `due`. */
void faults_held_again(struct faults_held *h, struct faults_held_packet *held, uint64_t due);
/* Call this after p was forwarded. Packets that p was the last to overtake become due. */
void faults_held_overtake(struct faults_held *h, const struct faults_packet *p, uint64_t now);
/* Makes all packets of a rule due now, or packets of all rules if rule is 0. */
void faults_held_release(struct faults_held *h, uint32_t rule, uint64_t now);

/* Returns the time at which the next packet is due, or TIME_NEVER. */
uint64_t faults_held_next(const struct faults_held *h);
/* Removes and returns the next packet that is due, or NULL. The caller frees the packet. */
struct faults_held_packet *faults_held_take(struct faults_held *h, uint64_t now);
/* Like faults_held_take(), but only for outgoing packets. */
struct faults_held_packet *faults_held_take_out(struct faults_held *h, uint64_t now);
/* Frees a packet that is held or was taken. */
void faults_held_free(struct faults_held *h, struct faults_held_packet *held);

#endif
