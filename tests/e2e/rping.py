#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""rping: RDMA Reads and Writes between two processes, which check the data."""
import subprocess
import sys

import harness
from harness import Failure, Skip, free_port, run_pair, start


def not_lossy(link):
    if link.lossy:
        raise Skip("so many pings take minutes when packets are lost: lossy and lossy-large do fewer")


def once(size, count, *more):
    def run(link):
        if count > 100:
            not_lossy(link)
        port = str(free_port())
        common = ["-p", port, "-S", str(size), "-V", *more]
        server, client = run_pair(
            link, ["rping", "-s", "-a", link.any, "-C", str(count), *common],
            ["rping", "-c", "-a", link.address, "-C", str(count), *common], int(port))
        for text in server, client:
            if "fail" in text or "error" in text:
                raise Failure("an error was printed: " + text.strip().splitlines()[-1])
    return run


def all_pings(client, count):
    """Checks the output, as rping may end with status 0 after a failure."""
    client.expect(100)
    if f"rdma-ping-{count - 1}:" not in client.output():
        raise Failure("a client did not get to its last ping")


def persistent(link):
    """One server, and clients one after another, of which one is killed in the middle."""
    not_lossy(link)
    port = free_port()
    server = start("rping-server", ["rping", "-s", "-P", "-V", "-a", link.any, "-p", port], link, "server")
    server.wait_listening(port)

    def client(count):
        return start("rping-client", ["rping", "-c", "-v", "-V", "-C", count, "-a", link.address, "-p", port], link)

    for _ in range(3):
        all_pings(client(50), 50)
    victim = client(1000000)
    victim.must_run_for(0.5)
    victim.kill()
    for _ in range(2):
        all_pings(client(50), 50)
    if not server.running():
        raise Failure("the server is gone")


def together(link):
    """Several clients of one server at the same time."""
    # rows: 6951-5.1-01
    not_lossy(link)
    port = free_port()
    server = start("rping-server", ["rping", "-s", "-P", "-V", "-S", 100, "-a", link.any, "-p", port], link, "server")
    server.wait_listening(port)
    count = 500 if link.in_guest else 2000
    # Clients start one after the other: rping's server keeps a request in a variable that the next request overwrites.
    # So it would serve only one of two requests at once. Each client then runs beside the others for a while.
    clients = []
    for _ in range(5):
        clients.append(start("rping-client", ["rping", "-c", "-v", "-V", "-C", count, "-S", 100, "-a", link.address, "-p", port],
                             link))
        clients[-1].wait_for_output("ping data")
    for client in clients:
        all_pings(client, count)


def link_local(link):
    """Link-local addresses, which need an interface."""
    if link.family != 6 or not isinstance(link, harness.Veth):
        raise Skip("there is no IPv6 link")
    bare = "fe80::83:{}"
    for side, host in ("server", 1), ("client", 2):  # the kernel's own link-local addresses are tentative for a while
        subprocess.run([*link.enter(side), "ip", "address", "add", bare.format(host) + "/64", "dev", "veth0", "nodad"],
                       check=True)
    bare = bare.format(1)
    address = bare + "%veth0"
    for listen in address, "::":
        port = str(free_port())
        run_pair(link, ["rping", "-s", "-V", "-a", listen, "-C", "20", "-p", port],
                 ["rping", "-c", "-V", "-a", address, "-C", "20", "-p", port], int(port))
    # Without a scope, the interface is unknown.
    for side in "-s", "-c":
        program = start("rping-without-scope", ["rping", side, "-a", bare, "-C", "1"], link, "server")
        if not program.wait(10):
            raise Failure(f"rping {side} took an address without its interface")
        if "Invalid argument" not in program.output():
            raise Failure(f"rping {side} was not told why")


CASES = [
    ("small", once(64, 1000)),
    ("smallest", once(23, 100)),
    ("odd", once(1453, 300)),
    ("lossy", once(64, 100)),
    ("lossy-large", once(65535, 30)),
    ("largest", once(65535, 200)),
    ("own-qp", once(100, 100, "-q")),
    ("persistent", persistent),
    ("together", together),
    ("link-local", link_local),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
