/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queries the attributes of the device and of its port (man ibv_query_device_ex, ibv_query_port).
 * libibverbs reads the GIDs and the P_Key from sysfs.
 */
#ifndef SCTPIW_VERBS_QUERY_H
#define SCTPIW_VERBS_QUERY_H

#include "verbs/pabi.h"

/*
 * The vendor of the device. It is a locally administered OUI, 02-'i'-'w', since this project has no
 * OUI of its own. The values of rxe (0xffffff) and siw (0x626d74) are unsuitable: programs use them
 * to recognise these drivers, and then work around their behaviour.
 */
#define SCTPIW_VENDOR_ID 0x026977

/* attr_size: the size in bytes of the caller's *attr. Errors: EINVAL. */
int sctpiw_query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size);

/* Returns the current time of the clock of completions' time stamps, in ticks. */
int sctpiw_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);

/* Returns the port's active_mtu in bytes, the maximum payload of a datagram. */
unsigned int sctpiw_active_mtu(void);

/* Errors: EINVAL for a port other than 1. */
int sctpiw_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr);

#endif
