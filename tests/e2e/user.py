#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""An ordinary user, without a home directory and without permission to lock memory."""
import os
import sys

import harness
import perftest_run
from harness import DEVICE, NOBODY, Failure, free_port, run_pair, start

MEMLOCK_NONE = ["prlimit", "--memlock=0"]


def devices(link):
    for user in NOBODY, None:
        program = start("ibv_devinfo", ["ibv_devinfo", "-d", DEVICE], link, user=user)
        program.expect(10)
        if "PORT_ACTIVE" not in program.output():
            raise Failure("the port is not active")


def rping(link):
    harness.need("prlimit")
    port = str(free_port())
    common = ["-p", port, "-S", "4000", "-V", "-C", "100"]
    run_pair(link, [*MEMLOCK_NONE, "rping", "-s", "-a", link.any, *common],
             [*MEMLOCK_NONE, "rping", "-c", "-a", link.address, *common], int(port), user=NOBODY)


def bandwidth(link):
    for tool in "ib_write_bw", "ib_read_bw", "ib_send_bw":
        perftest_run.run(link, tool, ["-s", "65536", "-n", "300"], user=NOBODY)


def two_users(link):
    """root's server, and nobody's client."""
    if os.geteuid():
        raise harness.Skip("needs root to be two users")
    port = free_port()
    server = start("rping-server", ["rping", "-s", "-V", "-C", 100, "-a", link.any, "-p", port], link, "server")
    server.wait_listening(port)
    client = ["rping", "-c", "-V", "-C", 100, "-a", link.address, "-p", port]
    start("rping-client", client, link, user=NOBODY).expect(10)
    server.expect(5)


def not_in_the_way(link):
    """Programs without RDMA work as without the library."""
    for argv in (["true"], ["sh", "-c", "ls / | sort"], ["python3", "-c", "import socket; socket.socketpair()"],
                 ["sh", "-c", "exec 3</dev/null; read x <&3; kill -TERM $$"]):
        plain = start("plain", argv, link, rdma=False)
        under = start("under", argv, link)
        status = plain.wait(10)
        under.expect(10, status)
        if under.output() != plain.output():
            raise Failure(f"{argv}: printed {under.output()!r} and not {plain.output()!r}")


if __name__ == "__main__":
    sys.exit(harness.main([
        ("devices", devices),
        ("rping", rping),
        ("bandwidth", bandwidth),
        ("two-users", two_users),
        ("not-in-the-way", not_in_the_way),
    ]))
