#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""C++ and Python programs over the extended interfaces of verbs. They check their data."""
import os
import pathlib
import subprocess
import sys

import harness
from harness import Failure, Skip, free_port, log_file, need, run_pair, start

HERE = pathlib.Path(__file__).resolve().parent


def ended_well(*outputs):
    for text in outputs:
        if "data ok" not in text.splitlines():
            raise Failure("not the end that was expected: " + text.strip()[-200:])


def cpp(link):
    """Builds the program as a user does, with the installed libraries."""
    need("g++")
    program = log_file("extended-cpp")
    made = subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-O1", "-o", program,
                           HERE / "extended.cpp", "-lrdmacm", "-libverbs"], capture_output=True, text=True)
    if made.returncode:
        raise Failure("does not build: " + made.stderr)
    os.chmod(program, 0o755)
    port = str(free_port())
    ended_well(*run_pair(link, [program, "server", link.any, port], [program, "client", link.address, port],
                         int(port), 30))


def python():
    """The interpreter of the distribution's pyverbs; PATH may lead to another interpreter."""
    interpreter = "/usr/bin/python3"
    if subprocess.run([interpreter, "-c", "import pyverbs.cmid"], capture_output=True).returncode:
        raise Skip("needs pyverbs (python3-pyverbs), which is not installed")
    return [interpreter, HERE / "extended_pyverbs.py"]


def pyverbs(link):
    argv = python()
    port = str(free_port())
    ended_well(*run_pair(link, [*argv, "server", link.any, port], [*argv, "client", link.address, port],
                         int(port), 30))


def pyverbs_objects(link):
    program = start("objects", [*python(), "objects"], link=link)
    program.expect(20, 0)
    ended_well(program.output())


CASES = [
    ("cpp", cpp),
    ("pyverbs", pyverbs),
    ("pyverbs.objects", pyverbs_objects),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
