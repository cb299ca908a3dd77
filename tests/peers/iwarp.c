/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

#include "iwarp_session.h"
#include "report.h"

struct iwarp_options iwarp;
enum stack_event association = STACK_NOTHING;

static bool dry;
static uint8_t packet[65536];

/* ------------------------------------------------------------------ sending */

static size_t segment_limit(void)
{
	static size_t whole;

	if (iwarp.segment)
		return iwarp.segment;
	if (!whole) /* read once, since no test changes the path */
		whole = stack_whole();
	if (whole > sizeof(packet))
		return sizeof(packet);
	return whole;
}

static void transmit(struct session *s, uint32_t ppid, size_t len)
{
	put16(packet, s->tx_ssn++);
	/* At the end of the association, SCTP takes no message; another event reports the end. */
	stack_send(s->stream, ppid, iwarp.ordered, packet, len);
}

static void control(struct session *s, enum function f, uint16_t ird, uint16_t ord,
		    const void *private, size_t len)
{
	uint8_t *p = put16(packet + 2, (uint16_t)f);

	if (f >= ENHANCED_INITIATE) /* RFC 6581 9 */
		p = put32(p,
			  (uint32_t)ird << 16 | ord | (iwarp.rtr ? PEER_TO_PEER | iwarp.rtr : 0));
	if (len)
		memcpy(p, private, len);
	transmit(s, PPID_CONTROL, (size_t)(p - packet) + len);
}

void tagged(struct session *s, enum opcode op, uint32_t stag, uint64_t to, const uint8_t *data,
	    size_t len)
{
	size_t most = segment_limit() - TAGGED_LEN;

	do {
		size_t n = len < most ? len : most;
		uint8_t *p = packet + 2;

		*p++ = (uint8_t)(DDP_TAGGED | (n == len ? DDP_LAST : 0) | 1);
		*p++ = (uint8_t)(0x40 | op);
		p = put64(put32(p, stag), to);
		memcpy(p, data, n);
		transmit(s, PPID_SEGMENT, TAGGED_LEN + n);
		data += n;
		to += n;
		len -= n;
	} while (len);
}

static void untagged(struct session *s, uint32_t qn, uint32_t msn, enum opcode op,
		     uint32_t invalidate, const uint8_t *data, size_t len)
{
	size_t most = segment_limit() - UNTAGGED_LEN;
	uint32_t mo = 0;

	do {
		size_t n = len < most ? len : most;
		uint8_t *p = packet + 2;

		*p++ = (uint8_t)((n == len ? DDP_LAST : 0) | 1);
		*p++ = (uint8_t)(0x40 | op);
		p = put32(put32(put32(put32(p, invalidate), qn), msn), mo);
		memcpy(p, data, n);
		transmit(s, PPID_SEGMENT, UNTAGGED_LEN + n);
		data += n;
		mo += (uint32_t)n;
		len -= n;
	} while (len);
}

/* ------------------------------------------------------------------ waiting */

static void pump(int ms)
{
	struct stack_message m;
	enum stack_event event = stack_receive(&m, ms);

	switch (event) {
	case STACK_MESSAGE:
		on_message(&m);
		break;
	case STACK_DRY:
		dry = true;
		break;
	case STACK_NOTHING:
		break;
	default:
		association = event;
		break;
	}
}

static const char *state_of_association(void)
{
	switch (association) {
	case STACK_UP:
		return "nothing came";
	case STACK_SHUT:
		return "the association was shut down";
	case STACK_ABORTED:
		return "the association was aborted";
	default:
		return "there is no association";
	}
}

#define await(cond, what, ...)                                                                     \
	do {                                                                                       \
		double end_ = now() + PATIENCE;                                                    \
                                                                                                   \
		while (!(cond)) {                                                                  \
			pump(100);                                                                 \
			if (!(cond) && (association > STACK_UP || now() > end_))                   \
				fail("%s while waiting for " what, state_of_association(),         \
				     ##__VA_ARGS__);                                               \
		}                                                                                  \
	} while (0)

void pass_time(int ms)
{
	double end = now() + ms * 1e-3;
	int left = ms;

	while (left > 0 && association <= STACK_UP) {
		pump(left);
		left = (int)((end - now()) * 1000);
	}
}

uint64_t bytes_received(void)
{
	return received;
}

void await_association(void)
{
	await(association == STACK_UP, "an association");
	/* The adaptation indication follows COMM_UP. */
	await(stack_peer_adaptation(), "an adaptation indication");
	if (stack_peer_adaptation() != ADAPTATION_DDP)
		fail("adaptation indication %u", stack_peer_adaptation());
}

bool is_shut(void)
{
	return association == STACK_SHUT;
}

enum stack_event await_loss(void)
{
	double end = now() + PATIENCE;

	while (association <= STACK_UP) {
		pump(100);
		if (now() < end)
			continue;
		if (stack_awaits_shutdown_complete())
			return STACK_SHUT;
		fail("the association did not end");
	}
	return association;
}

/* ------------------------------------------------------------------ sessions */

struct session *initiate(uint16_t stream, bool enhanced, uint16_t ird, uint16_t ord,
			 const void *private, size_t len)
{
	struct session *s = current[stream];

	if (s && !(s->got_end && s->sent_end) && s->state != TURNED_DOWN)
		fail("stream %u is in use", stream);
	s = new_session(stream);
	s->state = INITIATED;
	s->enhanced = enhanced;
	control(s, enhanced ? ENHANCED_INITIATE : INITIATE, ird, ord, private, len);
	return s;
}

static struct session *offered(void)
{
	for (unsigned int i = 0; i < STREAMS; i++)
		if (current[i] && current[i]->state == OFFERED && current[i]->rx_ssn)
			return current[i];
	return NULL;
}

struct session *await_initiate(void)
{
	struct session *s;

	await((s = offered()), "an Initiate");
	return s;
}

void answer(struct session *s, enum function f, uint16_t ird, uint16_t ord, const void *private,
	    size_t len)
{
	s->state = f == ACCEPT || f == ENHANCED_ACCEPT ? OPEN : TURNED_DOWN;
	s->sent_end = f == TERMINATE;
	s->rtr_due = f == ENHANCED_ACCEPT && iwarp.rtr;
	control(s, f, ird, ord, private, len);
}

enum function await_answer(struct session *s)
{
	await(s->answered, "the answer to an Initiate");
	return s->answered;
}

bool is_enhanced(const struct session *s)
{
	return s->enhanced;
}

uint16_t stream_of(const struct session *s)
{
	return s->stream;
}

uint16_t peer_ird(const struct session *s)
{
	return s->ird;
}

uint16_t peer_ord(const struct session *s)
{
	return s->ord;
}

const void *private_data(const struct session *s, size_t *len)
{
	*len = s->private_len;
	return s->private_data;
}

void end_session(struct session *s)
{
	if (!s->sent_end)
		control(s, TERMINATE, 0, 0, NULL, 0);
	s->sent_end = true;
}

void await_end(struct session *s)
{
	await(s->got_end || s->state == TURNED_DOWN, "the session's Terminate");
	dry = false;
	stack_ask_dry();
	/* If a SACK was lost, the SHUTDOWN of a leaving peer also acknowledges. */
	await(dry || is_shut() || stack_awaits_shutdown_complete(), "acknowledgements of all");
}

bool peer_ended(const struct session *s)
{
	return s->got_end;
}

void forget(struct session *s)
{
	struct message *m;

	if (current[s->stream] == s)
		current[s->stream] = NULL;
	while ((m = s->first)) {
		s->first = m->next;
		free(m);
	}
	free(s->part);
	free(s->early);
	free(s);
}

/* ------------------------------------------------------------------ data */

void offer(struct session *s, uint8_t *memory, uint32_t stag, uint64_t to, uint32_t len)
{
	s->memory = memory;
	s->stag = stag;
	s->to = to;
	s->memory_len = len;
}

void send_message(struct session *s, enum opcode op, uint32_t invalidate, const void *data,
		  size_t len)
{
	untagged(s, 0, s->tx_msn[0]++, op, invalidate, data, len);
}

void write_to(struct session *s, uint32_t stag, uint64_t to, const void *data, size_t len)
{
	tagged(s, WRITE, stag, to, data, len);
}

void read_from(struct session *s, uint32_t stag, uint64_t to, uint32_t offset, uint32_t len)
{
	struct pending_read *r = &s->reads[(s->read_first + s->read_count) % READS];
	uint8_t header[READ_REQUEST_LEN], *p = header;

	if (s->read_count == READS)
		fail("too many reads");
	s->read_count++;
	r->to = s->to + offset;
	r->left = len;
	p = put32(put64(put32(p, s->stag), r->to), len);
	put64(put32(p, stag), to);
	untagged(s, 1, s->tx_msn[1]++, READ_REQUEST, 0, header, sizeof(header));
}

void await_reads(struct session *s)
{
	await(!s->read_count, "a Read Response");
}

void send_terminate(struct session *s, unsigned int layer, unsigned int type, unsigned int code)
{
	uint8_t header[4] = { (uint8_t)(layer << 4 | type), (uint8_t)code };

	untagged(s, 2, s->tx_msn[2]++, RDMAP_TERMINATE, 0, header, sizeof(header));
	s->silent = true;
}

struct message *await_message(struct session *s)
{
	struct message *m;

	await(s->first || s->end.came || s->got_end, "a Send on stream %u", s->stream);
	m = s->first;
	if (s->end.came)
		fail("stream %u: an RDMAP Terminate %u/%u/%02x instead of a Send", s->stream,
		     s->end.layer, s->end.type, s->end.code);
	if (!m)
		fail("stream %u: the session ended instead of a Send", s->stream);
	s->first = m->next;
	if (!s->first)
		s->last = &s->first;
	return m;
}

const struct end *await_terminate(struct session *s)
{
	await(s->end.came || s->got_end, "an RDMAP Terminate");
	if (!s->end.came)
		fail("stream %u: the session ended without an RDMAP Terminate", s->stream);
	return &s->end;
}

void send_untagged(struct session *s, uint32_t qn, uint32_t msn, enum opcode op, const void *data,
		   size_t len)
{
	untagged(s, qn, msn, op, 0, data, len);
}

const uint8_t *latest_header(void)
{
	return packet + 2;
}
