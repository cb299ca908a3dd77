#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""`sctpiw run --engines N`: programs with threads, and the output of the tools."""
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

import harness
import perftest_run
import sctp_packets as sctp
from harness import BUILD, Failure, start

ENGINES = THREADS = 3
UDP_SEGMENT = 103
SCTPIW = BUILD / "bin/sctpiw"
MESSAGES = 2000  # for each thread


def threads(link, *options, messages=MESSAGES):
    """A program whose threads have a pair of QPs each. Each pair is on its own engine."""
    return start("both-ends", [BUILD / "bin/both-ends", "send", 64, 10, messages, THREADS], link, "client",
                 options=["--engines", ENGINES, *options])


def finished(program):
    program.expect(60)
    if not re.search(r"^\d+ work requests a second$", program.output(), re.M):
        raise Failure(f"the threads did not finish: {program.output()}")


def ports(link):
    """While the threads run, each engine has its own port and associations, and stat shows all of them."""
    with tempfile.TemporaryDirectory(prefix="sctpiw-e2e-") as directory:
        program = start("both-ends", [BUILD / "bin/both-ends", "send", 64, 10, 50_000_000, THREADS], link, "client",
                        options=["--engines", ENGINES], env={"XDG_RUNTIME_DIR": directory})
        told, deadline = {}, time.monotonic() + 20
        while told.get("associations") != 2 * THREADS:  # each end of a pair has its own association
            if time.monotonic() > deadline:
                raise Failure(f"stat did not show what there is: {told}")
            program.must_run_for(0.1)
            done = subprocess.run([SCTPIW, "stat", "--json", str(program.pid)], capture_output=True, text=True,
                                  env=dict(os.environ, XDG_RUNTIME_DIR=directory))
            told = json.loads(done.stdout)[0] if done.returncode == 0 else {}
        program.kill()
    numbers, listed = {qp["num"] >> 8 for qp in told["qp"]}, {a["port"] for a in told["association"]}
    if len(told["qp"]) != 2 * THREADS or len(numbers) != ENGINES or not numbers < listed or len(listed) != 2 * ENGINES:
        raise Failure(f"not the QPs and associations of {ENGINES} ports: {told}")


def keyed(case):
    """A case with a key, which is an option of the launcher."""
    def run(link):
        with tempfile.TemporaryDirectory(prefix="sctpiw-e2e-") as directory:
            path = pathlib.Path(directory, "keys")
            subprocess.run([SCTPIW, "keygen", path], check=True, capture_output=True)
            case(link, "--key", path)
    return run


def by_number(link, *options):
    finished(threads(link, *options))


def capture(link):
    """One file has the packets of all engines, and all packets are whole."""
    harness.need("tshark")
    with tempfile.TemporaryDirectory(prefix="sctpiw-e2e-") as directory:
        path = pathlib.Path(directory, "packets.pcapng")
        finished(threads(link, "--capture", path))
        done = subprocess.run(["tshark", "-r", path, "-T", "fields", "-e", "udp.srcport", "-e", "udp.checksum.status",
                               "-o", "udp.check_checksum:TRUE"], capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"tshark: {done.stderr}")
    packets = [line.split("\t") for line in done.stdout.splitlines()]
    if len({port for port, _ in packets}) != 2 * ENGINES or any(status != "1" for _, status in packets):
        raise Failure(f"not the packets of {2 * ENGINES} ports, or some are broken: {packets[:5]} of {len(packets)}")
    if len(packets) < THREADS * MESSAGES // 10 * 2:
        raise Failure(f"there are {len(packets)} packets alone, of which each was sent and received")


def summary(link):
    program = threads(link, "--summary")
    finished(program)
    found = re.search(r"sent (\d+) messages, .* received (\d+) messages", program.output())
    if not found or {int(n) for n in found.groups()} != {THREADS * MESSAGES}:
        raise Failure(f"the summary does not count {THREADS * MESSAGES} messages each way: {program.output()}")


def one_udp_port(link):
    """A peer with one UDP port for several SCTP ports: the kernel merges its packets. No engine loses another engine's
    packets."""
    port = harness.free_port()
    server = start("rping-server", ["rping", "-s", "-P", "-a", link.any, "-p", port], link, "server", options=["--engines", ENGINES])
    server.wait_listening(port)
    inits = [sctp.packet(source, port, 0, sctp.init(1000 + source, 65536, 16, 16, 1, sctp.ADAPTATION)) for source in range(1, 13)]
    answered = set()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, len(inits[0]))  # one send, which arrives as one datagram
        s.sendto(b"".join(inits), (link.address, port))
        s.settimeout(10)
        while len(answered) < len(inits):
            answer = s.recv(65536)
            if answer[12] != sctp.INIT_ACK:
                raise Failure(f"an INIT was answered by a chunk of type {answer[12]}")
            answered.add(int.from_bytes(answer[2:4], "big"))
    server.kill()


def by_cm(link, *options):
    """The same threads, connected by rdma_cm."""
    finished(start("both-ends", [BUILD / "bin/both-ends", "send", 64, 10, MESSAGES, THREADS, "cm"], link, "client",
                   options=["--engines", ENGINES, *options]))


def perftest(tool, *options):
    def case(link):
        perftest_run.run(link, tool, [*options, "-s", 4096, "-n", 500], env={"SCTPIW_ENGINES": str(ENGINES)})
    return case


CASES = [
    ("threads", by_number),
    ("ports", ports),
    ("key", keyed(by_number)),
    ("capture", capture),
    ("summary", summary),
    ("one_udp_port", one_udp_port),
    ("by_cm", by_cm),
    ("key_by_cm", keyed(by_cm)),  # its packets do not identify their engine: the listener is on one engine
    ("ib_write_bw", perftest("ib_write_bw", "-q", 4)),
    ("ib_send_bw", perftest("ib_send_bw")),
    ("ib_read_bw", perftest("ib_read_bw", "-b")),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
