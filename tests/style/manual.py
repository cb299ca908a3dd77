#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks that texts in several places agree. sctpiw.conf(5) and docs/settings.md must have exactly the settings of
config/config.c. The packages must have the version of CMakeLists.txt, and the build requirements of build.sh. mandoc
must accept the manual pages."""

import pathlib
import re
import shutil
import subprocess
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
    spec = read("redhat/sctpiw.spec")
    described = {
        "debian/changelog": re.match(r"sctpiw \(([^)]+)\)", read("debian/changelog"))[1],
        "redhat/sctpiw.spec": re.search(r"^Version: *(\S+)", spec, re.M)[1],
        "the newest entry of redhat/sctpiw.spec": re.search(r"^%changelog\n\*.* - (\S+)-\d+$", spec, re.M)[1],
    }
    yield from (f"{name} has {found}, CMakeLists.txt {version}" for name, found in described.items() if found != version)


def packages_that_differ():
    """Yields differences between the build requirements of build.sh and of the packages. The C library does not
    count, since the compiler requires it."""
    table = re.search(r"^BUILD_NEEDS='\n(.*?)^'", read("build.sh"), re.M | re.S)[1]
    rows = [line.split() for line in table.splitlines()]
    more = {"scdoc", "systemtap-sdt-dev", "systemtap-sdt-devel"}
    control = re.search(r"^Build-Depends:\n(.*?)^\S", read("debian/control"), re.M | re.S)[1]
    for name, column, always, found in (
            ("debian/control", 2, {"gcc", "libc6-dev"}, set(re.findall(r"^ ([\w-]+)", control, re.M)) - {"debhelper-compat"}),
            ("redhat/sctpiw.spec", 3, {"glibc-devel"},
             set(re.findall(r"^BuildRequires: *(\S+)", read("redhat/sctpiw.spec"), re.M)))):
        wanted = {row[column].rstrip("?") for row in rows} - always
        yield from (f"{name} lacks {package}, which build.sh wants" for package in sorted(wanted - found))
        yield from (f"{name} wants {package}, which build.sh does not" for package in sorted(found - wanted - more))


def pages_that_are_wrong():
    if not shutil.which("scdoc") or not shutil.which("mandoc"):
        yield "scdoc or mandoc is not here: ./build.sh lint installs both"
        return
    for path in sorted((ROOT / "docs/man").glob("*.scd")):
        page = subprocess.run("scdoc", stdin=path.open("rb"), stdout=subprocess.PIPE, check=True).stdout
        said = subprocess.run(["mandoc", "-Tlint", "-W", "warning"], input=page, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False).stdout.decode()
        # scdoc also begins a paragraph after each heading, which is harmless.
        yield from (f"{path.name}: {line}" for line in said.splitlines() if "skipping paragraph macro" not in line)


def main():
    wrong = [*settings_that_differ(), *versions_that_differ(), *packages_that_differ(), *pages_that_are_wrong()]
    print("\n".join(wrong) or "the pages and the packages agree with the code")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
