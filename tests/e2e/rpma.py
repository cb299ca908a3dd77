#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""librpma: the programs rpma*.c, which compare every byte on both sides."""
import sys

import harness
from harness import Failure, Skip, free_port, run_pair


def run(name, *texts):
    def case(link):
        program = harness.BUILD / "bin" / name
        if not program.exists():
            raise Skip("built without librpma")
        port = free_port()
        for output in run_pair(link, [program, "serve", link.address, port], [program, "connect", link.address, port], port):
            if any(text not in output for text in texts):
                raise Failure("not the end that was expected: " + output)
    return case


CASES = [
    ("memory", run("e2e-rpma", "octets right", "on-demand paging: yes")),
    ("queues", run("e2e-rpma-queues", "a Write right on each connection")),
    ("events", run("e2e-rpma-events", "blocks right")),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
