/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds the process that has a UDP port. */
#ifndef UTILS_LAUNCHER_DOCTOR_OWNER_H
#define UTILS_LAUNCHER_DOCTOR_OWNER_H

#include <stdint.h>

#define DOCTOR_OWNER_LEN 64

/*
 * Writes the owner of the UDP port of this host, such as "process 4711 (rping)". Processes of other
 * users hide their sockets; the text then mentions this. Returns out.
 */
const char *doctor_owner(uint16_t port, char out[DOCTOR_OWNER_LEN]);

#endif
