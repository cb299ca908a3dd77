# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Counts the instructions of both ends per work request with callgrind. Noise does not change this number.

Both queue pairs are in one process, on one processor. The difference of the instructions of two runs, divided by the
difference of their work requests, varies by at most 0.5 %. Instructions of the kernel do not count.
"""
import os
import re
import shutil
import subprocess
import tempfile

from programs import BIN

# name, operation, bytes, number in flight, number in the shorter run
CASES = [
    ("Write of 64 bytes, 128 in flight", "write", 64, 128, 25600),
    ("Send of 64 bytes, 128 in flight", "send", 64, 128, 25600),
    ("Read of 64 bytes, 16 in flight", "read", 64, 16, 12800),
    ("Write of 64 bytes, alone", "write", 64, 1, 3000),
    ("Send of 64 bytes, back and forth", "pingpong", 64, 1, 3000),
    ("Send of 64 KiB, 64 in flight", "send", 65536, 64, 1280),
    ("Read of 64 KiB, 16 in flight", "read", 65536, 16, 640),
]


class Failure(Exception):
    pass


def collected(build, operation, size, window, count):
    """Returns the number of instructions of a whole run with the device of a build directory."""
    with tempfile.TemporaryDirectory() as scratch:
        argv = [build.resolve() / "bin/sctpiw", "run", "--", "valgrind", "--tool=callgrind",
                f"--callgrind-out-file={scratch}/out", BIN / "both-ends", operation, size, window, count]
        done = subprocess.run(["taskset", "-c", str(min(os.sched_getaffinity(0))), *map(str, argv)],
                              capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        raise Failure(f"{' '.join(map(str, argv[-5:]))}: {done.stderr.strip()[-300:]}")
    return int(found[1])


def table(builds, is_wanted):
    """Yields the lines of a table of the cases that is_wanted() accepts by name, with a column for each build
    directory."""
    if not shutil.which("valgrind"):
        raise Failure("valgrind is not there; ./build.sh test installs it")
    chosen = [case for case in CASES if is_wanted(case[0])]
    if not chosen:
        raise Failure("no work request matches")
    yield "| work request | " + " | ".join(map(str, builds)) + " |"
    yield "|---|" + "---:|" * len(builds)
    for name, operation, size, window, count in chosen:
        figures = []
        for build in builds:
            less, more = (collected(build, operation, size, window, n) for n in (count, 3 * count))
            figures.append(f"{(more - less) / (2 * count):,.0f}")
        yield f"| {name} | " + " | ".join(figures) + " |"
