/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A function that all commands which print JSON use. */
#ifndef UTILS_LAUNCHER_JSON_H
#define UTILS_LAUNCHER_JSON_H

/* Prints text as a JSON string. Replaces bytes that are not printable ASCII by question marks. */
void json_string(const char *text);

#endif
