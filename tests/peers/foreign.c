/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An iWARP end on a foreign SCTP: iwarp.c over usrsctp.c or lksctp.c. usage() lists its functions.
 * The other end is rnic-side or rping, on sctpiw.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "foreign.h"
#include "report.h"
#include "talk.h"

#define DEPTH 4 /* the local IRD and ORD */

bool listening, plain;
unsigned int rounds = 3;
static unsigned int sessions = 1, processes = 1;
static uint32_t largest = LARGEST;

struct peer peers[SESSIONS];
uint8_t background[MEMORY];

/* ------------------------------------------------------------------ sessions */

static bool same_text(const struct session *s, const char *text)
{
	size_t len;
	const void *p = private_data(s, &len);

	return len >= strlen(text) && !memcmp(p, text, strlen(text));
}

static struct session *accept_session(void)
{
	struct session *s = await_initiate();
	bool enhanced = is_enhanced(s);

	if (!same_text(s, RNIC_TEXT))
		fail("the Initiate's private data is not as sent");
	answer(s, enhanced ? ENHANCED_ACCEPT : ACCEPT, DEPTH,
	       enhanced && peer_ird(s) < DEPTH ? peer_ird(s) : DEPTH, FOREIGN_TEXT,
	       strlen(FOREIGN_TEXT));
	return s;
}

/* Sends the RTR indication. Before it, the peer must wait, and nothing may arrive. */
static void send_rtr(struct session *s)
{
	if (!iwarp.rtr)
		return;
	pass_time(200);
	if (peer_ended(s))
		fail("the session ended before the RTR indication");
	if (iwarp.rtr == RTR_WRITE)
		write_to(s, 0, 0, NULL, 0);
	else if (iwarp.rtr == RTR_READ)
		read_from(s, 0, 0, 0, 0);
	else
		send_message(s, SEND, 0, NULL, 0);
	await_reads(s);
}

static void check_answer(struct session *s)
{
	enum function f = await_answer(s);

	if (f != (plain ? ACCEPT : ENHANCED_ACCEPT))
		fail("function code %u instead of an Accept", f);
	if (!plain && (peer_ord(s) > DEPTH || peer_ird(s) < DEPTH)) /* RFC 6581 9.1 */
		fail("IRD %u and ORD %u, offered were %u", peer_ird(s), peer_ord(s), DEPTH);
	if (!same_text(s, RNIC_TEXT))
		fail("the Accept's private data is not as sent");
	send_rtr(s);
}

static struct session *initiate_session(unsigned int stream)
{
	return initiate((uint16_t)stream, !plain, DEPTH, DEPTH, FOREIGN_TEXT, strlen(FOREIGN_TEXT));
}

/* ------------------------------------------------------------------ talk */

void tell(struct peer *p, uint32_t what, uint32_t len, uint32_t count)
{
	struct command c = {
		.what = what,
		.seed = p->seed,
		.offset = p->offset,
		.length = len,
		.addr = p->to + p->offset,
		.rkey = p->stag,
		.count = count,
	};

	send_message(p->s, SEND, 0, &c, sizeof(c));
}

struct answer hear(struct peer *p, uint32_t what)
{
	struct message *m = await_message(p->s);
	struct answer a;

	if (m->opcode != SEND || m->len != sizeof(a))
		fail("stream %u: a Send of opcode %u and %zu bytes instead of an answer",
		     stream_of(p->s), m->opcode, m->len);
	memcpy(&a, m->data, sizeof(a));
	free(m);
	if (a.what != what)
		fail("stream %u: an answer to %u, not to %u", stream_of(p->s), a.what, what);
	if (a.status)
		fail("stream %u: the other end is not content with %u: %d", stream_of(p->s), what,
		     a.status);
	return a;
}

static void hello(struct peer *p)
{
	struct answer a;

	tell(p, TALK_HELLO, 0, 0);
	a = hear(p, TALK_HELLO);
	p->addr = a.addr;
	p->rkey = a.rkey;
	if (a.size != MEMORY)
		fail("a memory of %u bytes", a.size);
}

static void prepare(struct peer *p, unsigned int number)
{
	static uint32_t serial = 1;

	p->memory = p->memory ? p->memory : malloc(MEMORY);
	if (!p->memory)
		fail("no memory");
	memcpy(p->memory, background, MEMORY);
	p->stag = 0xfe000000u + (serial++ << 8);
	p->to = 0xfffffff000000000ull + ((uint64_t)number << 24) +
		3; /* an arbitrary unaligned address */
	offer(p->s, p->memory, p->stag, p->to, MEMORY);
	hello(p);
}

void open_sessions(void)
{
	for (unsigned int i = 0; i < sessions; i++)
		peers[i].s = listening ? accept_session() : initiate_session(i);
	for (unsigned int i = 0; i < sessions && !listening; i++)
		check_answer(peers[i].s);
	for (unsigned int i = 0; i < sessions; i++)
		prepare(&peers[i], i);
}

/* Ends a session from this side, or makes the peer end it. */
static void close_session(struct peer *p, bool by_them)
{
	if (by_them)
		tell(p, TALK_DISCONNECT, 0, 0);
	else
		end_session(p->s);
	await_end(p->s);
	forget(p->s);
	p->s = NULL;
}

void close_association(void)
{
	if (!is_shut())
		stack_shutdown();
	if (await_loss() != STACK_SHUT)
		fail("the association did not end by SHUTDOWN");
}

/* ------------------------------------------------------------------ transfer */

uint8_t *pattern_of(const struct peer *p, uint32_t len)
{
	static uint8_t data[MEMORY];

	fill(data, p->seed, len);
	return data;
}

static void check_memory(struct peer *p, uint32_t len, const char *what)
{
	if (!intact(p->memory, background, p->seed, p->offset, len))
		fail("stream %u: %s of %u bytes: the memory is not as it should be",
		     stream_of(p->s), what, len);
	wipe(p->memory, background, p->offset, len);
}

static void check_send(struct peer *p, uint32_t len, enum opcode op, uint32_t stag)
{
	struct message *m = await_message(p->s);

	if (m->opcode != op || m->invalidate != stag)
		fail("stream %u: a Send of opcode %u with STag %08x", stream_of(p->s), m->opcode,
		     m->invalidate);
	if (m->len != len || !filled(m->data, p->seed, len))
		fail("stream %u: a Send of %u bytes came as %zu, or with other data",
		     stream_of(p->s), len, m->len);
	free(m);
}

/*
 * Runs each operation in both directions. The operation begins on all sessions before it finishes
 * on the first.
 */

static void send_begin(struct peer *p, uint32_t len)
{
	tell(p, TALK_EXPECT, len, 0);
	send_message(p->s, p->seed % 2 ? SEND : SEND_SE, 0, pattern_of(p, len), len);
}

static void send_finish(struct peer *p, uint32_t len)
{
	(void)len;
	hear(p, TALK_EXPECT);
}

static void recv_begin(struct peer *p, uint32_t len)
{
	tell(p, TALK_SEND, len, 0);
}

static void recv_finish(struct peer *p, uint32_t len)
{
	check_send(p, len, SEND, 0);
	hear(p, TALK_SEND);
}

static void write_begin(struct peer *p, uint32_t len)
{
	write_to(p->s, p->rkey, p->addr + p->offset, pattern_of(p, len), len);
	tell(p, TALK_CHECK, len, 0);
}

static void write_finish(struct peer *p, uint32_t len)
{
	(void)len;
	hear(p, TALK_CHECK);
}

static void written_begin(struct peer *p, uint32_t len)
{
	tell(p, TALK_WRITE, len, 0);
}

static void written_finish(struct peer *p, uint32_t len)
{
	hear(p, TALK_WRITE);
	check_memory(p, len, "a Write from there");
}

static void read_begin(struct peer *p, uint32_t len)
{
	uint32_t half = len / 2;

	tell(p, TALK_FILL, len, 0);
	hear(p, TALK_FILL);
	read_from(p->s, p->rkey, p->addr + p->offset, p->offset, half);
	read_from(p->s, p->rkey, p->addr + p->offset + half, p->offset + half, len - half);
}

static void read_finish(struct peer *p, uint32_t len)
{
	await_reads(p->s);
	check_memory(p, len, "a Read from here");
	tell(p, TALK_CHECK, len, 0);
	hear(p, TALK_CHECK);
}

static void reading_begin(struct peer *p, uint32_t len)
{
	fill(p->memory + p->offset, p->seed, len);
	tell(p, TALK_READ, len, len < 4 ? 1 : 4);
}

static void reading_finish(struct peer *p, uint32_t len)
{
	hear(p, TALK_READ);
	check_memory(p, len, "what they read");
}

static const struct operation {
	void (*begin)(struct peer *p, uint32_t len);
	void (*finish)(struct peer *p, uint32_t len);
} operations[] = {
	{ send_begin, send_finish },   { recv_begin, recv_finish },
	{ write_begin, write_finish }, { written_begin, written_finish },
	{ read_begin, read_finish },   { reading_begin, reading_finish },
};

static void run(const struct operation *op, uint32_t len)
{
	static uint32_t seed;

	for (unsigned int i = 0; i < sessions; i++) {
		peers[i].seed = ++seed;
		peers[i].offset = seed * 37 % 60000;
		op->begin(&peers[i], len);
	}
	for (unsigned int i = 0; i < sessions; i++)
		op->finish(&peers[i], len);
}

static void invalidations(struct peer *p)
{
	uint32_t rkey = p->rkey;
	struct answer a;

	tell(p, TALK_EXPECT, 100, 0);
	send_message(p->s, SEND_INV, rkey, pattern_of(p, 100), 100);
	a = hear(p, TALK_EXPECT);
	if (a.rkey != rkey)
		fail("a Send with Invalidate of %08x was seen as one of %08x", rkey, a.rkey);
	hello(p); /* registers its memory again */
	if (p->rkey == rkey)
		fail("an invalidated STag is there again at once");
	tell(p, TALK_SEND_INV, 200, 0);
	check_send(p, 200, SEND_SE_INV, p->stag);
	hear(p, TALK_SEND_INV);
}

static void transfer(void)
{
	static const uint32_t lengths[] = { 0, 1, 3, 1400, 5001, 65536, 300001, LARGEST };

	await_association();
	open_sessions();
	for (unsigned int i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		for (unsigned int j = 0; j < sizeof(operations) / sizeof(*operations); j++)
			if (lengths[i] <= largest)
				run(&operations[j], lengths[i]);
	for (unsigned int i = 0; i < sessions; i++)
		invalidations(&peers[i]);
	for (unsigned int i = 0; i < sessions; i++)
		close_session(&peers[i], i % 2);
	close_association();
	say("transferred");
}

/* ------------------------------------------------------------------ beginnings and ends */

/* Uses sessions in succession. If this side chooses the stream, all use the first one's. */
static void reuse(void)
{
	await_association();
	for (unsigned int i = 0; i < rounds; i++) {
		open_sessions();
		say("stream %u", stream_of(peers[0].s));
		for (unsigned int j = 0; j < sizeof(operations) / sizeof(*operations); j++)
			run(&operations[j], 5001);
		for (unsigned int j = 0; j < sessions; j++)
			close_session(&peers[j], i % 2);
	}
	close_association();
	say("reused");
}

/* Is idle until heartbeats are sent, which must have no effect. */
static void idle(void)
{
	await_association();
	open_sessions();
	pass_time(2500);
	run(&operations[2], 5001);
	run(&operations[3], 5001);
	close_session(&peers[0], false);
	close_association();
	say("still there");
}

static void reject(void)
{
	struct session *s;
	enum function f;

	await_association();
	if (listening) {
		s = await_initiate();
		answer(s, is_enhanced(s) ? ENHANCED_REJECT : REJECT, DEPTH, DEPTH, FOREIGN_TEXT,
		       strlen(FOREIGN_TEXT));
	} else {
		s = initiate_session(0);
		f = await_answer(s);
		if (f != (plain ? REJECT : ENHANCED_REJECT))
			fail("function code %u instead of a Reject", f);
		if (!same_text(s, RNIC_TEXT))
			fail("the Reject's private data is not as sent");
	}
	await_end(s);
	close_association();
	say("rejected");
}

/* The peer requests one kind of RTR indication, and this side accepts only another kind. */
static void mismatch(void)
{
	const struct end *e;
	struct session *s;

	await_association();
	s = accept_session();
	e = await_terminate(s);
	if (e->layer != 2 || e->type != 0 || e->code != 7) /* RFC 6581 8 */
		fail("an RDMAP Terminate %u/%u/%02x", e->layer, e->type, e->code);
	await_end(s);
	forget(s);
	close_association();
	say("no matching RTR option");
}

/* Acts as an end older than RFC 6581, for which an enhanced Initiate is illegal. */
static void old(void)
{
	struct session *s;

	await_association();
	s = await_initiate();
	if (!is_enhanced(s))
		fail("the first Initiate is not an enhanced one");
	answer(s, TERMINATE, 0, 0, NULL, 0);
	peers[0].s = accept_session();
	if (is_enhanced(peers[0].s))
		fail("the second Initiate is not a plain one");
	prepare(&peers[0], 0);
	run(&operations[2], 5001);
	close_session(&peers[0], false);
	close_association();
	say("served");
}

static void refused(void)
{
	if (listening) {
		pass_time(PATIENCE * 1000);
		if (association == STACK_UP)
			fail("an association came about");
	} else if (await_loss() != STACK_ABORTED) {
		fail("the association was not refused");
	}
	say("refused");
}

/* ------------------------------------------------------------------ during work */

static void flood(void)
{
	uint64_t enough;

	await_association();
	open_sessions();
	for (unsigned int i = 0; i < sessions; i++) {
		tell(&peers[i], TALK_FLOOD, 65536, 0);
		hear(&peers[i], TALK_FLOOD);
	}
	enough = bytes_received() + sessions * 4 * 65536;
	while (bytes_received() < enough && association == STACK_UP)
		pass_time(10);
}

static void end_by_terminate(void)
{
	flood();
	for (unsigned int i = 0; i < sessions; i++) {
		send_terminate(peers[i].s, 0, 0, 0);
		end_session(peers[i].s);
	}
	for (unsigned int i = 0; i < sessions; i++)
		await_end(peers[i].s);
	close_association();
	say("terminated");
}

static void end_by_shutdown(void)
{
	flood();
	close_association();
	say("shut down");
}

static void end_by_abort(void)
{
	flood();
	stack_abort();
	usleep(200000); /* until the packet has left */
	say("aborted");
}

/* ------------------------------------------------------------------ main */

static const struct scenario {
	const char *name;
	void (*run)(void);
	const char *what;
} scenarios[] = {
	{ "transfer", transfer, "Sends, Writes and Reads both ways, every byte checked" },
	{ "reuse", reuse, "sessions one after the other (--rounds), ended by either side" },
	{ "idle", idle, "nothing for a while" },
	{ "reject", reject, "a session that is not accepted" },
	{ "old", old, "(listen) knows nothing of RFC 6581" },
	{ "mismatch", mismatch, "(listen, --peer-to-peer) another kind than was asked for" },
	{ "refused", refused, "the association is not to come about" },
	{ "errors", errors, "mistakes, each answered by the right RDMAP Terminate" },
	{ "terminate", end_by_terminate, "an RDMAP Terminate while the other end is busy" },
	{ "shutdown", end_by_shutdown, "SHUTDOWN of the association while it is busy" },
	{ "abort", end_by_abort, "ABORT of the association while it is busy" },
	{ "rping", rping, "the other end is rping: --rounds pings" },
};
#define SCENARIOS (sizeof(scenarios) / sizeof(*scenarios))

static _Noreturn void usage(void)
{
	fputs("usage: foreign-STACK [OPTION...] connect|listen ADDRESS PORT SCENARIO\n"
	      "  --sessions N, --rounds N     how many at once, how many times\n"
	      "  --largest BYTES              of a message in transfer\n"
	      "  --processes N                (lksctp, listen) each takes one association\n"
	      "  --plain                      no RFC 6581\n"
	      "  --peer-to-peer send|write|read   by this RTR indication\n"
	      "  --segment BYTES              of a message to SCTP; more than fits makes it "
	      "fragment\n"
	      "  --ordered                    ordered messages\n"
	      "  --outbound N, --inbound N    streams\n"
	      "  --adaptation N|none          instead of 1\n"
	      "  --udp PORT, --peer-udp PORT  (usrsctp)\n"
	      "  --leave-paths                (usrsctp) each at its first timeout\n"
	      "  --key FILE, --cipher NAME    (usrsctp-dtls) a key file of sctpiw's\n"
	      "  --cookie                     (usrsctp-dtls, listen) asks for one\n"
	      "  --close this|that            (usrsctp-dtls) side says that it closes its session\n",
	      stderr);
	for (unsigned int i = 0; i < SCENARIOS; i++)
		fprintf(stderr, "  %-10s %s\n", scenarios[i].name, scenarios[i].what);
	exit(2);
}

static void resolve(struct stack_options *o, const char *address, const char *port)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV }, *info;

	if (getaddrinfo(address, port, &hints, &info))
		usage();
	memcpy(&o->address, info->ai_addr, info->ai_addrlen);
	o->address_len = info->ai_addrlen;
	freeaddrinfo(info);
}

/* Parses an option of usrsctp. n: its argument, if that is a number. */
static void parse_usrsctp(struct stack_options *o, int c, unsigned long n)
{
	if (c == 'u')
		o->udp_port = (uint16_t)n;
	else if (c == 'U')
		o->peer_udp_port = (uint16_t)n;
	else if (c == 'L')
		o->leaves_paths = true;
	else if (c == 'k')
		o->key = optarg;
	else if (c == 'c')
		o->cipher = optarg;
	else if (c == 'C')
		o->cookie = true;
	else if (c == 'e')
		o->closes = strcmp(optarg, "that") ? STACK_CLOSES : STACK_IS_CLOSED;
	else
		usage();
}

static const struct scenario *parse(int argc, char **argv, struct stack_options *o)
{
	static const struct option options[] = {
		{ "sessions", 1, NULL, 's' },
		{ "rounds", 1, NULL, 'r' },
		{ "largest", 1, NULL, 'l' },
		{ "plain", 0, NULL, 'p' },
		{ "segment", 1, NULL, 'g' },
		{ "ordered", 0, NULL, 'o' },
		{ "outbound", 1, NULL, 'O' },
		{ "inbound", 1, NULL, 'I' },
		{ "adaptation", 1, NULL, 'a' },
		{ "udp", 1, NULL, 'u' },
		{ "peer-udp", 1, NULL, 'U' },
		{ "processes", 1, NULL, 'P' },
		{ "peer-to-peer", 1, NULL, 'R' },
		{ "key", 1, NULL, 'k' },
		{ "cipher", 1, NULL, 'c' },
		{ "cookie", 0, NULL, 'C' },
		{ "close", 1, NULL, 'e' },
		{ "leave-paths", 0, NULL, 'L' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		unsigned long n = optarg ? strtoul(optarg, NULL, 0) : 0;

		switch (c) {
		case 's':
			sessions = n < SESSIONS ? (unsigned int)n : SESSIONS;
			break;
		case 'r':
			rounds = (unsigned int)n;
			break;
		case 'l':
			largest = (uint32_t)n;
			break;
		case 'P':
			processes = (unsigned int)n;
			break;
		case 'p':
			plain = true;
			break;
		case 'R':
			iwarp.rtr = *optarg == 's' ? RTR_SEND :
				    *optarg == 'w' ? RTR_WRITE :
						     RTR_READ;
			break;
		case 'g':
			iwarp.segment = n;
			break;
		case 'o':
			iwarp.ordered = true;
			break;
		case 'O':
			o->outbound = (uint16_t)n;
			break;
		case 'I':
			o->inbound = (uint16_t)n;
			break;
		case 'a':
			o->adaptation = (uint32_t)n;
			o->has_adaptation = strcmp(optarg, "none");
			break;
		default:
			parse_usrsctp(o, c, n);
		}
	}
	if (argc - optind != 4)
		usage();
	listening = !strcmp(argv[optind], "listen");
	resolve(o, argv[optind + 1], argv[optind + 2]);
	for (unsigned int i = 0; i < SCENARIOS; i++)
		if (!strcmp(argv[optind + 3], scenarios[i].name))
			return &scenarios[i];
	usage();
}

/* Forks processes that wait for an association on one listening socket. */
static void split(void)
{
	int status = 0;
	pid_t child;

	for (unsigned int i = 0; i < processes; i++) {
		child = fork();
		if (child < 0)
			fail("fork: %s", strerror(errno));
		if (!child)
			return;
	}
	for (unsigned int i = 0; i < processes; i++)
		if (wait(&status) < 0 || status)
			fail("a process failed");
	exit(0);
}

int main(int argc, char **argv)
{
	struct stack_options o = {
		.outbound = 64, .inbound = 64, .has_adaptation = true, .adaptation = 1
	};
	const struct scenario *scenario = parse(argc, argv, &o);

	fill(background, 0, MEMORY);
	if (listening) {
		stack_listen(&o);
		say("listening");
		if (processes > 1)
			split();
	} else {
		stack_connect(&o);
	}
	scenario->run();
	stack_end();
	fflush(stdout);
	_exit(0); /* without waiting for the threads of usrsctp */
}
