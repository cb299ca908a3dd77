# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How long RDMA Writes stand still when the link that they use dies, and another one is there."""
import statistics
import time

import harness
import paths
from names import LONGEST, STANDSTILL
from programs import BIN, numbers

FAILURES = 20
CONFIRMED = 0.5  # seconds after which the second link is known to work
SECONDS = 1  # for which is written


def _one(link, how):
    """The writer is the side that is not told: it has to hear of it from its peer, or to find out."""
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
