#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Addresses come, go and are replaced while programs run: connections follow."""
import sys
import time

import harness
from harness import Failure, Skip, free_port, need, start
from paths import must_go_on, paths_of


FIRST = {"server": 1, "client": 2}


class Renumbered(harness.Veth):
    """Two network namespaces, joined by a veth pair with variable addresses."""

    def __init__(self, name, family):
        super().__init__(name, family, 1500)
        try:
            for side in "server", "client":
                self._run([*self.enter(side), "sysctl", "-qw", "net.ipv4.conf.veth0.promote_secondaries=1"])
        except BaseException:
            self.close()
            raise

    def _change(self, side, what, host):
        self._run([*self.enter(side), "ip", "address", what, self.of(host) + ("/24" if self.family == 4 else "/64"),
                   "dev", "veth0", *(["nodad"] if what == "add" and self.family == 6 else [])])

    def of(self, host):
        return self.subnets[self.family].format(host)

    def gain(self, side, host):
        self._change(side, "add", host)

    def lose(self, side, host):
        self._change(side, "del", host)


    def renew(self):
        """Gives each side only its initial address."""
        for side, host in FIRST.items():
            ip = [*self.enter(side), "ip", f"-{self.family}", "address"]
            self._run([*ip, "flush", "dev", "veth0", "scope", "global"])
            self.gain(side, host)


harness.LINKS["renumbered"] = Renumbered

def rping(link, options=()):
    link.renew()
    port = free_port()
    server = start("rping-server", ["rping", "-s", "-p", port, "-a", link.any, "-S", 100], link, "server", options=options)
    server.wait_listening(port)
    client = start("rping-client", ["rping", "-c", "-v", "-V", "-a", link.address, "-p", port, "-S", 100], link,
                   options=options)
    client.wait_for_output("rdma-ping-10:")
    return server, client


def wait_paths(link, server, expected):
    """Waits until the server's paths lead to exactly these addresses of the client, and one of them is in use."""
    deadline = time.monotonic() + 10 * harness.SLOW
    while True:
        paths = paths_of(link, server)
        if set(paths) == expected and any(path["state"] == "in use" for path in paths.values()):
            return
        if time.monotonic() > deadline:
            raise Failure(f"other paths than {expected}: {paths}")
        time.sleep(0.1)


def added(link):
    """The peer is notified of a new address, and, after a while, of an address that has gone."""
    need("rping")
    server, client = rping(link)
    link.gain("client", 12)
    wait_paths(link, server, {link.of(2), link.of(12)})
    must_go_on(client, "an address was added")
    link.lose("client", 12)
    must_go_on(client, "it was gone")
    deadline = time.monotonic() + 30 * harness.SLOW
    while set(paths_of(link, server)) != {link.of(2)}:
        if time.monotonic() > deadline:
            raise Failure("the server still knows the address")
        time.sleep(0.5)
    must_go_on(client, "the server knew that")


def replaced(*options):
    """Each side's only address is replaced: the new address comes before the old one goes, or after."""
    def case(link):
        need("rping")
        server, client = rping(link, options)
        for side in "client", "server":
            old = FIRST[side]
            for new in 20 + old, 30 + old, 40 + old:
                if new != 30 + old:
                    link.gain(side, new)
                link.lose(side, old)
                if new == 30 + old:
                    time.sleep(0.3)
                    link.gain(side, new)
                must_go_on(client, f"{new} had taken the place of {old}")
                time.sleep(0.5)
                must_go_on(client, f"{new} had taken the place of {old}")
                if side == "client":
                    wait_paths(link, server, {link.of(new)})
                old = new
    return case


def timed(tool, *arguments):
    """A program of perftest, during the replacement of its server's address."""
    def case(link):
        need(tool)
        link.renew()
        port = free_port()
        argv = [tool, *arguments, "-p", port, "-D", 5, "-R"]
        server = start(f"{tool}-server", argv, link, "server")
        server.wait_listening(port)
        client = start(f"{tool}-client", [*argv, link.address], link)
        client.must_run_for(2)
        link.gain("server", 11)
        client.must_run_for(0.5)
        link.lose("server", 1)
        client.must_run_for(0.5)
        link.lose("client", 2)
        link.gain("client", 12)
        client.expect(30)
        server.expect(30)
    return case


def foreign(link):
    """usrsctp, with its own implementation of these extensions, is also notified, and accepts sctpiw's HMACs."""
    binary = harness.BUILD / "bin/foreign-usrsctp"
    if not binary.exists():
        raise Skip("there is no usrsctp")
    need("rping")
    link.renew()
    port = free_port()
    server = start("rping-server", ["rping", "-s", "-p", port, "-a", link.any, "-S", 5000], link, "server")
    server.wait_listening(port)
    peer = start("foreign-usrsctp", [binary, "--udp", free_port(), "--peer-udp", port, "--rounds", 1 << 30, "connect",
                                     link.address, port, "rping"], link, "client", rdma=False)
    peer.must_run_for(1)
    for old, new in (1, 11), (11, 21):
        link.gain("server", new)
        peer.must_run_for(0.5)
        link.lose("server", old)
        deadline = time.monotonic() + 10 * harness.SLOW
        while True:
            path, = paths_of(link, server).values()
            later = paths_of(link, server)[link.of(2)]
            if path["local"] == link.of(new) and path["sent_bytes"] < later["sent_bytes"]:
                break
            if time.monotonic() > deadline:
                raise Failure(f"nothing leaves from {new}: {path}")
            time.sleep(0.2)
    peer.must_run_for(1)
    peer.kill()
    server.kill()


CASES = [
    ("added", added),
    ("replaced", replaced()),
    ("replaced-untold", replaced("--paths", "off")),
    ("usrsctp", foreign),
    ("ib_write_bw", timed("ib_write_bw", "-s", 65536)),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
