#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks that clang-format would not change any C file. With --write, formats the files.

Versions of clang-format differ in details; the tree uses the version of Debian 12."""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("providers", "kernel-abi", "utils", "tests")
VERSION = "14"
SKIPPED = 77


def version():
    if not shutil.which("clang-format"):
        return None
    said = subprocess.run(["clang-format", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.search(r"\d+", said)[0]


def main():
    found = version()
    if found != VERSION:
        print(f"the tree is formatted by clang-format {VERSION}, which is not here (found: {found})")
        sys.exit(SKIPPED)
    how = ["-i"] if sys.argv[1:] == ["--write"] else ["--dry-run", "-Werror"]
    files = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.[ch]"))
    sys.exit(subprocess.run(["clang-format", *how, *files], check=False).returncode)


if __name__ == "__main__":
    main()
