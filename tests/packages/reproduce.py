#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The Debian packages are the same wherever they are built: those that ./build.sh deb has put into build/dist are built
once more from the same tarball, in a directory with another name, another time zone, another language, another umask and
without parallel jobs, and both are compared byte by byte, debugging symbols included."""

import filecmp
import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
from common import DIST, Failure, output, verdict  # noqa: E402

OTHER = {"TZ": "Pacific/Chatham", "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "HOME": "/nonexistent",
         "DEB_BUILD_OPTIONS": "parallel=1"}


def build_elsewhere(place):
    """Builds the packages below place, and returns where they are."""
    tarballs = list(DIST.glob("sctpiw-*.tar.xz"))
    if len(tarballs) != 1:
        raise Failure(f"{DIST} has {len(tarballs)} tarballs instead of one: run ./build.sh deb")
    source = place / "a-directory/with-another-name"
    source.mkdir(parents=True)
    output(["tar", "-C", source, "--strip-components=1", "-xf", tarballs[0]])
    output(["dpkg-buildpackage", "--build=binary", "--no-sign"], cwd=source, env=os.environ | OTHER, umask=0o027)
    return source.parent


def files_that_differ(first, second, place):
    """The files of two packages that are not the same."""
    trees = []
    for number, package in enumerate((first, second)):
        trees.append(place / f"{number}-{package.name}")
        output(["dpkg-deb", "--raw-extract", package, trees[-1]])
    names = {path.relative_to(tree) for tree in trees for path in tree.rglob("*") if path.is_file() and not path.is_symlink()}
    return sorted(str(name) for name in names
                  if not all((tree / name).is_file() for tree in trees)
                  or not filecmp.cmp(*(tree / name for tree in trees), shallow=False))


def main():
    here = {path.name: path for path in DIST.glob("*.deb")}
    if not here:
        raise Failure(f"{DIST} has no packages: run ./build.sh deb")
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        there = {path.name: path for path in build_elsewhere(place).glob("*.deb")}
        if set(here) != set(there):
            raise Failure(f"another build makes {sorted(there)} instead of {sorted(here)}")
        differ = [f"{name}: {', '.join(files_that_differ(here[name], there[name], place)) or 'owners, modes or dates'}"
                  for name in sorted(here) if not filecmp.cmp(here[name], there[name], shallow=False)]
    if differ:
        raise Failure("a build elsewhere has other contents:\n" + "\n".join(differ))
    print(f"{len(here)} packages are the same when they are built elsewhere", flush=True)


if __name__ == "__main__":
    verdict("reproduce", main)
