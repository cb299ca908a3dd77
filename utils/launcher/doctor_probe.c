/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Measures UDP to HOST and back: reachability, losses, path MTU and rate. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/doctor.h"
#include "launcher/doctor_guest.h"
#include "launcher/doctor_report.h"
#include "sys/sys.h"
#include "util/sockaddr.h"

#define PROBES 200
#define PROBE_LEN 200 /* bytes of a UDP payload */
#define PROBE_SPACE NSEC_PER_MSEC
#define LAST_PATIENCE NSEC_PER_SEC /* ns; if no echo arrives for this time, the others are lost */
#define MTU_TRIES 3
#define MTU_GRACE (20 * NSEC_PER_MSEC)
#define MTU_STEP 8	 /* maximum error of the MTU search in bytes */
#define PACKET_MAX 65535 /* maximum size of an IP packet in bytes */
#define IPV4_OVERHEAD 28 /* bytes of the IP and UDP headers */
#define IPV6_OVERHEAD 48
#define RATE_TIME (300 * NSEC_PER_MSEC)
/* maximum number of bytes in flight, which fit into any socket's buffer */
#define RATE_FLIGHT 65536
#define RATE_PACKETS 32

/* ---- reachability ---- */

/* Reports the meaning of an error of the network. */
static void explain_error(const struct doctor *d, int error)
{
	char remedy[128];

	switch (error) {
	case -EPERM:
		doctor_failure("nft list ruleset, or iptables -L OUTPUT, shows the rule",
			       "this host's own firewall lets no UDP out to %s", d->host);
		break;
	case -ECONNREFUSED:
		snprintf(remedy, sizeof(remedy),
			 "start the server there, or sctpiw doctor --listen %u", d->port);
		doctor_failure(remedy, "%s is reached, but nobody listens on its UDP port %u",
			       d->host, d->port);
		break;
	default:
		doctor_failure("see to the route, and to firewalls that reject UDP",
			       "UDP to %s, port %u: %s", d->host, d->port, strerror(-error));
	}
}

/* Reports why there are no answers. TCP to the same port may show the cause. */
static void explain_silence(const struct doctor *d)
{
	int heard = doctor_guest_ask_tcp((const struct sockaddr *)&d->peer);
	char remedy[160];

	if (heard > 0) {
		doctor_number("arrived", heard);
		doctor_failure(
			"let UDP out there, and in here: the answers are to this host's ephemeral "
			"ports",
			"UDP arrives at %s, port %u, but its answers do not come back", d->host,
			d->port);
		return;
	}
	if (!heard) {
		doctor_number("arrived", 0);
		snprintf(remedy, sizeof(remedy), "let UDP port %u in there, and UDP out here",
			 d->port);
		doctor_failure(remedy, "UDP does not arrive at %s, port %u, which listens", d->host,
			       d->port);
		return;
	}
	snprintf(remedy, sizeof(remedy),
		 "let UDP port %u in there, and start the server, or sctpiw doctor --listen %u",
		 d->port, d->port);
	if (heard == -ECONNREFUSED || heard == -EPROTO)
		doctor_failure(
			remedy,
			"%s does not answer on UDP port %u; the host is up, since its TCP answers",
			d->host, d->port);
	else
		doctor_failure(remedy, "%s answers neither on UDP port %u nor on TCP: %s", d->host,
			       d->port, strerror(-heard));
}

/* ---- what is lost ---- */

struct tally {
	unsigned int sent, echoed;
	unsigned int overtaken;	 /* number of echoes that arrived after the echo of a later probe */
	uint32_t first, highest; /* sequence numbers of probes */
	uint64_t sent_at[PROBES], round_trip[PROBES];
};

static void take_echo(struct tally *t, const struct doctor_message *m)
{
	uint32_t i = m->sequence - t->first;

	if (i >= PROBES || t->echoed == PROBES)
		return;
	t->round_trip[t->echoed++] = sys_now() - t->sent_at[i];
	if (m->sequence < t->highest)
		t->overtaken++;
	else
		t->highest = m->sequence;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Sends all probes, one per millisecond, and receives their echoes. Ends when no echo has arrived
 * for LAST_PATIENCE.
 */
static void send_probes(struct doctor_probe *p, struct tally *t)
{
	struct doctor_message m;
	uint64_t next = sys_now();

	t->first = p->mine.sequence + 1;
	while (t->sent < PROBES) {
		t->sent_at[t->sent++] = sys_now();
		doctor_guest_probe(p, PROBE_LEN);
		next += PROBE_SPACE;
		while (doctor_guest_wait(p, DOCTOR_ECHO, next, &m) > 0)
			take_echo(t, &m);
	}
	while (t->echoed < PROBES &&
	       doctor_guest_wait(p, DOCTOR_ECHO, sys_now() + LAST_PATIENCE, &m) > 0)
		take_echo(t, &m);
}

/* Reports losses. Returns true if at least one echo arrived. */
static bool say_lost(struct tally *t, const struct doctor_message *count)
{
	unsigned int lost_there = count->received < t->sent ? t->sent - count->received : 0;
	unsigned int lost_back = count->received > t->echoed ? count->received - t->echoed : 0;
	const uint64_t *median = &t->round_trip[t->echoed / 2];
	double middle = 0; /* median of the round trips, us */

	qsort(t->round_trip, t->echoed, sizeof(t->round_trip[0]), by_size);
	if (t->echoed)
		middle = (double)*median / 1000;
	doctor_number("sent", t->sent);
	doctor_number("lost_there", lost_there);
	doctor_number("lost_back", lost_back);
	doctor_number("overtaken_there", count->overtaken);
	doctor_number("overtaken_back", t->overtaken);
	doctor_number("round_trip_us", middle);
	if (!t->echoed)
		doctor_failure("see whether a firewall limits the rate or length of UDP",
			       "of %u datagrams %u were lost on the way there, and the others back",
			       t->sent, lost_there);
	else if (lost_there || lost_back)
		doctor_warning(
			"lost packets are sent again, which costs time",
			"of %u datagrams %u were lost on the way there, and %u back; a round "
			"trip takes %.0f us",
			t->sent, lost_there, lost_back, middle);
	else
		doctor_ok(
			"%u datagrams passed, there and back; %u and %u were overtaken; a round trip "
			"takes %.0f us",
			t->sent, count->overtaken, t->overtaken, middle);
	return t->echoed;
}

void doctor_probe(struct doctor *d)
{
	static struct doctor_probe p;
	static struct tally t;
	struct doctor_message count;
	int ret;

	if (d->has_process) {
		doctor_ok(
			"packets pass, there and back; sctpiw doctor --listen in the place of that "
			"program would measure losses, path MTU and rate");
		return;
	}
	ret = doctor_guest_greet(&p, (struct sockaddr *)&d->peer);
	if (ret == -ETIMEDOUT)
		explain_silence(d);
	else if (ret)
		explain_error(d, ret);
	if (ret) {
		sys_close(p.fd);
		return;
	}
	if (d->has_settings && d->settings.config.carrier != CONFIG_CARRIER_UDP)
		doctor_warning("firewalls have to let IP protocol 132 pass",
			       "this probe is UDP, and does not test the packets of llp on IP");
	ret = doctor_guest_segments(&p);
	if (ret)
		doctor_warning(
			"see to checksum offload of the interface: ethtool -K DEV tx on",
			"this route takes no UDP segments, so that each packet costs a system "
			"call: %s",
			strerror(-ret));
	send_probes(&p, &t);
	if (!doctor_guest_count(&p, &count))
		doctor_failure("see to the link, and whether a firewall limits the rate of UDP",
			       "%s has ceased to answer", d->host);
	else if (say_lost(&t, &count))
		d->probe = &p;
}

/* ---- path MTU ---- */

static unsigned int overhead(const struct doctor *d)
{
	struct ip_addr ip = sockaddr_ip((const struct sockaddr *)&d->peer);

	return ip_addr_is_v4(&ip) ? IPV4_OVERHEAD : IPV6_OVERHEAD;
}

/*
 * True if an IP packet of this size reaches HOST, and its echo returns. A short probe is sent
 * directly after the packet. If only the short probe returns, and the packet does not return soon
 * afterwards, the packet is lost.
 */
static bool passes(const struct doctor *d, unsigned int size)
{
	struct doctor_message m;
	size_t len = size - overhead(d);

	for (unsigned int i = 0; i < MTU_TRIES; i++) {
		uint64_t until = sys_now() + DOCTOR_PATIENCE;
		int n;

		if (doctor_guest_probe(d->probe, len) == -EMSGSIZE)
			return false;
		doctor_guest_probe(d->probe, PROBE_LEN);
		while ((n = doctor_guest_wait(d->probe, DOCTOR_ECHO, until, &m)) > 0) {
			if ((size_t)n == len)
				return true;
			if (m.sequence == d->probe->mine.sequence)
				until = sys_now() + MTU_GRACE;
		}
	}
	return false;
}

void doctor_path_mtu(struct doctor *d)
{
	unsigned int whole = d->mtu < PACKET_MAX ? d->mtu : PACKET_MAX, bad = whole;
	unsigned int good = overhead(d) + PROBE_LEN; /* the earlier probes had this length */

	if (whole <= good || passes(d, whole)) {
		doctor_number("bytes", whole);
		doctor_ok("packets of %u bytes pass, all that the interface takes", whole);
		return;
	}
	while (bad - good > MTU_STEP) {
		unsigned int middle = (good + bad) / 2;

		if (passes(d, middle))
			good = middle;
		else
			bad = middle;
	}
	doctor_number("bytes", good);
	doctor_warning(
		"the device finds that out, but each connection takes a moment for it; set the "
		"interface's MTU, or let ICMP pass",
		"packets of %u bytes pass, but not those of %u that the interface takes", good,
		whole);
	d->mtu = good;
}

/* ---- rate ---- */

void doctor_rate(struct doctor *d)
{
	size_t len = (d->mtu < PACKET_MAX ? d->mtu : PACKET_MAX) - overhead(d);
	unsigned int flight = (unsigned int)(RATE_FLIGHT / len), under_way = 0;
	uint64_t begin = sys_now(), now = begin, bytes = 0;
	struct doctor_message m;
	double mbps;

	flight = flight < 1 ? 1 : flight > RATE_PACKETS ? RATE_PACKETS : flight;
	while (now - begin < RATE_TIME) {
		while (under_way < flight && !doctor_guest_probe(d->probe, len))
			under_way++;
		/* Echoes that return after this time count as lost. */
		if (doctor_guest_wait(d->probe, DOCTOR_ECHO, now + DOCTOR_PATIENCE, &m) > 0) {
			bytes += len;
			under_way -= under_way > 0;
		} else {
			under_way = 0;
		}
		now = sys_now();
	}
	mbps = (double)bytes * 8 * 1000 / (double)(now - begin);
	doctor_number("mbit_per_s", mbps);
	doctor_ok("%.0f Mbit/s each way at least, with %zu KiB under way", mbps,
		  flight * len >> 10);
}
