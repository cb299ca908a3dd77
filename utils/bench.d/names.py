# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The names of measurements, links and units, used by the other modules."""

LO, MTU_1500, MTU_9000 = "lo", "MTU 1500", "MTU 9000"
LOSS = "MTU 1500, 5 % lost"
SMALL_LO, SMALL_1500 = "lo, rmem_max 212,992", "MTU 1500, rmem_max 212,992"
SIMULATED = "simulated"
TWO_LINKS, TWO_LINKS_9000 = "two links, MTU 1500", "two links, MTU 9000"
LINKS = LO, MTU_1500, MTU_9000
PACED = SIMULATED, TWO_LINKS, TWO_LINKS_9000  # limited by rates of links, by timers, or by virtual time

GBITS = "Gbit/s"
RATE = "M messages/s"
AVERAGE, MEDIAN, P99, P999 = "us", "us, median", "us, 99 %", "us, 99.9 %"
CPU = "processor s/GiB"
CONNECTIONS = "connections/s"
PERCENT = "% of a processor"
KIB = "KiB"
STANDSTILL, LONGEST = "ms, median", "ms, longest"
WRITES, RENO, BOUND = "MB/s", "MB/s, NewReno", "MB/s, bound"
DISTANCE = "distance of the processors, ns"  # stored with the figures of a round (distance.py)

# Only the receiver of datagrams knows how many arrived, so the bandwidth is the receiver's.
DATAGRAM_SIZES = 64, 1024, 4096
BANDWIDTH = "ib_write_bw", "ib_read_bw", "ib_send_bw"
LATENCY = "ib_write_lat", "ib_read_lat", "ib_send_lat"
BANDWIDTH_SIZES = 64, 4096, 65536, 1 << 20
LATENCY_SIZES = 8, 64, 4096
QPS = 1, 8, 64

TCP = "TCP, iperf3"
STUNNEL = "TCP through stunnel, iperf3"
TCP_SPINNING = "TCP, 64 B, spinning"
TCP_BLOCKING = "TCP, 64 B, blocking"
UDP_LATENCY = "UDP, 64 B, spinning"
# Arguments of udp-ceiling on each link: bytes of a segment, and number of segments in a send.
UDP_SENDS = {LO: (65000, 1), MTU_1500: (1452, 44), MTU_9000: (8952, 7)}

THREADS = 1, 2, 4, 8
# The threads' Writes: their bytes, the number in flight, and the number of one thread in about a second.
THREADED = {64: (128, 2560000), 65536: (16, 40000)}

REGION = 256 << 20
COLD = "RDMA Write 64 KiB into 256 MiB"
WRITE_EVENTS = "RDMA Write 64 KiB, events"
CONNECT = {n: f"connections, {n} at once" for n in (1, 32)}
IDLE = "connected and idle, both ends"
FAILOVER = {told: f"standstill at a failover, {told}" for told in ("hosts know of it", "nobody is told")}
# Two links, and their rates in Mbit/s. tbf needs a timer for each batch. Two processors carry about 90,000 packets a
# second through tbf: 1,000 Mbit/s with MTU 1500.
SPREAD = ((TWO_LINKS, (300, 300)), (TWO_LINKS_9000, (1000, 1000)), (TWO_LINKS, (1000, 100)), (TWO_LINKS, (100, 1000)))
MANY_QPS = 4096
IDLE_QP = f"memory of an idle queue pair, {MANY_QPS:,} QPs"

# The simulated path: the losses in each direction in %, and the round-trip times in ms.
SIM_LOSSES = 0, 0.01, 0.1, 0.5, 1, 2, 5, 10
SIM_RTTS = 0.1, 1, 10, 30, 100
SIM_LOSS, SIM_RTT = 1, 1  # the value of one while the other varies


def size_name(size):
    for unit, name in (1 << 20, "MiB"), (1 << 10, "KiB"):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"


def perftest(tool, size, qps=1, both_ways=False, events=False):
    name = f"{tool} {size_name(size)}"
    if qps > 1:
        name += f", {qps} QPs"
    return name + (", both ways" if both_ways else "") + (", events" if events else "")


def threaded(size, threads, engines, by_cm=False):
    """Returns the name of a measurement of threads, each with both ends of a connection. by_cm: rdma_cm connects."""
    how = ", rdma_cm" if by_cm else ""
    return f"RDMA Writes {size_name(size)}, {threads} threads, engines = {engines}{how}"


def keyed(what):
    return f"{what}, keys"


def datagrams(tool, size):
    """Returns the name of a perftest measurement with UD queue pairs."""
    return f"{perftest(tool, size)}, UD"


# UCX's names of its transports: two over the device, and one over TCP.
UCX_DEVICE, UCX_TCP = "rc_verbs,ud_verbs", "tcp"


def ucx(transports, test, size):
    """Returns the name of a test of ucx_perftest over the device or over TCP."""
    return f"UCX over {'TCP' if transports == UCX_TCP else 'the device'}, {test} {size_name(size)}"


def udp(link):
    size, count = UDP_SENDS[link]
    return f"UDP, {count} x {size:,} bytes a send" if count > 1 else f"UDP, {size:,}-byte datagrams"


def spread(rates, multipath):
    return f"RDMA Write 64 KiB, links of {rates[0]:,} and {rates[1]:,} Mbit/s, {multipath}"


def simulated(loss, rtt):
    return f"{loss:g} % lost, RTT {rtt:g} ms"
