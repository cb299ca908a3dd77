# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks that the Debian packages do not depend on the place of the build.

The packages of build/dist are built once more from the same tarball in the same root. The directory, the time zone,
the language and the umask differ, and the build has no parallel jobs. The packages, including debugging symbols, must
be equal in each byte."""

import filecmp

from common import DIST, Failure, output, tarball
from fresh import inside

OTHER = ["TZ=Pacific/Chatham", "LC_ALL=C.UTF-8", "LANG=C.UTF-8", "HOME=/nonexistent", "DEB_BUILD_OPTIONS=parallel=1"]
SOURCE = "opt/a-directory/with-another-name"


def build_elsewhere(root):
    """Builds the packages in a root that has all needs of a build, and returns their directory."""
    source = root / SOURCE
    source.mkdir(parents=True)
    output(["tar", "-C", source, "--strip-components=1", "-xf", tarball()])
    inside(root, "env", *OTHER, "sh", "-ec", f"cd /{SOURCE}; umask 027; exec dpkg-buildpackage --build=binary --no-sign")
    return source.parent


def files_that_differ(first, second, place):
    """Returns the files of two packages that differ."""
    trees = []
    for number, package in enumerate((first, second)):
        trees.append(place / f"{number}-{package.name}")
        output(["dpkg-deb", "--raw-extract", package, trees[-1]])
    names = {path.relative_to(tree) for tree in trees for path in tree.rglob("*") if path.is_file() and not path.is_symlink()}
    return sorted(str(name) for name in names
                  if not all((tree / name).is_file() for tree in trees)
                  or not filecmp.cmp(*(tree / name for tree in trees), shallow=False))


def reproduce(root, place):
    """Compares the packages of build/dist with a new build in the root."""
    here = {path.name: path for path in DIST.glob("*.deb")}
    there = {path.name: path for path in build_elsewhere(root).glob("*.deb")}
    if set(here) != set(there):
        raise Failure(f"another build makes {sorted(there)} instead of {sorted(here)}")
    differ = [f"{name}: {', '.join(files_that_differ(here[name], there[name], place)) or 'owners, modes or dates'}"
              for name in sorted(here) if not filecmp.cmp(here[name], there[name], shallow=False)]
    if differ:
        raise Failure("a build elsewhere has other contents:\n" + "\n".join(differ))
    print(f"{len(here)} packages are the same when they are built elsewhere", flush=True)
