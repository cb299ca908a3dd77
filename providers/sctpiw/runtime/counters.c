/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "runtime/counters.h"

#include <errno.h>
#include <string.h>

#include "net/port.h"
#include "runtime/shard.h"
#include "sctp/sctp.h"
#include "wire/rdmap.h"

struct counts {
	struct conn_traffic traffic;
	struct port_attr port;
	struct sctp_stats sctp;
	struct iw_stats iw;
	struct iw_ud_stats ud;
	uint64_t words_in, words_out; /* of 4 bytes, the unit of port_rcv_data and port_xmit_data */
	uint64_t sends_in, sends_out;
};

/*
 * First the names of InfiniBand, in counters/. Then those in hw_counters/: of packets as rxe has
 * them, of iWARP as irdma has them, and our own.
 */
#define AT(field) offsetof(struct counts, field)

static const struct {
	const char *name;
	size_t offset;
} counters[] = {
	{ "link_downed", AT(port.downs) },
	{ "port_rcv_data", AT(words_in) },
	{ "port_rcv_errors", AT(sctp.bad_packets) },
	{ "port_rcv_packets", AT(traffic.packets_in) },
	{ "port_xmit_data", AT(words_out) },
	{ "port_xmit_packets", AT(traffic.packets_out) },
	{ "port_xmit_wait", AT(traffic.waits) },
	{ "unicast_rcv_packets", AT(traffic.packets_in) },
	{ "unicast_xmit_packets", AT(traffic.packets_out) },

	{ "rcvd_pkts", AT(traffic.packets_in) },
	{ "sent_pkts", AT(traffic.packets_out) },
	{ "iwInRdmaReads", AT(iw.in[RDMAP_READ_REQUEST]) },
	{ "iwInRdmaSends", AT(sends_in) },
	{ "iwInRdmaWrites", AT(iw.in[RDMAP_WRITE]) },
	{ "iwOutRdmaReads", AT(iw.out[RDMAP_READ_REQUEST]) },
	{ "iwOutRdmaSends", AT(sends_out) },
	{ "iwOutRdmaWrites", AT(iw.out[RDMAP_WRITE]) },
	{ "sessions", AT(iw.sessions) },
	{ "sends_held", AT(iw.unexpected) },
	{ "uc_dropped_access", AT(iw.uc.access) },
	{ "uc_dropped_no_receive", AT(iw.uc.no_receive) },
	{ "uc_dropped_opcode", AT(iw.uc.bad_opcode) },
	{ "uc_dropped_too_long", AT(iw.uc.too_long) },
	{ "ud_bad_qkey", AT(ud.bad_qkey) },
	{ "ud_malformed", AT(ud.malformed) },
	{ "ud_no_qp", AT(ud.no_qp) },
	{ "ud_no_receive", AT(ud.no_receive) },
	{ "ud_received", AT(ud.received) },
	{ "ud_sent", AT(ud.sent) },
	{ "ud_too_long", AT(ud.too_long) },
	{ "path_sockets", AT(traffic.path_sockets) },
	{ "path_sends", AT(traffic.path_sends) },
	{ "dtls_handshakes", AT(traffic.dtls.handshakes) },
	{ "dtls_refused", AT(traffic.dtls.refused) },
	{ "dtls_bad_records", AT(traffic.dtls.bad_records) },
	{ "dtls_replays", AT(traffic.dtls.replays) },
	{ "terminates_rcvd", AT(iw.in[RDMAP_TERMINATE]) },
	{ "terminates_sent", AT(iw.out[RDMAP_TERMINATE]) },
	{ "sctp_aborts_rcvd", AT(sctp.aborts_in) },
	{ "sctp_aborts_sent", AT(sctp.aborts_out) },
	{ "sctp_associations", AT(sctp.up) },
	{ "sctp_bad_packets", AT(sctp.bad_packets) },
	{ "sctp_duplicates", AT(sctp.duplicates) },
	{ "sctp_probes", AT(sctp.probes) },
	{ "sctp_retransmissions", AT(sctp.resent) },
	{ "sctp_timeouts", AT(sctp.timeouts) },
};

#define N_COUNTERS (sizeof(counters) / sizeof(counters[0]))

static uint64_t sends(const uint64_t *by_opcode)
{
	return by_opcode[RDMAP_SEND] + by_opcode[RDMAP_SEND_INV] + by_opcode[RDMAP_SEND_SE] +
	       by_opcode[RDMAP_SEND_SE_INV];
}

static void collect(struct shard *s, struct counts *c)
{
	memset(c, 0, sizeof(*c));
	port_query(&c->port);
	shard_lock(s);
	c->traffic = s->conn.traffic;
	c->iw = *iw_stats(s->conn.iw);
	c->ud = *iw_ud_stats(s->conn.iw);
	conn_sctp_stats(&s->conn, &c->sctp);
	shard_unlock(s);
	c->words_in = c->traffic.bytes_in / 4;
	c->words_out = c->traffic.bytes_out / 4;
	c->sends_in = sends(c->iw.in);
	c->sends_out = sends(c->iw.out);
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
