# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What the tests of the packages share: where things are, and how commands are run."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIST = ROOT / "build/dist"
# The tests of an installed sctpiw, which the Debian packages bring along: programs that an ordinary user runs.
TESTS = [path for path in sorted((ROOT / "debian/tests").iterdir()) if path.name != "control"]


class Failure(Exception):
    """One line that says what went wrong."""


def output(command, **kwargs):
    """Runs a command, and returns all that it has printed."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **kwargs)
    if done.returncode:
        raise Failure(f"{' '.join(str(word) for word in command)}: status {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def tarball():
    """The source tarball that ./build.sh dist has written."""
    found = list(DIST.glob("sctpiw-*.tar.xz"))
    if len(found) != 1:
        raise Failure(f"{DIST} has {len(found)} source tarballs instead of one: run ./build.sh dist")
    return found[0]


def verdict(name, test):
    """Calls test; a Failure ends the program with status 1 and its line."""
    try:
        test()
    except Failure as failure:
        sys.exit(f"{name}: {failure}")
