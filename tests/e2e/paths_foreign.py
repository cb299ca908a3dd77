#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A host with two links whose peer is usrsctp with two links: both continue on the other link, and come back."""
import sys
import time

import foreign
import harness
import paths  # noqa: F401, which has the links
from harness import Failure, free_port, need, start


def must_go_on(program, what):
    """The program prints a line for each round. usrsctp needs its own timeout for its outstanding data."""
    before = paths.lines(program)
    deadline = time.monotonic() + 15 * harness.SLOW
    while paths.lines(program) < before + 10:
        if not program.running():
            raise Failure(f"{program.name} ended when {what}")
        if time.monotonic() > deadline:
            raise Failure(f"{program.name} stood still when {what}")
        time.sleep(0.02)


def through(link, how, program):
    program.must_run_for(paths.STAYS)
    for device in "veth0", "veth1":
        how[0](link, device)
        must_go_on(program, f"{device} was away")
        program.must_run_for(paths.STAYS)
        how[1](link, device)
        must_go_on(program, f"{device} was back")
        program.must_run_for(2 * paths.STAYS)


ENDLESS = 1000000  # rounds


def listening(how):
    """usrsctp accepts the association that sctpiw requests."""
    def case(link):
        need("rping")
        port = free_port()
        foreign.Peer(link, "listen", port, "rping", "--rounds", ENDLESS, "--leave-paths")
        client = start("rping-client", ["rping", "-c", "-v", "-V", "-a", foreign.peer_address(link), "-p", port, "-S", 100],
                       link, "server")
        client.wait_for_output("rdma-ping-10:")
        through(link, how, client)
    return case


def connecting(how):
    """usrsctp requests the association."""
    def case(link):
        need("rping")
        port = free_port()
        server = start("rping-server", ["rping", "-s", "-v", "-a", link.any, "-p", port, "-S", 5000], link, "server")
        server.wait_listening(port)
        foreign.Peer(link, "connect", port, "rping", "--rounds", ENDLESS, "--leave-paths")
        server.wait_for_output("rdma-ping-10:")
        through(link, how, server)
    return case


CASES = [
    ("listen.told", listening(paths.TOLD)),
    ("listen.untold", listening(paths.UNTOLD)),
    ("connect.told", connecting(paths.TOLD)),
    ("connect.untold", connecting(paths.UNTOLD)),
]


def main():
    if not foreign.USRSCTP.exists():
        print(f"SKIP {foreign.USRSCTP.name} was not built: when cmake ran, the development package was missing")
        return harness.EXIT_SKIPPED
    return harness.main(CASES)


if __name__ == "__main__":
    sys.exit(main())
