# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measures RDMA Writes over two slow links: over one link at a time, and over both."""
import contextlib
import time

import harness
from names import GBITS
from programs import BIN, numbers

LONGER = 2  # extra seconds, in which the second link is added and leaves slow start


def _await_carriers(link, number):
    """Waits until the kernel reports the carriers of new links, which may take a second. Until then,
    the links are unusable."""
    for side in "server", "client":
        for i in range(number):
            while "state UP" not in link._run([*link.enter(side), "ip", "link", "show", f"veth{i}"]):
                time.sleep(0.05)


@contextlib.contextmanager
def _shaped(link, rates):
    """Gives veth0 and veth1 these rates, in Mbit/s, and queues of about 10 ms."""
    harness.need("tc")
    _await_carriers(link, len(rates))
    for action in "replace", "del":
        for number, rate in enumerate(rates):
            how = ["tbf", "rate", f"{rate}mbit", "burst", "64kb", "limit", f"{rate * 1250 + 65536}"]
            for side in "server", "client":
                link._run([*link.enter(side), "tc", "qdisc", action, "dev", f"veth{number}", "root",
                           *(how if action == "replace" else [])])
        if action == "replace":
            yield


def goodput(rates, multipath):
    def run(at):
        port = harness.free_port()
        with _shaped(at.link, rates):
            server = harness.start("server", [BIN / "verbs-bench", "server", at.link.any, port], at.link, "server")
            server.wait_for_output("listening")
            client = harness.start("client", [BIN / "verbs-bench", "write", at.link.address, port, 65536, 65536,
                                              at.seconds + LONGER, "events"], at.link, "client",
                                   options=["--multipath", multipath])
            client.expect(60 + at.seconds)
            server.kill()
        return {GBITS: numbers(r"([\d.]+) Gbit/s", client.output())[0]}
    return run
