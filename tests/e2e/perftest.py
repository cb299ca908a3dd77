#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The perftest programs, connected by rdma_cm. They support only IPv4."""
import sys

import harness
import perftest_run
from harness import Failure, Skip

BANDWIDTH = "ib_write_bw", "ib_read_bw", "ib_send_bw"
LATENCY = "ib_write_lat", "ib_read_lat", "ib_send_lat"
ATOMIC = "CMP_AND_SWAP", "FETCH_AND_ADD"
AS_CA = {"SCTPIW_PERSONALITY": harness.CHANNEL_ADAPTER}
ALL_SIZES = [1 << n for n in range(1, 24)]
LOSSY_BYTES = 2 << 20  # maximum bytes of a case on a link with losses
LOSSY_ROUNDS = 50      # maximum round trips: a single lost packet may be retransmitted after a second


def too_much(tool, options, sizes):
    count = int(options[options.index("-n") + 1]) if "-n" in options else 0
    rounds = count if tool.endswith("lat") else 0
    return sum(sizes) * count > LOSSY_BYTES or rounds * len(sizes) > LOSSY_ROUNDS


def run(tool, options, sizes=None, env=None):
    """A case of one run. sizes: those of the rows of output, unless -s gives a size."""
    options = [str(o) for o in options]
    if sizes is None:
        sizes = [int(options[options.index("-s") + 1])]

    def case(link):
        if link.lossy and too_much(tool, options, sizes):
            raise Skip("too much for losses: the case lossy does the same with less")
        rows = perftest_run.run(link, tool, options, seconds=120, env=env)
        if [row[0] for row in rows] != sizes:
            raise Failure(f"{tool} printed rows for {[row[0] for row in rows]} and not for {sizes}")
    return case


def cases():
    for tool in BANDWIDTH:
        yield f"{tool}.basic", run(tool, ["-s", 65536, "-n", 500])
        yield f"{tool}.tiny", run(tool, ["-s", 1, "-n", 2000])
        yield f"{tool}.odd", run(tool, ["-s", 1453, "-n", 1000])
        yield f"{tool}.huge", run(tool, ["-s", 8388608, "-n", 10])
        yield f"{tool}.all", run(tool, ["-a", "-n", 50], ALL_SIZES)
        yield f"{tool}.qps", run(tool, ["-q", 64, "-s", 4096, "-n", 200])
        # perftest listens for its first connection, and later for the others. The client may request them before that.
        # perftest expects the connections in order.
        yield f"{tool}.late-listener", run(tool, ["-q", 16, "-s", 4096, "-n", 200],
                                           env={"LD_PRELOAD": str(harness.BUILD / "lib/libe2e-late-listener.so")})
        if tool != "ib_write_bw":  # perftest has no events for ib_write_bw
            yield f"{tool}.events", run(tool, ["-e", "-s", 4096, "-n", 500])
        yield f"{tool}.both-ways", run(tool, ["-b", "-s", 16384, "-n", 300])
        yield f"{tool}.shallow", run(tool, ["-t", 1, "-s", 4096, "-n", 200])
        yield f"{tool}.deep", run(tool, ["-t", 1024, "-s", 256, "-n", 3000])
        yield f"{tool}.list", run(tool, ["-l", 8, "-t", 64, "-s", 512, "-n", 1024])
        yield f"{tool}.moderated", run(tool, ["-Q", 16, "-t", 64, "-s", 512, "-n", 1024])
        yield f"{tool}.duration", run(tool, ["-D", 1, "-s", 4096])
        yield f"{tool}.odp", run(tool, ["--odp", "-s", 65536, "-n", 300])
        yield f"{tool}.lossy", run(tool, ["-s", 16384, "-n", 100])
    for tool in LATENCY:
        yield f"{tool}.basic", run(tool, ["-s", 64, "-n", 1000])
        yield f"{tool}.odd", run(tool, ["-s", 3001, "-n", 300])
        yield f"{tool}.huge", run(tool, ["-s", 1048576, "-n", 20])
        yield f"{tool}.all", run(tool, ["-a", "-n", 10], ALL_SIZES)
        yield f"{tool}.lossy", run(tool, ["-s", 64, "-n", 50])
    for tool in "ib_read_lat", "ib_send_lat":  # ib_write_lat polls memory, which has no events
        yield f"{tool}.events", run(tool, ["-e", "-s", 64, "-n", 300])
    for tool in "ib_write_bw", "ib_send_bw", "ib_write_lat", "ib_send_lat":
        yield f"{tool}.inline", run(tool, ["-I", 32, "-s", 32, "-n", 500])
        yield f"{tool}.not-inline", run(tool, ["-I", 0, "-s", 32, "-n", 500])
    for what in ATOMIC:  # of 8 bytes each, whatever -s is
        for tool in "ib_atomic_bw", "ib_atomic_lat":
            yield f"{tool}.{what}", run(tool, ["-A", what, "-n", 1000], [8])
        yield f"ib_atomic_bw.{what}.qps", run("ib_atomic_bw", ["-A", what, "-q", 8, "-n", 200], [8])
        yield f"ib_atomic_bw.{what}.both-ways", run("ib_atomic_bw", ["-A", what, "-b", "-n", 300], [8])
        yield f"ib_atomic_bw.{what}.outs", run("ib_atomic_bw", ["-A", what, "-o", 1, "-n", 200], [8])
        yield f"ib_atomic_bw.{what}.lossy", run("ib_atomic_bw", ["-A", what, "-n", 200], [8])
        yield f"ib_atomic_lat.{what}.lossy", run("ib_atomic_lat", ["-A", what, "-n", 50], [8])
    for tool in "ib_atomic_bw", "ib_atomic_lat":
        yield f"{tool}.events", run(tool, ["-e", "-n", 300], [8])
    # One QP: with an SRQ on iWARP devices, perftest counts credits by the number of the receive, not by the QP that
    # took the receive. A QP with too few credits hangs. oob.py has several QPs.
    for tool in "ib_send_bw", "ib_send_lat":
        yield f"{tool}.ud", run(tool, ["-c", "UD", "-s", 1000, "-n", 300], env=AS_CA)
    # A sender waits for the receiver. perftest would hang after the loss of a single message.
    for size in 4096, 1024:
        yield f"ib_send_bw.ud-nothing-lost-{size}", run("ib_send_bw", ["-c", "UD", "-s", size, "-n", 100000],
                                                        env=AS_CA)
    yield "ib_send_bw.srq", run("ib_send_bw", ["--use-srq", "-s", 1024, "-n", 500])
    yield "ib_send_bw.srq-lossy", run("ib_send_bw", ["--use-srq", "-s", 4096, "-n", 100])
    yield "ib_send_lat.srq", run("ib_send_lat", ["--use-srq", "-s", 64, "-n", 300])
    # perftest also hangs with only one receive, because of its credits.
    yield "ib_send_bw.receives", run("ib_send_bw", ["-r", 8, "-t", 128, "-s", 1024, "-n", 500])
    yield "ib_read_bw.outs", run("ib_read_bw", ["-o", 1, "-s", 4096, "-n", 200])


if __name__ == "__main__":
    sys.exit(harness.main(list(cases())))
