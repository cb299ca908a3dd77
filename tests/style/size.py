#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""No file of the product has more than 700 lines, and no function more than 80 between its braces."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("providers", "kernel-abi", "utils")
FILE_LINES = 700
FUNCTION_LINES = 80


def long_functions(lines):
    """The first line and the length of each. Functions begin with "{" in the first column, and end with "}"."""
    begin = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            begin = number
        elif line == "}" and begin:
            if number - begin - 1 > FUNCTION_LINES:
                yield begin, number - begin - 1
            begin = None


def main():
    wrong = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            lines = path.read_text().splitlines()
            name = path.relative_to(ROOT)
            if len(lines) > FILE_LINES:
                wrong.append(f"{name}: {len(lines)} lines, more than {FILE_LINES}")
            wrong += [f"{name}:{begin}: a function of {length} lines, more than {FUNCTION_LINES}"
                      for begin, length in long_functions(lines)]
    print("\n".join(wrong) or "no file and no function is too long")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
