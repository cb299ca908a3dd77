/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "runtime/counters.h"

#include <errno.h>
#include <string.h>

#include "conn/inspect.h"
#include "net/port.h"
#include "runtime/rnic.h"
#include "wire/rdmap.h"

struct counts {
	struct counters_sum sum;
	struct port_attr port;
	uint64_t words_in, words_out; /* in units of 4 bytes, as port_rcv_data and port_xmit_data */
	uint64_t sends_in, sends_out;
};

/*
 * The first rows are the files of counters/, with InfiniBand's names. The other rows are the files
 * of hw_counters/. Their names follow rxe for packets and irdma for iWARP; the rest are sctpiw's
 * own.
 */
#define AT(field) offsetof(struct counts, field)

static const struct {
	const char *name;
	size_t offset;
} counters[] = {
	{ "link_downed", AT(port.downs) },
	{ "port_rcv_data", AT(words_in) },
	{ "port_rcv_errors", AT(sum.sctp.bad_packets) },
	{ "port_rcv_packets", AT(sum.traffic.packets_in) },
	{ "port_xmit_data", AT(words_out) },
	{ "port_xmit_packets", AT(sum.traffic.packets_out) },
	{ "port_xmit_wait", AT(sum.traffic.waits) },
	{ "unicast_rcv_packets", AT(sum.traffic.packets_in) },
	{ "unicast_xmit_packets", AT(sum.traffic.packets_out) },

	{ "rcvd_pkts", AT(sum.traffic.packets_in) },
	{ "sent_pkts", AT(sum.traffic.packets_out) },
	{ "iwInRdmaReads", AT(sum.iw.in[RDMAP_READ_REQUEST]) },
	{ "iwInRdmaSends", AT(sends_in) },
	{ "iwInRdmaWrites", AT(sum.iw.in[RDMAP_WRITE]) },
	{ "iwOutRdmaReads", AT(sum.iw.out[RDMAP_READ_REQUEST]) },
	{ "iwOutRdmaSends", AT(sends_out) },
	{ "iwOutRdmaWrites", AT(sum.iw.out[RDMAP_WRITE]) },
	{ "sessions", AT(sum.iw.sessions) },
	{ "sends_held", AT(sum.iw.unexpected) },
	{ "uc_dropped_access", AT(sum.iw.uc.access) },
	{ "uc_dropped_no_receive", AT(sum.iw.uc.no_receive) },
	{ "uc_dropped_opcode", AT(sum.iw.uc.bad_opcode) },
	{ "uc_dropped_too_long", AT(sum.iw.uc.too_long) },
	{ "ud_bad_qkey", AT(sum.ud.bad_qkey) },
	{ "ud_malformed", AT(sum.ud.malformed) },
	{ "ud_no_qp", AT(sum.ud.no_qp) },
	{ "ud_no_receive", AT(sum.ud.no_receive) },
	{ "ud_received", AT(sum.ud.received) },
	{ "ud_sent", AT(sum.ud.sent) },
	{ "ud_too_long", AT(sum.ud.too_long) },
	{ "path_sockets", AT(sum.traffic.path_sockets) },
	{ "path_sends", AT(sum.traffic.path_sends) },
	{ "dtls_handshakes", AT(sum.traffic.dtls.handshakes) },
	{ "dtls_refused", AT(sum.traffic.dtls.refused) },
	{ "dtls_bad_records", AT(sum.traffic.dtls.bad_records) },
	{ "dtls_replays", AT(sum.traffic.dtls.replays) },
	{ "terminates_rcvd", AT(sum.iw.in[RDMAP_TERMINATE]) },
	{ "terminates_sent", AT(sum.iw.out[RDMAP_TERMINATE]) },
	{ "sctp_aborts_rcvd", AT(sum.sctp.aborts_in) },
	{ "sctp_aborts_sent", AT(sum.sctp.aborts_out) },
	{ "sctp_associations", AT(sum.sctp.up) },
	{ "sctp_bad_packets", AT(sum.sctp.bad_packets) },
	{ "sctp_duplicates", AT(sum.sctp.duplicates) },
	{ "sctp_probes", AT(sum.sctp.probes) },
	{ "sctp_retransmissions", AT(sum.sctp.resent) },
	{ "sctp_timeouts", AT(sum.sctp.timeouts) },
};

#define N_COUNTERS (sizeof(counters) / sizeof(counters[0]))

static uint64_t sends(const uint64_t *by_opcode)
{
	return by_opcode[RDMAP_SEND] + by_opcode[RDMAP_SEND_INV] + by_opcode[RDMAP_SEND_SE] +
	       by_opcode[RDMAP_SEND_SE_INV];
}

/* Adds the struct `what` to the struct `to`. Both consist of 64-bit numbers only. */
static void add(void *to, const void *what, size_t len)
{
	uint64_t *sum = to;
	const uint64_t *more = what;

	for (size_t i = 0; i < len / sizeof(*sum); i++)
		sum[i] += more[i];
}

static void add_shard(struct shard *s, struct counters_sum *sum)
{
	uint64_t first = sum->iw.first_use, last = sum->iw.last_use;
	const struct iw_stats *iw = iw_stats(s->conn.iw);
	struct sctp_stats sctp;

	conn_sctp_stats(&s->conn, &sctp);
	add(&sum->traffic, &s->conn.traffic, sizeof(sum->traffic));
	add(&sum->sctp, &sctp, sizeof(sum->sctp));
	add(&sum->iw, iw, sizeof(sum->iw));
	add(&sum->ud, iw_ud_stats(s->conn.iw), sizeof(sum->ud));
	/* first_use and last_use are times: use the minimum and the maximum, not the sum. */
	sum->iw.first_use = first && (!iw->first_use || first < iw->first_use) ? first :
										 iw->first_use;
	sum->iw.last_use = last > iw->last_use ? last : iw->last_use;
	sum->assocs += conn_count_assocs(&s->conn);
}

void counters_add(struct rnic *r, struct counters_sum *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (unsigned int i = 0; i < r->n_shards; i++)
		add_shard(rnic_shard(r, i), sum);
}

static void collect(struct shard *s, struct counts *c)
{
	memset(c, 0, sizeof(*c));
	port_query(&c->port);
	rnic_lock(s->rnic);
	counters_add(s->rnic, &c->sum);
	rnic_unlock(s->rnic);
	c->words_in = c->sum.traffic.bytes_in / 4;
	c->words_out = c->sum.traffic.bytes_out / 4;
	c->sends_in = sends(c->sum.iw.in);
	c->sends_out = sends(c->sum.iw.out);
}

static uint64_t value_of(const struct counts *c, size_t i)
{
	uint64_t value;

	memcpy(&value, (const char *)c + counters[i].offset, sizeof(value));
	return value;
}

int counters_get(struct shard *s, const char *name, uint64_t *value)
{
	struct counts c;

	for (size_t i = 0; i < N_COUNTERS; i++) {
		if (strcmp(counters[i].name, name))
			continue;
		collect(s, &c);
		*value = value_of(&c, i);
		return 0;
	}
	return -ENOENT;
}

void counters_all(struct shard *s, void (*each)(void *ctx, const char *name, uint64_t value),
		  void *ctx)
{
	struct counts c;

	collect(s, &c);
	for (size_t i = 0; i < N_COUNTERS; i++)
		each(ctx, counters[i].name, value_of(&c, i));
}
