#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests the packages in fresh roots: roots.py [--thorough] SUITE...

mmdebstrap makes a root for each suite. In a copy of the first root, `./build.sh deb` installs missing packages, and
builds the packages from the tarball of build/dist; lintian checks them. Each root gets an older version of the
packages, and an upgrade. The tests of debian/tests run there as an ordinary user, in their own network namespace with
only lo. Then the packages are removed. No file of either version may remain, and no package may need a purge. With
--thorough, the packages are built once more and compared (reproduce.py). Another copy of the first root then builds
and tests the packages for Fedora with `./build.sh rpm`. Needs root, and Debian's package servers."""

import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
from common import DIST, Failure, TESTS, output, tarball, verdict  # noqa: E402
from fresh import USER, build, inside, install, make  # noqa: E402
from reproduce import reproduce  # noqa: E402

# Further packages in debian/tests/control.
PROGRAMS = ["ibverbs-utils", "rdmacm-utils", "perftest"]
# The older version, and the name of a file that only its packages have.
OLDER = "0.1.9"
GONE = "sctpiw-had-this"
# Paths that change in any root: caches, logs and lists of packages.
MOVING = ("/proc/", "/sys/", "/dev/", "/tmp/", "/run/", "/root/", "/var/cache/", "/var/log/", "/var/lib/dpkg/", "/var/lib/apt/",
          "/var/lib/systemd/", "/etc/ld.so.cache")


def packages(suite, root, place, thorough):
    """Builds the packages in copies of the root, and returns those of Debian that a user installs."""
    built = build(root, place / "deb", tarball(), "deb") / "build/dist"
    for path in DIST.glob("*.deb"):
        path.unlink()
    output(["cp", *built.glob("*.deb"), DIST])
    found = [path for path in DIST.glob("*.deb") if "-dbgsym" not in path.name]
    if len(found) != 2:
        raise Failure(f"{DIST} has {len(found)} packages instead of sctpiw and libsctpiw")
    look_at(found)
    if thorough:
        reproduce(place / "deb", place)
        build(root, place / "rpm", tarball(), "rpm")
        print(f"{suite}: the packages for Fedora are built, and their tests pass", flush=True)
    return found


def files(root):
    return {"/" + str(path.relative_to(root)) for path in root.rglob("*")
            if not ("/" + str(path.relative_to(root)) + "/").startswith(MOVING)}


def look_at(found):
    """Runs lintian. All complaints are errors, except those that debian/*.lintian-overrides explains."""
    output(["lintian", "--allow-root", "--fail-on", "error,warning", *found])
    print(f"lintian has nothing to say of {len(found)} packages", flush=True)


def make_older(found, place):
    """Makes packages of an older version of these packages. Returns their paths."""
    older = []
    for path in found:
        tree = place / path.stem
        output(["dpkg-deb", "--raw-extract", path, tree])
        control = tree / "DEBIAN/control"
        text = control.read_text()
        version = re.search(r"^Version: (.+)$", text, re.MULTILINE)[1]
        control.write_text(text.replace(f"Version: {version}", f"Version: {OLDER}").replace(f"(= {version})", f"(= {OLDER})"))
        (next(tree.glob("usr/share/doc/*")) / GONE).touch()
        older.append(place / f"older-{path.name}")
        output(["dpkg-deb", "--root-owner-group", "--build", tree, older[-1]])
    return older


def put(root, packages):
    """Copies packages into the root, and installs them."""
    for path in packages:
        output(["cp", path, root / "var/cache"])
    install(root, [root / "var/cache" / path.name for path in packages])


def upgrade(suite, found, root, before):
    """Installs an older version, and then the packages."""
    with tempfile.TemporaryDirectory() as place:
        put(root, make_older(found, pathlib.Path(place)))
    if len([path for path in files(root) - before if path.endswith(GONE)]) != len(found):
        raise Failure(f"{suite}: the older version has not been installed")
    put(root, found)
    left = [path for path in files(root) if path.endswith(GONE)]
    if left:
        raise Failure(f"{suite}: left of the older version: {left}")


def try_suite(suite, found, root):
    install(root, PROGRAMS)
    before = files(root)
    upgrade(suite, found, root, before)
    new = sorted(path for path in files(root) - before if "sctpiw" in path)
    strangers = [path for path in new if "/libibverbs.d/" in path or path.startswith("/etc/")]
    if not new or strangers:
        raise Failure(f"{suite}: files that other RDMA programs would notice: {strangers}")
    output(["cp", *TESTS, root / "opt"])
    for test in TESTS:
        inside(root, f"/opt/{test.name}", user=USER)
        print(f"{suite}: {test.name}: passed", flush=True)
        (root / "opt" / test.name).unlink()
    inside(root, "sh", "-ec", "apt-get remove -y -q sctpiw libsctpiw; apt-get autoremove --purge -y -q")
    left = sorted(files(root) - before)
    if left:
        raise Failure(f"{suite}: left behind after the removal: {left[:20]}")
    known = inside(root, "dpkg-query", "--show", "--showformat", "${Package}\n").split()
    if {"sctpiw", "libsctpiw"} & set(known):
        raise Failure(f"{suite}: something of the packages is left to be purged")
    print(f"{suite}: {len(new)} files installed, none left after the removal, and nothing to purge", flush=True)


def main():
    thorough = sys.argv[1] == "--thorough"
    found = None
    for suite in sys.argv[1 + thorough:]:
        with tempfile.TemporaryDirectory() as name:
            place = pathlib.Path(name)
            make(suite, place / "root")
            found = found or packages(suite, place / "root", place, thorough)
            try_suite(suite, found, place / "root")


if __name__ == "__main__":
    verdict("roots", main)
