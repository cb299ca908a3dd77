/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Implements struct conn_ops (conn/conn.h) with the progress thread, the kernel's routing, the
 * port, the event channels and guarded memory. The struct conn must be a member of a struct shard.
 */
#ifndef SCTPIW_RUNTIME_HOST_H
#define SCTPIW_RUNTIME_HOST_H

#include "conn/conn.h"

extern const struct conn_ops host_conn_ops;

#endif
