/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the device and its port say of themselves (man ibv_query_device_ex, ibv_query_port).
 * libibverbs reads GIDs and the P_Key from sysfs.
 */
#ifndef SCTPIW_VERBS_QUERY_H
#define SCTPIW_VERBS_QUERY_H

#include "verbs/pabi.h"

/*
 * The device's vendor. There is no OUI for this project, so it is a locally administered one:
 * 02-'i'-'w'. What rxe (0xffffff) and siw (0x626d74) say is theirs: programs know them by it, and
 * work around what they do.
 */
#define SCTPIW_VENDOR_ID 0x026977

/* attr_size: bytes of *attr that the caller has. EINVAL. */
int sctpiw_query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size);

/* The clock of the completions' time stamps, in its ticks, as programs expect it. */
int sctpiw_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);

/* The port's active_mtu in bytes: what a datagram may bear. */
unsigned int sctpiw_active_mtu(void);

/* EINVAL for another port than 1. */
int sctpiw_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr);

#endif
