# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Targets for figures, mostly as ratios to other figures (report.Figures.ratios())."""
from names import (AVERAGE, BOUND, COLD, CONNECT, CONNECTIONS, CPU, FAILOVER, GBITS, IDLE_QP, KIB, LO, MEDIAN, MTU_1500,
                   RATE, SIMULATED, SIM_LOSS, SIM_RTT, SMALL_1500, SMALL_LO, SPREAD, STANDSTILL, STUNNEL, TCP, TCP_BLOCKING,
                   TWO_LINKS, TWO_LINKS_9000, UCX_DEVICE, UCX_TCP, UDP_LATENCY, WRITES, WRITE_EVENTS, datagrams, keyed,
                   perftest, simulated, spread, threaded, ucx, udp)


class Target:
    """A target for a figure, or for its ratio to base if this is not None. figure and base are (what, link, unit).

    The value must be at least `limit`, or, with at_most, at most `limit`. stretch is the more ambitious limit.
    """

    def __init__(self, figure, base, limit=None, stretch=None, at_most=False):
        self.figure, self.base, self.limit, self.stretch, self.at_most = figure, base, limit, stretch, at_most

    def reached(self, ratio, limit):
        return ratio <= limit if self.at_most else ratio >= limit

    def verdict(self, ratio):
        if ratio is None:
            return "not measured"
        if self.limit is not None and not self.reached(ratio, self.limit):
            return "not met"
        if self.stretch is None:
            return "met"
        if self.reached(ratio, self.stretch):
            return "met, stretch too"
        return "stretch not met" if self.limit is None else "met"


WRITE = perftest("ib_write_bw", 65536)
READ = perftest("ib_read_bw", 65536)
SEND = perftest("ib_send_bw", 65536)
SMALL = perftest("ib_write_bw", 64)
EQUAL, EQUAL_FAST, UNEQUAL, SLOW_FIRST = (rates for _, rates in SPREAD)

TARGETS = (
    Target((WRITE, LO, GBITS), (TCP, LO, GBITS), 1.4),
    Target((WRITE, LO, GBITS), (udp(LO), LO, GBITS), stretch=0.8),
    Target((COLD, LO, GBITS), (TCP, LO, GBITS), 1.2),
    Target((WRITE, MTU_1500, GBITS), (TCP, MTU_1500, GBITS), 1.7),
    Target((WRITE, MTU_1500, GBITS), (udp(MTU_1500), MTU_1500, GBITS), stretch=0.7),
    Target((READ, LO, GBITS), (WRITE, LO, GBITS), 0.9),
    Target((SEND, LO, GBITS), (WRITE, LO, GBITS), 0.9),
    Target((perftest("ib_send_lat", 64), LO, AVERAGE), (UDP_LATENCY, LO, AVERAGE), 1.4, 1.15, at_most=True),
    Target((perftest("ib_write_lat", 64), LO, AVERAGE), (UDP_LATENCY, LO, AVERAGE), 3, 1.4, at_most=True),
    Target((perftest("ib_send_lat", 64, events=True), LO, AVERAGE), (TCP_BLOCKING, LO, AVERAGE), 1, 0.8, at_most=True),
    Target((SMALL, LO, RATE), None, 4, 10),
    Target((SMALL, MTU_1500, RATE), None, 2, 4),
    Target((perftest("ib_write_bw", 64, qps=64), LO, RATE), (SMALL, LO, RATE), 0.9),
    Target((threaded(64, 2, 2), LO, RATE), (threaded(64, 2, 1), LO, RATE), 1.7),
    Target((perftest("ib_write_bw", 64, qps=64), MTU_1500, RATE), (SMALL, MTU_1500, RATE), 0.9),
    *(Target((what, link, CPU), (TCP, link, CPU), 1, 0.7, at_most=True)
      for what in (WRITE_EVENTS, perftest("ib_send_bw", 65536, events=True), perftest("ib_read_bw", 65536, events=True))
      for link in (LO, MTU_1500)),
    *(Target((what, small, GBITS), (what, link, GBITS), 0.7, 0.9)
      for what, small, link in ((WRITE, SMALL_LO, LO), (READ, SMALL_LO, LO), (SEND, SMALL_LO, LO), (COLD, SMALL_LO, LO),
                                (WRITE, SMALL_1500, MTU_1500))),
    Target((simulated(SIM_LOSS, SIM_RTT), SIMULATED, WRITES), (simulated(SIM_LOSS, SIM_RTT), SIMULATED, BOUND), 0.8),
    Target((datagrams("ib_send_lat", 64), LO, MEDIAN), (perftest("ib_send_lat", 64), LO, MEDIAN), 1, at_most=True),
    Target((datagrams("ib_send_bw", 1024), LO, RATE), None, 1.5),
    Target((datagrams("ib_send_bw", 4096), LO, GBITS), (perftest("ib_send_bw", 4096), LO, GBITS), 0.5),
    Target((keyed(WRITE), LO, GBITS), (WRITE, LO, GBITS), 0.5),
    Target((keyed(WRITE), LO, GBITS), (STUNNEL, LO, GBITS), 1),
    Target((ucx(UCX_DEVICE, "tag_lat", 8), LO, AVERAGE), (ucx(UCX_TCP, "tag_lat", 8), LO, AVERAGE), 1, at_most=True),
    Target((ucx(UCX_DEVICE, "tag_bw", 65536), LO, GBITS), (ucx(UCX_TCP, "tag_bw", 65536), LO, GBITS), 2),
    Target((spread(EQUAL, "spread"), TWO_LINKS, GBITS), (spread(EQUAL, "failover"), TWO_LINKS, GBITS), 1.8),
    Target((spread(EQUAL_FAST, "spread"), TWO_LINKS_9000, GBITS), (spread(EQUAL_FAST, "failover"), TWO_LINKS_9000, GBITS), 1.8),
    Target((spread(UNEQUAL, "spread"), TWO_LINKS, GBITS), (spread(UNEQUAL, "failover"), TWO_LINKS, GBITS), 1),
    # SLOW_FIRST swaps the rates of the links. Both links together must carry at least as much as the faster one alone.
    Target((spread(SLOW_FIRST, "spread"), TWO_LINKS, GBITS), (spread(UNEQUAL, "failover"), TWO_LINKS, GBITS), 1),
    Target((FAILOVER["hosts know of it"], TWO_LINKS, STANDSTILL), None, 50, at_most=True),
    Target((FAILOVER["nobody is told"], TWO_LINKS, STANDSTILL), None, 300, at_most=True),
    Target((CONNECT[32], LO, CONNECTIONS), None, 5000, 20000),
    Target((IDLE_QP, LO, KIB), None, 16, at_most=True),
)
