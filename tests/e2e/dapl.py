#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""DAPL's programs. DAPL's provider for rdma_cm finds the device by the name of a network interface."""
import re
import sys

import harness
from harness import Failure, Skip, need, start

PROVIDER = "test"
# The ports of the programs are fixed. Each side sends its rdma_cm port to its peer by TCP, except in dtestsrq.
TCP_PORT, SRQ_PORT = 15828, 45248


def pair(link, program, *options, launcher=()):
    """Runs the two sides of a program, and returns their output."""
    need(program)
    if not hasattr(link, "subnets"):
        raise Skip("to rdma_cm an address of lo names no device, and DAPL binds to one")
    registry = harness.log_file("dat.conf")
    registry.write_text(f'{PROVIDER} u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "veth0 0" ""\n')
    env = {"DAT_OVERRIDE": str(registry)}
    common = [program, "-P", PROVIDER, *options]
    server = start(f"{program}-server", common, link, "server", env=env, options=launcher)
    if program == "dtestsrq":
        server.wait_listening(SRQ_PORT)
    else:
        server.wait_listening_tcp(TCP_PORT)
    client = start(f"{program}-client", [*common, "-h", link.address], link, env=env, options=launcher)
    client.expect(40)
    server.expect(10)
    return server.output(), client.output()


def must_have_passed(output, count=1):
    if output.count("PASSED") != count or "FAILED" in output:
        raise Failure("it has not passed: " + output[-300:])


def dtest(link):
    """RDMA Writes and Reads, and a ping-pong of 100 messages. Each side prints the first octet of each message."""
    size = 20000
    sides = ("server", "client", "0x55"), ("client", "server", "0xaa")
    for output, (ours, theirs, octet) in zip(pair(link, "dtest", "-v", "-b", size, "-B", 10), sides):
        must_have_passed(output)
        got = re.findall(rf"RCV buffer\[(\d+)\] \S+ contains: (\w+) len={size}$", output, re.M)
        if got != [(str(i), octet) for i in range(100)]:
            raise Failure(f"from the {theirs} came {got}")
        # dtest reads without checking whether the peer has changed its memory after the local Writes.
        read = re.findall(r"RCV RDMA read buffer contains: (.*)$", output, re.M)
        if not read or not set(read) <= {f"{theirs} RDMA read data...", f"{ours} RDMA write data..."}:
            raise Failure(f"what was read from the {theirs} is {read}")


def validated(link):
    """A ping-pong of RDMA Writes. The program itself compares the data."""
    for output in pair(link, "dtest", "-D", "-W", "-b", 100000, "-B", 20):
        must_have_passed(output)


def dtestsrq(link):
    """Two connections whose messages take their receives from one SRQ.

    Each message fits in a packet: DAPL 2.1.10 expects receives to complete in the order of posting. It mixes up two
    messages whose packets arrive in turns.
    """
    connections, bursts, burst = 2, 5, 4
    outputs = pair(link, "dtestsrq", "-v", "-c", connections, "-B", burst, "-t", bursts, "-b", 1000)
    for output, header in zip(outputs, (0x55, 0xaa - 256)):
        got = re.findall(r"incoming data: header (-?\d+), ep num (\d+), ep msg num (\d+)", output)
        for ep in range(connections):
            mine = [(int(h), int(number)) for h, e, number in got if int(e) == ep]
            if mine != [(header, i + 1) for i in range(bursts * burst)]:
                raise Failure(f"on connection {ep} came {mine}")
        if "Test Complete" not in output:
            raise Failure("it has not come to its end")


def dtestx(link):
    """RDMA Writes with immediate data, and atomics. DAPL uses them only on InfiniBand devices."""
    outputs = pair(link, "dtestx", launcher=["--personality", harness.CHANNEL_ADAPTER])
    for output, text, immediate in zip(outputs, ("Client written data", "Server data"), ("0x7777", "0x1111")):
        must_have_passed(output, 4)
        if f"contains: {text}" not in output or f"received immed_data={immediate}" not in output:
            raise Failure("other data than the peer's: " + output)
        values = re.findall(r"original data[^=]*= (\w+), expected 0x(\w+)", output)
        if len(values) != 3 or any(got != want for got, want in values):
            raise Failure(f"the atomics found {values}")


CASES = [
    ("dtest", dtest),
    ("dtest.validated", validated),
    ("dtestsrq", dtestsrq),
    ("dtestx", dtestx),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
