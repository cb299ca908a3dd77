/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Faults of the port and of asynchronous events (docs/faults.md): `port down`, `raise`. */
#ifndef SCTPIW_RUNTIME_FAULTS_PORT_H
#define SCTPIW_RUNTIME_FAULTS_PORT_H

#include "runtime/faults.h"

/* For faults_start(). */
extern struct fault_injector faults_port;

#endif
