#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Failures are reported in time."""
import os
import signal
import subprocess
import sys
import tempfile
import time

import harness
import perftest_run
from harness import BUILD, DEVICE, Failure, free_port, start

KILLED_PEER = 3.0  # maximum seconds until a killed process on a reachable host is noticed
SLACK = 0.7  # seconds for the victim to end, and for the survivor to clean up
SETUP_LIMIT = 30.0  # maximum seconds for connection setup without any answer
SILENT_LIMIT = "SCTPIW_SILENT_LIMIT"  # the setting, in seconds
PEER = str(BUILD / "bin/e2e-peer")


def within(program, seconds, what):
    """Checks that the program fails in time. Returns its exit status."""
    begin = time.monotonic()
    status = program.wait(seconds + 30)
    took = time.monotonic() - begin
    if took > seconds * program.patience:
        raise Failure(f"{program.name} noticed {what} after {took:.1f} s, not {seconds * program.patience:g} s")
    return status


def layer(link, side):
    return link.settings(side).get("SCTPIW_LLP", harness.LLP)


def mute_loopback(link):
    """With ip, a host reports an unreachable port only if no other process on it uses SCTP."""
    return isinstance(link, harness.Loopback) and layer(link, "server") == "ip"


def death(link, victim):
    """The settings to notice a killed process on that side, and the seconds within which it is noticed."""
    survivor = "client" if victim == "server" else "server"
    # The kernel's SCTP does not report an ICMP "protocol unreachable" to its user.
    if mute_loopback(link) or (layer(link, victim), layer(link, survivor)) == ("ip", "kernel"):
        return {SILENT_LIMIT: "4"}, 4 + 3
    return None, KILLED_PEER + SLACK


def rping_pair(link, count=100000000, env=None):
    port = free_port()
    common = ["-V", "-p", port, "-C", count]
    server = start("rping-server", ["rping", "-s", "-a", link.any, *common], link, "server", env=env)
    server.wait_listening(port)
    client = start("rping-client", ["rping", "-c", "-a", link.address, *common], link, env=env)
    client.must_run_for(2.5 if link.in_guest else 0.5)  # the client is connected by then
    if not server.running():
        raise Failure("the server ended early")
    return server, client


def killed_server(link):
    env, seconds = death(link, "server")
    server, client = rping_pair(link, env=env)
    server.signal(signal.SIGKILL)
    within(client, seconds, "that its peer was killed")


def killed_client(link):
    env, seconds = death(link, "client")
    server, client = rping_pair(link, env=env)
    client.signal(signal.SIGKILL)
    within(server, seconds, "that its peer was killed")


def terminated_server(link):
    env, seconds = death(link, "server")
    server, client = rping_pair(link, env=env)
    server.signal(signal.SIGTERM)
    within(client, seconds, "that its peer was terminated")


def killed_under_load(link):
    """A bandwidth test whose receiver is killed: the sender fails, since its Sends are flushed."""
    perftest_run.speaks(link)
    env, seconds = death(link, "server")
    port = free_port()
    command = ["ib_write_bw", "-R", "-F", "-d", DEVICE, "-p", port, "-D", 20, "-s", 65536]
    server = start("ib_write_bw-server", command, link, "server", env=env)
    server.wait_listening(port)
    client = start("ib_write_bw-client", [*command, link.address], link, env=env)
    client.must_run_for(1.5)
    server.signal(signal.SIGKILL)
    if within(client, seconds, "that its peer was killed") == 0:
        raise Failure("the client reported success")


def idle_pair(link, env=None):
    port = free_port()
    server = start("peer-server", [PEER, "serve", link.any, port, "idle"], link, "server", env=env)
    server.wait_listening(port)
    client = start("peer-client", [PEER, "connect", link.address, port, "idle"], link, env=env)
    client.wait_for_output("connected")
    server.wait_for_output("connected")
    return server, client


def killed_while_idle(victim_side):
    def case(link):
        env, seconds = death(link, victim_side)
        server, client = idle_pair(link, env)
        victim, survivor = (server, client) if victim_side == "server" else (client, server)
        survivor.must_run_for(1.5)  # until everything is acknowledged
        victim.signal(signal.SIGKILL)
        survivor.wait_for_output("disconnected", seconds)
        survivor.wait_for_output("flushed", 1)
        survivor.expect(2)
    return case


def idle_lives(link):
    """An idle connection does not end."""
    server, client = idle_pair(link)
    client.must_run_for(6)
    if not server.running():
        raise Failure("the server ended")


def stopped_and_continued(link):
    """A peer stops in a debugger for longer than KILLED_PEER: the connection survives."""
    server, client = rping_pair(link)
    server.signal(signal.SIGSTOP)
    try:
        client.must_run_for(KILLED_PEER + 1.5)
    finally:
        server.signal(signal.SIGCONT)
    client.must_run_for(0.7)
    if not server.running():
        raise Failure("the server ended")


def stopped_too_long(link):
    if layer(link, "server") == "kernel":
        raise harness.Skip("the kernel answers for a process that is stopped")
    server, client = rping_pair(link, env={SILENT_LIMIT: "4"})
    server.signal(signal.SIGSTOP)
    within(client, 4 + 3, "that its peer is silent")


def cut_off(link):
    """Without any answer, the silent limit also ends the connection."""
    if harness.LLP == "kernel" or link.in_guest:
        return cut_off_kernel(link)
    with tempfile.TemporaryDirectory(prefix="sctpiw-e2e-") as name:
        env = {SILENT_LIMIT: "4", "XDG_RUNTIME_DIR": name}
        server, client = rping_pair(link, env=env)
        for program in server, client:
            subprocess.run([BUILD / "bin/sctpiw", "fault", str(program.pid), "packets: drop"], check=True, capture_output=True,
                           env=dict(os.environ, XDG_RUNTIME_DIR=name))
        within(client, 4 + 3, "that its peer is cut off")
        within(server, 4 + 3, "that its peer is cut off")
        harness.kill_all()  # the sockets of the programs are in the directory


def cut_off_kernel(link):
    """The same on the kernel's SCTP: no fault rule applies to its packets."""
    if not hasattr(link, "cut"):
        raise harness.Skip("only between network namespaces")
    server, client = rping_pair(link, env={SILENT_LIMIT: "4"})
    link.cut()
    try:
        within(client, 4 + 3, "that its peer is cut off")
        within(server, 4 + 3, "that its peer is cut off")
    finally:
        link.mend()


def nobody_listens(link):
    port = free_port()
    env, seconds = ({SILENT_LIMIT: "4"}, 4 + 3) if mute_loopback(link) else (None, 4 if link.in_guest else 2)
    client = start("rping-client", ["rping", "-c", "-a", link.address, "-p", port, "-C", 1], link, env=env)
    if within(client, seconds, "that nobody listens") == 0:
        raise Failure("the client reported success")
    if link.family == 6:  # perftest supports only IPv4
        return
    tool = start("ib_send_lat-client", ["ib_send_lat", "-R", "-F", "-d", DEVICE, "-p", port, link.address], link, env=env)
    if within(tool, 5 * seconds, "that nobody listens") == 0:  # perftest tries a few times
        raise Failure("the client reported success")


def rejected(link):
    """The server rejects the connection, and the client gets the private data of the rejection."""
    port = free_port()
    server = start("peer-server", [PEER, "serve", link.any, port, "reject"], link, "server")
    server.wait_listening(port)
    client = start("peer-client", [PEER, "connect", link.address, port, "idle"], link)
    if within(client, 2, "the rejection") == 0:
        raise Failure("the client reported success")
    if "rejected: not today" not in client.output():
        raise Failure("no rejection with its private data was printed: " + client.output().strip())
    server.expect(3)


def nobody_there(link):
    """No host has this address, which is in the link's network."""
    if not hasattr(link, "nobody_there"):
        raise harness.Skip("not on loopback")
    client = start("rping-client", ["rping", "-c", "-a", link.nobody_there, "-p", 7174, "-C", 1], link)
    if within(client, SETUP_LIMIT + 3, "that nobody is there") == 0:
        raise Failure("the client reported success")


def no_route(link):
    """The address has no route."""
    if not hasattr(link, "nobody_there"):
        raise harness.Skip("not on loopback")
    address = {4: "192.0.2.1", 6: "2001:db8::1"}[link.family]
    client = start("rping-client", ["rping", "-c", "-a", address, "-p", 7174, "-C", 1], link)
    if within(client, 3, "that there is no route") == 0:
        raise Failure("the client reported success")


def port_taken(link):
    """The second listener on a port gets an error."""
    port = free_port()
    command = ["rping", "-s", "-P", "-a", link.any, "-p", port]
    first = start("rping-first", command, link, "server")
    first.wait_listening(port)
    if within(start("rping-second", command, link, "server"), 3, "that the port is taken") == 0:
        raise Failure("the second server reported success")
    start("rping-client", ["rping", "-c", "-V", "-C", 10, "-a", link.address, "-p", port], link).expect(10)


CASES = [
    ("killed.server", killed_server),
    ("killed.client", killed_client),
    ("killed.terminated", terminated_server),
    ("killed.under-load", killed_under_load),
    ("killed.idle-server", killed_while_idle("server")),
    ("killed.idle-client", killed_while_idle("client")),
    ("silent.idle-lives", idle_lives),
    ("silent.stopped-and-continued", stopped_and_continued),
    ("silent.stopped-too-long", stopped_too_long),
    ("silent.cut-off", cut_off),
    ("connect.nobody-listens", nobody_listens),
    ("connect.rejected", rejected),
    ("connect.nobody-there", nobody_there),
    ("connect.no-route", no_route),
    ("connect.port-taken", port_taken),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
