/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "faults/fault_parse.h"

#include <string.h>

#include "faults/fault_values.h"
#include "faults/fault_words.h"

/* Kinds of triggers. A rule may have one trigger of each kind. */
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

struct parser {
	struct fault_place in;
	struct fault_rule *rule;
	uint32_t triggers;	/* bit 1 << enum trigger for each trigger of the rule */
	struct fault_word name; /* word of the status of `complete`, or of the event of `raise` */
};

/* ---- selectors ---- */

static bool note_selector(struct parser *p, enum fault_selector which, struct fault_word at)
{
	char buf[FAULT_VALUES_SHOWN];

	if (p->rule->select.known >> which & 1)
		return fault_values_wrong(&p->in, at.at,
					  "there is a second %s: take one of the two away",
					  fault_values_shown(at, buf));
	p->rule->select.known |= 1u << which;
	return true;
}

/* Returns the object that this selector of the rule describes. */
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
		return fault_values_address(&p->in, which == FAULT_SELECT_peer ? &select->peer :
										 &select->path);
	if (!fault_values_take(&p->in, kind == FAULT_KIND_QP ? FAULT_KIND_NUMBER : kind, &value,
			       NULL))
		return false;
	if (kind == FAULT_KIND_QP)
		object_of(select, which)->number = (uint32_t)value;
	else
		keep_value(select, which, (uint32_t)value);
	return true;
}

/*
 * Takes a selector, if the next word begins one. Sets *taken to true if so. Returns false after an
 * error.
 */
static bool take_selector(struct parser *p, bool *taken)
{
	struct fault_word w = fault_words_peek(&p->in.words);
	uint32_t which;

	for (which = 0; which < FAULT_SELECTORS; which++) {
		bool direction = which == FAULT_SELECT_direction;

		*taken = direction ? fault_word_is(w, "in") || fault_word_is(w, "out") :
				     fault_words_match(&p->in.words, fault_selectors[which].word);
		if (*taken)
			break;
	}
	return !*taken || (note_selector(p, which, w) && take_selected(p, which));
}

/* ---- triggers ---- */

static bool note_trigger(struct parser *p, enum trigger which, struct fault_word at)
{
	char buf[FAULT_VALUES_SHOWN];

	if (p->triggers >> which & 1)
		return fault_values_wrong(
			&p->in, at.at, "there is a second trigger %s of this kind: take one away",
			fault_values_shown(at, buf));
	p->triggers |= 1u << which;
	return true;
}

/*
 * Takes an ordinal, such as "3rd". It is a trigger, or selects an object if the object's kind
 * follows.
 */
static bool take_ordinal(struct parser *p)
{
	struct fault_word w = fault_words_peek(&p->in.words), object;
	struct fault_number n;

	if (!fault_values_number(&p->in, &n, "an ordinal, such as 3rd,"))
		return false;
	if (!n.ordinal || !n.value || n.value > UINT32_MAX)
		return fault_values_unexpected(&p->in, w, "an ordinal, such as 3rd,");
	object = fault_words_peek(&p->in.words);
	for (uint32_t which = 0; which < FAULT_SELECTORS; which++) {
		if (fault_selectors[which].kind != FAULT_KIND_QP ||
		    !fault_words_match(&p->in.words, fault_selectors[which].word))
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
	struct fault_word at = fault_words_peek(&p->in.words);
	struct fault_number n;

	if (!fault_values_number(&p->in, &n, "a number, a size or a time"))
		return false;
	if (n.ordinal || n.fraction || n.unit == FAULT_UNIT_RATE || !n.value)
		return fault_values_unexpected(&p->in, at, "a number, a size or a time");
	if (n.unit == FAULT_UNIT_TIME) {
		if (n.value > UINT64_MAX / 5)
			return fault_values_unexpected(&p->in, at, "a shorter time");
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
	struct fault_word at = fault_words_peek(&p->in.words);
	struct fault_number n;

	if (!fault_values_number(&p->in, &n, "a number or a time"))
		return false;
	if (n.ordinal || n.fraction || !n.value || n.value > UINT64_MAX / 5 ||
	    (n.unit != FAULT_UNIT_NONE && n.unit != FAULT_UNIT_TIME))
		return fault_values_unexpected(&p->in, at, "a number or a time");
	if (n.unit == FAULT_UNIT_NONE) {
		when->every_count = n.value;
		return note_trigger(p, EVERY, w);
	}
	when->every_time = n.value;
	at = fault_words_peek(&p->in.words);
	if (fault_words_match(&p->in.words, "for")) {
		if (!fault_values_time(&p->in, &when->every_for))
			return false;
		if (when->every_for >= when->every_time)
			return fault_values_wrong(&p->in, at.at,
						  "this is not shorter than its period: "
						  "give a shorter time");
	}
	return note_trigger(p, EVERY, w);
}

static bool take_between(struct parser *p, struct fault_word w)
{
	struct fault_trigger *when = &p->rule->when;
	struct fault_word at;

	if (!fault_values_moment(&p->in, &when->between_from))
		return false;
	at = fault_words_peek(&p->in.words);
	if (!fault_words_match(&p->in.words, "and"))
		return fault_values_unexpected(&p->in, at, "`and`");
	at = fault_words_peek(&p->in.words);
	if (!fault_values_time(&p->in, &when->between_to))
		return false;
	if (when->between_to <= when->between_from)
		return fault_values_wrong(
			&p->in, at.at,
			"this time is not after the first time: give the earlier time first");
	return note_trigger(p, BETWEEN, w);
}

static bool take_burst(struct parser *p, struct fault_word w)
{
	struct fault_trigger *when = &p->rule->when;
	struct fault_word at;

	if (!fault_values_probability(&p->in, &when->burst_enter))
		return false;
	at = fault_words_peek(&p->in.words);
	if (!fault_words_match(&p->in.words, "to"))
		return fault_values_unexpected(&p->in, at, "`to`");
	when->burst_loss = FAULT_VALUES_ALWAYS;
	if (!fault_values_probability(&p->in, &when->burst_leave) ||
	    (fault_words_match(&p->in.words, "loss") &&
	     !fault_values_probability(&p->in, &when->burst_loss)))
		return false;
	when->has_burst = true;
	return note_trigger(p, BURST, w);
}

static bool take_at_most(struct parser *p, struct fault_word w)
{
	struct fault_word at;

	if (!fault_values_count(&p->in, &p->rule->when.at_most))
		return false;
	at = fault_words_peek(&p->in.words);
	if (!fault_words_match(&p->in.words, "times"))
		return fault_values_unexpected(&p->in, at, "`times`");
	return note_trigger(p, AT_MOST, w);
}

/* Takes a trigger, if the next word begins one. *taken and the result are as in take_selector(). */
static bool take_trigger(struct parser *p, bool *taken)
{
	struct fault_word w = fault_words_peek(&p->in.words);

	*taken = true;
	if (fault_words_match(&p->in.words, "after"))
		return take_after(p, w);
	if (fault_words_match(&p->in.words, "every"))
		return take_every(p, w);
	if (fault_words_match(&p->in.words, "between"))
		return take_between(p, w);
	if (fault_words_match(&p->in.words, "burst"))
		return take_burst(p, w);
	if (fault_words_match(&p->in.words, "at most"))
		return take_at_most(p, w);
	if (fault_words_match(&p->in.words, "probability")) {
		p->rule->when.has_probability = true;
		return fault_values_probability(&p->in, &p->rule->when.probability) &&
		       note_trigger(p, PROBABILITY, w);
	}
	if (fault_words_match(&p->in.words, "once")) {
		p->rule->when.at_most = 1;
		return note_trigger(p, AT_MOST, w);
	}
	*taken = false;
	return true;
}

/* ---- clauses ---- */

static bool take_site(struct parser *p, bool *taken)
{
	struct fault_word w = fault_words_peek(&p->in.words);
	char buf[FAULT_VALUES_SHOWN];

	*taken = false;
	for (unsigned int i = 1; i < FAULT_SITES && w.len; i++) {
		const struct fault_site_info *s = &fault_sites[i];

		if (!fault_word_is(w, s->word) && !(*s->plural && fault_word_is(w, s->plural)))
			continue;
		if (p->rule->site)
			return fault_values_wrong(
				&p->in, w.at,
				"%s is a second thing to watch: write a rule for each",
				fault_values_shown(w, buf));
		p->rule->site = (enum fault_site)i;
		fault_words_take(&p->in.words);
		*taken = true;
		break;
	}
	return true;
}

static bool take_clause(struct parser *p)
{
	struct fault_word w = fault_words_peek(&p->in.words);
	bool taken;
	char buf[FAULT_VALUES_SHOWN];

	if (w.len && *w.at >= '0' && *w.at <= '9')
		return take_ordinal(p);
	if (fault_words_match(&p->in.words, "on")) {
		w = fault_words_peek(&p->in.words);
		if (w.len && *w.at >= '0' && *w.at <= '9')
			return take_ordinal(p);
		if (!take_selector(p, &taken))
			return false;
		return taken || fault_values_unexpected(&p->in, w, "a selector, such as qp 17,");
	}
	if (!take_site(p, &taken) || (!taken && !take_selector(p, &taken)) ||
	    (!taken && !take_trigger(p, &taken)))
		return false;
	return taken ||
	       fault_values_wrong(
		       &p->in, w.at,
		       "%s is neither a site nor a selector nor a trigger: " FAULT_VALUES_LISTED,
		       fault_values_shown(w, buf));
}

/* Takes all clauses before the colon. Commas between them are optional. */
static bool take_clauses(struct parser *p)
{
	do {
		if (!take_clause(p))
			return false;
		fault_words_match(&p->in.words, ",");
	} while (fault_words_peek(&p->in.words).len);
	return true;
}

/* ---- actions ---- */

/*
 * Takes the words of an action. If several actions match, takes the longest. Returns FAULT_ACTIONS
 * if none matches.
 */
static enum fault_action_id take_action_words(struct parser *p)
{
	struct fault_words best = p->in.words;
	uint32_t found = FAULT_ACTIONS;

	for (uint32_t i = 0; i < FAULT_ACTIONS; i++) {
		struct fault_words ahead = p->in.words;

		if (!fault_words_match(&ahead, fault_actions[i].words) || ahead.at <= best.at)
			continue;
		best = ahead;
		found = i;
	}
	p->in.words = best;
	return (enum fault_action_id)found;
}

static bool take_argument(struct parser *p, const struct fault_action_info *info, unsigned int i)
{
	const struct fault_arg_info *arg = &info->arg[i];
	struct fault_word w = fault_words_peek(&p->in.words);
	struct fault_action *a = &p->rule->action;
	char buf[FAULT_VALUES_SHOWN];

	if (*arg->word && !fault_words_match(&p->in.words, arg->word)) {
		if (!arg->must)
			return true;
		return fault_values_wrong(&p->in, w.at, "%s stands where `%s` with %s was expected",
					  fault_values_shown(w, buf), arg->word, info->words);
	}
	a->given |= 1u << i;
	if (arg->kind == FAULT_KIND_STATUS || arg->kind == FAULT_KIND_EVENT)
		p->name = fault_words_peek(&p->in.words);
	return fault_values_take(&p->in, arg->kind, &a->arg[i], a->data);
}

static bool take_action(struct parser *p, bool has_colon)
{
	struct fault_word w = fault_words_peek(&p->in.words);
	enum fault_action_id id = take_action_words(p);
	struct fault_word rest;
	char buf[FAULT_VALUES_SHOWN];

	if (id == FAULT_ACTIONS && !has_colon)
		return fault_values_wrong(
			&p->in, w.at,
			"%s begins no action: a rule is CLAUSES: ACTION, with a colon and a blank",
			fault_values_shown(w, buf));
	if (id == FAULT_ACTIONS)
		return fault_values_wrong(&p->in, w.at, "%s begins no action: " FAULT_VALUES_LISTED,
					  fault_values_shown(w, buf));
	p->rule->action.id = id;
	for (unsigned int i = 0; i < fault_actions[id].n_args; i++) {
		if (!take_argument(p, &fault_actions[id], i))
			return false;
	}
	while (fault_words_match(&p->in.words, ",")) {
		if (!take_clause(p))
			return false;
	}
	rest = fault_words_peek(&p->in.words);
	return !rest.len ||
	       fault_values_unexpected(&p->in, rest, "a comma, or the end of the rule,");
}

/* ---- combinations ---- */

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
			return fault_values_wrong(
				&p->in, at, "%s does not apply to %s: take it away", word,
				r->site ? fault_sites[r->site].word : "a time alone");
	}
	return true;
}

/* Returns the selectors that this action uses in a rule without a site, as bits. */
static uint32_t selectors_of_timed(const struct fault_action *a)
{
	const uint32_t peer = 1u << FAULT_SELECT_peer;

	switch (a->id) {
	case FAULT_DO_freeze_peer:
	case FAULT_DO_kill_peer:
		return peer;
	case FAULT_DO_report:
		return peer | 1u << FAULT_SELECT_id;
	case FAULT_DO_overrun:
		return 1u << FAULT_SELECT_cq;
	case FAULT_DO_raise:
		return 1u << FAULT_SELECT_qp | 1u << FAULT_SELECT_cq | 1u << FAULT_SELECT_srq;
	case FAULT_DO_port_down:
		return 0;
	default:
		return peer | 1u << FAULT_SELECT_qp;
	}
}

/*
 * Refuses selectors that the action would ignore, since the fault would then affect more than
 * requested.
 */
static bool check_timed(struct parser *p, const char *at)
{
	const struct fault_rule *r = p->rule;
	uint32_t useless = r->select.known & ~selectors_of_timed(&r->action);

	for (uint32_t i = 0; i < FAULT_SELECTORS && !r->site; i++) {
		if (useless >> i & 1)
			return fault_values_wrong(&p->in, at,
						  "%s does not apply to %s: take it away",
						  fault_selectors[i].word,
						  fault_actions[r->action.id].words);
	}
	return true;
}

/* Refuses triggers that contradict each other, so that the rule would never fire. */
static bool check_triggers(struct parser *p, const char *at)
{
	const struct fault_trigger *w = &p->rule->when;
	bool never = w->nth && (w->nth <= w->after_count ||
				(w->every_count && (w->nth - w->after_count) % w->every_count));

	never |= w->between_to && w->after_time >= w->between_to;
	return !never || fault_values_wrong(&p->in, at,
					    "this never happens, as its triggers exclude each "
					    "other: take one of them away");
}

/* Checks that completions at the rule's site may have the status of `complete`. */
static bool check_status(struct parser *p)
{
	const struct fault_rule *r = p->rule;
	char buf[FAULT_VALUES_SHOWN];

	if (r->action.id != FAULT_DO_complete ||
	    fault_status_fits((uint32_t)r->action.arg[fault_complete_status], r->site))
		return true;
	return fault_values_wrong(
		&p->in, p->name.at,
		"%s is no status of %s: `sctpiw fault --help` lists their statuses",
		fault_values_shown(p->name, buf), fault_sites[r->site].plural);
}

/* Refuses to raise events of CQs and SRQs for a packet, since a packet identifies no CQ or SRQ. */
static bool check_event(struct parser *p)
{
	char buf[FAULT_VALUES_SHOWN];

	if (p->rule->action.id != FAULT_DO_raise || p->rule->site != FAULT_SITE_packet ||
	    !(fault_word_is(p->name, "cq_err") || fault_word_is(p->name, "srq_err") ||
	      fault_word_is(p->name, "srq_limit_reached")))
		return true;
	return fault_values_wrong(&p->in, p->name.at,
				  "a packet does not select an object for %s: "
				  "watch completions, or a time",
				  fault_values_shown(p->name, buf));
}

static bool check(struct parser *p, const char *at)
{
	const uint32_t counting = 1u << NTH | 1u << AFTER_COUNT | 1u << AFTER_BYTES |
				  1u << BETWEEN | 1u << BURST;
	const struct fault_rule *r = p->rule;
	const struct fault_action_info *info = &fault_actions[r->action.id];

	if (!r->site && (p->triggers & counting || r->when.every_count || r->when.every_for))
		return fault_values_wrong(
			&p->in, at,
			"a trigger needs something to watch: name a site, such as packets");
	if (fault_class_of(r->site) & ~info->classes) {
		if (!r->site)
			return fault_values_wrong(
				&p->in, at,
				"%s needs something to watch: name a site, such as packets",
				info->words);
		return fault_values_wrong(
			&p->in, at, "%s cannot be done to %s: `sctpiw fault --help` lists what can",
			info->words, fault_sites[r->site].word);
	}
	return check_selectors(p, at) && check_timed(p, at) && check_triggers(p, at) &&
	       check_status(p) && check_event(p);
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

/* Advances to the next rule. Returns false if there is none. */
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

/* Copies the text of the rule to rule->text. Outside of quotes, replaces several blanks by one. */
static bool keep_text(struct parser *p, const char *at, const char *end)
{
	char *to = p->rule->text, *limit = to + sizeof(p->rule->text) - 1;
	bool quoted = false;

	for (const char *c = at; c < end; c++) {
		bool blank = !quoted && is_space(*c);

		quoted ^= *c == '"';
		if (blank && (c + 1 == end || is_space(c[1])))
			continue;
		if (!blank && ((unsigned char)*c < ' ' || (unsigned char)*c >= 127))
			return fault_values_wrong(&p->in, c,
						  "this is not text of ASCII: take the byte away");
		if (to == limit)
			return fault_values_wrong(&p->in, at,
						  "this rule is too long: %d bytes are allowed",
						  FAULT_TEXT_MAX - 1);
		*to++ = blank ? ' ' : *c;
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
		p->in.words = (struct fault_words){ at, colon };
		if (!take_clauses(p))
			return false;
		at = colon + 1;
	}
	p->in.words = (struct fault_words){ at, end };
	at = fault_words_peek(&p->in.words).at;
	return take_action(p, colon) && check(p, at);
}

int fault_read(struct fault_reader *r, struct fault_rule *rule, struct fault_error *err)
{
	struct parser p = { .rule = rule, .in.err = err };
	const char *end;

	if (!next_rule(r))
		return 0;
	memset(rule, 0, sizeof(*rule));
	rule->line = r->line;
	p.in.line_start = r->line_start;
	p.in.line = r->line;
	end = fault_rule_end(r->at, r->end);
	if (!read_rule(&p, r->at, end))
		return -1;
	r->at = end;
	return 1;
}
