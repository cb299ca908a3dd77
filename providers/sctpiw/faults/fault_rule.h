/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A rule of faults (docs/faults.md), and the tables that are generated from fault_list.h. The
 * modules in faults/ have no sockets, clock or threads. The caller passes the time and the seed of
 * random numbers, and holds a lock.
 */
#ifndef SCTPIW_FAULTS_FAULT_RULE_H
#define SCTPIW_FAULTS_FAULT_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/addr.h"

/* FAULT_CLASS_TIMER and others. The values are bits, so that an action may have several classes. */
enum fault_class_number {
#define FAULT_CLASS(id, doc) FAULT_CLASS_NUMBER_##id,
#include "faults/fault_list.h"
	FAULT_CLASSES
};

enum fault_class {
#define FAULT_CLASS(id, doc) FAULT_CLASS_##id = 1 << FAULT_CLASS_NUMBER_##id,
#include "faults/fault_list.h"
};

/*
 * FAULT_SITE_packet and others. A rule with FAULT_SITE_NONE has no site; it fires at certain times.
 */
enum fault_site {
	FAULT_SITE_NONE,
#define FAULT_SITE(id, class, word, plural, doc) FAULT_SITE_##id,
#include "faults/fault_list.h"
	FAULT_SITES
};

/* FAULT_SELECT_qp and others. The values are bit numbers in fault_attrs.known. */
enum fault_selector {
#define FAULT_SELECTOR(id, kind, classes, word, doc) FAULT_SELECT_##id,
#include "faults/fault_list.h"
	FAULT_SELECTORS
};

enum fault_action_id {
#define FAULT_ACTION(id, classes, words, doc, rule) FAULT_DO_##id,
#include "faults/fault_list.h"
	FAULT_ACTIONS
};

/* Indexes of arguments in fault_action.arg: fault_delay_time is 0, fault_delay_jitter is 1, ... */
#define FAULT_ACTION(id, classes, words, doc, rule) enum {
#define FAULT_ARG(id, arg, kind, word, need, doc) fault_##id##_##arg,
#define FAULT_END(id)                                                                              \
	fault_##id##_args                                                                          \
	}                                                                                          \
	;
#include "faults/fault_list.h"

#define FAULT_ARGS_MAX 4
#define FAULT_DATA_MAX 148 /* bytes of private data in an InfiniBand REJ */

/* Kinds of values of arguments and selectors. */
enum fault_kind {
	FAULT_KIND_COUNT,  /* 1 or more */
	FAULT_KIND_NUMBER, /* 0 or more; may be hexadecimal */
	FAULT_KIND_LAYER,  /* 0 to 2 */
	FAULT_KIND_NIBBLE, /* 0 to 15 */
	FAULT_KIND_BYTE,   /* 0 to 255 */
	FAULT_KIND_PORT,   /* 0 to 65535 */
	FAULT_KIND_REASON, /* 0 to 65535 */
	FAULT_KIND_SIZE,   /* bytes */
	FAULT_KIND_TIME,   /* ns */
	FAULT_KIND_RATE,   /* bits per second */
	FAULT_KIND_QP,	   /* a NUMBER, or an ordinal */
	FAULT_KIND_ADDR,   /* an address */
	FAULT_KIND_DATA,   /* "text in quotes" */
	/* Kinds whose values have names (FAULT_NAME): */
	FAULT_KIND_DIRECTION,
	FAULT_KIND_STATE,
	FAULT_KIND_OPCODE,
	FAULT_KIND_CHUNK,
	FAULT_KIND_STATUS,
	FAULT_KIND_EVENT,
	FAULT_KIND_CM_EVENT,
	FAULT_KIND_LIMIT,
	FAULT_KIND_ERRNO,
};

enum { FAULT_OUT, FAULT_IN }; /* fault_attrs.direction */

/*
 * An object. A rule selects it either by its number, or as the nth object of its kind that the
 * process created. nth counts from 1.
 */
struct fault_object {
	uint32_t number;
	uint32_t nth; /* 0: unknown, or not selected */
};

/*
 * The attributes of an event, or those that a rule selects. known has bit 1 << FAULT_SELECT_x for
 * each valid member. A rule does not match an event that lacks a selected attribute.
 */
struct fault_attrs {
	uint32_t known;
	struct fault_object qp, cq, srq;
	uint32_t mr, id;
	uint32_t port, peer_port;
	/*
	 * peer is the peer's address. In an event, path and path_remote are the local and the
	 * remote address of a packet. In a rule, only path is used; it matches packets with this
	 * address at either end.
	 */
	struct ip_addr peer, path, path_remote;
	/*
	 * Used in events. True if the peer of the association also has this address. It is called
	 * only during fault_ask(). NULL: no other address is known.
	 */
	bool (*has_peer)(const void *assoc, const struct ip_addr *addr);
	const void *assoc;
	uint32_t direction; /* FAULT_OUT, FAULT_IN */
	uint64_t chunk;	    /* a bit for each chunk type in the packet (FAULT_NAME(CHUNK)) */
	uint32_t opcode;    /* enum ibv_wr_opcode */
	uint32_t from, to;  /* enum ibv_qp_state */
	uint64_t bytes;	    /* size, for the trigger `after SIZE`; 0: no size */
};

/* True if the event's peer has this address. Ignores scopes, since rules have none. */
static inline bool fault_attrs_has_peer(const struct fault_attrs *event, const struct ip_addr *addr)
{
	return !memcmp(event->peer.b, addr->b, sizeof(addr->b)) ||
	       (event->has_peer && event->has_peer(event->assoc, addr));
}

/*
 * The action to perform. It is a copy, since the rule may be removed before the action is complete.
 */
struct fault_action {
	enum fault_action_id id;
	uint32_t rule;		      /* number of the rule */
	uint64_t arg[FAULT_ARGS_MAX]; /* index: fault_ID_ARG; 0 if absent */
	uint32_t given;		      /* bit i: arg[i] is present */
	uint8_t data[FAULT_DATA_MAX]; /* value of a DATA argument, whose arg[] is its length */
	uint64_t random;	      /* random number for choices of the injector */
	struct fault_attrs select;    /* the rule's selection, such as the QP to fail */
};

static inline bool fault_given(const struct fault_action *a, unsigned int arg)
{
	return a->given >> arg & 1;
}

/* The triggers of a rule. A member is 0 if the rule lacks the trigger. */
struct fault_trigger {
	uint64_t nth;
	uint64_t after_count, after_bytes, after_time;
	uint64_t every_count, every_time, every_for;
	uint64_t between_from, between_to;
	uint64_t at_most;
	bool has_probability, has_burst;
	/* Probabilities in units of 2^-32; 2^32 means always. */
	uint64_t probability, burst_enter, burst_leave, burst_loss;
};

#define FAULT_TEXT_MAX 256 /* bytes of a rule's text, including its final zero */

struct fault_rule {
	enum fault_site site;
	struct fault_attrs select;
	struct fault_trigger when;
	struct fault_action action; /* rule, random and select are unset */
	unsigned int line;	    /* line where the rule begins, from 1 */
	char text[FAULT_TEXT_MAX];  /* as the user wrote it, but with single blanks */
};

/* ---- tables for the parser, help, completion and checks ---- */

struct fault_site_info {
	const char *id, *word, *plural, *doc; /* plural is "" if there is none */
	uint32_t class;			      /* bits of enum fault_class; any_call has two */
	bool any;			      /* matches all sites of its classes */
};

struct fault_arg_info {
	const char *word; /* "": no word */
	const char *doc;
	enum fault_kind kind;
	bool must;
};

struct fault_action_info {
	const char *words, *doc, *rule;
	uint32_t classes;
	unsigned int n_args;
	struct fault_arg_info arg[FAULT_ARGS_MAX];
};

struct fault_word_info {
	const char *word, *doc;
	/* For selectors: */
	enum fault_kind kind;
	uint32_t classes; /* enum fault_class of the possible sites */
};

struct fault_name_info {
	enum fault_kind kind;
	const char *word;
	uint32_t value;
};

extern const struct fault_site_info fault_sites[FAULT_SITES];
extern const struct fault_action_info fault_actions[FAULT_ACTIONS];
extern const struct fault_word_info fault_selectors[FAULT_SELECTORS];
extern const struct fault_word_info fault_triggers[]; /* ends with word NULL */
extern const struct fault_word_info fault_classes[FAULT_CLASSES];
extern const struct fault_name_info fault_names[]; /* ends with word NULL */

/*
 * True if completions at this site may have this status. FAULT_SITE_any_completion: true if
 * completions at any site may.
 */
bool fault_status_fits(uint32_t status, enum fault_site site);

/* Returns the name of a value of this kind, or NULL. */
const char *fault_name_of(enum fault_kind kind, uint32_t value);

/*
 * Returns the classes of the site, as bits. Only FAULT_SITE_any_call has several. FAULT_SITE_NONE
 * has FAULT_CLASS_TIMER.
 */
static inline uint32_t fault_class_of(enum fault_site site)
{
	return fault_sites[site].class;
}

#endif
