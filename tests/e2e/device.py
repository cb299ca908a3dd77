#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The device in the output of tools: GIDs, events of the port, counters."""
import re
import subprocess
import sys

import harness
import perftest_run
from harness import BUILD, DEVICE, Failure, need, start

SIZE, COUNT = 65536, 500


def ip(link, *command):
    subprocess.run([*link.enter("server"), "ip", *command], check=True)


def gids(link):
    """The addresses of this side of the link, the widest scope first, with type and index."""
    program = start("ibv_devinfo", ["ibv_devinfo", "-v", "-d", DEVICE], link, "server")
    program.expect(10)
    found = dict(re.findall(r"GID\[ *(\d+)\]:\s+(.*)", program.output()))
    if found.get("0") != "::ffff:10.83.0.1, RoCE v2":
        raise Failure(f"not the first GID that was expected: {found}")
    if list(found.values())[-1] != found["0"]:
        raise Failure(f"the last GID is not the first one: {found}")
    if "fd83::1, RoCE v2" not in found.values():
        raise Failure(f"no GID of fd83::1: {found}")
    if "::ffff:127.0.0.1, RoCE v2" in found.values():
        raise Failure(f"a GID that no other host reaches: {found}")
    if "PORT_ACTIVE" not in program.output():
        raise Failure("the port is not active")


def diags(link):
    """InfiniBand's tools that read sysfs. ibstat needs a channel adapter."""
    need("ibstatus", "ibstat")
    status = start("ibstatus", ["ibstatus"], link, "server")
    status.expect(10)
    for text in "'sctpiw0' port 1", "0000:0000:0000:0000:0000:ffff:0a53:0001", "4: ACTIVE", "5: LinkUp", "Ethernet":
        if text not in status.output():
            raise Failure(f"ibstatus does not say '{text}'")
    for text, *options in [["", "--personality", "iwarp"],
                           ["State: Active", "--personality", "iwarp", "--node-type", "ca"],
                           ["State: Active", "--personality", "roce"]]:
        stat = start("ibstat", ["ibstat"], link, "server", options=options)
        stat.expect(10)
        if text not in stat.output() or bool(text) != bool(stat.output()):
            raise Failure("not what was expected of ibstat: " + stat.output())


def events(link):
    need("ibv_asyncwatch", "stdbuf")
    watch = start("ibv_asyncwatch", ["stdbuf", "-oL", "ibv_asyncwatch", "-d", DEVICE], link, "server")
    watch.wait_for_output("async event FD")

    def expect(event):
        """Waits until the event is printed once more."""
        seen[event] = seen.get(event, 0) + 1
        pattern = f"IBV_EVENT_{event} "
        deadline = harness.time.monotonic() + 10
        while watch.output().count(pattern) < seen[event]:
            if harness.time.monotonic() > deadline or not watch.running():
                raise Failure(f"no {event}: {watch.output()}")
            harness.time.sleep(0.01)
        if "FATAL" in watch.output():
            raise Failure("the device is not broken")

    seen = {}
    ip(link, "address", "add", "10.83.7.1/32", "dev", "veth0")
    expect("GID_CHANGE")
    for device in "veth0", "lo":
        if "PORT_ERR" in watch.output():
            raise Failure("there was still an address")
        ip(link, "link", "set", device, "down")
    expect("PORT_ERR")
    ip(link, "link", "set", "lo", "up")
    expect("PORT_ACTIVE")
    ip(link, "link", "set", "lo", "down")
    expect("PORT_ERR")
    ip(link, "link", "set", "lo", "up")
    ip(link, "link", "set", "veth0", "up")
    expect("PORT_ACTIVE")


def read_counters(path):
    return {name: int(value) for name, value in (line.split() for line in path.read_text().splitlines())}


def counters(link):
    """The bytes of ib_write_bw count as sent on one side, and as received on the other."""
    base = harness.log_file("counters")
    env = {"LD_PRELOAD": str(BUILD / "lib/libe2e-counters.so"), "COUNTERS": str(base)}
    perftest_run.run(link, "ib_write_bw", ["-s", SIZE, "-n", COUNT], env=env)
    sides = [read_counters(path) for path in base.parent.glob(base.name + ".*")]
    sides = [c for c in sides if c["iwOutRdmaWrites"] >= COUNT or c["iwInRdmaWrites"] >= COUNT]
    if len(sides) != 2:
        raise Failure(f"{len(sides)} programs with as many writes, not 2")
    client, server = sorted(sides, key=lambda c: c["iwInRdmaWrites"])
    words = SIZE * COUNT // 4
    for side, name in (client, "port_xmit_data"), (server, "port_rcv_data"):
        if not words <= side[name] < 2 * words:
            raise Failure(f"{name}: {side[name]} for {words} words of data")
    for side, name in (client, "port_rcv_data"), (server, "port_xmit_data"):
        if not 0 < side[name] < words:
            raise Failure(f"{name}: {side[name]} for what went the other way")
    for side in client, server:
        if not side["sessions"] or not side["port_xmit_packets"] or not side["port_rcv_packets"]:
            raise Failure(f"a connection without a packet or a session: {side}")
        if side["port_rcv_errors"] or side["symbol_error"]:
            raise Failure(f"errors: {side}")


def lost_packets(link):
    """Packets that the link loses are retransmitted, and counted."""
    base = harness.log_file("counters")
    env = {"LD_PRELOAD": str(BUILD / "lib/libe2e-counters.so"), "COUNTERS": str(base)}
    perftest_run.run(link, "ib_write_bw", ["-s", SIZE, "-n", COUNT], seconds=60, env=env)
    sides = [read_counters(path) for path in base.parent.glob(base.name + ".*")]
    if not any(c["iwOutRdmaWrites"] >= COUNT and c["sctp_retransmissions"] for c in sides):
        raise Failure(f"nothing was sent again: {sides}")


CASES = [("gids", gids), ("diags", diags), ("events", events), ("counters", counters), ("lost-packets", lost_packets)]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
