# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measurements of rivals on the same link: UDP alone, TCP, UCX over TCP and over the device, and other SCTPs. Each
function takes an At, or returns a function that does."""
import json
import socket

import harness
import keyed
from names import AVERAGE, CPU, GBITS, MEDIAN, P99, P999, UCX_DEVICE
from programs import BIN, numbers, pair, processor_seconds

HALF_TRIP = r"average ([\d.]+) us, median ([\d.]+) us, 99 % ([\d.]+) us, 99.9 % ([\d.]+) us"


def _latencies(text):
    return dict(zip((AVERAGE, MEDIAN, P99, P999), numbers(HALF_TRIP, text)))


def udp_bandwidth(size, count):
    def run(at):
        port = harness.free_port()
        text = pair(at, [BIN / "udp-ceiling", "rx", at.link.address, port],
                    [BIN / "udp-ceiling", "tx", at.link.address, port, size, count, at.seconds], port)
        return {GBITS: numbers(r"([\d.]+) Gbit/s", text)[0]}
    return run


def udp_latency(at):
    port = harness.free_port()
    return _latencies(pair(at, [BIN / "udp-ceiling", "rx", at.link.address, port],
                           [BIN / "udp-ceiling", "lat", at.link.address, port, 64, 20000 * at.seconds], port))


def tcp_latency(how):
    """how: the way in which both ends wait for data, "spin" or "block"."""
    def run(at):
        port = harness.free_port()
        common = at.link.address, port, 64, how
        return _latencies(pair(at, [BIN / "tcp-pingpong", "server", *common],
                               [BIN / "tcp-pingpong", "client", *common, 20000 * at.seconds], port, ready="listening"))
    return run


def _received(at, port, address, entry, *options):
    """Returns iperf3's data about received bytes. The server listens at port; the client connects to address, entry."""
    text = pair(at, ["iperf3", "-s", "-1", "--forceflush", "-p", port],
                ["iperf3", "-c", address, "-p", entry, "-t", at.seconds, "-J", *options], port, ready="listening")
    return json.loads(text)["end"]["sum_received"]


def _iperf3(*options):
    def run(at):
        port = harness.free_port()
        before = processor_seconds()
        received = _received(at, port, at.link.address, port, *options)
        return {GBITS: received["bits_per_second"] / 1e9,
                CPU: (processor_seconds() - before) / (received["bytes"] / (1 << 30))}
    return run


tcp_bandwidth = _iperf3()


def stunnel_bandwidth(at):
    port = harness.free_port()
    with keyed.stunnel(at.link, port) as entry:
        return {GBITS: _received(at, port, "127.0.0.1", entry)["bits_per_second"] / 1e9}


def kernel_sctp(at):
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_SCTP).close()
    except OSError as error:
        raise harness.Skip(f"the kernel has no SCTP: {error.strerror}") from None
    return _iperf3("--sctp")(at)


def usrsctp(size):
    def run(at):
        program = BIN / "usrsctp-rate"
        if not program.exists():
            raise harness.Skip(f"{program} is not there: usrsctp was not when it was built")
        port = harness.free_port()
        text = pair(at, [program, "rx", at.link.address, port],
                    [program, "tx", at.link.address, port, size, at.seconds], port)
        return {GBITS: numbers(r"([\d.]+) Gbit/s", text)[0]}
    return run


def _ucx(at, transports, *options):
    """Returns (overall overhead in us, overall messages per second) from the last row of ucx_perftest's table."""
    harness.need("ucx_perftest")
    port = harness.free_port()
    over_device = transports == UCX_DEVICE
    env = {"UCX_TLS": transports, "UCX_NET_DEVICES": f"{harness.DEVICE}:1" if over_device else "lo"}
    if over_device:
        env["SCTPIW_PERSONALITY"] = "roce"  # UCX accepts no iWARP device
    common = ["stdbuf", "-oL", "ucx_perftest", "-p", port]
    text = pair(at, common, [*common, at.link.address, "-f", *options], port, rdma=over_device, ready="Waiting", env=env)
    fields = text.split()
    return float(fields[-5]), float(fields[-1])


def ucx_bandwidth(transports, size):
    def run(at):
        rate = _ucx(at, transports, "-t", "tag_bw", "-s", size, "-w", 100, "-n", 3000 * at.seconds)[1]
        return {GBITS: rate * size * 8 / 1e9}
    return run


def ucx_latency(transports, size):
    def run(at):
        return {AVERAGE: _ucx(at, transports, "-t", "tag_lat", "-s", size, "-w", 1000, "-n", 50000 * at.seconds)[0]}
    return run
