/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A user that references the ends of its messages, above sctp_peer.h: their memory is a page each, which can be changed or
 * taken away at any time, and what leaves is compared with what was there.
 */
#ifndef TESTS_SCTP_ZCOPY_USER_H
#define TESTS_SCTP_ZCOPY_USER_H

#include <sys/mman.h>

#include "sctp_peer.h"
#include "util/crc32c.h"

#define SLOTS 32u
#define SLOT_SIZE 4096u
#define MESSAGES 8192u
#define REFERENCED 1400u
#define WHOLE 1444u /* a packet of its own */
#define GAP_BYTE 0xee
#define HEAD 7 /* the version of what is not referenced */

/* The user: its messages, in order, and what was asked of it. */
static struct user {
	struct message {
		uint16_t sid;
		uint32_t len, ref;
		uint32_t window; /* zcopy_window, when it was pulled */
	} m[MESSAGES];
	unsigned int said, pulled, checksums, fills;
	unsigned int filled[SLOTS];
	unsigned int slot_of[SLOTS]; /* the message that uses it */
	unsigned int fails;	     /* this call of checksum() does */
	unsigned int copy_outs;	     /* the user wants all memory back before it says this message; 0: never */
	bool gone;		     /* fill() finds nothing any more */
} u;

/* Of what was sent. */
static struct packet *reading;
static const uint8_t *reading_at;

static uint8_t *slots; /* a page each: it can be forbidden to read one */

static inline uint8_t *memory(unsigned int k)
{
	return slots + k % SLOTS * SLOT_SIZE + k % 8;
}

static inline uint8_t byte_of(unsigned int k, size_t i, unsigned int version)
{
	return (uint8_t)(k % SLOTS * 37 + i * 11 + (i >> 8) + version * 101);
}

static inline void change(unsigned int k, unsigned int version)
{
	for (size_t i = 0; i < SLOT_SIZE - 8; i++)
		memory(k)[i] = byte_of(k, i, version);
}

/* Whoever reads the memory of message k from now on crashes. */
static inline void forbid(unsigned int k)
{
	assert_int_equal(mprotect(slots + k % SLOTS * SLOT_SIZE, SLOT_SIZE, PROT_NONE), 0);
}

static inline void forbid_all(void)
{
	assert_int_equal(mprotect(slots, SLOTS * SLOT_SIZE, PROT_NONE), 0);
}

static inline size_t pull_referenced(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg)
{
	struct message *m = &u.m[u.pulled];
	unsigned int k = u.pulled;
	size_t head = m->len - m->ref;

	assert_null(msg->ref);
	if (u.pulled == u.said || room < m->len)
		return 0;
	if (k && k == u.copy_outs)
		sctp_assoc_copy_out(f.a, -1);
	u.pulled++;
	m->window = msg->zcopy_window;
	for (size_t i = 0; i < head; i++)
		buf[i] = byte_of(k, i, HEAD);
	msg->sid = m->sid;
	msg->ppid = 16;
	msg->more = u.pulled < u.said;
	if (!m->ref)
		return m->len;
	if (!msg->zcopy_window) {
		memcpy(buf + head, memory(k), m->ref);
		return m->len;
	}
	memset(buf + head, GAP_BYTE, m->ref);
	u.slot_of[k % SLOTS] = k;
	msg->ref = memory(k);
	msg->ref_len = m->ref;
	return m->len;
}

static inline bool checksum(uint32_t *crc, const uint8_t *from, size_t len)
{
	if (++u.checksums == u.fails)
		return false;
	*crc = crc32c_add(*crc, from, len);
	return true;
}

static inline void fill(uint8_t *msg, uint8_t *to, const uint8_t *from, size_t len)
{
	unsigned int k = u.slot_of[(size_t)(from - slots) / SLOT_SIZE];

	assert_ptr_equal(from, memory(k));
	assert_int_equal(len, u.m[k].ref);
	assert_int_equal(to - msg, u.m[k].len - u.m[k].ref);
	assert_true(to == msg || msg[0] == byte_of(k, 0, HEAD));
	u.fills++;
	u.filled[k % SLOTS]++;
	if (u.gone) {
		memset(to, 0, len);
		msg[0] ^= 0xff;
	} else {
		memcpy(to, from, len);
	}
}

static inline void setup_memory(void)
{
	assert_int_equal(mprotect(slots, SLOTS * SLOT_SIZE, PROT_READ | PROT_WRITE), 0);
	for (unsigned int k = 0; k < SLOTS; k++)
		change(k, 0);
}

static inline int setup_zcopy(void **state)
{
	static const struct sctp_user_ops ops = {pull_referenced, checksum, fill};

	setup(state);
	f.s->ops = ops;
	memset(&u, 0, sizeof(u));
	reading = NULL;
	if (!slots)
		slots = mmap(NULL, SLOTS * SLOT_SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(slots, MAP_FAILED);
	setup_memory();
	return 0;
}

/* cwnd is none of this program's business, unless it says so. */
static inline void wide(void)
{
	f.a->path.cc.cwnd = 1000000;
	f.a->path.cc.pristine = false;
}

static inline void establish_wide(void)
{
	establish();
	wide();
}

static inline void say(unsigned int n, uint16_t sid, uint32_t len, uint32_t ref)
{
	assert_true(u.said + n <= MESSAGES);
	while (n--)
		u.m[u.said++] = (struct message){.sid = sid, .len = len, .ref = ref};
}

static inline void send_said(void)
{
	sctp_assoc_doorbell(f.a);
	collect();
}

/* The first n messages, a packet each, on stream 3. */
static inline void establish_and_reference(unsigned int n)
{
	establish_wide();
	say(n, 3, WHOLE, REFERENCED);
	send_said();
}

/* Its time has come; nothing is sent yet. */
static inline void expire(enum sctp_timer timer)
{
	f.now = f.a->timers[timer];
	sctp_timers(f.s, f.now);
}

/* What the scripted packet brings, and nothing is sent yet. */
static inline void receive(void)
{
	wire_sctp_checksum_put(f.buf, f.len);
	sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
}

/* All before message k arrived, and, if gap is not 0, those from k + gap to k + gap_end. */
static inline void script_sack(unsigned int k, uint16_t gap, uint16_t gap_end)
{
	const struct wire_sctp_gap block = {(uint16_t)(gap + 1), (uint16_t)(gap_end + 1)};

	begin();
	add_sack(f.their_tsn + k - 1, 4000000, &block, gap ? 1 : 0);
}

static inline void sack(unsigned int k, uint16_t gap, uint16_t gap_end)
{
	script_sack(k, gap, gap_end);
	sendp();
}

/* Message k is lost, and the `run` behind it as well; the 3 * run behind those are not. Nothing is sent yet. */
static inline void lose(unsigned int k, uint16_t run)
{
	f.now += 10 * MSEC;
	sack(k, run, (uint16_t)(2 * run - 1));
	sack(k, run, (uint16_t)(3 * run - 1));
	assert_int_equal(f.a->lost, 0);
	nothing();
	script_sack(k, run, (uint16_t)(4 * run - 1));
	receive();
	assert_int_equal(f.a->lost, run);
}

/* The next DATA chunk that was sent; padding points behind it. */
static inline bool next_data(struct wire_sctp_data *d, const uint8_t **padding)
{
	struct wire_sctp_chunk c;

	for (;;) {
		while (reading && wire_sctp_chunk_next(&reading_at, reading->data + reading->len, &c)) {
			if (c.type != WIRE_SCTP_DATA)
				continue;
			assert_true(wire_sctp_data_get(&c, d));
			*padding = c.raw + c.len;
			return true;
		}
		reading = take();
		if (!reading)
			return false;
		reading_at = reading->data + WIRE_SCTP_COMMON_LEN;
	}
}

static inline void drop(void)
{
	drop_all();
	reading = NULL;
}

/* The next one is message k, and what is referenced of it is of this version. */
static inline void expect(unsigned int k, unsigned int version)
{
	const struct message *m = &u.m[k];
	struct wire_sctp_data d = { 0 };
	const uint8_t *padding = NULL;

	assert_true(next_data(&d, &padding));
	assert_int_equal(d.tsn, f.their_tsn + k);
	assert_int_equal(d.sid, m->sid);
	assert_int_equal(d.len, m->len);
	for (uint32_t i = 0; i < m->len; i++)
		assert_int_equal(d.data[i], i < m->len - m->ref ?
						    byte_of(k, i, HEAD) :
						    byte_of(k, i - (m->len - m->ref), version));
	for (; (padding - d.data) % 4; padding++)
		assert_int_equal(*padding, 0);
}

static inline void expect_range(unsigned int from, unsigned int to, unsigned int version)
{
	for (; from < to; from++)
		expect(from, version);
}

static inline void expect_no_more(void)
{
	struct wire_sctp_data d = { 0 };
	const uint8_t *padding = NULL;

	collect();
	assert_false(next_data(&d, &padding));
}

/* The next batch of the one association, in the hands of the test. */
static inline struct sctp_batch output(void)
{
	struct sctp_batch b;
	struct sctp_assoc *a;

	sctp_assoc_doorbell(f.a);
	a = sctp_next_ready(f.s);
	assert_ptr_equal(a, f.a);
	assert_int_equal(sctp_output(a, f.now, &b), 1);
	return b;
}

/* One that the test is done with is in the way of all others. */
static inline void leave(struct sctp_batch *b)
{
	for (size_t at = 0; at < b->len; at += b->segment) {
		struct packet *p = &f.out[f.tail++ % PACKETS];

		p->len = b->len - at < b->segment ? b->len - at : b->segment;
		p->df = b->df;
		assemble(b, p->data, b->data + at, p->len);
		assert_true(wire_sctp_checksum_ok(p->data, p->len));
	}
	sctp_batch_done(f.s, b);
}

#define ZCOPY_TEST(name) cmocka_unit_test_setup_teardown(name, setup_zcopy, teardown)

#endif
