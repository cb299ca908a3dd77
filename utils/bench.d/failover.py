# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measures how long RDMA Writes stall when their link fails and another link exists."""
import statistics
import time

import harness
import paths
from names import LONGEST, STANDSTILL
from programs import BIN, numbers

FAILURES = 20
CONFIRMED = 0.5  # seconds after which the second link is confirmed
SECONDS = 1  # seconds of writing


def _one(link, how):
    """Makes one link fail. The writing side is not informed: its peer reports the failure, or it detects it itself."""
    port = harness.free_port()
    server = harness.start("server", [BIN / "verbs-bench", "server", link.any, port], link, "server")
    server.wait_for_output("listening")
    client = harness.start("client", [BIN / "verbs-bench", "write", link.address, port, 4096, 65536, SECONDS, "events"],
                           link, "client")
    client.wait_for_output("writing")
    time.sleep(CONFIRMED)
    how[0](link, "veth0")
    client.expect(20)
    server.kill()
    how[1](link, "veth0")
    return numbers(r"([\d.]+) ms without a completion", client.output())[0]


def standstill(how):
    def run(at):
        found = [_one(at.link, how) for _ in range(FAILURES)]
        return {STANDSTILL: statistics.median(found), LONGEST: max(found)}
    return run


TOLD, UNTOLD = standstill(paths.TOLD), standstill(paths.UNTOLD)
