/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What conn/ asks of its host: answered by the kernel's routing, the port, event channels and guarded memory. */
#ifndef SCTPIW_RUNTIME_HOST_H
#define SCTPIW_RUNTIME_HOST_H

#include "conn/conn.h"

extern const struct conn_ops host_conn_ops;

#endif
