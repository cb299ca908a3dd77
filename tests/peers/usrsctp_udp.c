/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* usrsctp in its own UDP (RFC 6951). */
#include <arpa/inet.h>

#include "socket_api.h"
#include "usrsctp_lower.h"

static const struct stack_options *options;

void lower_start(const struct stack_options *o, bool listens)
{
	(void)listens;
	options = o;
	usrsctp_init(o->udp_port, NULL, NULL);
}

const struct sockaddr *lower_address(socklen_t *len)
{
	*len = options->address_len;
	return (const struct sockaddr *)&options->address;
}

void lower_configure(void)
{
	struct sctp_udpencaps encaps = { .sue_port = htons(options->peer_udp_port) };

	if (!options->peer_udp_port)
		return;
	encaps.sue_address.ss_family = options->address.ss_family;
	api_set(SCTP_REMOTE_UDP_ENCAPS_PORT, &encaps, sizeof(encaps),
		"SCTP_REMOTE_UDP_ENCAPS_PORT");
}

void lower_end(void)
{
}
