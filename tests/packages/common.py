# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Common code of the package tests: paths, and the execution of commands."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIST = ROOT / "build/dist"
# The tests of an installed sctpiw, from the Debian packages: programs that an ordinary user runs.
TESTS = [path for path in sorted((ROOT / "debian/tests").iterdir()) if path.name != "control"]


class Failure(Exception):
    """One line that describes the failure."""


def output(command, **kwargs):
    """Runs a command, and returns its output."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **kwargs)
    if done.returncode:
        raise Failure(f"{' '.join(str(word) for word in command)}: status {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def tarball():
    """Returns the source tarball from ./build.sh dist."""
    found = list(DIST.glob("sctpiw-*.tar.xz"))
    if len(found) != 1:
        raise Failure(f"{DIST} has {len(found)} source tarballs instead of one: run ./build.sh dist")
    return found[0]


def verdict(name, test):
    """Calls test. After a Failure, prints its line and exits with status 1."""
    try:
        test()
    except Failure as failure:
        sys.exit(f"{name}: {failure}")
