#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Faults of packets and of memory (docs/faults.md), with rping, which compares sent and returned data."""
import contextlib
import pathlib
import re
import sys
import tempfile

import faults
import harness
from faults import ask, begin, check
from harness import free_port
from keys import key_file

BYTES = 5000


class Pair:
    """rping without an end. Each side has its own rules."""

    def __init__(self, link, directory, client=None, server=None, asked=True, key=None):
        port = free_port()
        self.directory = directory
        env = {"XDG_RUNTIME_DIR": str(directory), **({"SCTPIW_KEY": str(key)} if key else {})}
        self.server = begin("server", ["rping", "-s", "-a", link.any, "-p", port, "-S", BYTES, "-V"], link, "server", server, **env)
        self.server.wait_listening(port)
        argv = ["rping", "-c", "-V", "-C", "2000000", "-S", BYTES, "-a", link.address, "-p", port]
        self.client = begin("client", argv, link, faults=client, **env)
        for program in (self.server, self.client) if asked else ():  # commands need an open device
            self.wait((directory / "sctpiw" / str(program.pid)).exists, f"{program.name} does not open the device")

    def ask(self, program, *words):
        return ask(self.directory, words[0], program.pid, *words[1:])

    def counter(self, program, name):
        return int(re.search(rf"^\s*{name}: (\d+)", self.ask(program, "counters"), re.M)[1])

    def fired(self, rule=1):
        """Two counts for a rule of the client: events with the fault, and all events that matched."""
        fired, seen = re.search(rf"^{rule}: fired (\d+) of (\d+) times", self.ask(self.client, "fault", "list"), re.M).groups()
        return int(fired), int(seen)

    def wait(self, condition, what):
        for _ in range(int(100 * harness.SLOW)):
            if condition():
                return
            self.client.must_run_for(0.1)
        raise harness.Failure(what)

    def wait_traffic(self):
        """Waits until both sides go on."""
        for program in self.client, self.server:
            before = self.counter(program, "iwInRdmaSends")
            self.wait(lambda: self.counter(program, "iwInRdmaSends") > before + 10, "rping does not go on")


@contextlib.contextmanager
def pinging(link, *rules, **how):
    with tempfile.TemporaryDirectory(prefix="sctpiw-e2e-") as name:
        try:
            yield Pair(link, pathlib.Path(name), *rules, **how)
        finally:
            harness.kill_all()  # the sockets of the programs are in the directory


def dropped(link, **how):
    """Each tenth packet with data is lost, outgoing and then incoming. The lost packets are retransmitted."""
    for way in "out", "in":
        with pinging(link, f"packets {way} chunk data: drop, every 10", **how) as pair:
            pair.wait(lambda: pair.fired()[0] >= 20, "too few packets were lost")
            fired, seen = pair.fired()
            check(fired == seen // 10, f"{fired} of {seen} packets {way} were lost")
            sender = pair.client if way == "out" else pair.server
            check(pair.counter(sender, "sctp_retransmissions") + pair.counter(sender, "sctp_probes") > 0, "nothing was sent again")
            pair.wait_traffic()


def keyed(link):
    """Rules match packets in encrypted records, both ways."""
    dropped(link, key=key_file("key"))


def corrupted(link):
    """The receiver counts only the packets that were damaged after their checksum was computed. With ip, packets with a
    damaged port do not reach the receiver. Of 20 packets with only a SACK, 28 bytes each, these are 3 on average."""
    least = 10 if harness.LLP == "ip" else 20
    for way in "out", "in":
        with pinging(link, f"packets {way}: corrupt bytes 3, every 10, at most 20 times") as pair:
            victim = pair.server if way == "out" else pair.client
            bad = lambda: pair.counter(victim, "sctp_bad_packets")
            pair.wait(lambda: bad() >= least and pair.fired()[0] == 20, "too few packets were found to be damaged")
            pair.wait_traffic()
            check(bad() <= 20 == pair.fired()[0], f"{bad()} packets were found to be damaged")


def sealed(link):
    """Data is damaged before its checksum is computed, and the program notices. Outgoing and incoming."""
    for way in "out", "in":
        rule = f"packets {way} chunk data, after 500 kB: corrupt before checksum bytes 8, at most 3 times"
        with pinging(link, rule, asked=False) as pair:
            program = pair.client if way == "in" else pair.server
            pair.client.wait(30 * harness.SLOW)  # status 0 if the peer has reported the damage
            output = pair.client.output() + program.output()
            check(re.search("data mismatch|failed status|error|DISCONNECT", output), f"rping said {output}")


def doubled(link):
    """Packets arrive twice. The receiver counts duplicate DATA chunks, and the program gets the data once."""
    for way in "out", "in":
        with pinging(link, f"packets {way} chunk data: duplicate times 2, every 10, at most 20 times") as pair:
            receiver = pair.server if way == "out" else pair.client
            pair.wait(lambda: pair.counter(receiver, "sctp_duplicates") >= 40, "too few duplicates were counted")
            pair.wait_traffic()


def late(link):
    """Delay, jitter, reordering and a slow link: all data is right."""
    for rule in ("packets: delay 1 ms jitter 2 ms", "packets: reorder behind 3, probability 0.1",
                 "packets: limit rate to 20 Mbit/s queue 20 kB"):
        with pinging(link, rule) as pair:
            pair.wait_traffic()
            check(pair.fired()[0] > 0, f"{rule}: never")


def short(link):
    """Longer packets vanish silently: SCTP detects this, and sends shorter packets."""
    with pinging(link, "packets out: limit size to 1300 B") as pair:
        pair.wait_traffic()
        fired, seen = pair.fired()
        check(fired == seen > 0, f"{fired} of {seen} packets were lost")
        pair.wait_traffic()
        # SCTP sometimes tries a longer packet. Packets with data are shorter.
        pair.wait(lambda: pair.fired()[0] < pair.counter(pair.client, "port_xmit_packets") / 4, "packets are as long as ever")


def hole(link):
    """All packets are lost for a while, one way and both ways. Rules about other peers have no effect."""
    other = "203.0.113.9" if link.family == 4 else "2001:db8::9"
    for what in "in", "out", "":
        with pinging(link) as pair:
            pair.wait_traffic()  # a hole before the two sides are connected would lose nothing
            pair.ask(pair.client, "fault", f"packets {what} peer {link.address}, between 300 ms and 700 ms: drop; packets path {other}: drop")
            pair.wait(lambda: pair.fired()[0] >= 1, "nothing was lost")
            pair.wait_traffic()
            check(pair.fired(2) == (0, 0), "packets of another peer were lost")


def let_go(link):
    """Removal of a rule releases the packets that the rule holds back."""
    with pinging(link) as pair:
        pair.wait_traffic()
        pair.ask(pair.client, "fault", "packets: delay 10 min")
        pair.wait(lambda: pair.fired()[0] >= 3, "nothing was held back")
        received = lambda: pair.counter(pair.server, "port_rcv_packets")

        def quiet():
            """The server has read all earlier packets, and no more come."""
            nonlocal before
            before = received()
            pair.client.must_run_for(0.3)
            return received() == before

        before = 0
        pair.wait(quiet, "something has come through")
        pair.ask(pair.client, "fault", "remove", 1)
        pair.wait_traffic()
        check(received() > before, "nothing was let go")


def placed(link):
    """Bytes reach memory in another order, but all data is right in the end."""
    for rule in "placements: reverse", "placements: last byte first", "placements: tear for 2 us":
        with pinging(link, rule, rule) as pair:
            pair.wait_traffic()
            check(pair.fired()[0] == pair.fired()[1] > 0 or pair.fired()[0] > 0, f"{rule}: never")


def refused(link):
    """The kernel sends the packets of its own SCTP: a rule about them is refused, and the message has the remedy."""
    for rule in "packets: drop", "freeze peer for 1 s":
        program = begin("rping", ["rping", "-s", "-a", link.any, "-p", free_port()], link, "server", rule, SCTPIW_LLP="kernel")
        check(program.wait(20) not in (0, None), "rping ended well")
        check("use llp = udp or ip" in program.output(), f"rping said {program.output()}")


if __name__ == "__main__":
    sys.exit(harness.main([
        ("dropped", dropped),
        ("keyed", keyed),
        ("corrupted", corrupted),
        ("sealed", sealed),
        ("doubled", doubled),
        ("late", late),
        ("short", short),
        ("hole", hole),
        ("let-go", let_go),
        ("placed", placed),
        ("refused", refused),
    ]))
