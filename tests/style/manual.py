#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What is said in several places agrees: sctpiw.conf(5) and docs/settings.md have each setting of config/config.c
and no other, and the packages have the version of CMakeLists.txt."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def read(name):
    return (ROOT / name).read_text()


def settings_that_differ():
    settings = set(re.findall(r'^\t\t\t\.name = "([a-z-]+)"', read("providers/sctpiw/config/config.c"), re.M))
    described = {
        "docs/man/sctpiw.conf.5.scd": set(re.findall(r"^\*([a-z-]+)\* = ", read("docs/man/sctpiw.conf.5.scd"), re.M)),
        "docs/settings.md": set(re.findall(r"^\| \[`([a-z-]+)`\]", read("docs/settings.md"), re.M)),
    }
    if not settings:
        yield "no settings found in config/config.c"
    for name, found in described.items():
        yield from (f"{name} lacks the setting {missing}" for missing in sorted(settings - found))
        yield from (f"{name} has a setting {extra} that there is not" for extra in sorted(found - settings))


def versions_that_differ():
    version = re.search(r"^project\(sctpiw VERSION ([\d.]+)", read("CMakeLists.txt"), re.M)[1]
    debian = re.match(r"sctpiw \(([^)]+)\)", read("debian/changelog"))[1]
    if debian != version:
        yield f"debian/changelog has {debian}, CMakeLists.txt {version}"


def main():
    wrong = [*settings_that_differ(), *versions_that_differ()]
    print("\n".join(wrong) or "the pages and the packages agree with the code")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
