/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What conn/ asks of its host (struct conn_ops in conn/conn.h), answered by the progress thread,
 * the kernel's routing, the port, the event channels and guarded memory. The conn must be that of a
 * struct shard.
 */
#ifndef SCTPIW_RUNTIME_HOST_H
#define SCTPIW_RUNTIME_HOST_H

#include "conn/conn.h"

extern const struct conn_ops host_conn_ops;

#endif
