/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Declares the table of rnic_api.h for faults_cm_calls.c, which replaces functions of the table. */
#ifndef SCTPIW_RUNTIME_API_H
#define SCTPIW_RUNTIME_API_H

#include "rnic_api.h"

extern struct sctpiw_rnic_api sctpiw_rnic_api;

#endif
