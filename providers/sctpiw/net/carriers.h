/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The carriers that use a real network, for conn_param.carrier: SCTP in UDP (RFC 6951), SCTP in
 * DTLS over UDP (RFC 8261), and SCTP directly on IP.
 */
#ifndef SCTPIW_NET_CARRIERS_H
#define SCTPIW_NET_CARRIERS_H

#include "conn/carrier.h"

extern const struct carrier carrier_udp, carrier_dtls, carrier_ip;

#endif
