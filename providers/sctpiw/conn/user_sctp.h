/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The transport that uses the SCTP in sctp/ over a carrier of packets (carrier.h). It passes
 * packets between endpoints and SCTP's associations, and messages between these associations and
 * iwarp. Callers hold the shard's lock.
 */
#ifndef SCTPIW_CONN_USER_SCTP_H
#define SCTPIW_CONN_USER_SCTP_H

#include "conn/carrier.h"
#include "conn/transport.h"

struct carrier_port;

extern const struct transport transport_user_sctp;

/* ---- for carriers ---- */

/* Returns the carrier's data of an endpoint, which user_sctp_set_port() has set, or NULL. */
struct carrier_port *user_sctp_port(const struct endpoint *ep);
void user_sctp_set_port(struct endpoint *ep, struct carrier_port *port);
/* Handles received packets of the endpoint. May free associations, but not the endpoint. */
void user_sctp_input(struct endpoint *ep, const struct carrier_datagram *d);
/* Handles an ICMP error about a packet that the endpoint sent. */
void user_sctp_icmp(struct endpoint *ep, const struct carrier_error *err);

#endif
