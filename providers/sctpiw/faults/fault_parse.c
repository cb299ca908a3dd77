/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "faults/fault_parse.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "faults/fault_words.h"

#define LISTED "`sctpiw fault --help` lists them"
#define ALWAYS (1ull << 32) /* the probability 1 */

/* Triggers that were written, so that none is written twice. */
enum trigger {
	NTH,
	AFTER_COUNT,
	AFTER_BYTES,
	AFTER_TIME,
	EVERY,
	BETWEEN,
	PROBABILITY,
	BURST,
	AT_MOST
};

/* A rule that is being read. */
struct parser {
	struct fault_words words;
	const char *line_start;
	unsigned int line;
	struct fault_rule *rule;
	struct fault_error *err;
	uint32_t triggers; /* a bit for each enum trigger */
};

/* ---- errors ---- */

/* Says what is wrong at that place; returns false. */
static __attribute__((format(printf, 3, 4))) bool wrong(struct parser *p, const char *at,
							const char *format, ...)
{
	va_list args;

	p->err->line = p->line;
	p->err->column = (unsigned int)(at - p->line_start) + 1;
	va_start(args, format);
	vsnprintf(p->err->text, sizeof(p->err->text), format, args);
	va_end(args);
	return false;
}

/* The word as it may be shown: not too long, and nothing that steers a terminal. */
static const char *shown(struct fault_word w, char buf[44])
{
	size_t n = 0;

	for (; n < w.len && n < 40; n++)
		buf[n] = w.at[n] >= ' ' && w.at[n] < 127 ? w.at[n] : '?';
	strcpy(buf + n, n < w.len ? "..." : "");
	return n ? buf : strcpy(buf, "the end");
}

/* Says that something else than this word was expected. */
static bool unexpected(struct parser *p, struct fault_word w, const char *expected)
{
	char buf[44];

	return wrong(p, w.at, "%s stands where %s was expected", shown(w, buf), expected);
}

/* ---- values ---- */

static bool take_number(struct parser *p, struct fault_number *n, const char *expected)
{
	struct fault_word w = fault_words_peek(&p->words);

	return fault_words_number(&p->words, n) || unexpected(p, w, expected);
}

/* Takes a number of that unit, from min to max. */
static bool take_unit(struct parser *p, enum fault_unit unit, uint64_t min, uint64_t max,
		      const char *expected, uint64_t *value)
{
	struct fault_word w = fault_words_peek(&p->words);
	struct fault_number n;

	if (!take_number(p, &n, expected))
		return false;
	if (n.unit != unit || n.ordinal || n.fraction || n.value < min || n.value > max)
		return unexpected(p, w, expected);
	*value = n.value;
	return true;
}

static bool take_time(struct parser *p, uint64_t *value)
{
	/* A century, so that no sum of times overflows. */
	return take_unit(p, FAULT_UNIT_TIME, 1, UINT64_MAX / 5, "a time, such as 200 ms", value);
}

static bool take_count(struct parser *p, uint64_t *value)
{
	return take_unit(p, FAULT_UNIT_NONE, 1, UINT64_MAX, "a number from 1", value);
}

static bool take_probability(struct parser *p, uint64_t *value)
{
	static const char expected[] = "a probability from 0 to 1, such as 0.02,";
	struct fault_word w = fault_words_peek(&p->words);
	struct fault_number n;

	if (!take_number(p, &n, expected))
		return false;
	*value = n.fraction ? n.value : n.value > 1 ? UINT64_MAX : n.value * ALWAYS;
	if (n.unit || n.ordinal || *value > ALWAYS)
		return unexpected(p, w, expected);
	return true;
}

static bool take_address(struct parser *p, struct ip_addr *addr)
{
	struct fault_word w = fault_words_take(&p->words);
	char text[INET6_ADDRSTRLEN + 1];
	struct in_addr v4;

	if (w.len >= sizeof(text))
		return unexpected(p, w, "an address of IPv4 or IPv6");
	memcpy(text, w.at, w.len);
	text[w.len] = '\0';
	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, text, &v4) == 1)
		*addr = ip_addr_from_v4(&v4);
	else if (inet_pton(AF_INET6, text, addr->b) != 1)
		return unexpected(p, w, "an address of IPv4 or IPv6");
	return true;
}

static bool take_data(struct parser *p, uint64_t *len)
{
	struct fault_word w = fault_words_take(&p->words);

	if (w.len < 2 || *w.at != '"' || w.at[w.len - 1] != '"')
		return unexpected(p, w, "text between double quotes");
	*len = w.len - 2;
	if (*len > FAULT_DATA_MAX)
		return wrong(p, w.at, "private data has %d bytes at most", FAULT_DATA_MAX);
	memcpy(p->rule->action.data, w.at + 1, *len);
	return true;
}

/* What people call a kind of names. */
static const char *kind_word(enum fault_kind kind)
{
	switch (kind) {
	case FAULT_KIND_STATE:
		return "state of a queue pair: reset, init, rtr, rts, sqd, sqe or err are they";
	case FAULT_KIND_OPCODE:
		return "opcode of work requests: " LISTED;
	case FAULT_KIND_CHUNK:
		return "type of chunks: " LISTED;
	case FAULT_KIND_STATUS:
		return "status of completions: " LISTED;
	case FAULT_KIND_EVENT:
		return "asynchronous event: " LISTED;
	case FAULT_KIND_CM_EVENT:
		return "event of rdma_cm that may be reported: " LISTED;
	case FAULT_KIND_LIMIT:
		return "limit of the device: " LISTED;
	default:
		return "errno: " LISTED;
	}
}

static bool take_name(struct parser *p, enum fault_kind kind, uint64_t *value)
{
	struct fault_word w = fault_words_take(&p->words);
	char buf[44];

	for (const struct fault_name_info *n = fault_names; n->word; n++) {
		if (n->kind == kind && fault_word_is(w, n->word)) {
			*value = n->value;
			return true;
		}
	}
	return wrong(p, w.at, "%s is no %s", shown(w, buf), kind_word(kind));
}

/* Takes a value of any kind but QP and ADDR, which selectors alone have. */
static bool take_value(struct parser *p, enum fault_kind kind, uint64_t *value)
{
	switch (kind) {
	case FAULT_KIND_COUNT:
		return take_count(p, value);
	case FAULT_KIND_NUMBER:
		return take_unit(p, FAULT_UNIT_NONE, 0, UINT32_MAX, "a number from 0 to 0xffffffff",
				 value);
	case FAULT_KIND_SIZE:
		return take_unit(p, FAULT_UNIT_SIZE, 1, UINT64_MAX, "a size, such as 64 KiB",
				 value);
	case FAULT_KIND_TIME:
		return take_time(p, value);
	case FAULT_KIND_RATE:
		return take_unit(p, FAULT_UNIT_RATE, 1, UINT64_MAX, "a rate, such as 10 Mbit/s",
				 value);
	case FAULT_KIND_DATA:
		return take_data(p, value);
	default:
		return take_name(p, kind, value);
	}
}

/* ---- selectors ---- */

static bool note_selector(struct parser *p, enum fault_selector which, struct fault_word at)
{
	char buf[44];

	if (p->rule->select.known >> which & 1)
		return wrong(p, at.at, "there is a second %s: take one of the two away",
			     shown(at, buf));
	p->rule->select.known |= 1u << which;
	return true;
}

/* Where an object, or a number, of a rule's selection is kept. */
static struct fault_object *object_of(struct fault_attrs *select, enum fault_selector which)
{
	return which == FAULT_SELECT_qp ? &select->qp :
	       which == FAULT_SELECT_cq ? &select->cq :
					  &select->srq;
}

static void keep_value(struct fault_attrs *select, enum fault_selector which, uint32_t value)
{
	switch (which) {
	case FAULT_SELECT_mr:
		select->mr = value;
		break;
	case FAULT_SELECT_id:
		select->id = value;
		break;
	case FAULT_SELECT_port:
		select->port = value;
		break;
	case FAULT_SELECT_peer_port:
		select->peer_port = value;
		break;
	case FAULT_SELECT_direction:
		select->direction = value;
		break;
	case FAULT_SELECT_chunk:
		select->chunk = 1ull << value;
		break;
	case FAULT_SELECT_opcode:
		select->opcode = value;
		break;
	case FAULT_SELECT_from:
		select->from = value;
		break;
	default:
		select->to = value;
		break;
	}
}

static bool take_selected(struct parser *p, enum fault_selector which)
{
	struct fault_attrs *select = &p->rule->select;
	enum fault_kind kind = fault_selectors[which].kind;
	uint64_t value;

	if (kind == FAULT_KIND_ADDR)
		return take_address(p, which == FAULT_SELECT_peer ? &select->peer : &select->path);
	if (!take_value(p, kind == FAULT_KIND_QP ? FAULT_KIND_NUMBER : kind, &value))
		return false;
	if (kind == FAULT_KIND_QP)
		object_of(select, which)->number = (uint32_t)value;
	else
		keep_value(select, which, (uint32_t)value);
	return true;
}

/* Takes a selector that begins with its name. *taken: it was one; false: it is wrong. */
static bool take_selector(struct parser *p, bool *taken)
{
	struct fault_word w = fault_words_peek(&p->words);
	uint32_t which;

	for (which = 0; which < FAULT_SELECTORS; which++) {
		bool direction = which == FAULT_SELECT_direction;

		*taken = direction ? fault_word_is(w, "in") || fault_word_is(w, "out") :
				     fault_words_match(&p->words, fault_selectors[which].word);
		if (*taken)
			break;
	}
	return !*taken || (note_selector(p, which, w) && take_selected(p, which));
}

/* ---- triggers ---- */

static bool note_trigger(struct parser *p, enum trigger which, struct fault_word at)
{
	char buf[44];

	if (p->triggers >> which & 1)
		return wrong(p, at.at, "there is a second trigger %s of this kind: take one away",
			     shown(at, buf));
	p->triggers |= 1u << which;
	return true;
}

/* "3rd", which is either which event it is or which object. */
static bool take_ordinal(struct parser *p)
{
	struct fault_word w = fault_words_peek(&p->words), object;
	struct fault_number n;

	if (!take_number(p, &n, "an ordinal, such as 3rd,"))
		return false;
	if (!n.ordinal || !n.value || n.value > UINT32_MAX)
		return unexpected(p, w, "an ordinal, such as 3rd,");
	object = fault_words_peek(&p->words);
	for (uint32_t which = 0; which < FAULT_SELECTORS; which++) {
		if (fault_selectors[which].kind != FAULT_KIND_QP ||
		    !fault_words_match(&p->words, fault_selectors[which].word))
			continue;
		object_of(&p->rule->select, which)->nth = (uint32_t)n.value;
		return note_selector(p, which, object);
	}
	p->rule->when.nth = n.value;
	return note_trigger(p, NTH, w);
}

static bool take_after(struct parser *p, struct fault_word w)
{
	struct fault_trigger *when = &p->rule->when;
	struct fault_word at = fault_words_peek(&p->words);
	struct fault_number n;

	if (!take_number(p, &n, "a number, a size or a time"))
		return false;
	if (n.ordinal || n.fraction || n.unit == FAULT_UNIT_RATE || !n.value)
		return unexpected(p, at, "a number, a size or a time");
	if (n.unit == FAULT_UNIT_TIME) {
		if (n.value > UINT64_MAX / 5)
			return unexpected(p, at, "a shorter time");
		when->after_time = n.value;
		return note_trigger(p, AFTER_TIME, w);
	}
	if (n.unit == FAULT_UNIT_SIZE) {
		when->after_bytes = n.value;
		return note_trigger(p, AFTER_BYTES, w);
	}
	when->after_count = n.value;
	return note_trigger(p, AFTER_COUNT, w);
}

static bool take_every(struct parser *p, struct fault_word w)
{
	struct fault_trigger *when = &p->rule->when;
	struct fault_word at = fault_words_peek(&p->words);
	struct fault_number n;

	if (!take_number(p, &n, "a number or a time"))
		return false;
	if (n.ordinal || n.fraction || !n.value || n.value > UINT64_MAX / 5 ||
	    (n.unit != FAULT_UNIT_NONE && n.unit != FAULT_UNIT_TIME))
		return unexpected(p, at, "a number or a time");
	if (n.unit == FAULT_UNIT_NONE) {
		when->every_count = n.value;
		return note_trigger(p, EVERY, w);
	}
	when->every_time = n.value;
	at = fault_words_peek(&p->words);
	if (fault_words_match(&p->words, "for")) {
		if (!take_time(p, &when->every_for))
			return false;
		if (when->every_for >= when->every_time)
			return wrong(p, at.at,
				     "this is not shorter than what it is a part of: "
				     "give a shorter time");
	}
	return note_trigger(p, EVERY, w);
}

static bool take_between(struct parser *p, struct fault_word w)
{
	struct fault_trigger *when = &p->rule->when;
	struct fault_word at;

	if (!take_time(p, &when->between_from))
		return false;
	at = fault_words_peek(&p->words);
	if (!fault_words_match(&p->words, "and"))
		return unexpected(p, at, "`and`");
	at = fault_words_peek(&p->words);
	if (!take_time(p, &when->between_to))
		return false;
	if (when->between_to <= when->between_from)
		return wrong(p, at.at,
			     "this time is not behind the first one: give the earlier one first");
	return note_trigger(p, BETWEEN, w);
}

static bool take_burst(struct parser *p, struct fault_word w)
{
	struct fault_trigger *when = &p->rule->when;
	struct fault_word at;

	if (!take_probability(p, &when->burst_enter))
		return false;
	at = fault_words_peek(&p->words);
	if (!fault_words_match(&p->words, "to"))
		return unexpected(p, at, "`to`");
	when->burst_loss = ALWAYS;
	if (!take_probability(p, &when->burst_leave) ||
	    (fault_words_match(&p->words, "loss") && !take_probability(p, &when->burst_loss)))
		return false;
	when->has_burst = true;
	return note_trigger(p, BURST, w);
}

static bool take_at_most(struct parser *p, struct fault_word w)
{
	struct fault_word at;

	if (!take_count(p, &p->rule->when.at_most))
		return false;
	at = fault_words_peek(&p->words);
	if (!fault_words_match(&p->words, "times"))
		return unexpected(p, at, "`times`");
	return note_trigger(p, AT_MOST, w);
}

/* Takes a trigger that begins with a word. *taken as take_selector(). */
static bool take_trigger(struct parser *p, bool *taken)
{
	struct fault_word w = fault_words_peek(&p->words);

	*taken = true;
	if (fault_words_match(&p->words, "after"))
		return take_after(p, w);
	if (fault_words_match(&p->words, "every"))
		return take_every(p, w);
	if (fault_words_match(&p->words, "between"))
		return take_between(p, w);
	if (fault_words_match(&p->words, "burst"))
		return take_burst(p, w);
	if (fault_words_match(&p->words, "at most"))
		return take_at_most(p, w);
	if (fault_words_match(&p->words, "probability")) {
		p->rule->when.has_probability = true;
		return take_probability(p, &p->rule->when.probability) &&
		       note_trigger(p, PROBABILITY, w);
	}
	if (fault_words_match(&p->words, "once")) {
		p->rule->when.at_most = 1;
		return note_trigger(p, AT_MOST, w);
	}
	*taken = false;
	return true;
}

/* ---- clauses ---- */

static bool take_site(struct parser *p, bool *taken)
{
	struct fault_word w = fault_words_peek(&p->words);
	char buf[44];

	*taken = false;
	for (unsigned int i = 1; i < FAULT_SITES && w.len; i++) {
		const struct fault_site_info *s = &fault_sites[i];

		if (!fault_word_is(w, s->word) && !(*s->plural && fault_word_is(w, s->plural)))
			continue;
		if (p->rule->site)
			return wrong(p, w.at,
				     "%s is a second thing to watch: write a rule for each",
				     shown(w, buf));
		p->rule->site = (enum fault_site)i;
		fault_words_take(&p->words);
		*taken = true;
		break;
	}
	return true;
}

static bool take_clause(struct parser *p)
{
	struct fault_word w = fault_words_peek(&p->words);
	bool taken;
	char buf[44];

	if (w.len && *w.at >= '0' && *w.at <= '9')
		return take_ordinal(p);
	if (fault_words_match(&p->words, "on")) {
		w = fault_words_peek(&p->words);
		if (w.len && *w.at >= '0' && *w.at <= '9')
			return take_ordinal(p);
		if (!take_selector(p, &taken))
			return false;
		return taken || unexpected(p, w, "a selector, such as qp 17,");
	}
	if (!take_site(p, &taken) || (!taken && !take_selector(p, &taken)) ||
	    (!taken && !take_trigger(p, &taken)))
		return false;
	return taken || wrong(p, w.at, "%s is neither a site nor a selector nor a trigger: " LISTED,
			      shown(w, buf));
}

/* All clauses that stand before the colon, with or without commas between them. */
static bool take_clauses(struct parser *p)
{
	do {
		if (!take_clause(p))
			return false;
		fault_words_match(&p->words, ",");
	} while (fault_words_peek(&p->words).len);
	return true;
}

/* ---- actions ---- */

/* The action whose words are next, the one with the most of them; FAULT_ACTIONS: none. */
static enum fault_action_id take_action_words(struct parser *p)
{
	struct fault_words best = p->words;
	uint32_t found = FAULT_ACTIONS;

	for (uint32_t i = 0; i < FAULT_ACTIONS; i++) {
		struct fault_words ahead = p->words;

		if (!fault_words_match(&ahead, fault_actions[i].words) || ahead.at <= best.at)
			continue;
		best = ahead;
		found = i;
	}
	p->words = best;
	return (enum fault_action_id)found;
}

static bool take_argument(struct parser *p, const struct fault_action_info *info, unsigned int i)
{
	const struct fault_arg_info *arg = &info->arg[i];
	struct fault_word w = fault_words_peek(&p->words);
	struct fault_action *a = &p->rule->action;
	char buf[44];

	if (*arg->word && !fault_words_match(&p->words, arg->word)) {
		if (!arg->must)
			return true;
		return wrong(p, w.at, "%s stands where `%s` with %s was expected", shown(w, buf),
			     arg->word, info->words);
	}
	a->given |= 1u << i;
	return take_value(p, arg->kind, &a->arg[i]);
}

static bool take_action(struct parser *p, bool has_colon)
{
	struct fault_word w = fault_words_peek(&p->words);
	enum fault_action_id id = take_action_words(p);
	struct fault_word rest;
	char buf[44];

	if (id == FAULT_ACTIONS && !has_colon)
		return wrong(
			p, w.at,
			"%s begins no action: a rule is CLAUSES: ACTION, with a colon and a blank",
			shown(w, buf));
	if (id == FAULT_ACTIONS)
		return wrong(p, w.at, "%s begins no action: " LISTED, shown(w, buf));
	p->rule->action.id = id;
	for (unsigned int i = 0; i < fault_actions[id].n_args; i++) {
		if (!take_argument(p, &fault_actions[id], i))
			return false;
	}
	while (fault_words_match(&p->words, ",")) {
		if (!take_clause(p))
			return false;
	}
	rest = fault_words_peek(&p->words);
	return !rest.len || unexpected(p, rest, "a comma, or the end of the rule,");
}

/* ---- what goes together ---- */

static bool check_selectors(struct parser *p, const char *at)
{
	const struct fault_rule *r = p->rule;
	uint32_t class = fault_class_of(r->site);
	bool verb = fault_sites[r->site].any;

	for (uint32_t i = 0; i < FAULT_SELECTORS; i++) {
		const char *word = i == FAULT_SELECT_direction ? "in or out" :
								 fault_selectors[i].word;
		bool useless = !(fault_selectors[i].classes & class);

		if (!(r->select.known >> i & 1))
			continue;
		if (i == FAULT_SELECT_opcode)
			useless |= !verb && r->site != FAULT_SITE_post_send;
		if (i == FAULT_SELECT_from || i == FAULT_SELECT_to)
			useless |= !verb && r->site != FAULT_SITE_modify_qp;
		if (useless)
			return wrong(p, at, "%s says nothing about %s: take it away", word,
				     r->site ? fault_sites[r->site].word : "a time alone");
	}
	return true;
}

static bool check(struct parser *p, const char *at)
{
	const uint32_t counting = 1u << NTH | 1u << AFTER_COUNT | 1u << AFTER_BYTES |
				  1u << BETWEEN | 1u << BURST;
	const struct fault_rule *r = p->rule;
	const struct fault_action_info *info = &fault_actions[r->action.id];

	if (!r->site && (p->triggers & counting || r->when.every_count || r->when.every_for))
		return wrong(p, at,
			     "a trigger needs something to watch: name a site, such as packets");
	if (!(info->classes & fault_class_of(r->site))) {
		if (!r->site)
			return wrong(p, at,
				     "%s needs something to watch: name a site, such as packets",
				     info->words);
		return wrong(p, at, "%s cannot be done to %s: `sctpiw fault --help` says what can",
			     info->words, fault_sites[r->site].word);
	}
	return check_selectors(p, at);
}

/* ---- the text ---- */

void fault_reader_init(struct fault_reader *r, const char *text, size_t len)
{
	*r = (struct fault_reader){ .at = text, .end = text + len, .line_start = text, .line = 1 };
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Goes to where the next rule begins; false: there is none. */
static bool next_rule(struct fault_reader *r)
{
	while (r->at < r->end) {
		if (*r->at == '#') {
			while (r->at < r->end && *r->at != '\n')
				r->at++;
		} else if (*r->at == '\n') {
			r->line_start = ++r->at;
			r->line++;
		} else if (is_space(*r->at) || *r->at == ';') {
			r->at++;
		} else {
			return true;
		}
	}
	return false;
}

/* Keeps the text of the rule, with single blanks. */
static bool keep_text(struct parser *p, const char *at, const char *end)
{
	char *to = p->rule->text, *limit = to + sizeof(p->rule->text) - 1;

	for (const char *c = at; c < end; c++) {
		if (is_space(*c) && (c + 1 == end || is_space(c[1])))
			continue;
		if (!is_space(*c) && ((unsigned char)*c < ' ' || (unsigned char)*c >= 127))
			return wrong(p, c, "this is not text of ASCII: take the byte away");
		if (to == limit)
			return wrong(p, at, "this rule is too long: %d bytes are allowed",
				     FAULT_TEXT_MAX - 1);
		*to++ = is_space(*c) ? ' ' : *c;
	}
	*to = '\0';
	return true;
}

static bool read_rule(struct parser *p, const char *at, const char *end)
{
	const char *colon;

	if (!keep_text(p, at, end))
		return false;
	colon = fault_rule_colon(at, end);
	if (colon) {
		p->words = (struct fault_words){ at, colon };
		if (!take_clauses(p))
			return false;
		at = colon + 1;
	}
	p->words = (struct fault_words){ at, end };
	at = fault_words_peek(&p->words).at;
	return take_action(p, colon) && check(p, at);
}

int fault_read(struct fault_reader *r, struct fault_rule *rule, struct fault_error *err)
{
	struct parser p = { .rule = rule, .err = err };
	const char *end;

	if (!next_rule(r))
		return 0;
	memset(rule, 0, sizeof(*rule));
	rule->line = r->line;
	p.line_start = r->line_start;
	p.line = r->line;
	end = fault_rule_end(r->at, r->end);
	if (!read_rule(&p, r->at, end))
		return -1;
	r->at = end;
	return 1;
}
