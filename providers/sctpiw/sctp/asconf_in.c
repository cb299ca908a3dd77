/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An address that the peer adds may belong to another host, as an address in an INIT may. paths.c
 * limits the packets to such an address. Moreover, all added addresses together get one HEARTBEAT
 * per RTO. Otherwise a peer could add and delete addresses to flood other hosts.
 */
#include "sctp/asconf_in.h"

#include <errno.h>
#include <stdlib.h>

#include "sctp/input.h"

/* Maximum length of an ASCONF. Longer ones are refused, so that all answers fit into a packet. */
#define REQUEST_MAX 400u
#define ANSWER_MAX 1100u /* bytes of an ASCONF-ACK: a request of 8 bytes may get an answer of 20 */

/*
 * Maximum length of an ASCONF-ACK, as a multiple of the ASCONF's length. An answer has at most 20
 * bytes for each 8 bytes of the request. If the kept answer is longer, it belongs to another
 * request, and this request is a forged retransmission.
 */
#define GROWTH_MAX 3u

/* In an unauthenticated packet, maximum number of ASCONFs whose addresses are looked up. */
#define LOOK_UPS_MAX 4u

_Static_assert(WIRE_SCTP_COMMON_LEN + SCTP_AUTH_MAX + ANSWER_MAX <= SCTP_OOTB_LEN, "it fits");

/* An ASCONF-ACK under construction. */
struct answer {
	uint8_t p[ANSWER_MAX];
	size_t len;
	/* an addition or deletion was refused, so all later ones are refused, too (F11) */
	bool failed;
};

/* The next functions perform one request each. They return 0, or an error cause. */

static uint16_t add_path(struct sctp_in *in, const struct ip_addr *addr)
{
	struct sctp_asconf *s = &in->a->asconf;
	struct path_addr to = { .remote = *addr, .udp_port = in->from->udp_port };
	uint64_t ask_at = s->claim_at > in->now ? s->claim_at : in->now;
	bool fresh = !sctp_paths_find(in->a, addr);

	switch (sctp_paths_add(in->a, &to, ask_at)) {
	case 0:
		/* one HEARTBEAT per RTO (RFC 9260 5.4), for all addresses that the peer adds */
		if (fresh)
			s->claim_at = ask_at + sctp_rtt_rto(&in->a->path->rtt);
		return 0;
	case -ENOSPC:
		return WIRE_SCTP_CAUSE_ASCONF_RESOURCE;
	default:
		return WIRE_SCTP_CAUSE_ADDRESS;
	}
}

/* Deletes all addresses except the packet's source. The wildcard address requests this (4.2.2). */
static uint16_t remove_others(struct sctp_in *in)
{
	struct sctp_path *source = sctp_paths_find(in->a, &in->from->remote);
	unsigned int i;

	if (!source || !source->usable)
		return WIRE_SCTP_CAUSE_DELETE_LAST;
	for (i = in->a->paths.others + 1; i--;) {
		struct sctp_path *path = sctp_path_at(in->a, i);

		if (path != source)
			sctp_paths_remove(in->a, path, &in->from->remote, in->now);
	}
	return 0;
}

/*
 * True if the peer would have no confirmed address without this path. Unconfirmed addresses do not
 * count, since they may belong to another host. There is one exception: a peer that replaces its
 * only address sends the ASCONF from the new, unconfirmed address.
 */
static bool is_last(const struct sctp_in *in, const struct sctp_path *last)
{
	unsigned int i;

	for (i = 0; i <= in->a->paths.others; i++) {
		const struct sctp_path *path = sctp_path_at(in->a, i);

		if (path != last && path->usable &&
		    (path->confirmed || ip_addr_equal(&path->addr.remote, &in->from->remote)))
			return false;
	}
	return true;
}

static uint16_t remove_path(struct sctp_in *in, const struct ip_addr *addr)
{
	struct sctp_path *path = sctp_paths_find(in->a, addr);

	if (!path)
		return 0;
	if (is_last(in, path))
		return WIRE_SCTP_CAUSE_DELETE_LAST;
	if (ip_addr_equal(addr, &in->from->remote))
		return WIRE_SCTP_CAUSE_DELETE_SOURCE;
	sctp_paths_remove(in->a, path, &in->from->remote, in->now);
	return 0;
}

/* Makes a path the primary path (5.4). It is used once it works and no DATA is in flight. */
static uint16_t set_primary(struct sctp_in *in, const struct ip_addr *addr)
{
	struct sctp_path *path = sctp_paths_find(in->a, addr);

	if (!path || !path->usable)
		return WIRE_SCTP_CAUSE_ADDRESS;
	sctp_paths_prefer(in->a, path, in->now);
	return 0;
}

static void refuse(struct answer *answer, const struct wire_sctp_asconf_param *param,
		   uint16_t cause)
{
	answer->len += wire_sctp_asconf_error_put(answer->p + answer->len, param->id, cause,
						  param->raw, param->len);
}

/*
 * Performs one request, and writes its answer. Returns false if all later requests must be skipped
 * (RFC 9260 3.2.1).
 */
static bool obey(struct sctp_in *in, const struct wire_sctp_asconf_param *param,
		 struct answer *answer)
{
	bool change = param->type == WIRE_SCTP_ADD_IP || param->type == WIRE_SCTP_DELETE_IP;
	bool wildcard = ip_addr_is_zero(&param->address);
	const struct ip_addr *addr = wildcard ? &in->from->remote : &param->address;
	uint16_t cause;

	if (!change && param->type != WIRE_SCTP_SET_PRIMARY) {
		if (param->type >> 14 & WIRE_SCTP_UNKNOWN_REPORT)
			refuse(answer, param, WIRE_SCTP_CAUSE_PARAMS);
		return param->type >> 14 & WIRE_SCTP_UNKNOWN_SKIP;
	}
	if (!param->has_address)
		cause = WIRE_SCTP_CAUSE_ADDRESS;
	else if (change && answer->failed)
		cause = WIRE_SCTP_CAUSE_ASCONF_RESOURCE;
	else if (param->type == WIRE_SCTP_SET_PRIMARY)
		cause = set_primary(in, addr);
	else if (param->type == WIRE_SCTP_ADD_IP)
		cause = add_path(in, addr);
	else
		cause = wildcard ? remove_others(in) : remove_path(in, addr);
	if (cause) {
		answer->failed |= change;
		refuse(answer, param, cause);
	}
	return true;
}

/* Performs the requests of an ASCONF in order (5.2 V1), and writes the ASCONF-ACK. */
static void obey_all(struct sctp_in *in, const struct wire_sctp_asconf *asconf, size_t len,
		     struct answer *answer)
{
	struct wire_sctp_asconf_param param;
	const uint8_t *p = asconf->params;

	answer->len = WIRE_SCTP_ASCONF_LEN;
	answer->failed = false;
	while (wire_sctp_asconf_next(&p, asconf->end, &param)) {
		/* one error is enough: all requests after a failed one have failed (A7) */
		if (len > REQUEST_MAX) {
			param.len = WIRE_SCTP_ASCONF_PARAM_LEN;
			refuse(answer, &param, WIRE_SCTP_CAUSE_ASCONF_RESOURCE);
			break;
		}
		if (!obey(in, &param, answer))
			break;
	}
	put_be32(answer->p + 4, asconf->serial);
	wire_sctp_chunk_put(answer->p, WIRE_SCTP_ASCONF_ACK, 0, answer->len);
}

/*
 * Adds an ASCONF-ACK to the packet of answers to the packet's source (E6). Drops the ASCONF-ACK if
 * that packet is full (E7).
 */
static void reply(struct sctp_in *in, const uint8_t *ack, size_t len)
{
	const struct wire_sctp_common h = sctp_assoc_header(in->a);

	if (!in->acks) {
		in->acks = sctp_ootb_new(in->ep, in->from);
		if (!in->acks)
			return;
		wire_sctp_common_put(in->acks->data, &h);
		in->acks->len = (uint16_t)(WIRE_SCTP_COMMON_LEN +
					   sctp_auth_put(&in->a->auth,
							 in->acks->data + WIRE_SCTP_COMMON_LEN));
	}
	if (in->acks->len + len > SCTP_OOTB_LEN)
		return;
	memcpy(in->acks->data + in->acks->len, ack, len);
	in->acks->len += (uint16_t)len;
}

void sctp_asconf_in(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	struct sctp_asconf *s = &in->a->asconf;
	struct wire_sctp_asconf asconf;
	struct answer answer;
	unsigned int i;
	uint8_t *kept;

	if (!wire_sctp_asconf_get(c, &asconf))
		return;
	i = asconf.serial % SCTP_ASCONF_ACKS;
	if (s->peer - asconf.serial < SCTP_ASCONF_ACKS && s->ack[i].p) {
		/* Send no long answer to a short request: the source address may be a victim's. */
		if (s->ack[i].len <= GROWTH_MAX * c->len)
			reply(in, s->ack[i].p, s->ack[i].len);
		return;
	}
	if (asconf.serial != s->peer + 1)
		return;
	kept = malloc(ANSWER_MAX);
	if (!kept) /* treat the ASCONF as lost */
		return;
	obey_all(in, &asconf, c->len, &answer);
	in->path = sctp_paths_find(in->a, &in->from->remote);
	memcpy(kept, answer.p, answer.len);
	free(s->ack[i].p);
	s->ack[i].p = kept;
	s->ack[i].len = answer.len;
	s->peer = asconf.serial;
	reply(in, kept, answer.len);
}

void sctp_asconf_in_finish(struct sctp_in *in)
{
	if (!in->acks)
		return;
	sctp_auth_sign(&in->a->auth, in->acks->data + WIRE_SCTP_COMMON_LEN,
		       in->acks->len - WIRE_SCTP_COMMON_LEN);
	sctp_ootb_seal(in->acks);
}

struct sctp_assoc *sctp_asconf_in_find(const struct sctp_in *in)
{
	const uint8_t *p = in->packet + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_asconf asconf;
	unsigned int looked_up = 0;
	struct wire_sctp_chunk c;

	while (wire_sctp_chunk_next(&p, in->end, &c)) {
		struct path_addr to = { .local = in->from->local };
		struct sctp_assoc *a;

		if (c.type != WIRE_SCTP_ASCONF || !wire_sctp_asconf_get(&c, &asconf))
			continue;
		to.remote = asconf.address;
		a = sctp_assoc_find(in->ep, &to, in->h.sport, in->h.vtag);
		if (a && a->local_tag == in->h.vtag)
			return a;
		if (++looked_up == LOOK_UPS_MAX)
			break;
	}
	return in->a;
}
