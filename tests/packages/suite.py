#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs all tests in a fresh root: suite.py [--root DIRECTORY] SUITE [ARGUMENT OF CTEST...]

mmdebstrap makes a root of the suite, and the tarball of build/dist is unpacked in it. `./build.sh test` installs
missing packages, builds with the headers of that suite, and runs the tests there, as root. The tests have their own
namespaces, except for the network. Prints the number of passed tests, and the names of failed and skipped tests with
the reasons. A root in a DIRECTORY of --root is kept and used again. Needs root, and Debian's package servers."""

import argparse
import contextlib
import pathlib
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
from common import Failure, output, verdict  # noqa: E402
from fresh import USER, inside, make  # noqa: E402
from native import LOCALE, tarball, unpack  # noqa: E402

RESULTS = "opt/results.xml"
LENGTH = "1000000"  # bytes of a test's output that ctest keeps


def build(root, *arguments):
    """Runs `./build.sh test` in the unpacked directory, and returns its output."""
    place = output(["sh", "-ec", f"cd {root}; echo home/{USER}/sctpiw-*"]).strip()
    return inside(root, *LOCALE, "sh", "-ec", f'cd /{place}; exec ./build.sh test "$@"', "sh", *arguments, network="host")


def prepare(suite, root):
    """Makes the root, and builds in it. The first call of build.sh lists the tests, and runs none."""
    make(suite, root, "sudo,xz-utils")
    unpack(root, tarball())
    inside(root, "chmod", "755", f"/home/{USER}")  # tests run programs as other users
    build(root, "--show-only")
    print(f"{suite}: built on rdma-core {inside(root, 'dpkg-query', '-W', '-f', '${Version}', 'libibverbs1')}", flush=True)


def run(root, arguments):
    """Runs the tests, and returns ctest's results."""
    (root / RESULTS).unlink(missing_ok=True)
    sizes = ["--test-output-size-passed", LENGTH, "--test-output-size-failed", LENGTH]
    with contextlib.suppress(Failure):  # the results name the failed tests
        build(root, "--output-junit", f"/{RESULTS}", *sizes, *arguments)
    if not (root / RESULTS).exists():
        raise Failure("the tests did not run: " + build(root, "--show-only")[-2000:])
    return xml.etree.ElementTree.parse(root / RESULTS).getroot().findall("testcase")


def reasons(test):
    """Returns the lines in which a test reports skipped parts."""
    return [line for line in (test.findtext("system-out") or "").splitlines() if line.startswith("SKIP")]


def report(suite, tests):
    """Prints the results of the tests, and returns the names of failed tests."""
    by_status = {"run": [], "notrun": [], "fail": [], "disabled": []}
    for test in tests:
        by_status[test.get("status")].append(test)
    for test in by_status["fail"]:
        print(f"{suite}: FAIL {test.get('name')}\n{(test.findtext('system-out') or '')[-3000:]}", flush=True)
    for test in by_status["notrun"]:
        why = "; ".join(reasons(test)) or (test.findtext("system-out") or "").strip() or "gives no reason"
        print(f"{suite}: skipped: {test.get('name')}: {why}", flush=True)
    for test in by_status["run"]:
        for line in reasons(test):
            print(f"{suite}: skipped in part: {test.get('name')}: {line}", flush=True)
    print(f"{suite}: {len(by_status['run'])} tests passed, {len(by_status['notrun'])} were skipped, "
          f"{len(by_status['fail'])} failed", flush=True)
    return [test.get("name") for test in by_status["fail"]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, help="the directory of the root, which is kept")
    parser.add_argument("suite", help="as Debian calls it: trixie")
    parser.add_argument("ctest", nargs=argparse.REMAINDER, help="its arguments")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        root = options.root or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory())) / "root"
        if not (root / "opt").exists():
            prepare(options.suite, root)
        failed = report(options.suite, run(root, options.ctest))
    if failed:
        raise Failure(f"failed: {' '.join(failed)}")


if __name__ == "__main__":
    verdict("suite", main)
