# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How long rping stands still when the link that it uses dies, and another one is there."""
import statistics
import time

import harness
import paths
from names import LONGEST, STANDSTILL

FAILURES = 20
CONFIRMED = 0.5  # seconds after which the second link is known to work
LIMIT = 10  # seconds


def _size(program):
    return program.log.stat().st_size


def _one(link, how):
    """rping prints a line for each round, and writes them by the 4,096 bytes, a few milliseconds' worth."""
    port = harness.free_port()
    server = harness.start("server", ["rping", "-s", "-p", port, "-a", link.any], link, "server")
    server.wait_listening(port)
    client = harness.start("client", ["rping", "-c", "-v", "-a", link.address, "-p", port], link, "client")
    client.wait_for_output("rdma-ping-10:")
    time.sleep(CONFIRMED)
    how[0](link, "veth0")
    begin = grown = time.monotonic()
    size, longest = _size(client), 0
    # What was printed before the link was dead may still come; the standstill is the longest gap of this second.
    while time.monotonic() - begin < 1 or not longest:
        if not client.running() or time.monotonic() - begin > LIMIT:
            raise harness.Failure("rping does not go on by the second link")
        if _size(client) != size:
            size, now = _size(client), time.monotonic()
            longest, grown = max(longest, now - grown), now
        time.sleep(0.0002)
    client.kill()
    server.kill()
    how[1](link, "veth0")
    return longest * 1000


def standstill(how):
    def run(at):
        harness.need("rping")
        found = [_one(at.link, how) for _ in range(FAILURES)]
        return {STANDSTILL: statistics.median(found), LONGEST: max(found)}
    return run


TOLD, UNTOLD = standstill(paths.TOLD), standstill(paths.UNTOLD)
