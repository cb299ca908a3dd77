/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Checks all messages of the peer, and answers Read Requests and session Terminates. */
#include <arpa/inet.h>
#include <string.h>

#include "iwarp_session.h"
#include "report.h"

struct session *current[STREAMS];
uint64_t received;

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
	if (len) /* an empty segment's STag is ignored (RFC 5041 5.1) */
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
	if (!m) { /* room for the largest: untouched pages cost nothing */
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
	const uint8_t *source = (const uint8_t *)""; /* for a Read of no bytes */

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
	if (s->end.came) {
		/*
		 * A flushed message is sent again as this Terminate. Later messages had left
		 * before, and the stream is over.
		 */
		if (s->end.layer || s->end.type)
			wrong(s, "a segment behind an RDMAP Terminate");
		return;
	}
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

struct session *new_session(uint16_t stream)
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

void on_message(const struct stack_message *m)
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
