#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""librpma: a program of our own above it, which compares every byte on both sides."""
import sys

import harness
from harness import Failure, Skip, free_port, run_pair


def memory(link):
    program = harness.BUILD / "bin/e2e-rpma"
    if not program.exists():
        raise Skip("built without librpma")
    port = free_port()
    outputs = run_pair(link, [program, "serve", link.address, port], [program, "connect", link.address, port], port)
    for output in outputs:
        if "octets right" not in output or "on-demand paging: yes" not in output:
            raise Failure("not the end that was expected: " + output)


CASES = [
    ("memory", memory),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
