#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Peers that cannot be reached: programs get TCP's error at once, and a log line has the cause."""
import contextlib
import os
import re
import socket
import struct
import subprocess
import sys

import harness
import sctp_packets as sctp
from harness import DEVICE, Failure, free_port, need, start
from mtu import ip_checksum

SOON = 15  # seconds: the limit for immediate errors, far below the 30 of a silent peer
BEHIND = {4: "10.84.0.{}", 6: "fd84::{}"}  # addresses that the server's host routes to
ICMP = {
    4: ["net-unreachable", "host-unreachable", "prot-unreachable", "port-unreachable", "net-prohibited",
        "host-prohibited", "admin-prohibited"],
    6: ["admin-prohibited", "addr-unreachable", "reject-route"],
}
# Events of rdma_cm for an errno of connect(), as the kernel reports them for an iWARP device. For channel adapters, a
# port without a listener is status 8.
EVENTS = {111: ("RDMA_CM_EVENT_REJECTED", -111 if harness.PERSONALITY == "iwarp" else 8),
          110: ("RDMA_CM_EVENT_UNREACHABLE", -110)}


def rping(link, address, port, env=None, **how):
    return start("rping-client", ["rping", "-c", "-a", address, "-p", port, "-C", 1], link, env=env, **how)


def lines(program):
    return [line for line in program.output().splitlines() if line.startswith("sctpiw:")]


def must_say(program, *words):
    """Standard error must have one line, with all of these words."""
    said = lines(program)
    if len(said) != 1 or not all(word in said[0] for word in words):
        raise Failure(f"{program.name} says {said}, and not one line with {words}")


def must_fail(program, error, seconds=SOON):
    """The event of the connection attempt must have this errno."""
    if program.wait(seconds) == 0:
        raise Failure("the client reported success")
    told = re.search(r"cma event (\w+), error (-?\d+)", program.output())
    event = EVENTS.get(error, ("RDMA_CM_EVENT_CONNECT_ERROR", -error))
    if not told or (told[1], int(told[2])) != event:
        raise Failure(f"{program.output().strip()!r} instead of {event}")


def run_on(link, side, argv, text=None):
    link._run([*link.enter(side), *argv], text)


def tcp_error(link, address, port):
    """The errno of connect() on TCP, on the client's side."""
    done = subprocess.run([*link.enter("client"), sys.executable, __file__, "tcp", address, str(port)],
                          capture_output=True, text=True)
    return int(done.stdout)


@contextlib.contextmanager
def rule(link, side, hook, what):
    """An nftables rule on one side, for packets that arrive or are forwarded."""
    need("nft")
    run_on(link, side, ["nft", "-f", "-"],
           f"table inet unreachable {{\n chain c {{\n type filter hook {hook} priority 0\n {what}\n }}\n }}\n")
    try:
        yield
    finally:
        run_on(link, side, ["nft", "delete", "table", "inet", "unreachable"])


def answer_all(link):
    """Disables the rate limit of ICMP errors on the server's host."""
    for name in "ipv4/icmp_ratelimit", "ipv6/icmp/ratelimit":
        run_on(link, "server", ["sh", "-c", f"echo 0 > /proc/sys/net/{name}"])


def closed_port(link):
    """No program has the port yet, or ever: the errno is TCP's."""
    port = free_port()
    must_fail(rping(link, link.address, port), 111)
    answer_all(link)
    clients = [rping(link, link.address, free_port()) for _ in range(8)]
    for client in clients:
        must_fail(client, 111)
        must_say(client, "no program there has the port", link.address, "start the server", "sctpiw run")
    server = start("rping-server", ["rping", "-s", "-C", 1, "-a", link.any, "-p", port], link, "server")
    server.wait_listening(port)
    rping(link, link.address, port).expect(SOON)


def routes(link):
    """A router on the way has no route, or a rejecting route: the errno is TCP's."""
    family = ["-6"] if link.family == 6 else []
    at = BEHIND[link.family]
    answer_all(link)
    for name in ("ipv4/ip_forward", "ipv6/conf/all/forwarding"):
        run_on(link, "server", ["sh", "-c", f"echo 1 > /proc/sys/net/{name}"])
    run_on(link, "client", ["ip", *family, "route", "add", at.format(0) + {4: "/24", 6: "/64"}[link.family], "via",
                            link.address])
    for number, kind in (1, "unreachable"), (2, "prohibit"):
        run_on(link, "server", ["ip", *family, "route", "add", kind, at.format(number)])
    # The last address has no route at all. A comparison with TCP would take long: a router sends few of these errors.
    for number, error in {4: [(2, 113), (9, 101)], 6: [(1, 101), (2, 13), (9, 101)]}[link.family]:
        must_fail(rping(link, at.format(number), free_port()), error)


def local_routes(link):
    """The local host has no route, or a rejecting route."""
    family = ["-6"] if link.family == 6 else []
    for number, kind in (1, "unreachable"), (2, "prohibit"), (3, "blackhole"):
        address = BEHIND[link.family].format(number)
        run_on(link, "client", ["ip", *family, "route", "add", kind, address])
        client = rping(link, address, free_port())
        if client.wait(SOON) == 0 or "rdma_resolve_addr" not in client.output():
            raise Failure(f"{kind}: {client.output().strip()!r}")


def rejects(link):
    """A firewall rejects with each kind of ICMP, at the server or on the way: the errno is TCP's."""
    answer_all(link)
    for kind in ICMP[link.family]:
        port = free_port()
        family = {4: "icmp", 6: "icmpv6"}[link.family]
        with rule(link, "server", "input", f"meta l4proto {{ tcp, udp }} th dport {port} reject with {family} type {kind}"):
            server = start("rping-server", ["rping", "-s", "-a", link.any, "-p", port], link, "server")
            server.wait_listening(port)
            error = tcp_error(link, link.address, port)
            must_fail(rping(link, link.address, port), error)
            print(f"    {kind}: errno {error}")
            server.kill()


def silence(link):
    """A firewall drops packets. After 3 s, a line reports the wait. Then the firewall lets packets pass."""
    port = free_port()
    server = start("rping-server", ["rping", "-s", "-C", 1, "-a", link.any, "-p", port], link, "server")
    server.wait_listening(port)
    with rule(link, "server", "input", f"udp dport {port} drop"):
        client = rping(link, link.address, port, env={"SCTPIW_SILENT_LIMIT": "10"})
        given_up = rping(link, link.address, port, env={"SCTPIW_SILENT_LIMIT": "4"})
        must_fail(given_up, 110)
        client.wait_for_output("sctpiw:", SOON)
    for program in client, given_up:
        must_say(program, "rdma_connect() waits for", f"{link.address}", f":{port}", "3 s", "firewall", f"UDP to port {port}",
                 "sctpiw doctor")
    client.expect(30)
    server.expect(SOON)


def silence_out_of_band(link):
    """The same for QPs that programs connect themselves: they wait as long as their settings demand."""
    port = free_port()
    common = ["ibv_rc_pingpong", "-d", DEVICE, "-g", 0, "-p", port, "-n", 10]
    with rule(link, "server", "input", "meta l4proto udp drop"):
        server = start("rc_pingpong-server", common, link, "server")
        server.wait_listening_tcp(port)
        client = start("rc_pingpong-client", [*common, link.address], link)
        if client.wait(60) == 0 or "transport retry counter exceeded" not in client.output():
            raise Failure(f"the client: {client.output().strip()!r}")
    must_say(client, "work requests have waited for QP 0x", link.address, "3 s", "firewall")


# ---- settings that differ from the peer's ----

def other_llp(link):
    """The server's program has another llp."""
    for theirs, ours, words in ("ip", "udp", ("llp = ip", "llp = udp", "start both with the same")), \
                               ("udp", "ip", ("no program of that host has llp = ip", "llp = udp")):
        port = free_port()
        server = start("rping-server", ["rping", "-s", "-a", link.any, "-p", port], link, "server",
                       env={"SCTPIW_LLP": theirs})
        server.wait_listening(port)
        client = rping(link, link.address, port, env={"SCTPIW_LLP": ours})
        must_fail(client, 111)
        must_say(client, f"{link.address}", f":{port}", *words)
        if not server.running():
            raise Failure("the server ended")
        server.kill()


def encap_port(link):
    """The client's UDP port does not lead to the server: it is closed, or belongs to another program."""
    port, other = free_port(), free_port()
    for name, number in ("server", port), ("another", other):
        start(f"rping-{name}", ["rping", "-s", "-a", link.any, "-p", number], link, "server").wait_listening(number)
    for wrong in free_port(), other:
        client = rping(link, link.address, port, env={"SCTPIW_ENCAP_PORT": str(wrong)})
        must_fail(client, 111)
        must_say(client, f"has UDP port {wrong}, which encap-port = {wrong} selects", "encap-port = same")


def kernel_behind(link):
    """The server has the kernel's SCTP on another UDP port, which the client does not use."""
    port = free_port()
    server = start("rping-server", ["rping", "-s", "-a", link.any, "-p", port], link, "server")
    server.wait_listening(port)
    client = rping(link, link.address, port, env={"SCTPIW_ENCAP_PORT": "same"})
    must_fail(client, 111)
    must_say(client, f":{port}", f"llp = kernel behind UDP port {link.encap_port}", "this one with that encap-port")
    rping(link, link.address, port, env={"SCTPIW_ENCAP_PORT": str(link.encap_port)}).expect(SOON)


def kernel_routes(link):
    """The client has the kernel's SCTP, and a router has no route."""
    for argv in ["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"], ["ip", "route", "add", "unreachable", "10.84.0.1"]:
        subprocess.run(argv, check=True)
    link.run(["ip", "route", "add", "10.84.0.0/24", "via", link.address])
    must_fail(rping(link, "10.84.0.1", free_port()), 113)


# ---- false errors ----

def quote(family, ip_packet, tag):
    """The error "port unreachable" about this packet. tag replaces the tag of its INIT, unless None."""
    at = {4: 20, 6: 40}[family] + 8 + 12 + 4
    if tag is not None:
        ip_packet = ip_packet[:at] + struct.pack("!I", tag) + ip_packet[at + 4:]
    kind, code = {4: (3, 3), 6: (1, 4)}[family]
    message = struct.pack("!BBHI", kind, code, 0, 0) + ip_packet[:1000]
    if family == 4:
        message += bytes(len(message) % 2)
        message = message[:2] + struct.pack("!H", ip_checksum(message)) + message[4:]
    return message


def lie(family, peer, tag, count):
    """Answers the first INIT, as it leaves, with `count` errors to the peer. Prints all INITs."""
    icmp = socket.socket({4: socket.AF_INET, 6: socket.AF_INET6}[family], socket.SOCK_RAW, {4: 1, 6: 58}[family])
    ear = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(sctp.ETH_P_ALL))
    ear.bind(("veth0", 0))
    header, proto = {4: 20, 6: 40}[family], {4: 23, 6: 20}[family]
    print("listening", flush=True)
    seen = 0
    while True:
        frame = ear.recv(65536)
        if len(frame) < 14 + header + 8 + 20 or frame[proto] != sctp.UDP or frame[14 + header + 8 + 12] != sctp.INIT:
            continue
        seen += 1
        print("INIT", flush=True)
        for _ in range(count if seen == 1 else 0):
            icmp.sendto(quote(family, frame[14:], tag), (peer, 0))


def forged(link):
    """A host that sees the first INIT can forge errors about it: a second INIT follows, and the connection succeeds."""
    here = link.subnets[link.family].format(2)
    for tag, inits in (None, 2), (0x12345678, 2):
        port = free_port()
        server = start("rping-server", ["rping", "-s", "-C", 5, "-V", "-a", link.any, "-p", port], link, "server")
        server.wait_listening(port)
        liar = start("liar", [sys.executable, __file__, "lie", link.family, here, "none" if tag is None else tag, 20],
                     link, "server", rdma=False)
        liar.wait_for_output("listening")
        # The first packet is lost: only the error answers it.
        with rule(link, "server", "input", f"udp dport {port} quota until 250 bytes drop"):
            start("rping-client", ["rping", "-c", "-C", 5, "-V", "-a", link.address, "-p", port], link).expect(SOON)
        server.expect(SOON)
        if liar.output().count("INIT") != inits:
            raise Failure(f"tag {tag}: {liar.output().count('INIT')} INITs left, not {inits}")
        liar.kill()


CASES = [
    ("closed-port", closed_port),
    ("routes", routes),
    ("local-routes", local_routes),
    ("rejects", rejects),
    ("silence", silence),
    ("silence-out-of-band", silence_out_of_band),
    ("other-llp", other_llp),
    ("encap-port", encap_port),
    ("forged", forged),
    ("kernel-behind", kernel_behind),
    ("kernel-routes", kernel_routes),
]

if __name__ == "__main__":
    if sys.argv[1:2] == ["lie"]:
        sys.exit(lie(int(sys.argv[2]), sys.argv[3], None if sys.argv[4] == "none" else int(sys.argv[4]), int(sys.argv[5])))
    if sys.argv[1:2] == ["tcp"]:
        with socket.socket(socket.AF_INET6 if ":" in sys.argv[2] else socket.AF_INET) as s:
            s.settimeout(SOON)
            print(s.connect_ex((sys.argv[2], int(sys.argv[3]))))
        sys.exit(0)
    sys.exit(harness.main(CASES))
