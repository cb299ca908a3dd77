#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""UCX on QPs that it connects out of band, since it takes no iWARP device: its transport alone, and under UCP.

To a peer that UCP knows by the address of its worker, as with MPI, it connects with datagrams, which there are not. To
one that it knows by the address of a socket it connects by TCP, over which both sides exchange what they need."""
import re
import subprocess
import sys
import time

import harness
from harness import DEVICE, Failure, Skip, free_port, need, start

AS_CA = ["--personality", "roce"]


def without_mpi():
    """The option for a ucx_perftest that was built with MPI, as Debian's of UCX 1.18 is: it would start a job of one."""
    asked = subprocess.run(["ucx_perftest", "-h"], capture_output=True, text=True)
    return ["-P", 0] if "disable/enable MPI mode" in asked.stdout + asked.stderr else []


def perftest(test, layout, size, count):
    def case(link):
        need("ucx_perftest")
        if link.family == 6:
            raise Skip("ucx_perftest takes no IPv6 address")
        port = free_port()
        common = ["ucx_perftest", "-t", test, "-x", "rc_verbs", "-d", f"{DEVICE}:1", "-D", layout, "-s", size, "-n", count,
                  "-w", 10, "-p", port, *without_mpi()]
        server = start("ucx_perftest-server", common, link, "server", options=AS_CA)
        server.wait_listening_tcp(port)
        client = start("ucx_perftest-client", [*common, link.address], link, options=AS_CA)
        client.expect(30)
        server.expect(10)
        if not re.search(rf"^Final: +{count}( +\d+\.\d+){{5}}", client.output(), re.M):
            raise Failure("no result was printed: " + client.output())
    return case


def as_ucp_wants(link, side):
    """Shows UCX the link's interfaces in /sys/class/net, and waits until they are up.

    A sysfs shows the interfaces of the network namespace in which it was mounted. The kernel takes a second to say that
    a new one is up.
    """
    enter = link.enter(side)
    if not enter:
        return []
    mounted = ["unshare", "--mount", "sh", "-c", 'mount -t sysfs sysfs /sys && exec "$@"', "sh"]
    deadline = time.monotonic() + 10
    while True:
        state = subprocess.run([*enter, *mounted, "cat", "/sys/class/net/veth0/operstate"], capture_output=True, text=True)
        if state.returncode:
            raise Skip("cannot mount sysfs: " + state.stderr.strip())
        if state.stdout.strip() == "up":
            return mounted
        if time.monotonic() > deadline:
            raise Failure("the link does not come up: " + state.stdout.strip())
        time.sleep(0.05)


def ucp(link):
    """A program of our own, which checks every byte."""
    program = harness.BUILD / "bin/e2e-ucp"
    if not program.exists():
        raise Skip("built without UCX")
    if link.family == 6:
        raise Skip("one family will do")
    port = free_port()
    # One transport for a message: UCX 1.18 sends long ones by both at once.
    env = {"UCX_TLS": "rc_verbs,tcp", "UCX_SOCKADDR_TLS_PRIORITY": "tcp", "UCX_MAX_RNDV_RAILS": "1", "UCX_MAX_EAGER_RAILS": "1"}
    server = start("ucp-server", [*as_ucp_wants(link, "server"), program, port], link, "server", env=env, options=AS_CA)
    server.wait_listening_tcp(port)
    client = start("ucp-client", [*as_ucp_wants(link, "client"), program, port, link.address], link, env=env, options=AS_CA)
    client.expect(40)
    server.expect(10)
    for p in client, server:
        report = re.search(r"^sent (\d+) octets, the port (\d+)$", p.output(), re.M)
        if not report:
            raise Failure(f"{p.name} did not come to its end")
        if int(report[2]) < int(report[1]):
            raise Failure(f"{p.name} has sent {report[1]} octets, of which {report[2]} by the device")


CASES = [("ucp", ucp)] + [(f"{test}.{layout}", perftest(test, layout, size, count)) for test, layout, size, count in [
    ("put_lat", "short", 8, 500),
    ("put_bw", "bcopy", 8000, 2000),
    ("put_lat", "zcopy", 1000003, 30),
    ("am_lat", "short", 64, 500),
    ("am_bw", "bcopy", 4000, 2000),
    ("am_bw", "zcopy", 8000, 1000),
    ("get", "bcopy", 2000, 300),
    ("get", "zcopy", 1000003, 30),
]]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
