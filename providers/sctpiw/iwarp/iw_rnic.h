/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The RNIC: owner of all objects of this room, their timers and counters. Everything here needs the
 * shard's lock.
 */
#ifndef SCTPIW_IWARP_IW_RNIC_H
#define SCTPIW_IWARP_IW_RNIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/random.h"

struct iw_rnic;

struct iw_config {
	/* Bytes of Sends without a receive that one QP keeps copies of, bookkeeping included. */
	uint32_t unexpected_bytes_per_qp;
	/* Place segments in order, for programs that poll memory for the last byte: in_order.h. */
	bool in_order;
	uint32_t zcopy_min; /* a payload of so many bytes or more may be referenced: zcopy.h */
};

/* Whom a line is for: who wrote the program, or who looks for what has happened. */
enum iw_say_level { IW_SAY_ERROR, IW_SAY_INFO };

/* What the RNIC asks of its owner. None of them may fault or block. */
struct iw_rnic_ops {
	/*
	 * Copies from the application's memory. 0, or -EFAULT if that is not mapped (any more).
	 */
	int (*copy)(void *dst, const void *src, size_t len);
	/* The same to the application's memory, of what a peer has sent. */
	int (*place)(void *dst, const void *src, size_t len);
	/*
	 * Can each page of these len > 0 bytes be read? 0 or -EFAULT. Asked only about memory that
	 * is going to be referenced.
	 */
	int (*probe)(const void *src, size_t len);
	/*
	 * Replaces the 8 aligned bytes at `at` by next(what they were, arg), in host order, as one
	 * atomic instruction of the processor does; *old is what they were. next is called once or
	 * more often. -EFAULT if the bytes cannot be read and written.
	 */
	int (*atomic)(uint64_t *at, uint64_t (*next)(uint64_t old, const void *arg),
		      const void *arg, uint64_t *old);
	/* The time for the time stamps of completions, ns; NULL: what iw_set_now() said last. */
	uint64_t (*clock)(void);
	/*
	 * Tells people why a QP has ended, in a line without a newline (explain.h). A line is made only
	 * if hears() says that anybody reads those of its level. Both are NULL if nobody ever asks.
	 */
	void (*say)(enum iw_say_level level, const char *line);
	bool (*hears)(enum iw_say_level level);
};

/* Copies config and ops; random must outlive the RNIC. NULL: out of memory. */
struct iw_rnic *iw_rnic_new(const struct iw_config *config, const struct iw_rnic_ops *ops,
			    struct random_source *random);
/* Ends all associations and sessions. The caller has freed every QP, CQ, SRQ, MR and PD before. */
void iw_rnic_free(struct iw_rnic *rnic);
/* From now on this function is iw_rnic_ops.place. */
void iw_rnic_set_place(struct iw_rnic *rnic, int (*place)(void *dst, const void *src, size_t len));
/* iw_config.unexpected_bytes_per_qp: the window that a peer with receipts is told of. */
uint32_t iw_rnic_send_window(const struct iw_rnic *rnic);
/*
 * In the child of a fork(), where no session goes on: what they reference of the application's
 * memory is not sent any more, and is left alone from now on. MRs, windows and PDs work on.
 */
void iw_rnic_forget(struct iw_rnic *rnic);
/* When iw_timers() wants to be called, ns; UINT64_MAX: no timer runs. */
uint64_t iw_next_timeout(const struct iw_rnic *rnic);
/* Serves the timers that are due at now, ns. */
void iw_timers(struct iw_rnic *rnic, uint64_t now);
/* Tells the time, ns; to be called before messages are received or pulled, and before doorbells. */
void iw_set_now(struct iw_rnic *rnic, uint64_t now);

#define IW_OPCODES 16 /* of RDMAP: the values that fit its header (wire/rdmap.h) */

/*
 * Messages, and the bytes of the application's memory in them: of Sends, Writes and Read Responses.
 * Read and Atomic Requests, Atomic Responses and Immediate Data are messages without such bytes.
 * Terminates and receipts do not count.
 */
struct iw_traffic {
	uint64_t messages; /* that are whole */
	uint64_t bytes;
};

/* Messages that UC QPs have dropped, by reason. */
struct iw_uc_drops {
	uint64_t no_receive; /* none was posted */
	uint64_t too_long;   /* for the receive */
	uint64_t access; /* STag, bounds or rights did not allow a Write, or the header was wrong */
	uint64_t bad_opcode; /* of a kind that UC does not have, such as a read */
};

/* Counts since iw_rnic_new(), over all sessions. */
struct iw_stats {
	uint64_t in[IW_OPCODES];      /* RDMAP messages delivered whole, by opcode */
	uint64_t out[IW_OPCODES];     /* RDMAP messages whose last segment was pulled, by opcode */
	uint64_t in_bytes, out_bytes; /* as of struct iw_traffic, of all QPs that there were */
	uint64_t sessions;	      /* sessions that were established */
	uint64_t first_session;	      /* when the first of them was, ns; 0: there was none */
	uint64_t last_session;	      /* when a session ended last, ns; 0: none has */
	uint64_t errors;	      /* QPs that have entered the error state by a failure */
	uint64_t unexpected;	      /* segments of Sends that found no receive posted */
	struct iw_uc_drops uc;
};

const struct iw_stats *iw_stats(const struct iw_rnic *rnic);
/* The sum of the messages in iw_stats.in or .out that count for struct iw_traffic. */
uint64_t iw_messages(const uint64_t by_opcode[IW_OPCODES]);

#endif
