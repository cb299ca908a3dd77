/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds the process that owns a UDP port. */
#ifndef UTILS_LAUNCHER_DOCTOR_OWNER_H
#define UTILS_LAUNCHER_DOCTOR_OWNER_H

#include <stdint.h>

#define DOCTOR_OWNER_LEN 64

/*
 * Writes the owner of the UDP port of this host, for example "process 4711 (rping)". The sockets of
 * other users' processes are hidden; the text then mentions this. Returns out.
 */
const char *doctor_owner(uint16_t port, char out[DOCTOR_OWNER_LEN]);

#endif
