/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions of both carriers over UDP sockets: udp (udp.c) and dtls (dtls_carrier.c). Shard lock.
 */
#ifndef SCTPIW_NET_UDP_H
#define SCTPIW_NET_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conn/carrier.h"

struct carrier_port_ops;
struct path_socket;

/* These functions implement members of struct carrier. */
int udp_start(struct conn *c, struct config_error *why);
void udp_stop(struct conn *c);
int udp_send(struct endpoint *ep, struct sctp_batch *batch);
bool udp_room(const struct endpoint *ep, const struct ip_addr *from, struct carrier_room *room);
/* Opens the sockets of a port, which ops then read. See carrier.open(). */
int udp_open_port(struct endpoint *ep, const struct sockaddr *addr, bool v6only, size_t *rcvbuf,
		  const struct carrier_port_ops *ops);
/* These functions implement members of struct carrier_port_ops. */
unsigned int udp_receive(struct endpoint *ep, struct path_socket *path,
			 struct carrier_datagram *dgrams, unsigned int max);
bool udp_next_error(struct endpoint *ep, struct carrier_error *err);

/* Sends a short datagram, which may be lost or fragmented. Does not read the error queue. */
void udp_send_one(struct endpoint *ep, const struct path_addr *to, const uint8_t *data, size_t len);

#endif
