#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""All tests in a fresh root: suite.py [--root DIRECTORY] SUITE [ARGUMENT OF CTEST...]

A root of the suite is made with mmdebstrap, the tarball of build/dist is unpacked in it, and `./build.sh test` installs
what is missing, builds on the headers of that suite, and runs the tests there, as root, in namespaces of its own but for
the network. What passed is counted; what failed or was skipped is named, with the reason. A root in a DIRECTORY that
--root names stays there, and is used again. Needs root, and Debian's package servers."""

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
LENGTH = "1000000"  # of what a test has printed, and ctest keeps


def build(root, *arguments):
    """Runs `./build.sh test` in the unpacked directory, and returns what it has printed."""
    place = output(["sh", "-ec", f"cd {root}; echo home/{USER}/sctpiw-*"]).strip()
    return inside(root, *LOCALE, "sh", "-ec", f'cd /{place}; exec ./build.sh test "$@"', "sh", *arguments, network="host")


def prepare(suite, root):
    """Makes the root, and builds in it: the first call of build.sh lists the tests, and runs none."""
    make(suite, root, "sudo,xz-utils")
    unpack(root, tarball())
    inside(root, "chmod", "755", f"/home/{USER}")  # tests run programs as other users
    build(root, "--show-only")
    print(f"{suite}: built on rdma-core {inside(root, 'dpkg-query', '-W', '-f', '${Version}', 'libibverbs1')}", flush=True)


def run(root, arguments):
    """Runs the tests, and returns what ctest knows of each."""
    (root / RESULTS).unlink(missing_ok=True)
    sizes = ["--test-output-size-passed", LENGTH, "--test-output-size-failed", LENGTH]
    with contextlib.suppress(Failure):  # the results say which tests failed
        build(root, "--output-junit", f"/{RESULTS}", *sizes, *arguments)
    if not (root / RESULTS).exists():
        raise Failure("the tests did not run: " + build(root, "--show-only")[-2000:])
    return xml.etree.ElementTree.parse(root / RESULTS).getroot().findall("testcase")


def reasons(test):
    """The lines in which a test says what it has skipped."""
    return [line for line in (test.findtext("system-out") or "").splitlines() if line.startswith("SKIP")]


def report(suite, tests):
    """Prints what came of the tests, and returns the names of those that failed."""
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
