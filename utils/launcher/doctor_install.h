/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A function that several checks of libraries use. */
#ifndef UTILS_LAUNCHER_DOCTOR_INSTALL_H
#define UTILS_LAUNCHER_DOCTOR_INSTALL_H

#include "launcher/doctor.h"

/*
 * Reports if the provider supports the private ABI of the file, which is a libibverbs. who: the
 * program or library that is linked with the file, or NULL.
 */
void doctor_judge_libibverbs(const struct doctor *d, const char *file, const char *who);

#endif
