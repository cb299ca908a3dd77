/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Common function of the checks of libraries. */
#ifndef UTILS_LAUNCHER_DOCTOR_INSTALL_H
#define UTILS_LAUNCHER_DOCTOR_INSTALL_H

#include "launcher/doctor.h"

/*
 * Reports whether the file, a libibverbs, has a private ABI that the provider has, too. who: the
 * object that is linked with the file, or NULL.
 */
void doctor_judge_libibverbs(const struct doctor *d, const char *file, const char *who);

#endif
