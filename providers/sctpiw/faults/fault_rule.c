/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "faults/fault_rule.h"

#include <errno.h>
#include <string.h>

/* fault_list.h names the classes without the prefix FAULT_CLASS_. */
enum {
#define FAULT_CLASS(id, doc) id = FAULT_CLASS_##id,
#include "faults/fault_list.h"
};

enum { MAY, MUST };

#define IS_ANY(name)                                                                               \
	(sizeof(name) > 4 && (name)[0] == 'a' && (name)[1] == 'n' && (name)[2] == 'y' &&           \
	 (name)[3] == '_')

const struct fault_site_info fault_sites[FAULT_SITES] = {
	[FAULT_SITE_NONE] = { .id = "", .word = "", .plural = "", .doc = "", .class = TIMER },
#define FAULT_SITE(id_, class_, word_, plural_, doc_)                                              \
	[FAULT_SITE_##id_] = {                                                                     \
		.id = #id_,                                                                        \
		.word = word_,                                                                     \
		.plural = plural_,                                                                 \
		.doc = doc_,                                                                       \
		.class = class_,                                                                   \
		.any = IS_ANY(#id_),                                                               \
	},
#include "faults/fault_list.h"
};

const struct fault_action_info fault_actions[FAULT_ACTIONS] = {
#define FAULT_ACTION(id_, classes_, words_, doc_, rule_)                                           \
	[FAULT_DO_##id_] = { .words = words_,                                                      \
			     .doc = doc_,                                                          \
			     .rule = rule_,                                                        \
			     .classes = classes_,                                                  \
			     .n_args = fault_##id_##_args,                                         \
			     .arg = {
#define FAULT_ARG(id_, arg_, kind_, word_, need_, doc_)                                            \
	{ .word = word_, .doc = doc_, .kind = FAULT_KIND_##kind_, .must = need_ },
#define FAULT_END(id_)                                                                             \
	}                                                                                          \
	,                                                                                          \
	}                                                                                          \
	,
#include "faults/fault_list.h"
};

const struct fault_word_info fault_selectors[FAULT_SELECTORS] = {
#define FAULT_SELECTOR(id_, kind_, classes_, word_, doc_)                                          \
	[FAULT_SELECT_##id_] = {                                                                   \
		.word = word_,                                                                     \
		.doc = doc_,                                                                       \
		.kind = FAULT_KIND_##kind_,                                                        \
		.classes = classes_,                                                               \
	},
#include "faults/fault_list.h"
};

const struct fault_word_info fault_triggers[] = {
#define FAULT_TRIGGER(id_, form_, doc_) { .word = form_, .doc = doc_ },
#include "faults/fault_list.h"
	{ .word = NULL },
};

const struct fault_word_info fault_classes[FAULT_CLASSES] = {
#define FAULT_CLASS(id_, doc_) [FAULT_CLASS_NUMBER_##id_] = { .word = #id_, .doc = doc_ },
#include "faults/fault_list.h"
};

const struct fault_name_info fault_names[] = {
#define FAULT_NAME(kind_, word_, value_)                                                           \
	{ .kind = FAULT_KIND_##kind_, .word = word_, .value = value_ },
#include "faults/fault_list.h"
	{ .word = NULL },
};

/* Sets of sites, for FAULT_STATUS in fault_list.h. */
enum {
	BIND = 1 << FAULT_SITE_bind,
	RECEIVE = 1 << FAULT_SITE_receive,
	DATA = 1 << FAULT_SITE_send | 1 << FAULT_SITE_write | 1 << FAULT_SITE_read |
	       1 << FAULT_SITE_atomic,
	ALL = DATA | BIND | RECEIVE,
};
#define LAST FAULT_SITE_receive

_Static_assert(LAST < 32, "a bit for each site of completions");

static const uint32_t status_sites[] = {
#define FAULT_STATUS(word_, value_, sites_) [value_] = sites_,
#include "faults/fault_list.h"
};

bool fault_status_fits(uint32_t status, enum fault_site site)
{
	uint32_t sites;

	if (status >= sizeof(status_sites) / sizeof(status_sites[0]))
		return false;
	sites = status_sites[status];
	if (site == FAULT_SITE_any_completion)
		return sites;
	return site <= LAST && sites >> site & 1; /* sites after LAST are not completions */
}

_Static_assert(FAULT_ACTIONS <= 64, "a bit for each action");
_Static_assert(FAULT_SELECTORS <= 32, "a bit for each selector");

const char *fault_name_of(enum fault_kind kind, uint32_t value)
{
	for (const struct fault_name_info *n = fault_names; n->word; n++) {
		if (n->kind == kind && n->value == value)
			return n->word;
	}
	return NULL;
}
