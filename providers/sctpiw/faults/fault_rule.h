/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A rule of the language of faults (docs/faults.md), and the tables made from fault_list.h. This
 * directory has no socket, no clock and no thread. Time and random numbers are arguments, and the
 * caller locks.
 */
#ifndef SCTPIW_FAULTS_FAULT_RULE_H
#define SCTPIW_FAULTS_FAULT_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/addr.h"

/* FAULT_CLASS_TIMER and so on: bits, so that an action may have several classes. */
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
 * FAULT_SITE_packet and so on. FAULT_SITE_NONE: the rule has no site, and fires at certain times.
 */
enum fault_site {
	FAULT_SITE_NONE,
#define FAULT_SITE(id, class, word, plural, doc) FAULT_SITE_##id,
#include "faults/fault_list.h"
	FAULT_SITES
};

/* FAULT_SELECT_qp and so on: numbers of bits in fault_attrs.known. */
enum fault_selector {
#define FAULT_SELECTOR(id, kind, classes, word, doc) FAULT_SELECT_##id,
#include "faults/fault_list.h"
	FAULT_SELECTORS
};

/* FAULT_DO_drop and so on. */
enum fault_action_id {
#define FAULT_ACTION(id, classes, words, doc, rule) FAULT_DO_##id,
#include "faults/fault_list.h"
	FAULT_ACTIONS
};

/* Index of each argument in fault_action.arg: fault_delay_time 0, fault_delay_jitter 1, ... */
#define FAULT_ACTION(id, classes, words, doc, rule) enum {
#define FAULT_ARG(id, arg, kind, word, need, doc) fault_##id##_##arg,
#define FAULT_END(id)                                                                              \
	fault_##id##_args                                                                          \
	}                                                                                          \
	;
#include "faults/fault_list.h"

#define FAULT_ARGS_MAX 4
#define FAULT_DATA_MAX 148 /* bytes of private data in an InfiniBand REJ */

/* Kinds of arguments and of values of selectors. */
enum fault_kind {
	FAULT_KIND_COUNT,  /* 1 or more */
	FAULT_KIND_NUMBER, /* 0 or more, also 0x... */
	FAULT_KIND_LAYER,  /* as NUMBER, up to 2 */
	FAULT_KIND_NIBBLE, /* up to 15 */
	FAULT_KIND_BYTE,   /* up to 255 */
	FAULT_KIND_PORT,   /* up to 65535 */
	FAULT_KIND_REASON, /* as PORT */
	FAULT_KIND_SIZE,   /* bytes */
	FAULT_KIND_TIME,   /* ns */
	FAULT_KIND_RATE,   /* bits per second */
	FAULT_KIND_QP,	   /* as NUMBER, or an ordinal */
	FAULT_KIND_ADDR,   /* an address */
	FAULT_KIND_DATA,   /* "text in quotes" */
	/* Kinds with names (FAULT_NAME): */
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

/* An object, by its number, or by its ordinal in the process among objects of its kind, from 1. */
struct fault_object {
	uint32_t number;
	uint32_t nth; /* 0: unknown, or not selected */
};

/*
 * Attributes of an event, or the selection of a rule. known has bit 1 << FAULT_SELECT_x for each
 * valid member. A rule does not match if the event lacks a selected attribute.
 */
struct fault_attrs {
	uint32_t known;
	struct fault_object qp, cq, srq;
	uint32_t mr, id;
	uint32_t port, peer_port;
	/*
	 * peer: the peer's address. path and path_remote: a packet's local and remote address. A
	 * rule only has path, and matches a packet with this address at either end.
	 */
	struct ip_addr peer, path, path_remote;
	/*
	 * For events: true if the association's peer also has that address, besides `peer`. Only
	 * called during the query. NULL: no other address is known.
	 */
	bool (*has_peer)(const void *assoc, const struct ip_addr *addr);
	const void *assoc;
	uint32_t direction; /* FAULT_OUT, FAULT_IN */
	uint64_t chunk;	    /* a bit for each chunk type in the packet (FAULT_NAME(CHUNK)) */
	uint32_t opcode;    /* enum ibv_wr_opcode */
	uint32_t from, to;  /* enum ibv_qp_state */
	uint64_t bytes;	    /* for `after SIZE`; 0 for events without a size */
};

/*
 * True if the event's peer is known, and has that address. Rules have no scope, so scopes are
 * ignored.
 */
static inline bool fault_attrs_has_peer(const struct fault_attrs *event, const struct ip_addr *addr)
{
	return !memcmp(event->peer.b, addr->b, sizeof(addr->b)) ||
	       (event->has_peer && event->has_peer(event->assoc, addr));
}

/* The action to perform. It is a copy, since the rule may be removed meanwhile. */
struct fault_action {
	enum fault_action_id id;
	uint32_t rule;		      /* number of the rule */
	uint64_t arg[FAULT_ARGS_MAX]; /* by fault_ID_ARG; 0 if absent */
	uint32_t given;		      /* bit i: arg[i] is present */
	uint8_t data[FAULT_DATA_MAX]; /* value of the DATA argument, whose arg is the length */
	uint64_t random;	      /* from the rule's generator, for choices of the injector */
	struct fault_attrs select;    /* the rule's selection; without a site, the object */
};

static inline bool fault_given(const struct fault_action *a, unsigned int arg)
{
	return a->given >> arg & 1;
}

/* The triggers of a rule. 0: absent. */
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

#define FAULT_TEXT_MAX 256 /* bytes of a rule's text with its final zero */

/* A rule after parsing. */
struct fault_rule {
	enum fault_site site;
	struct fault_attrs select;
	struct fault_trigger when;
	struct fault_action action; /* rule, random and select are unset */
	unsigned int line;	    /* line where the rule begins, from 1 */
	char text[FAULT_TEXT_MAX];  /* as written, with single blanks */
};

/* ---- tables for parser, help, completion and checks ---- */

struct fault_site_info {
	const char *id, *word, *plural, *doc; /* plural "": no plural */
	uint32_t class;			      /* enum fault_class; any_call has two classes */
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
 * True if a completion at this site may have that status. At FAULT_SITE_any_completion: true if any
 * completion may.
 */
bool fault_status_fits(uint32_t status, enum fault_site site);

/* Returns the name of that value, or NULL. */
const char *fault_name_of(enum fault_kind kind, uint32_t value);

/*
 * Returns the class bit of the site. FAULT_SITE_any_call has several bits, FAULT_SITE_NONE has
 * FAULT_CLASS_TIMER.
 */
static inline uint32_t fault_class_of(enum fault_site site)
{
	return fault_sites[site].class;
}

#endif
