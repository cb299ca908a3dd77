/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Common function of the commands that print JSON. */
#ifndef UTILS_LAUNCHER_JSON_H
#define UTILS_LAUNCHER_JSON_H

/* Prints text as a JSON string. Bytes that are not printable ASCII become question marks. */
void json_string(const char *text);

#endif
