/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The transport with the SCTP in sctp/, over a carrier of packets (carrier.h). It connects the
 * packets of an endpoint, SCTP's associations, and the sessions on them. Shard lock.
 */
#ifndef SCTPIW_CONN_USER_SCTP_H
#define SCTPIW_CONN_USER_SCTP_H

#include "conn/carrier.h"
#include "conn/transport.h"

struct carrier_port;

extern const struct transport transport_user_sctp;

/* ---- for carriers ---- */

/* Returns the carrier's data of an endpoint, as set by user_sctp_set_port(), or NULL before. */
struct carrier_port *user_sctp_port(const struct endpoint *ep);
void user_sctp_set_port(struct endpoint *ep, struct carrier_port *port);
/* Handles received packets of the endpoint. May end associations, but not the endpoint. */
void user_sctp_input(struct endpoint *ep, const struct carrier_datagram *d);
/* Handles an ICMP error about a packet from the endpoint. */
void user_sctp_icmp(struct endpoint *ep, const struct carrier_error *err);

#endif
