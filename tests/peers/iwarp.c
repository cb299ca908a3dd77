/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp.h"

#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

#define PPID_SEGMENT 16 /* RFC 5043 5.2 */
#define PPID_CONTROL 17
#define ADAPTATION_DDP 1

#define STREAMS 65536
#define WINDOW 32768 /* DDP-SSNs in flight (RFC 5043 10) */
#define PRIVATE_MAX 512
#define QUEUES 3 /* of Sends, of Read Requests, of Terminates (RFC 5040 4.2) */
#define READS 64
#define LARGEST_SEND (4u << 20)
#define TAGGED_LEN (2 + 14) /* the DDP-SSN and the header */
#define UNTAGGED_LEN (2 + 18)
#define READ_REQUEST_LEN 28

/* The first octet of a DDP header (RFC 5041 4.1), and the second (RFC 5040 4.1). */
#define DDP_TAGGED 0x80
#define DDP_LAST 0x40
#define DDP_RESERVED 0x3c
#define DDP_VERSION 0x03
#define RDMAP_VERSION 0xc0
#define RDMAP_RESERVED 0x30
#define RDMAP_OPCODE 0x0f

/* The flags of RFC 6581 9: A in one field; B, C and D in the other. */
#define PEER_TO_PEER 0x80000000u
#define RTR_KINDS (RTR_SEND | RTR_WRITE | RTR_READ)

struct early {
	uint32_t ppid;
	size_t len;
	uint8_t data[];
};

struct pending_read {
	uint64_t to;
	uint32_t left;
};

enum state { INITIATED, OFFERED, OPEN, TURNED_DOWN };

struct session {
	uint16_t stream;
	enum state state;
	bool enhanced;
	bool sent_end, got_end;
	bool silent;  /* an RDMAP Terminate was sent: only the session's may follow */
	bool rtr_due; /* the peer's first segment must be an RTR indication */
	enum function answered;
	uint16_t tx_ssn, rx_ssn;
	uint32_t tx_msn[QUEUES], rx_msn[QUEUES];
	struct early **early; /* segments that came before their turn, by DDP-SSN */
	uint16_t ird, ord;
	uint8_t private_data[PRIVATE_MAX];
	size_t private_len;
	uint8_t *memory;
	uint32_t stag, memory_len;
	uint64_t to;
	struct message *part; /* a Send whose last segment has not come */
	struct message *first, **last;
	struct pending_read reads[READS];
	unsigned int read_first, read_count;
	struct end end;
};

struct iwarp_options iwarp;
enum stack_event association = STACK_NOTHING;

static struct session *current[STREAMS]; /* the latest session of each stream */
static bool dry;
static uint64_t received;
static uint8_t packet[65536];

/* ------------------------------------------------------------------ octets */

static uint8_t *put16(uint8_t *p, uint16_t v)
{
	*p++ = (uint8_t)(v >> 8);
	*p++ = (uint8_t)v;
	return p;
}

static uint8_t *put32(uint8_t *p, uint32_t v)
{
	return put16(put16(p, (uint16_t)(v >> 16)), (uint16_t)v);
}

static uint8_t *put64(uint8_t *p, uint64_t v)
{
	return put32(put32(p, (uint32_t)(v >> 32)), (uint32_t)v);
}

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static uint64_t get64(const uint8_t *p)
{
	return (uint64_t)get32(p) << 32 | get32(p + 4);
}

/* ------------------------------------------------------------------ sending */

static size_t segment_limit(void)
{
	static size_t whole;

	if (iwarp.segment)
		return iwarp.segment;
	if (!whole) /* asked once, since these tests are not about paths that change */
		whole = stack_whole();
	if (whole > sizeof(packet))
		return sizeof(packet);
	return whole;
}

static void transmit(struct session *s, uint32_t ppid, size_t len)
{
	put16(packet, s->tx_ssn++);
	/* SCTP takes no message when the association is ending; its end is an event of its own. */
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

static void tagged(struct session *s, enum opcode op, uint32_t stag, uint64_t to,
		   const uint8_t *data, size_t len)
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

/* ------------------------------------------------------------------ receiving */

#define wrong(s, what, ...)                                                                        \
	fail("stream %u, DDP-SSN %u: " what, (s)->stream, (uint16_t)((s)->rx_ssn - 1),             \
	     ##__VA_ARGS__)

static void take_enhanced(struct session *s, const uint8_t **p, size_t *len)
{
	if (*len < 4)
		wrong(s, "an enhanced message of %zu bytes", *len);
	s->ird = get16(*p) & 0x3fff;
	s->ord = get16(*p + 2) & 0x3fff;
	if (!iwarp.rtr != !(get32(*p) & PEER_TO_PEER) || (!iwarp.rtr && get32(*p) & RTR_KINDS) ||
	    (s->state == INITIATED && (get32(*p) & RTR_KINDS) != iwarp.rtr))
		wrong(s, "flags of the peer-to-peer model: %08x", get32(*p));
	*p += 4;
	*len -= 4;
}

static void on_control(struct session *s, const uint8_t *p, size_t len)
{
	enum function f = (enum function)get16(p);

	p += 2;
	len -= 2;
	if (len > PRIVATE_MAX)
		wrong(s, "private data of %zu bytes", len);
	if (f >= ENHANCED_INITIATE)
		take_enhanced(s, &p, &len);
	switch (f) {
	case INITIATE:
	case ENHANCED_INITIATE:
		if (s->state != OFFERED || s->rx_ssn != 1)
			wrong(s, "an Initiate inside of a session");
		s->enhanced = f == ENHANCED_INITIATE;
		break;
	case ACCEPT:
	case ENHANCED_ACCEPT:
	case REJECT:
	case ENHANCED_REJECT:
		if (s->state != INITIATED)
			wrong(s, "function code %u without an Initiate", f);
		if (s->enhanced != (f >= ENHANCED_INITIATE))
			wrong(s, "function code %u answers another kind of Initiate", f);
		s->answered = f;
		s->state = f == ACCEPT || f == ENHANCED_ACCEPT ? OPEN : TURNED_DOWN;
		break;
	case TERMINATE:
		if (len)
			wrong(s, "a Terminate with %zu bytes", len);
		s->got_end = true;
		if (s->state == INITIATED)
			s->answered = f;
		end_session(s);
		return;
	default:
		wrong(s, "function code %u", f);
	}
	memcpy(s->private_data, p, len);
	s->private_len = len;
}

static uint8_t *own_memory(struct session *s, uint32_t stag, uint64_t to, size_t len)
{
	if (!s->memory || stag != s->stag)
		wrong(s, "STag %08x is not ours", stag);
	if (to < s->to || to - s->to > s->memory_len || len > s->memory_len - (to - s->to))
		wrong(s, "TO %llx, %zu bytes are out of bounds", (unsigned long long)to, len);
	return s->memory + (to - s->to);
}

static void on_tagged(struct session *s, const uint8_t *p, size_t len)
{
	enum opcode op = p[1] & RDMAP_OPCODE;
	bool last = p[0] & DDP_LAST;
	uint32_t stag = get32(p + 2);
	uint64_t to = get64(p + 6);
	struct pending_read *r = &s->reads[s->read_first];

	p += 14;
	len -= 14;
	if (!len && !last)
		wrong(s, "an empty segment that is not the last");
	if (op == READ_RESPONSE) {
		if (!s->read_count)
			wrong(s, "a Read Response that nobody asked for");
		if (stag != s->stag || to != r->to || len > r->left || last != (len == r->left))
			wrong(s, "a Read Response of %zu bytes to %08x %llx%s, for %u to %llx", len,
			      stag, (unsigned long long)to, last ? ", the last" : "", r->left,
			      (unsigned long long)r->to);
		r->to += len;
		r->left -= (uint32_t)len;
		if (last) {
			s->read_first = (s->read_first + 1) % READS;
			s->read_count--;
		}
	} else if (op != WRITE) {
		wrong(s, "opcode %u in a tagged segment", op);
	}
	if (len) /* nobody looks at the STag of an empty one (RFC 5041 5.1) */
		memcpy(own_memory(s, stag, to, len), p, len);
}

static void on_send(struct session *s, enum opcode op, uint32_t inv, uint32_t mo, bool last,
		    const uint8_t *p, size_t len)
{
	struct message *m = s->part;

	if (op < SEND || op > SEND_SE_INV)
		wrong(s, "opcode %u on queue 0", op);
	if (inv && op != SEND_INV && op != SEND_SE_INV)
		wrong(s, "an STag in a Send without Invalidate");
	if (mo != (m ? m->len : 0) || (m && (m->opcode != op || m->invalidate != inv)))
		wrong(s, "MO %u does not continue a Send of which %zu bytes came", mo,
		      m ? m->len : 0);
	if (len > LARGEST_SEND - mo)
		wrong(s, "a Send of more than %u bytes", LARGEST_SEND);
	if (!m) { /* with room for the largest: pages that nobody touches cost nothing */
		m = malloc(sizeof(*m) + LARGEST_SEND);
		if (!m)
			fail("no memory");
		*m = (struct message){ .opcode = op, .invalidate = inv };
	}
	memcpy(m->data + mo, p, len);
	m->len += len;
	s->part = last ? NULL : m;
	if (!last)
		return;
	s->rx_msn[0]++;
	*s->last = m;
	s->last = &m->next;
}

static void on_read_request(struct session *s, const uint8_t *p, size_t len)
{
	uint32_t size = len >= 16 ? get32(p + 12) : 0;
	const uint8_t *source = packet; /* a Read of no bytes reads none of it */

	if (len != READ_REQUEST_LEN)
		wrong(s, "a Read Request of %zu bytes", len);
	s->rx_msn[1]++;
	if (size)
		source = own_memory(s, get32(p + 16), get64(p + 20), size);
	if (!s->silent && !s->sent_end)
		tagged(s, READ_RESPONSE, get32(p), get64(p + 4), source, size);
}

static void on_terminate(struct session *s, const uint8_t *p, size_t len)
{
	struct end *e = &s->end;
	bool is_tagged;

	if (e->came)
		wrong(s, "a second RDMAP Terminate");
	if (len < 4 || len > sizeof(e->bytes))
		wrong(s, "an RDMAP Terminate of %zu bytes", len);
	memcpy(e->bytes, p, len);
	p = e->bytes;
	e->came = true;
	e->layer = p[0] >> 4;
	e->type = p[0] & 15;
	e->code = p[1];
	e->has_length = p[2] & 0x80;
	e->has_ddp = p[2] & 0x40;
	e->has_rdmap = p[2] & 0x20;
	if ((p[2] & 0x1f) || p[3])
		wrong(s, "reserved bits in an RDMAP Terminate: %02x%02x", p[2], p[3]);
	p += 4;
	len -= 4;
	if (e->has_ddp) {
		if (!e->has_length || len < 2 + 14)
			wrong(s, "an RDMAP Terminate with a DDP header is too short");
		e->length = get16(p);
		e->ddp = p + 2;
		is_tagged = e->ddp[0] & DDP_TAGGED;
		if (len < (is_tagged ? 16u : 20u))
			wrong(s, "an RDMAP Terminate with a DDP header is too short");
		p += is_tagged ? 16 : 20;
		len -= is_tagged ? 16 : 20;
	}
	if (e->has_rdmap) {
		if (len < READ_REQUEST_LEN)
			wrong(s, "an RDMAP Terminate with a Read Request is too short");
		e->rdmap = p;
		len -= READ_REQUEST_LEN;
	}
	if (len)
		wrong(s, "an RDMAP Terminate with %zu bytes behind it", len);
	s->rx_msn[2]++;
}

static void on_untagged(struct session *s, const uint8_t *p, size_t len)
{
	enum opcode op = p[1] & RDMAP_OPCODE;
	bool last = p[0] & DDP_LAST;
	uint32_t inv = get32(p + 2), qn = get32(p + 6), msn = get32(p + 10), mo = get32(p + 14);

	if (qn >= QUEUES)
		wrong(s, "queue %u", qn);
	if (msn != s->rx_msn[qn])
		wrong(s, "queue %u: MSN %u, expected %u", qn, msn, s->rx_msn[qn]);
	p += 18;
	len -= 18;
	if (qn == 0) {
		on_send(s, op, inv, mo, last, p, len);
		return;
	}
	if (mo || !last || inv)
		wrong(s, "queue %u: MO %u, STag %08x%s", qn, mo, inv, last ? "" : ", not the last");
	if (qn == 1 && op == READ_REQUEST)
		on_read_request(s, p, len);
	else if (qn == 2 && op == RDMAP_TERMINATE)
		on_terminate(s, p, len);
	else
		wrong(s, "opcode %u on queue %u", op, qn);
}

/* Checks the peer's RTR indication (RFC 6581 9.2). */
static bool is_rtr(const uint8_t *p, size_t len)
{
	if (iwarp.rtr == RTR_WRITE)
		return p[0] == 0xc1 && p[1] == (0x40 | WRITE) && len == 14;
	if (iwarp.rtr == RTR_READ)
		return p[0] == 0x41 && p[1] == (0x40 | READ_REQUEST) &&
		       len == 18 + READ_REQUEST_LEN && !get32(p + 18 + 12);
	return p[0] == 0x41 && p[1] == (0x40 | SEND) && len == 18 && get32(p + 10) == 1;
}

static void on_segment(struct session *s, const uint8_t *p, size_t len)
{
	if (s->state != OPEN)
		wrong(s, "a segment outside of a session");
	if (len < 14 || (!(p[0] & DDP_TAGGED) && len < 18))
		wrong(s, "a segment of %zu bytes", len);
	if ((p[0] & DDP_VERSION) != 1 || (p[0] & DDP_RESERVED))
		wrong(s, "DDP control %02x", p[0]);
	if ((p[1] & RDMAP_VERSION) != 0x40 || (p[1] & RDMAP_RESERVED))
		wrong(s, "RDMAP control %02x", p[1]);
	if (s->end.came)
		wrong(s, "a segment behind an RDMAP Terminate");
	if (s->rtr_due && p[1] != (0x40 | RDMAP_TERMINATE)) {
		if (!is_rtr(p, len))
			wrong(s, "%02x %02x is not the RTR indication", p[0], p[1]);
		s->rtr_due = false;
		if (iwarp.rtr == RTR_SEND) { /* the application never sees this Send */
			s->rx_msn[0]++;
			return;
		}
	}
	if (p[0] & DDP_TAGGED)
		on_tagged(s, p, len);
	else
		on_untagged(s, p, len);
}

static void process(struct session *s, uint32_t ppid, const uint8_t *p, size_t len)
{
	s->rx_ssn++;
	if (s->got_end)
		wrong(s, "a message behind the session's Terminate");
	if (ppid == PPID_CONTROL)
		on_control(s, p + 2, len - 2);
	else if (ppid == PPID_SEGMENT)
		on_segment(s, p + 2, len - 2);
	else
		wrong(s, "payload protocol %u", ppid);
}

static struct session *new_session(uint16_t stream)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		fail("no memory");
	s->early = calloc(STREAMS, sizeof(*s->early));
	if (!s->early)
		fail("no memory");
	s->stream = stream;
	s->last = &s->first;
	for (unsigned int i = 0; i < QUEUES; i++)
		s->tx_msn[i] = s->rx_msn[i] = 1;
	current[stream] = s;
	return s;
}

static void keep(struct session *s, uint16_t ssn, const struct stack_message *m)
{
	struct early *e = malloc(sizeof(*e) + m->len);

	if (!e)
		fail("no memory");
	if (s->early[ssn])
		fail("stream %u: DDP-SSN %u twice", s->stream, ssn);
	e->ppid = m->ppid;
	e->len = m->len;
	memcpy(e->data, m->data, m->len);
	s->early[ssn] = e;
}

static void on_message(const struct stack_message *m)
{
	struct session *s = current[m->stream];
	struct early *e;
	uint16_t ssn;

	received += m->len;
	if (!m->unordered)
		fail("stream %u: an ordered message (RFC 5043 10)", m->stream);
	if (m->len < 4)
		fail("stream %u: a message of %zu bytes", m->stream, m->len);
	if (!s || (s->got_end && s->sent_end) || s->state == TURNED_DOWN) {
		s = new_session(m->stream);
		s->state = OFFERED;
	}
	ssn = get16(m->data);
	if ((uint16_t)(ssn - s->rx_ssn) >= WINDOW)
		fail("stream %u: DDP-SSN %u, expected %u", m->stream, ssn, s->rx_ssn);
	if (ssn != s->rx_ssn) {
		keep(s, ssn, m);
		return;
	}
	process(s, m->ppid, m->data, m->len);
	while ((e = s->early[s->rx_ssn])) {
		s->early[s->rx_ssn] = NULL;
		process(s, e->ppid, e->data, e->len);
		free(e);
	}
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
	/* The adaptation indication is the event behind COMM_UP. */
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
		if (now() > end)
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
	/* If a SACK was lost, the SHUTDOWN of a peer that leaves acknowledges as well. */
	await(dry || is_shut(), "acknowledgements of all");
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
