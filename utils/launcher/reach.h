/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Programs that the device cannot be brought into. They are run all the same. */
#ifndef UTILS_LAUNCHER_REACH_H
#define UTILS_LAUNCHER_REACH_H

/* Prints a warning if cmd, which is looked for as execvp() does, will not see the device. */
void reach_warn(const char *cmd);

#endif
