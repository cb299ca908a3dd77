#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests the source tarball in fresh roots: native.py SUITE...

mmdebstrap makes a root for each suite. An ordinary user who may use sudo unpacks the tarball of build/dist there.
`./build.sh demo` installs missing packages, builds with the headers of that suite, and runs its programs over lo. The
tests of libibverbs's private ABI are built and run there, too. Prints a table of results. Needs root, and Debian's
package servers."""

import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
from common import Failure, output, tarball  # noqa: E402
from fresh import USER, inside, make  # noqa: E402

ROW = "{:<10} {:<12} {:<5} {:<7} {:<7} {}"
LOCALE = ("env", "LC_ALL=C.UTF-8")


def private_abi(root):
    library = next(root.glob("usr/lib/*/libibverbs.so.1")).resolve().read_bytes()
    return re.search(rb"IBVERBS_PRIVATE_([0-9]+)\0", library).group(1).decode()


def run(root, script):
    """Runs a shell script as the ordinary user, in the unpacked directory. Installations in it need the network."""
    return inside(root, *LOCALE, "sh", "-ec", f"cd /home/{USER}/sctpiw-*; {script}", user=USER, network="host")


def unpack(root, source):
    (root / "etc/sudoers.d" / USER).write_text(f"{USER} ALL=(ALL) NOPASSWD: ALL\n")
    output(["cp", source, root / "opt"])
    inside(root, "runuser", "-u", USER, "--", "tar", "-C", f"/home/{USER}", "-xf", f"/opt/{source.name}")


def try_suite(suite, source, root):
    """Returns one row of the table. The demo prints a line for each of its programs, with ok or FAIL."""
    make(suite, root, "sudo,xz-utils")
    unpack(root, source)
    run(root, "./build.sh")
    version = inside(root, "dpkg-query", "-W", "-f", "${Version}", "libibverbs1")
    abi = private_abi(root)
    said = run(root, "./build.sh demo || true")
    verdicts = re.findall(r"^\w+ +(ok|FAIL) ", said, re.MULTILINE)
    tests = run(root, "sudo DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libcmocka-dev; "
                "cmake -DSCTPIW_TESTS=ON build; cmake --build build --target test_verbs_pabi test_verbs_pabi_headers; "
                "ctest --test-dir build -R pabi || true")
    passed = re.search(r"(\d+)% tests passed, (\d+) tests failed out of (\d+)", tests)
    good = (verdicts and set(verdicts) == {"ok"}) and passed and passed[2] == "0"
    print(ROW.format(suite, version, abi, "ok", f"{verdicts.count('ok')} of {len(verdicts)}",
                     f"{int(passed[3]) - int(passed[2])} of {passed[3]}" if passed else "none"), flush=True)
    if not good:
        raise Failure(f"{suite}:\n{said}\n{tests[-3000:]}")


def main():
    print(ROW.format("suite", "rdma-core", "ABI", "build", "demo", "tests of the ABI"), flush=True)
    failed = []
    for suite in sys.argv[1:]:
        try:
            with tempfile.TemporaryDirectory() as place:
                try_suite(suite, tarball(), pathlib.Path(place) / "root")
        except Failure as failure:
            print(f"{suite}: {failure}", flush=True)
            failed.append(suite)
    if failed:
        sys.exit(f"native: failed: {' '.join(failed)}")


if __name__ == "__main__":
    main()
