/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Conversations with one SCTP instance, line by line as they pass the wire:
 *
 *	script("> Dtag / 00 07 0012 P+0 0001 0000 00000010 aabb 0000",
 *	       "< Ptag / 03 00 0010 P+0 ???????? 0000 0000",
 *	       "-");
 *
 *	> BYTES		the peer sends this packet (its verification tag and what follows the checksum)
 *	>>		the peer sends the same bytes as before
 *	< BYTES		the next packet of the instance is exactly this
 *	-		the instance has sent nothing else
 *	drop		whatever it has sent
 *	got N		so many messages of the peer's last packet were delivered
 *	wait MS		virtual time passes; its timers run
 *	post N LEN	its user wants to send N messages of LEN bytes (stream 3, PPID 16)
 *	shutdown	its user closes the association
 *	state S		in RFC 9260's names, or CLOSED
 *	error E		what its user was told when the association was lost
 *
 * Bytes are hexadecimal, in groups of any size: 0a*301 is that byte 301 times. Ptag and Dtag are the
 * verification tags of the peer and of the instance, P+1 and D-1 TSNs relative to their first ones;
 * cookie-echo is the whole chunk with the State Cookie that was kept last. Expected bytes may be ??, and
 * the end may be ... for whatever comes. A / separates chunks for the eye. Ports and checksums are always checked.
 */
#ifndef TESTS_SCTP_SCRIPT_H
#define TESTS_SCTP_SCRIPT_H

#include "conformance/rows.h"
#include "unit/sctp_peer.h"

static struct {
	uint32_t peer_tsn; /* the first ones */
	uint32_t dut_tsn;
	uint8_t cookie[5000];
	size_t cookie_len;
} conversation;

#define ANY 0x100	/* as an expected byte */
#define ANYTHING 0x200 /* as the last one */

static inline unsigned int hex_digit(const char *line, char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	fail_msg("not a line of bytes: %s", line);
	return 0;
}

static inline size_t put_number(uint16_t *out, uint32_t value)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		out[i] = (uint8_t)(value >> (24 - 8 * i));
	return 4;
}

/* One word of a line of bytes; returns how many bytes it stands for. */
static inline size_t word_bytes(const char *line, const char *word, size_t len, uint16_t *out)
{
	const char *star = memchr(word, '*', len);
	unsigned long times = star ? strtoul(star + 1, NULL, 10) : 1;
	size_t n = 0, i;

	if (star)
		len = (size_t)(star - word);
	if (len == 1 && *word == '/')
		return 0;
	if (len == 3 && !memcmp(word, "...", 3)) {
		*out = ANYTHING;
		return 1;
	}
	if (len == 4 && !memcmp(word, "Ptag", 4))
		return put_number(out, f.tag);
	if (len == 4 && !memcmp(word, "Dtag", 4))
		return put_number(out, f.their_tag);
	if (len == 11 && !memcmp(word, "cookie-echo", 11)) {
		put_number(out, (uint32_t)(WIRE_SCTP_COOKIE_ECHO << 24 | (4 + conversation.cookie_len)));
		for (i = 0; i < conversation.cookie_len; i++)
			out[4 + i] = conversation.cookie[i];
		for (i += 4; i % 4; i++)
			out[i] = 0;
		return i;
	}
	if (*word == 'P' || *word == 'D')
		return put_number(out, (*word == 'P' ? conversation.peer_tsn : conversation.dut_tsn) +
					       (uint32_t)strtol(word + 1, NULL, 10));
	while (times--)
		for (i = 0; i + 1 < len; i += 2)
			out[n++] = word[i] == '?' ? ANY : (uint16_t)(hex_digit(line, word[i]) << 4 |
								     hex_digit(line, word[i + 1]));
	return n;
}

static inline size_t line_bytes(const char *line, const char *p, uint16_t *out)
{
	size_t n = 0, len;

	for (p += strspn(p, " "); *p; p += len, p += strspn(p, " ")) {
		len = strcspn(p, " ");
		n += word_bytes(line, p, len, out + n);
	}
	return n;
}

static inline void say(const char *line, const char *bytes, const struct path_addr *from)
{
	static uint16_t out[sizeof(f.buf)];
	size_t n = line_bytes(line, bytes, out), i;
	uint8_t raw[4];

	for (i = 0; i < 4; i++)
		raw[i] = (uint8_t)out[i];
	begin_tag(get_be32(raw));
	for (i = 4; i < n; i++)
		f.buf[f.len++] = (uint8_t)out[i];
	send_from(from);
}

static inline void print_packet(const struct packet *p)
{
	size_t i;

	for (i = 4; i < p->len && i < 200; i += i == 7 ? 5 : 1)
		print_error("%02x%s", p->data[i], i % 4 == 3 ? " " : "");
	print_error("\n");
}

/* The bytes from the tag on, without the checksum. */
static inline void check_packet(const char *line, const char *bytes, const struct packet *p)
{
	static uint16_t want[sizeof(f.buf)];
	size_t n = line_bytes(line, bytes, want), i, at;

	if (!p)
		fail_msg("nothing was sent instead of: %s", line);
	for (i = 0; i < n && want[i] != ANYTHING; i++) {
		at = i < 4 ? 4 + i : 8 + i;
		if (at >= p->len || (want[i] != ANY && p->data[at] != want[i])) {
			print_packet(p);
			fail_msg("byte %zu differs from: %s", i, line);
		}
	}
	if (i == n && p->len != n + 8) {
		print_packet(p);
		fail_msg("it is longer than: %s", line);
	}
}

static inline void post(unsigned int n, uint32_t len)
{
	f.messages = n;
	f.message_len = len;
	sctp_assoc_doorbell(f.a);
	collect();
}

static inline const char *state_name(void)
{
	static const char *const names[] = {
		[SCTP_CLOSED] = "CLOSED",
		[SCTP_COOKIE_WAIT] = "COOKIE-WAIT",
		[SCTP_COOKIE_ECHOED] = "COOKIE-ECHOED",
		[SCTP_ESTABLISHED] = "ESTABLISHED",
		[SCTP_SHUTDOWN_PENDING] = "SHUTDOWN-PENDING",
		[SCTP_SHUTDOWN_SENT] = "SHUTDOWN-SENT",
		[SCTP_SHUTDOWN_RECEIVED] = "SHUTDOWN-RECEIVED",
		[SCTP_SHUTDOWN_ACK_SENT] = "SHUTDOWN-ACK-SENT",
	};

	return names[f.a ? f.a->state : SCTP_CLOSED];
}

static inline const char *after(const char *line, const char *verb)
{
	size_t n = strlen(verb);

	return strncmp(line, verb, n) ? NULL : line + n;
}

static inline void script_line(const char *line)
{
	const char *rest;
	char *end;

	if (!strcmp(line, ">>")) {
		put_be32(f.buf + 8, 0);
		sendp();
	} else if ((rest = after(line, "> "))) {
		say(line, rest, &f.path);
	} else if ((rest = after(line, "< "))) {
		check_packet(line, rest, take());
	} else if (!strcmp(line, "-")) {
		collect();
		if (f.head != f.tail) {
			print_packet(take());
			fail_msg("that was sent although nothing should have been");
		}
	} else if (!strcmp(line, "drop")) {
		drop_all();
	} else if ((rest = after(line, "got "))) {
		assert_int_equal(f.rx.count, strtoul(rest, NULL, 10));
	} else if ((rest = after(line, "wait "))) {
		wait_ns(strtoull(rest, NULL, 10) * MSEC);
	} else if ((rest = after(line, "post "))) {
		unsigned long n = strtoul(rest, &end, 10);

		post((unsigned int)n, (uint32_t)strtoul(end, NULL, 10));
	} else if (!strcmp(line, "shutdown")) {
		sctp_assoc_shutdown(f.a, f.now);
		collect();
	} else if ((rest = after(line, "state "))) {
		assert_string_equal(state_name(), rest);
	} else if ((rest = after(line, "error "))) {
		assert_null(f.a);
		assert_int_equal(f.error, -(int)strtol(rest, NULL, 10));
	} else {
		fail_msg("no such line: %s", line);
	}
}

static inline void script_lines(const char *const *lines)
{
	while (*lines)
		script_line(*lines++);
}

#define script(...) script_lines((const char *const[]){ __VA_ARGS__, NULL })

/* Where the instance sends to, for what no packet shows. */
static inline struct sctp_path *primary(void)
{
	return &f.a->path;
}

/* An association that the peer began, and all that the handshake sent is taken. */
static inline void associate(void)
{
	establish();
	conversation.peer_tsn = f.tsn;
	conversation.dut_tsn = f.their_tsn;
}

/* The instance's INIT was sent: takes it and notes its tag and TSN. */
static inline void keep_init(void)
{
	struct packet *p = take();
	struct wire_sctp_chunk c = chunk_of(p, 0, WIRE_SCTP_INIT);
	struct wire_sctp_init init;

	assert_true(wire_sctp_init_get(&c, &init));
	f.their_tag = init.tag;
	conversation.peer_tsn = f.tsn;
	conversation.dut_tsn = init.tsn;
}

/* The instance's INIT ACK was sent: takes it and notes its tag, TSN and cookie. */
static inline struct wire_sctp_init keep_init_ack(void)
{
	struct packet *p = take();
	struct wire_sctp_chunk c = chunk_of(p, 0, WIRE_SCTP_INIT_ACK);
	struct wire_sctp_init init;

	assert_true(wire_sctp_init_get(&c, &init));
	assert_non_null(init.cookie);
	assert_true(init.cookie_len <= sizeof(conversation.cookie));
	f.their_tag = init.tag;
	conversation.peer_tsn = f.tsn;
	conversation.dut_tsn = init.tsn;
	conversation.cookie_len = init.cookie_len;
	memcpy(conversation.cookie, init.cookie, init.cookie_len);
	return init;
}

/* The active side's first step. */
static inline void begin_connect(void)
{
	f.a = sctp_connect(f.ep, &f.path, PEER_PORT, 1500, NULL, f.now);
	assert_non_null(f.a);
	collect();
}

/* An association that the instance began. */
#define PEER_INIT_ACK                                                                              \
	"> Dtag / 02 00 0028 Ptag 00100000 0014 001e P+0 c006 0008 00000001 0007 000c c0*8"
static inline void associate_out(void)
{
	begin_connect();
	keep_init();
	script(PEER_INIT_ACK, "< Ptag / 0a 00 000c c0*8", "> Dtag / 0b 00 0004", "-");
	assert_int_equal(f.events, 1 << SCTP_EVENT_UP);
}

/* INIT of the peer: 20 streams out, 30 in. */
#define PEER_INIT "> 00000000 / 01 00 001c Ptag 00100000 0014 001e P+0 c006 0008 00000001"
/* DATA of one byte on stream 1, whole and unordered; N is its TSN as P+N. */
#define PEER_DATA(n) " / 00 07 0011 P+" #n " 0001 0000 00000010 77 000000 "

#endif
