/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Attributes of the device and its port (man ibv_query_device_ex, ibv_query_port). libibverbs reads
 * GIDs and the P_Key from sysfs.
 */
#ifndef SCTPIW_VERBS_QUERY_H
#define SCTPIW_VERBS_QUERY_H

#include "verbs/pabi.h"

/*
 * The device's vendor: a locally administered OUI, 02-'i'-'w', since this project has no other. The
 * values of rxe (0xffffff) and siw (0x626d74) are unsuitable: programs recognise these drivers by
 * them, and work around their behaviour.
 */
#define SCTPIW_VENDOR_ID 0x026977

/* attr_size: size of *attr at the caller, bytes. EINVAL. */
int sctpiw_query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size);

/* Returns the clock of completions' time stamps in ticks, as programs expect. */
int sctpiw_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);

/* Returns the port's active_mtu in bytes, the maximum payload of a datagram. */
unsigned int sctpiw_active_mtu(void);

/* EINVAL for a port other than 1. */
int sctpiw_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr);

#endif
