/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Path MTU discovery without ICMP (RFC 8899, RFC 6951 5.6). A probe is a packet of HEARTBEAT and
 * PAD (RFC 4820), sent with DF.
 *
 * A chunk cannot be divided after it was sent once. So DATA is only cut for confirmed sizes, and a
 * path starts with 1280 bytes. The first probe has the size of the interface's MTU. It leaves after
 * the first packet of an association that is up. An earlier probe would have to be a padded
 * handshake packet; if this were too large, the connection would lose a second. Moreover, no chunk
 * may be sent between COOKIE ECHO and COOKIE ACK (RFC 9260 5.1). The accepting side sends its first
 * probe after DATA or a HEARTBEAT was acknowledged. So a stranger that completes handshakes and
 * then is silent gets no large packet. The probe is early enough: users begin with an exchange of
 * small messages (RFC 5043 sessions), and the answer to the probe arrives with the first answer of
 * the peer's user.
 *
 * Later, a path may begin to drop large packets silently. The MTU in use is then probed itself.
 * This is done if a chunk is lost twice, if the second tail-loss probe in a row is due, or if T3
 * expires. A probe counts as lost only if the peer has acknowledged another packet since. So a
 * small HEARTBEAT accompanies each repeated probe. Otherwise a path that is dead, or interrupted
 * for a while, would look like a path with a small MTU. If nothing has arrived, only a small
 * HEARTBEAT leaves, and no probe follows until the path works. After three lost probes, the MTU is
 * reduced to 1280, and the search continues upwards from there. Chunks that are larger leave again,
 * alone in their packets and without DF. None of this indicates congestion (RFC 8899 3, 4.1).
 *
 * Departure from RFC 8899 5.1.1: PROBE_TIMER is a few round trips, not at least a second. Its
 * expiration alone does not make a probe lost, and a transfer may wait for the result.
 *
 * Reports of less than 576 bytes are ignored. Packets of up to 576 bytes leave without DF, so that
 * a path with a smaller MTU gets them as fragments.
 */
#include "sctp/mtu.h"

#include "sctp/spread.h"
#include "sctp/trace.h"

/* Returns the number of bytes in an IP packet before its SCTP packet. */
static uint32_t before_packet(const struct sctp_path *path)
{
	return (ip_addr_is_v4(&path->addr.remote) ? 20u : 40u) + (path->addr.udp_port ? 8u : 0u) +
	       path->mtu.overhead;
}

/* Returns the length of the SCTP packet in an IP packet of mtu bytes, at most mtu.longest. */
static uint32_t packet_in(const struct sctp_path *path, uint32_t mtu)
{
	uint32_t packet = mtu - before_packet(path);

	return (packet < path->mtu.longest ? packet : path->mtu.longest) & ~3u;
}

/* Returns mtu, or the size of the longest IP packet that may be sent, if that is less. */
static uint32_t within(const struct sctp_path *path, uint32_t mtu)
{
	uint32_t max = path->mtu.longest + before_packet(path);

	if (max > SCTP_MTU_MAX || path->mtu.longest == SCTP_PACKET_MAX)
		max = SCTP_MTU_MAX;
	return mtu < max ? mtu : max;
}

static void fit(struct sctp_path *path, uint32_t packet)
{
	path->mtu.max_packet = packet;
	path->mtu.told_packet = packet_in(path, path->mtu.search.told);
	sctp_cc_set_pmdcs(&path->cc, packet - WIRE_SCTP_COMMON_LEN);
}

/* As fit(), with a trace event if the packet length changes. */
static void change(struct sctp_assoc *a, struct sctp_path *path, uint32_t packet)
{
	if (packet != path->mtu.max_packet)
		TRACE(path_mtu, TRACE_NOW, .assoc = a->local_tag, .remote = &path->addr.remote,
		      .old = path->mtu.max_packet, .packet = packet);
	fit(path, packet);
}

void sctp_mtu_init(struct sctp_path *path, const struct sctp_config *config, uint32_t mtu)
{
	bool v4 = ip_addr_is_v4(&path->addr.remote);

	path->mtu.overhead = config->overhead;
	path->mtu.longest = config->packet_max;
	sctp_pmtu_init(&path->mtu.search, v4 ? SCTP_PMTU_FLOOR_V4 : SCTP_PMTU_FLOOR_V6,
		       config->mtu_probe ? SCTP_PMTU_BASE : SCTP_MTU_MAX, within(path, mtu));
	fit(path, packet_in(path, path->mtu.search.good));
}

/*
 * DATA is cut for the confirmed path with the smallest MTU (7.3), so that each path can take over.
 * A path whose search is not complete does not count, unless it is joined. All joined paths send
 * packets of the same length.
 */
void sctp_mtu_fit(struct sctp_assoc *a)
{
	uint32_t least = packet_in(a->path, a->path->mtu.search.good);
	unsigned int i;

	for (i = 1; i <= a->paths.others; i++) {
		struct sctp_path *path = sctp_path_at(a, i);
		uint32_t packet = packet_in(path, path->mtu.search.good);

		if (!path->joined)
			change(a, path, packet);
		if (path->confirmed && (path->joined || !path->mtu.search.probe) && packet < least)
			least = packet;
	}
	for (i = 0; i <= a->paths.others; i++)
		if (sctp_path_at(a, i) == a->path || sctp_path_at(a, i)->joined)
			change(a, sctp_path_at(a, i), least);
}

bool sctp_mtu_at_floor(const struct sctp_path *path)
{
	return ip_addr_is_v4(&path->addr.remote) && path->mtu.search.good <= path->mtu.search.floor;
}

/* Sets SCTP_TIMER_MTU to the earliest mtu.due of all paths. */
static void arm(struct sctp_assoc *a)
{
	uint64_t when = TIME_NEVER;
	unsigned int i;

	for (i = 0; i <= a->paths.others; i++)
		if (sctp_path_at(a, i)->mtu.due < when)
			when = sctp_path_at(a, i)->mtu.due;
	if (when == TIME_NEVER)
		sctp_timer_stop(a, SCTP_TIMER_MTU);
	else
		sctp_timer_set(a, SCTP_TIMER_MTU, when);
}

/* Requests a small HEARTBEAT. Its answer proves that the path is not dead. */
static void want_heartbeat(struct sctp_assoc *a, struct sctp_path *path)
{
	path->hb.wanted = path != a->path;
	a->pending |= path->hb.wanted ? SCTP_PEND_PATHS : SCTP_PEND_HEARTBEAT;
}

/* Requests a probe of the size that the search has chosen, if the path works. */
static void want_probe(struct sctp_assoc *a, struct sctp_path *path)
{
	path->mtu.wanted = path->mtu.search.probe && path->confirmed && !path->mtu.silent &&
			   sctp_in_states(a, SCTP_STATES_SEND);
	if (!path->mtu.wanted)
		return;
	a->pending |= SCTP_PEND_MTU;
	sctp_assoc_ready(a);
}

void sctp_mtu_start(struct sctp_assoc *a, struct sctp_path *path)
{
	if (!path->mtu.search.probe)
		return;
	path->mtu.due = TIME_NEVER;
	arm(a);
	random_bytes(a->s->random, path->mtu.nonce, sizeof(path->mtu.nonce));
	want_probe(a, path);
}

/* Called after a result of the search. Corrects the packet lengths. Plans the next probe. */
static void go_on(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	uint32_t before = a->path->mtu.max_packet;

	sctp_mtu_fit(a);
	/* The last pull returned nothing; perhaps the message needs the additional room. */
	if (a->path->mtu.max_packet > before && a->tx.ulp_empty) {
		a->tx.ulp_empty = false;
		sctp_assoc_doorbell(a);
	}
	path->mtu.wanted = false;
	path->mtu.due = TIME_NEVER;
	if (path->mtu.search.probe)
		sctp_mtu_start(a, path);
	else if (path->mtu.search.good < path->mtu.search.told)
		path->mtu.due = now + a->s->config.mtu_raise_time;
	arm(a);
	sctp_spread_update(a, now);
}

void sctp_assoc_set_mtu(struct sctp_assoc *a, uint32_t mtu)
{
	unsigned int i;

	/* Assume that all paths use this interface. If they do not, probes find the limit. */
	for (i = 0; i <= a->paths.others; i++) {
		struct sctp_path *path = sctp_path_at(a, i);

		sctp_pmtu_tell(&path->mtu.search, within(path, mtu));
		path->mtu.due = TIME_NEVER;
		sctp_mtu_start(a, path);
	}
	sctp_mtu_fit(a);
	arm(a);
}

/*
 * Called when the path drops large packets silently. Outstanding large packets were dropped as
 * well, so all chunks are sent again at once. Otherwise they would wait for a T3 that has doubled
 * several times.
 */
static void black_hole(struct sctp_assoc *a, struct sctp_path *path)
{
	sctp_trace_path_lost(a, path, "packet_too_big", TRACE_NOW);
	sctp_inflight_path_lost(a, path);
	path->recovery.now.probes = 0;
	sctp_recovery_no_probe(a, path);
	sctp_assoc_ready(a);
}

/* Called when mtu.due of a path has come: a probe was not answered, or a new search is due. */
static void expired(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	struct sctp_pmtu *p = &path->mtu.search;
	uint32_t size = p->probe;

	path->mtu.due = TIME_NEVER;
	if (!size) {
		sctp_pmtu_raise(p);
		go_on(a, path, now);
		return;
	}
	if (path->health.proof > path->mtu.sent) {
		if (sctp_pmtu_lost(p) && (path == a->path || path->joined))
			black_hole(a, path);
		if (p->probe != size) {
			go_on(a, path, now);
			return;
		}
	} else {
		path->mtu.silent = true;
	}
	want_probe(a, path);
	want_heartbeat(a, path);
	sctp_assoc_ready(a);
}

void sctp_mtu_timeout(struct sctp_assoc *a, uint64_t now)
{
	unsigned int i;

	if (!sctp_in_states(a, SCTP_STATES_SEND))
		return;
	for (i = 0; i <= a->paths.others; i++)
		if (sctp_path_at(a, i)->mtu.due <= now)
			expired(a, sctp_path_at(a, i), now);
	arm(a);
}

void sctp_mtu_doubt(struct sctp_assoc *a, struct sctp_path *path, uint64_t sent)
{
	/* If a probe was answered since then, large packets arrive. */
	if (!a->s->config.mtu_probe || sent < path->mtu.answered ||
	    !sctp_pmtu_doubt(&path->mtu.search))
		return;
	sctp_mtu_start(a, path);
	want_heartbeat(a, path);
}

struct sctp_path *sctp_mtu_probe_path(struct sctp_assoc *a, size_t *len)
{
	unsigned int i;

	if (!(a->pending & SCTP_PEND_MTU) || !sctp_in_states(a, SCTP_STATES_SEND))
		return NULL;
	for (i = 0; i <= a->paths.others; i++) {
		struct sctp_path *path = sctp_path_at(a, i);

		if (path->mtu.wanted && path->mtu.search.probe) {
			*len = packet_in(path, path->mtu.search.probe);
			return path;
		}
	}
	a->pending &= ~SCTP_PEND_MTU;
	return NULL;
}

void sctp_mtu_probe_put(struct sctp_assoc *a, struct sctp_path *path, uint8_t *p, size_t len,
			uint64_t now)
{
	const struct wire_sctp_common h = sctp_assoc_header(a);
	size_t pad = len - WIRE_SCTP_COMMON_LEN - SCTP_HEARTBEAT_LEN;
	uint8_t *q = p + WIRE_SCTP_COMMON_LEN;

	wire_sctp_common_put(p, &h);
	sctp_path_heartbeat_chunk(q, path->mtu.nonce);
	q += SCTP_HEARTBEAT_LEN;
	memset(q, 0, pad);
	wire_sctp_chunk_put(q, WIRE_SCTP_PAD, 0, pad);
	wire_sctp_checksum_put(p, len);
	path->mtu.wanted = false;
	path->mtu.due = now + sctp_rtt_answer_time(&path->rtt, sctp_rtt_prompt_margin(len),
						   sctp_rtt_rto(&path->rtt));
	path->mtu.sent = now;
	arm(a);
}

void sctp_mtu_alive(struct sctp_assoc *a, struct sctp_path *path)
{
	if (!path->mtu.silent)
		return;
	path->mtu.silent = false;
	want_probe(a, path);
	if (path->mtu.wanted && path->mtu.sent)
		want_heartbeat(a, path);
}

bool sctp_mtu_answered(struct sctp_assoc *a, struct sctp_path *path, const uint8_t *nonce,
		       uint64_t now)
{
	/* All probes of one size have the same nonce, so the answer to any of them counts. */
	if (!path->mtu.search.probe || !path->mtu.sent ||
	    memcmp(nonce, path->mtu.nonce, sizeof(path->mtu.nonce)) != 0)
		return false;
	path->health.proof = now;
	path->mtu.silent = false;
	path->mtu.answered = now;
	sctp_pmtu_answered(&path->mtu.search);
	go_on(a, path, now);
	return true;
}

static void too_big(struct sctp_assoc *a, const struct path_addr *to, uint32_t mtu, uint64_t now)
{
	struct sctp_path *path = sctp_paths_find(a, &to->remote);

	if (path && sctp_pmtu_too_big(&path->mtu.search, within(path, mtu)))
		go_on(a, path, now);
}

void sctp_packet_too_big(struct sctp_endpoint *ep, const struct path_addr *to, uint32_t mtu,
			 const uint8_t *quoted, size_t len, uint64_t now)
{
	struct sctp_assoc *a;

	if (quoted) {
		a = sctp_path_quoted(ep, to, quoted, len);
		if (a)
			too_big(a, to, mtu, now);
		return;
	}
	list_for_each(n, &ep->assocs) {
		a = list_entry(n, struct sctp_assoc, ep_node);
		if (a->state != SCTP_CLOSED)
			too_big(a, to, mtu, now);
	}
}
