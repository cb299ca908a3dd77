# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The list of measurements. A measurement is a function of an At (programs.py) that returns {unit: figure}."""
import pathlib
import time

import failover
import harness
import keyed
import names
import perftest_run
import rivals
import spread
from names import (AVERAGE, BOUND, CONNECTIONS, CPU, GBITS, KIB, LO, LOSS, MEDIAN, MTU_1500, P99, P999, PERCENT, RATE,
                   RENO, SIMULATED, SMALL_1500, SMALL_LO, WRITES)
from programs import BIN, numbers, pair, processor_seconds, start_server

VERBS_BENCH = BIN / "verbs-bench"


class Measure:
    """One line of the report. run: the function that measures. quick: True if --quick includes the measurement.

    has_device: True if sctpiw's device is measured, False if only a rival is.
    """

    def __init__(self, what, link, run, quick=False, has_device=True):
        self.what, self.link, self.run, self.quick, self.has_device = what, link, run, quick, has_device

    def __str__(self):
        return f"{self.what}, {self.link}"

    @property
    def needs_distance(self):
        """True if the figures depend on the distance of the processors."""
        return self.link not in names.PACED and self.what not in (names.IDLE, names.IDLE_QP)


def _rival(what, link, run, quick=False):
    return Measure(what, link, run, quick, has_device=False)


def _perftest(at, tool, size, *options, key=False):
    _, iterations, values = perftest_run.run(at.link, tool, ["-s", str(size), *map(str, options)],
                                             seconds=60 + at.seconds, user=at.user,
                                             env=keyed.environment() if key else None)[-1]
    return iterations, values


def bandwidth(tool, size, qps=1, both_ways=False, key=False):
    def run(at):
        options = ["-D", at.seconds, "-f", 0, "-q", qps, "--report_gbits", *(["-b"] if both_ways else [])]
        _, (_, gbits, rate, *_) = _perftest(at, tool, size, *options, key=key)
        return {GBITS: gbits, **({RATE: rate} if size == 64 else {})}
    return run


# On an iWARP device, perftest writes credits to memory, and datagrams cannot write to memory.
DATAGRAMS = {"SCTPIW_PERSONALITY": "roce"}


def datagram_bandwidth(size):
    def run(at):
        row = perftest_run.run(at.link, "ib_send_bw", ["-c", "UD", "-s", str(size), "-D", str(at.seconds), "-f", "0",
                                                       "--report_gbits"],
                               seconds=60 + at.seconds, user=at.user, env=DATAGRAMS, side="server")[-1]
        _, _, (_, gbits, rate, *_) = row
        return {GBITS: gbits, RATE: rate}
    return run


def datagram_latency(at):
    row = perftest_run.run(at.link, "ib_send_lat", ["-c", "UD", "-s", "64", "-n", str(10000 * at.seconds)],
                           seconds=60 + at.seconds, user=at.user, env=DATAGRAMS)[-1]
    values = row[2]
    return dict(zip((MEDIAN, AVERAGE, P99, P999), (values[2], values[3], values[5], values[6])))


def latency(tool, size, events=False, trips=10000, key=False):
    """trips: number of round trips per second of the measurement."""
    def run(at):
        _, values = _perftest(at, tool, size, "-n", trips * at.seconds, *(["-e"] if events else []), key=key)
        return dict(zip((MEDIAN, AVERAGE, P99, P999), (values[2], values[3], values[5], values[6])))
    return run


def event_driven(tool, size):
    """Measures the processor time of both ends. Subtracts a short run, since perftest calibrates its clock first.

    When the client of ib_send_bw has no credits left, it sleeps until a completion. But credits arrive without
    completions, so it might sleep forever. With 8,192 receives, the credits never run out.
    """
    def run(at):
        options = "-e", *(("-r", 8192) if tool == "ib_send_bw" else ()), "--report_gbits", "-n"
        begin = processor_seconds()
        _perftest(at, tool, size, *options, 5)
        middle = processor_seconds()
        count, values = _perftest(at, tool, size, *options, 20000 * at.seconds)
        taken = processor_seconds() - middle - (middle - begin)
        return {GBITS: values[1], CPU: taken / (count * size / (1 << 30))}
    return run


def atomics(at):
    harness.need("ibv_devinfo")
    program = harness.start("ibv_devinfo", ["ibv_devinfo", "-v", "-d", harness.DEVICE])
    program.expect(20)
    if "ATOMIC_NONE" in program.output():
        raise harness.Skip("the device has no atomic operations")
    return latency("ib_atomic_lat", 8)(at)


def _verbs_bench(at, what, *options):
    port = harness.free_port()
    return pair(at, [VERBS_BENCH, "server", at.link.address, port],
                [VERBS_BENCH, what, at.link.address, port, *options], port, rdma=True, ready="listening")


def writes(size, region, how):
    """how: the way in which the client waits for completions, "spin" or "events"."""
    def run(at):
        begin = processor_seconds()
        gib, gbits = numbers(r"([\d.]+) GiB, ([\d.]+) Gbit/s",
                             _verbs_bench(at, "write", size, region, at.seconds, how))
        taken = (processor_seconds() - begin) / gib
        return {GBITS: gbits, **({CPU: taken} if how == "events" else {})}
    return run


def connections(at_once):
    def run(at):
        text = _verbs_bench(at, "connect", at_once, at.seconds)
        return {CONNECTIONS: numbers(r"([\d.]+) connections/s", text)[0]}
    return run


def _idle_pair(at):
    port = harness.free_port()
    server = start_server(at, [VERBS_BENCH, "server", at.link.address, port], port, rdma=True, ready="listening")
    client = harness.start("client", [VERBS_BENCH, "idle", at.link.address, port], at.link, "client")
    client.wait_for_output("idle", 60)
    return server, client


def _run_time(program):
    """Returns the processor time of all threads of a process, in seconds."""
    tasks = pathlib.Path(f"/proc/{program.pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def idle(at):
    pair_of = _idle_pair(at)
    time.sleep(0.3)  # waits until the device has no more work for the connection
    before, begin = sum(map(_run_time, pair_of)), time.monotonic()
    time.sleep(at.seconds)
    return {PERCENT: (sum(map(_run_time, pair_of)) - before) / (time.monotonic() - begin) * 100}


def idle_memory(at):
    """Measures the memory of a QP in both processes. Returns the larger figure. All QPs carry checked data."""
    p = harness.start("many-qps", [BIN / "many-qps", at.link.address, names.MANY_QPS, 16, 16], at.link, "client")
    p.expect(60)
    return {KIB: max(numbers(side + r": ([\d.]+) KiB a queue pair", p.output())[0] for side in ("client", "server"))}


def simulated(loss, rtt):
    """Simulates a path for so long that many round trips and many losses happen."""
    def run(at):
        program = BIN / "sim-goodput"
        if not program.exists():
            raise harness.Skip(f"{program} is not there: it needs cmocka")
        p = harness.start("sim-goodput", [program, loss / 100, rtt * 1000, max(3, 2 * rtt), at.number], rdma=False)
        p.expect(120)
        found = numbers(r"writes ([\d.]+) MB/s, reno ([\d.]+) MB/s, bound ([\d.]+) MB/s", p.output())
        return dict(zip((WRITES, RENO, BOUND), found))
    return run


# ------------------------------------------------------------------ the list

def _on_rivals(link):
    yield _rival(names.TCP, link, rivals.tcp_bandwidth, link in (LO, MTU_1500))
    yield _rival(names.udp(link), link, rivals.udp_bandwidth(*names.UDP_SENDS[link]), link in (LO, MTU_1500))
    yield _rival(names.UDP_LATENCY, link, rivals.udp_latency, link == LO)
    yield _rival(names.TCP_SPINNING, link, rivals.tcp_latency("spin"))
    yield _rival(names.TCP_BLOCKING, link, rivals.tcp_latency("block"), link == LO)
    yield _rival("SCTP of the kernel, iperf3", link, rivals.kernel_sctp)
    yield _rival("SCTP of usrsctp in UDP, 60,000 B", link, rivals.usrsctp(60000))
    if link == LO:  # UCX rarely finds the interfaces of another network namespace
        for over, kind in (names.UCX_TCP, _rival), (names.UCX_DEVICE, Measure):
            yield kind(names.ucx(over, "tag_bw", 65536), link, rivals.ucx_bandwidth(over, 65536))
            yield kind(names.ucx(over, "tag_lat", 8), link, rivals.ucx_latency(over, 8))


def _on_bandwidth(link):
    for tool in names.BANDWIDTH:
        for size in names.BANDWIDTH_SIZES:
            quick = size == 65536 and (link == LO or (link == MTU_1500 and tool == "ib_write_bw"))
            if size == 64 and tool == "ib_write_bw":
                quick = link in (LO, MTU_1500)
            yield Measure(names.perftest(tool, size), link, bandwidth(tool, size), quick)
            yield Measure(names.perftest(tool, size, both_ways=True), link, bandwidth(tool, size, both_ways=True))
    for qps in names.QPS[1:]:
        for size in 64, 65536:
            yield Measure(names.perftest("ib_write_bw", size, qps), link, bandwidth("ib_write_bw", size, qps),
                          (size, qps, link) == (64, 64, LO))
    yield Measure(names.COLD, link, writes(65536, names.REGION, "spin"), link == LO)


def _on_latency(link):
    for tool in names.LATENCY:
        for size in names.LATENCY_SIZES:
            yield Measure(names.perftest(tool, size), link, latency(tool, size),
                          link == LO and size == 64 and tool != "ib_read_lat")
            if tool != "ib_write_lat":  # ib_write_lat polls memory, so it cannot wait for events
                yield Measure(names.perftest(tool, size, events=True), link, latency(tool, size, events=True),
                              (tool, size, link) == ("ib_send_lat", 64, LO))
    yield Measure("ib_atomic_lat 8 B", link, atomics)


def _on_datagrams(link):
    yield Measure(names.datagrams("ib_send_lat", 64), link, datagram_latency, link == LO)
    for size in names.DATAGRAM_SIZES:
        yield Measure(names.datagrams("ib_send_bw", size), link, datagram_bandwidth(size), link == LO and size > 64)


def _on_costs(link):
    for tool in "ib_send_bw", "ib_read_bw":  # ib_write_bw cannot wait for events
        yield Measure(names.perftest(tool, 65536, events=True), link, event_driven(tool, 65536))
    yield Measure(names.WRITE_EVENTS, link, writes(65536, 65536, "events"), link == LO)
    for at_once, what in names.CONNECT.items():
        yield Measure(what, link, connections(at_once), (at_once, link) == (32, LO))


def _on_keys(link):
    yield Measure(names.keyed(names.perftest("ib_write_bw", 65536)), link, bandwidth("ib_write_bw", 65536, key=True))
    yield Measure(names.keyed(names.perftest("ib_send_lat", 64)), link, latency("ib_send_lat", 64, key=True))
    yield _rival(names.STUNNEL, link, rivals.stunnel_bandwidth)


def threaded(size, threads, engines, by_cm=False):
    window, count = names.THREADED[size]

    def run(at):
        p = harness.start("both-ends", [BIN / "both-ends", "write", size, window, window * (count * at.seconds // window), threads,
                                        *(["cm"] if by_cm else [])],
                          at.link, "client", options=("--engines", engines))
        p.expect(60 + 10 * at.seconds)
        rate = numbers(r"(\d+) work requests a second", p.output())[0]
        return {GBITS: rate * size * 8 / 1e9, RATE: rate / 1e6}
    return run


def _on_threads():
    for size in names.THREADED:
        for threads in names.THREADS:
            for engines in sorted({1, threads}):
                yield Measure(names.threaded(size, threads, engines), LO, threaded(size, threads, engines), threads == 2)
    yield Measure(names.threaded(64, 2, 2, by_cm=True), LO, threaded(64, 2, 2, by_cm=True), True)


def _on_small_buffers():
    for tool in names.BANDWIDTH:
        yield Measure(names.perftest(tool, 65536), SMALL_LO, bandwidth(tool, 65536), tool == "ib_write_bw")
    yield Measure(names.COLD, SMALL_LO, writes(65536, names.REGION, "spin"))
    yield Measure(names.perftest("ib_write_bw", 65536), SMALL_1500, bandwidth("ib_write_bw", 65536))


def _on_simulated():
    points = [(loss, names.SIM_RTT) for loss in names.SIM_LOSSES]
    points += [(names.SIM_LOSS, rtt) for rtt in names.SIM_RTTS if rtt != names.SIM_RTT]
    for loss, rtt in points:
        yield _rival(names.simulated(loss, rtt), SIMULATED, simulated(loss, rtt),  # runs this build
                     (loss, rtt) == (names.SIM_LOSS, names.SIM_RTT))


def measures():
    """Returns all measurements in the order of a round. Measurements that are compared run shortly after each other."""
    for link in names.LINKS:
        for part in _on_rivals, _on_bandwidth, _on_latency, _on_keys, _on_datagrams, _on_costs:
            yield from part(link)
    yield from _on_threads()
    yield from _on_small_buffers()
    yield Measure(names.perftest("ib_write_bw", 65536), LOSS, bandwidth("ib_write_bw", 65536))
    yield Measure(names.perftest("ib_send_lat", 64), LOSS, latency("ib_send_lat", 64, trips=500))
    for what, run in zip(names.FAILOVER.values(), (failover.TOLD, failover.UNTOLD)):
        yield Measure(what, names.TWO_LINKS, run)
    for link, rates in names.SPREAD:
        for multipath in "failover", "spread":
            yield Measure(names.spread(rates, multipath), link, spread.goodput(rates, multipath))
    yield Measure(names.IDLE, LO, idle)
    yield Measure(names.IDLE_QP, LO, idle_memory, quick=True)
    yield from _on_simulated()
