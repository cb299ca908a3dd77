/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The transport that is our own SCTP (sctp/), over a carrier of packets (carrier.h): the glue between the
 * packets of an endpoint, SCTP's associations, and the sessions on them. Shard lock.
 */
#ifndef SCTPIW_CONN_USER_SCTP_H
#define SCTPIW_CONN_USER_SCTP_H

#include "conn/carrier.h"
#include "conn/transport.h"

struct carrier_port;

extern const struct transport transport_user_sctp;

/* ---- what a carrier keeps and tells ---- */

/* The carrier's own part of an endpoint, as user_sctp_set_port() was told; NULL before. */
struct carrier_port *user_sctp_port(const struct endpoint *ep);
void user_sctp_set_port(struct endpoint *ep, struct carrier_port *port);
/* Packets that came for the endpoint. May end associations, but not the endpoint. */
void user_sctp_input(struct endpoint *ep, const struct carrier_datagram *d);
/* An ICMP error about a packet that was sent from the endpoint. */
void user_sctp_icmp(struct endpoint *ep, const struct carrier_error *err);

#endif
