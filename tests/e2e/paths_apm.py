#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Automatic path migration (docs/decisions/0030-*). A QP that is connected by hand moves to the alternate path that its
program has set, and reports this. It stays there, and returns on request."""
import sys

import harness
import paths
from harness import Failure, free_port, start


def own_address(link):
    """The client's address on veth0."""
    return link.subnets[4].format(2)


def migrates(how):
    def case(link):
        apm, port = harness.BUILD / "bin/e2e-apm", free_port()
        server = start("server", [apm, "serve", "0.0.0.0", port, link.address, link.address_on(1)], link, "server")
        server.wait_for_output("listening")
        client = start("client", [apm, "connect", link.address_on(1), port, own_address(link), link.address_on(1, "client")], link)
        client.wait_for_output("armed")
        how[0](link, "veth0")
        client.wait_for_output("migrated")
        client.must_run_for(2)
        how[1](link, "veth0")
        client.expect(30)
        told = [line for line in client.output().splitlines() if line in ("armed", "migrated", "done")]
        # A link that goes may take its address along. After its return, the peer requests this path, whether the QP is
        # armed or not.
        if told not in (["armed", "migrated", "armed", "migrated", "done"],
                        *([["armed", "migrated", "migrated", "done"]] if how is paths.TOLD else [])):
            raise Failure(f"the client said {told}")
        server.expect(30)
        return client.output()
    return case


def off(link):
    """With paths = off a QP is never armed."""
    apm, port = harness.BUILD / "bin/e2e-apm", free_port()
    options = ["--paths", "off"]
    server = start("server", [apm, "serve", "0.0.0.0", port, link.address, link.address_on(1)], link, "server", options=options)
    server.wait_for_output("listening")
    client = start("client", [apm, "connect", link.address, port, own_address(link), link.address_on(1, "client")], link,
                   options=options)
    client.must_run_for(4)
    if "armed" in client.output():
        raise Failure("the client is armed")
    client.kill()
    server.expect(10)
    return ""


CASES = [
    ("told", migrates(paths.TOLD)),
    ("untold", migrates(paths.UNTOLD)),
    ("off", off),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
