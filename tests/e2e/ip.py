#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""--llp ip: privileges, ports that no kernel knows, and conflicts with the kernel's own SCTP."""
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import time

import harness
import oob
import sctp_packets
from harness import BUILD, DEVICE, NOBODY, ROOT, Failure, Skip, free_port, need, start

IPPROTO_SCTP = 132
INIT_ACK, ABORT = 2, 6


def refusal(program):
    """The log line with the reason why there is no device."""
    program.wait(10)
    if DEVICE in program.output():
        raise Failure("there is a device")
    lines = [line for line in program.output().splitlines() if line.startswith("sctpiw:")]
    if len(lines) != 1:
        raise Failure(f"printed {program.output()!r}")
    return lines[0]


def need_root():
    """Needs the host's root: a user namespace has no other users."""
    need("setpriv")
    if subprocess.run(["setpriv", f"--reuid={NOBODY}", "--clear-groups", "true"], capture_output=True).returncode:
        raise Skip("needs root")


def no_capability(link):
    """Without CAP_NET_RAW, one log line has a remedy, and the remedy works."""
    need_root()
    without = start("ibv_devices", ["ibv_devices"], link, user=NOBODY)
    line = refusal(without)
    remedy = re.search(r"setpriv (--inh-caps=[+a-z_]+ --ambient-caps=[+a-z_]+)", line)
    if "llp = ip needs CAP_NET_RAW" not in line or not remedy:
        raise Failure(f"printed {line}")
    port = free_port()
    ordinary = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *remedy.group(1).split(),
                "--", BUILD / "bin/sctpiw", "run", "--", "rping", "-V", "-C", 10, "-p", port]
    server = start("rping-server", [*ordinary, "-s", "-a", link.any], link, "server", rdma=False)
    server.wait_listening(port)
    start("rping-client", [*ordinary, "-c", "-a", link.address], link, rdma=False).expect(10)
    server.expect(5)


SIZE = 5000


def serve(link, port, address=None, name="rping-server", env=None):
    server = start(name, ["rping", "-s", "-P", "-V", "-S", SIZE, "-a", address or link.any, "-p", port], link, "server",
                   env=env)
    server.wait_listening(port)
    return server


def client(link, port, address=None, count=100):
    argv = ["rping", "-c", "-V", "-C", count, "-S", SIZE, "-a", address or link.address, "-p", port]
    return start("rping-client", argv, link)


def must_be_well(server, *clients):
    """rping also has status 0 if data did not arrive, but prints the error."""
    for program in clients:
        program.expect(20)
    for program in server, *clients:
        if "fail" in program.output() or "error" in program.output():
            raise Failure(f"{program.name}: {program.output().strip().splitlines()[-1]}")


def ping(link, server, port, address=None):
    must_be_well(server, client(link, port, address))


def port_in_use(link):
    """As for the kernel's ports, another process gets EADDRINUSE until the port is free again."""
    port = free_port()
    server = serve(link, port)
    second = start("rping-second", ["rping", "-s", "-P", "-a", link.any, "-p", port], link, "server")
    if second.wait(3) == 0 or "rdma_bind_addr" not in second.output():
        raise Failure(f"the second server printed {second.output()!r}")
    one = start("rping-one-address", ["rping", "-s", "-P", "-a", link.address, "-p", port], link, "server")
    if one.wait(3) == 0:
        raise Failure("one address of a port that another has on all addresses was bound")
    ping(link, server, port)
    server.kill()
    ping(link, serve(link, port, name="rping-third"), port)


def two_addresses(link):
    """One port on two addresses can have two servers."""
    port = free_port()
    first = serve(link, port, "127.0.0.1", "rping-first")
    second = start("rping-second", ["rping", "-s", "-P", "-V", "-S", SIZE, "-a", "127.0.0.2", "-p", port], link)
    second.must_run_for(0.5)
    for server, address in (first, "127.0.0.1"), (second, "127.0.0.2"), (first, "127.0.0.1"):
        ping(link, server, port, address)
    second.kill()
    ping(link, first, port, "127.0.0.1")


def side_by_side(link):
    """Servers and clients of several ports run at the same time, and each gets only its own packets."""
    servers = {}
    for port in [free_port() for _ in range(3)]:
        servers[port] = serve(link, port, name=f"server-{port}")
    clients = [(server, client(link, port, count=300)) for port, server in servers.items()]
    for pair in clients:
        must_be_well(*pair)


def dual(link):
    """A listener on :: accepts peers of IPv4 and IPv6, a listener on an IPv4-mapped address those of IPv4."""
    port = free_port()
    server = serve(link, port, "::")
    for address in "127.0.0.1", "::1", "127.0.0.1", "::1":
        ping(link, server, port, address)
    together = [client(link, port, address, 20000) for address in ("127.0.0.1", "::1")]
    for one in together:
        one.must_run_for(0.3)
        one.kill()
    port = free_port()
    server = serve(link, port, "::ffff:127.0.0.1")
    ping(link, server, port, "127.0.0.1")
    ping(link, server, port, "::ffff:127.0.0.1")


def raw_socket(link):
    """A raw socket of this process. It does not reach links between other network namespaces."""
    if isinstance(link, harness.Veth):
        raise Skip("only on lo")
    family = {4: socket.AF_INET, 6: socket.AF_INET6}[link.family]
    s = socket.socket(family, socket.SOCK_RAW, IPPROTO_SCTP)
    s.settimeout(2)
    return s


def strangers(link):
    """Short, broken and forged packets of protocol 132 do no harm."""
    port = free_port()
    server = serve(link, port)
    busy = client(link, port, count=100000000)
    busy.must_run_for(0.3)
    to = (link.address, 0)
    with raw_socket(link) as s:
        for packet in b"\0", bytes(7), bytes(8), bytes(12), struct.pack("!HH", 1, port) + bytes(1000):
            s.sendto(packet, to)
        for length in 3, 8, 11, 12, 40:
            s.sendto((struct.pack("!HHII", 7, port, 0, 0) + bytes(100))[:length], to)
    busy.must_run_for(0.5)
    busy.kill()
    server.kill()


def out_of_the_blue(link):
    """An INIT to a port without a listener gets an ABORT; an INIT to the listener gets an INIT ACK."""
    port = free_port()
    server = serve(link, port)
    busy = client(link, port, count=100000000)
    busy.must_run_for(0.3)
    table = pathlib.Path(f"/proc/{busy.pid}/net/{'udp' if link.family == 4 else 'udp6'}").read_text()
    own = {os.stat(fd).st_ino for fd in pathlib.Path(f"/proc/{busy.pid}/fd").iterdir() if fd.exists()}
    rows = [line.split() for line in table.splitlines()[1:]]
    ports = [int(row[1].rpartition(":")[2], 16) for row in rows if int(row[9]) in own]
    # The port of a QP number is in the same table. This port answers only if a QP is connected out of band.
    if not 1 <= len(ports) <= 1 + (link.family == 6):
        raise Failure(f"the client has claimed the ports {ports}")
    with raw_socket(link) as s:
        for targets, answer in ([port], INIT_ACK), (ports, ABORT):
            init = sctp_packets.init(0x1234567, 100000, 10, 10, 1, sctp_packets.ADAPTATION)
            packets = [sctp_packets.packet(30001, target, 0, init) for target in targets]
            found = first_answer(link, s, packets, 30001)
            if found[12] != answer:
                raise Failure(f"ports {targets} answered {found.hex()}")
    must_not_have_ended(server, busy)


def first_answer(link, s, packets, port, seconds=10):
    """The first packet for that port. Sends repeatedly, as the socket also gets packets of busy programs, and may lose
    some."""
    end = time.monotonic() + seconds * harness.SLOW
    while time.monotonic() < end:
        for packet in packets:
            s.sendto(packet, (link.address, 0))
        again = time.monotonic() + 1
        while time.monotonic() < again:
            packet = s.recv(65536)
            packet = packet[(packet[0] & 15) * 4:] if link.family == 4 else packet
            if packet[2:4] == struct.pack("!H", port):
                return packet
    raise Failure(f"port {port} got no answer")


def must_not_have_ended(*programs):
    for program in programs:
        if not program.running():
            raise Failure(f"{program.name} ended")


def mtu_shrinks(link):
    """The MTU of the link shrinks during a transfer: data continues in smaller packets."""
    if not isinstance(link, harness.Veth):
        raise Skip("only between network namespaces")
    port = free_port()
    server = serve(link, port)
    busy = client(link, port, count=100000000)
    busy.must_run_for(0.4)
    for side in "client", "server":
        done = subprocess.run([*link.enter(side), "ip", "link", "set", "veth0", "mtu", "1400"], capture_output=True)
        if done.returncode:
            raise Failure(done.stderr.decode())
    before = rx_packets(link)
    busy.must_run_for(1.5)
    if rx_packets(link) - before < 200:
        raise Failure(f"{rx_packets(link) - before} packets in 1.5 s")
    must_be_well(server)


def rx_packets(link):
    text = pathlib.Path(f"/proc/{link.holders['server'].pid}/net/dev").read_text()
    return int(re.search(r"veth0:\s*\d+\s+(\d+)", text).group(1))


def datagrams(link):
    """UD queue pairs of e2e-ud and of ibv_ud_pingpong, whose messages are longer than the MTU of a veth."""
    with_ud = ["--personality", "roce"]
    program, port = BUILD / "bin/e2e-ud", free_port()
    server = start("ud-server", [program, "serve", link.address, port], link, "server", options=with_ud)
    server.wait_for_output("ready", 10)
    client = start("ud-client", [program, "connect", link.address, port, 300], link, options=with_ud)
    client.expect(20)
    if "300 echoes" not in client.output():
        raise Failure("not all echoes have come")
    must_not_have_ended(server)
    server.kill()
    need("ibv_ud_pingpong")
    argv = ["ibv_ud_pingpong", "-s", "2048", "-n", "200", "-p", port]
    server = start("pingpong-server", [*argv, "-g", oob.gid_index(link, "server")], link, "server", options=with_ud)
    server.wait_listening_tcp(port)
    client = start("pingpong-client", [*argv, "-g", oob.gid_index(link, "client"), oob.tcp_address(link)], link,
                   options=with_ud)
    client.expect(20)
    server.expect(10)


def no_groups(link):
    """There is no multicast: the program gets an error at once."""
    need("mckey")
    program = start("mckey", ["mckey", "-m", {4: "239.1.2.3", 6: "ff15::1"}[link.family], "-b", link.address], link,
                    "server", options=["--personality", "roce"])
    program.expect(10, 255)
    if "failure joining" not in program.output():
        raise Failure(f"printed {program.output()!r}")


def kernel_sctp(link):
    """If the kernel's SCTP is active, it would answer, too: there is no device, and a log line has the reason."""
    need_root()
    need("linux.uml", "modprobe")
    program = start("uml", [ROOT / "tests/uml/uml-run", "--timeout", "60", "--", BUILD / "bin/sctpiw", "run", "--",
                            "ibv_devices"], rdma=False)
    program.expect(90)
    line = refusal(program)
    if "the SCTP of this kernel is active" not in line or "rmmod sctp" not in line:
        raise Failure(f"printed {line}")


if __name__ == "__main__":
    if harness.LLP != "ip":
        sys.exit("this is about SCTPIW_LLP=ip")
    sys.exit(harness.main([
        ("no-capability", no_capability),
        ("port-in-use", port_in_use),
        ("two-addresses", two_addresses),
        ("side-by-side", side_by_side),
        ("dual", dual),
        ("strangers", strangers),
        ("out-of-the-blue", out_of_the_blue),
        ("mtu-shrinks", mtu_shrinks),
        ("datagrams", datagrams),
        ("no-groups", no_groups),
        ("kernel-sctp", kernel_sctp),
    ]))
