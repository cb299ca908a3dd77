#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""UCX on QPs that it connects out of band, and on datagrams: its transports alone, and its upper layer, UCP.

Two workers of UCP that use their own addresses, as with MPI and in ucx_perftest, connect by datagrams. UCP connects to
the address of a socket by rdma_cm, or by TCP. UCX takes no iWARP device."""
import re
import subprocess
import sys
import time

import harness
from harness import DEVICE, Failure, Skip, free_port, need, start

AS_CA = ["--personality", harness.CHANNEL_ADAPTER]


def without_mpi():
    """The option for a ucx_perftest with MPI, as in Debian's UCX 1.18: otherwise it would start a job of one."""
    asked = subprocess.run(["ucx_perftest", "-h"], capture_output=True, text=True)
    return ["-P", 0] if "disable/enable MPI mode" in asked.stdout + asked.stderr else []


def perftest(test, layout, size, count, transport="rc_verbs"):
    def case(link):
        need("ucx_perftest")
        if link.family == 6:
            raise Skip("ucx_perftest takes no IPv6 address")
        port = free_port()
        common = ["ucx_perftest", "-t", test, "-x", transport, "-d", f"{DEVICE}:1", "-D", layout, "-s", size, "-n", count,
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

    A sysfs shows the interfaces of the network namespace in which it was mounted. The kernel takes a second to show a
    new interface as up.
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


def hosts(link, side):
    """Makes the two sides two hosts for UCX, which would use shared memory between processes of one host."""
    return ["unshare", "--ipc", "--uts", *as_ucp_wants(link, side)]


def by_device(program, octets):
    """Checks that the device has sent at least these octets for this process. The port's counter has words of four
    octets."""
    path = harness.log_file(f"counters.{program.pid}")
    sent = re.search(r"^port_xmit_data (\d+)$", path.read_text(), re.M) if path.exists() else None
    if not sent or int(sent[1]) * 4 < octets:
        raise Failure(f"{program.name} has sent {octets} octets, and the device {int(sent[1]) * 4 if sent else 'none'}")


def one_rail():
    """UCX 1.18 uses the device and TCP at once for long messages."""
    if harness.version("ucx_info", "-v") < (1, 18):
        return {}
    return {"UCX_MAX_RNDV_RAILS": "1", "UCX_MAX_EAGER_RAILS": "1"}


def perftest_ucp(test, size, count):
    """ucx_perftest without settings of transports or devices."""
    def case(link):
        need("ucx_perftest")
        if link.family == 6:
            raise Skip("one family will do")
        port = free_port()
        common = ["ucx_perftest", "-t", test, "-s", size, "-n", count, "-w", 10, "-p", port, *without_mpi()]
        env = {"LD_PRELOAD": str(harness.BUILD / "lib/libe2e-counters.so"), "COUNTERS": str(harness.log_file("counters")),
               **one_rail()}
        server = start("ucx_perftest-server", [*hosts(link, "server"), *common], link, "server", env=env, options=AS_CA)
        server.wait_listening_tcp(port)
        client = start("ucx_perftest-client", [*hosts(link, "client"), *common, link.address], link, env=env, options=AS_CA)
        client.expect(40)
        server.expect(10)
        if not re.search(rf"^Final: +{count}( +\d+\.\d+){{5}}", client.output(), re.M):
            raise Failure("no result was printed: " + client.output())
        by_device(server if test == "ucp_get" else client, size * count)
    return case


def info(link):
    """UCX finds both of its transports on the device, without objections."""
    need("ucx_info")
    p = start("ucx_info", ["ucx_info", "-d"], link, options=AS_CA)
    p.expect(20)
    found = re.findall(r"Transport: (\w+)\n# +Device: (\S+)", p.output())
    for transport in "rc_verbs", "ud_verbs":
        if (transport, f"{DEVICE}:1") not in found:
            raise Failure(f"no {transport} on {DEVICE}: {found}")


def ucp(link, options, env, prefix, by_cm=False):
    """e2e-ucp, which checks every byte."""
    program = harness.BUILD / "bin/e2e-ucp"
    if not program.exists():
        raise Skip("built without UCX")
    if link.family == 6:
        raise Skip("one family will do")
    port = free_port()
    server = start("ucp-server", [*prefix(link, "server"), program, *options, port], link, "server", env=env, options=AS_CA)
    if by_cm:
        server.wait_listening(port)
    else:
        server.wait_listening_tcp(port)
    client = start("ucp-client", [*prefix(link, "client"), program, *options, port, link.address], link, env=env,
                   options=AS_CA)
    client.expect(40)
    server.expect(10)
    for p in client, server:
        report = re.search(r"^sent (\d+) octets, the port (\d+)$", p.output(), re.M)
        if not report:
            raise Failure(f"{p.name} did not come to its end")
        if int(report[2]) < int(report[1]):
            raise Failure(f"{p.name} has sent {report[1]} octets, of which {report[2]} by the device")


def ucp_by_socket(link):
    # One transport for a message: UCX 1.18 uses both at once for long messages.
    env = {"UCX_TLS": "rc_verbs,tcp", "UCX_SOCKADDR_TLS_PRIORITY": "tcp", "UCX_MAX_RNDV_RAILS": "1", "UCX_MAX_EAGER_RAILS": "1"}
    ucp(link, [], env, as_ucp_wants)


def ucp_by_rdma_cm(link):
    """Both sides send the number of a UD queue pair, and connect QPs by rdma_cm's data of the peer."""
    ucp(link, [], {"UCX_SOCKADDR_TLS_PRIORITY": "rdmacm", **one_rail()}, hosts, by_cm=True)


def ucp_as_it_is(link):
    """UCX listens with both rdma_cm and TCP, and connects by rdma_cm first."""
    ucp(link, [], one_rail(), hosts, by_cm=True)


def ucp_by_workers(link):
    ucp(link, ["--workers"], one_rail(), hosts)


CASES = [("info", info), ("ucp.socket", ucp_by_socket), ("ucp.rdma_cm", ucp_by_rdma_cm),
         ("ucp.as-it-is", ucp_as_it_is), ("ucp.workers", ucp_by_workers)]
CASES += [(f"{test}.{layout}", perftest(test, layout, size, count)) for test, layout, size, count in [
    ("put_lat", "short", 8, 500),
    ("put_bw", "bcopy", 8000, 2000),
    ("put_lat", "zcopy", 1000003, 30),
    ("am_lat", "short", 64, 500),
    ("am_bw", "bcopy", 4000, 2000),
    ("am_bw", "zcopy", 8000, 1000),
    ("get", "bcopy", 2000, 300),
    ("get", "zcopy", 1000003, 30),
    ("fadd", "short", 8, 500),
    ("cswap", "short", 8, 500),
]]
CASES += [(f"ud.{test}.{layout}", perftest(test, layout, size, count, "ud_verbs")) for test, layout, size, count in [
    ("am_lat", "short", 100, 500),
    ("am_bw", "bcopy", 4000, 2000),
    ("am_bw", "zcopy", 1000, 1000),
]]
CASES += [(test, perftest_ucp(test, size, count)) for test, size, count in [
    ("tag_lat", 8, 1000),
    ("tag_bw", 65536, 500),
    ("tag_sync_lat", 100000, 200),
    ("ucp_am_lat", 100, 1000),
    ("ucp_am_bw", 300000, 100),
    ("ucp_put_lat", 1000003, 30),
    ("ucp_put_bw", 5000, 1000),
    ("ucp_get", 100000, 200),
    ("ucp_add", 8, 500),
    ("ucp_fadd", 8, 500),
    ("ucp_swap", 4, 500),
    ("ucp_cswap", 8, 500),
    ("stream_lat", 10, 500),
    ("stream_bw", 10000, 500),
]]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
