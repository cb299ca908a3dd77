/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which process has a UDP port. */
#ifndef UTILS_LAUNCHER_DOCTOR_OWNER_H
#define UTILS_LAUNCHER_DOCTOR_OWNER_H

#include <stdint.h>

#define DOCTOR_OWNER_LEN 64

/*
 * Writes who has the UDP port of this host, as "process 4711 (rping)". Processes of other users do not show what they
 * have; then it says so. Returns out.
 */
const char *doctor_owner(uint16_t port, char out[DOCTOR_OWNER_LEN]);

#endif
