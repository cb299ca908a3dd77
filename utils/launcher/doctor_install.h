/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What checks of libraries share. */
#ifndef UTILS_LAUNCHER_DOCTOR_INSTALL_H
#define UTILS_LAUNCHER_DOCTOR_INSTALL_H

#include "launcher/doctor.h"

/*
 * Says whether the file, which is libibverbs, has a private ABI that the provider has, too. who: what is linked with
 * it, or NULL.
 */
void doctor_judge_libibverbs(const struct doctor *d, const char *file, const char *who);

#endif
