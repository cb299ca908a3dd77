#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""gloo's transport ibverbs, with gloo.cpp, in which each rank compares every number."""
import os
import pathlib
import re
import subprocess
import sys

import harness
from harness import Failure, Skip, log_file, need, start

SOURCE = pathlib.Path(__file__).resolve().parent / "gloo.cpp"
INDEX = 0  # of the GID: the first GID is an IPv4 address


def build():
    """Builds the program as a user does, with the installed libraries."""
    need("g++")
    program = log_file("gloo-ranks")
    made = subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-O1", "-o", program, SOURCE, "-lgloo",
                           "-libverbs"], capture_output=True, text=True)
    if "gloo/" in made.stderr and "No such file" in made.stderr:
        raise Skip("needs gloo (libgloo-dev), which is not installed")
    if "GLOO_HAVE_TRANSPORT_IBVERBS" in made.stderr:
        raise Skip("gloo was built without ibverbs")
    if made.returncode:
        raise Failure("does not build: " + made.stderr)
    os.chmod(program, 0o755)
    return program


def ranks(count):
    """Ranks alternate between both sides of the link."""
    def case(link):
        if link.family == 6:
            raise Skip("one family will do")
        program = build()
        store = log_file("store")
        store.mkdir()
        programs = [start(f"rank{rank}", [program, rank, count, store, INDEX], link, ["server", "client"][rank % 2]) for rank in range(count)]
        for p in programs:
            p.expect(60)
        for rank, p in enumerate(programs):
            report = re.search(rf"^rank {rank} of {count}: sent (\d+) octets, the port (\d+)$", p.output(), re.M)
            if not report:
                raise Failure(f"{p.name} did not come to its end")
            if not int(report[1]) or int(report[2]) < int(report[1]):
                raise Failure(f"{p.name} has sent {report[1]} octets, of which {report[2]} by the device")
    return case


CASES = [
    ("two", ranks(2)),
    ("three", ranks(3)),
    ("four", ranks(4)),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
