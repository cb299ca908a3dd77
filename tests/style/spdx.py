#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks that each source file has its licence in the first line, or in the second after "#!", in one style."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("providers", "kernel-abi", "utils", "tests", "redhat", "contrib", ".ci")
LICENCE = "SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause"
STYLES = {
    "/* {} */": (".c", ".h"),
    "// {}": (".cpp",),
    "-- {}": (".lua",),
    "# {}": (".py", ".sh", ".cmake", ".txt", ".bash", ".spec", ".toml", ".rpmlintrc", ".debian", ".fedora",
             ".yaml", ".yml", ".service"),
}


def files():
    yield from (ROOT / name for name in ("CMakeLists.txt", "build.sh"))
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and not path.is_symlink() and "corpus" not in path.parts:
                yield path


def expected(path, first):
    for style, suffixes in STYLES.items():
        if path.suffix in suffixes and (path.suffix != ".txt" or path.name == "CMakeLists.txt"):
            return style.format(LICENCE)
    return f"# {LICENCE}" if first.startswith("#!") else None


def main():
    wrong = []
    for path in files():
        if path.suffix in (".pyc", ".tsv", ".md"):
            continue
        lines = path.read_bytes().split(b"\n")[:2]
        lines = [line.decode(errors="replace") for line in lines] + [""]
        line = lines[1] if lines[0].startswith("#!") else lines[0]
        wanted = expected(path, lines[0])
        if wanted and line != wanted:
            wrong.append(f"{path.relative_to(ROOT)}: {line[:60]!r} instead of {wanted!r}")
    print("\n".join(wrong) or "every file has its licence")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
