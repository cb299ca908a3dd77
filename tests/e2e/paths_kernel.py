#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Hosts with two links, one of which has the kernel's SCTP, and the other one ours: both go on by the other link.

It all runs in a User-Mode Linux, as `paths_kernel.py --guest --link from-kernel-v4`. On the links from-kernel the side
with our SCTP is the server, and on to-kernel it is the client. -ip: without UDP.
"""
import ipaddress
import pathlib
import sys
import time

import harness
import paths
from harness import Failure, Skip, free_port, need, start
from paths import STAYS, TOLD, UNTOLD, Several, paths_of, rping

UDP_PORT = 9899  # of the kernel


class KernelBeside(Several):
    """Two links between two network namespaces; the SCTP of one of them is the kernel's."""

    def __init__(self, name, family, kernel_side, llp):
        self.kernel_side, self.llp = kernel_side, llp
        super().__init__(name, family, 2)
        try:
            knows = ["net.sctp.addip_enable=1", "net.sctp.auth_enable=1", "net.sctp.default_auto_asconf=1"]
            udp = [f"net.sctp.udp_port={UDP_PORT}"] if llp == "udp" else []
            self._run([*self.enter(kernel_side), "sysctl", "-qw", *knows, *udp])
            for side in "server", "client":
                for i in range(2):  # what that kernel would have to segment itself, it loses
                    self._run([*self.enter(side), "ip", "link", "set", f"veth{i}", "gso_max_size", "1500"])
                    self._run([*self.enter(side), "sysctl", "-qw", f"net.ipv4.conf.veth{i}.promote_secondaries=1"])
        except BaseException:
            self.close()
            raise

    def settings(self, side):
        ours = side != self.kernel_side
        port = (UDP_PORT if ours else "same") if self.llp == "udp" else "none"
        return {"SCTPIW_LLP": self.llp if ours else "kernel", "SCTPIW_ENCAP_PORT": str(port)}

    def listening(self, program, port):
        if program.side == self.kernel_side:
            return harness.sctp_listening(program.pid, port)
        return harness.udp_bound(program.pid, port) if self.llp == "udp" else program.must_run_for(0.5) is None

    def of(self, host):
        return self.subnets[self.family].format(host)

    def change(self, side, what, host, device="veth0"):
        bits = "/24" if self.family == 4 else "/64"
        nodad = ["nodad"] if what == "add" and self.family == 6 else []
        self._run([*self.enter(side), "ip", "address", what, self.of(host) + bits, "dev", device, *nodad])

    def endpoints(self):
        """The words of /proc/net/sctp/eps: addresses that sockets are bound to are among them."""
        return pathlib.Path(f"/proc/{self.holders[self.kernel_side].pid}/net/sctp/eps").read_text().split()


harness.LINKS.update({
    "from-kernel": lambda name, family: KernelBeside(name, family, "client", "udp"),
    "to-kernel": lambda name, family: KernelBeside(name, family, "server", "udp"),
})


def must_go_on(program, what):
    """The kernel needs a timeout of its own for what it has sent."""
    paths.must_go_on(program, what, 15)


def failover(how):
    def case(link):
        need("rping")
        _, client = rping(link, how, [])
        for device in "veth0", "veth1":
            client.must_run_for(STAYS)
            how[0](link, device)
            must_go_on(client, f"{device} was away")
            client.must_run_for(STAYS)
            how[1](link, device)
            must_go_on(client, f"{device} was back")
    return case


def wait_until(what, true):
    deadline = time.monotonic() + 15 * harness.SLOW
    while not true():
        if time.monotonic() > deadline:
            raise Failure(what)
        time.sleep(0.2)


def remotes(link, program, side):
    return set(paths_of(link, program, side))


def shown(link):
    """`sctpiw stat` on the side of the kernel's SCTP knows the paths, and which one is in use."""
    need("rping")
    programs = dict(zip(("server", "client"), rping(link, TOLD, [])))
    first = link.address if link.kernel_side == "client" else link.of(2)
    second = link.address_on(1, "server" if link.kernel_side == "client" else "client")

    def states():
        found = paths_of(link, programs[link.kernel_side], link.kernel_side)
        return {remote: path["state"] for remote, path in found.items()}

    wait_until("the kernel does not say that the first path is in use",
               lambda: states() == {first: "in use", second: "standby"})
    paths.silent(link, "veth0")
    wait_until("the kernel does not say that the second path is in use",
               lambda: states() == {first: "failed", second: "in use"})
    must_go_on(programs["client"], "veth0 was away")
    paths.audible(link, "veth0")


def told_by_kernel(setting, second):
    """The kernel of the side that connects tells of the addresses that the setting says."""
    def case(link):
        port = free_port()
        server = start("rping-server", ["rping", "-s", "-p", port, "-a", link.any, "-S", 100], link, "server")
        server.wait_listening(port)
        client = start("rping-client", ["rping", "-c", "-v", "-a", link.address, "-p", port, "-S", 100], link,
                       options=["--paths", setting])
        client.wait_for_output("rdma-ping-10:")
        expected = {link.of(2), *([link.address_on(1, "client")] if second else [])}
        told = remotes(link, server, "server")
        if told != expected:
            raise Failure(f"with paths = {setting} the peer was told of {told}")
    return case


def told_to(link, address, port):
    """The addresses of the server that a client is told of which connects to this one."""
    client = start("rping-client", ["rping", "-c", "-v", "-a", address, "-p", port, "-S", 100], link)
    client.wait_for_output("rdma-ping-10:")
    told = remotes(link, client, "client")
    client.kill()
    return told


def listening(link, setting):
    need("rping")
    port = free_port()
    server = start("rping-server", ["rping", "-s", "-P", "-p", port, "-a", link.any, "-S", 100], link, "server",
                   options=["--paths", setting])
    server.wait_listening(port)
    return server, port


def told_by_listener(setting, expected):
    """The kernel of the side that listens at all addresses tells of those that the setting says, by the link used."""
    def case(link):
        _, port = listening(link, setting)
        addresses = link.address, link.address_on(1)
        for used, links in expected.items():
            told = told_to(link, addresses[used], port)
            if told != {addresses[i] for i in links}:
                raise Failure(f"with paths = {setting} a peer of {addresses[used]} was told of {told}")
    return case


def listens_later(link):
    """A listener that tells of no further address is there at one that comes, and is no more when that has gone."""
    server, port = listening(link, "off")
    link.change("server", "add", 10)
    wait_until("the kernel does not listen at the new address", lambda: link.of(10) in link.endpoints())
    if (told := told_to(link, link.of(10), port)) != {link.of(10)}:
        raise Failure(f"a peer of the new address was told of {told}")
    link.change("server", "del", 10)
    wait_until("the kernel listens at an address that has gone", lambda: link.of(10) not in link.endpoints())
    if (told := told_to(link, link.address, port)) != {link.address}:
        raise Failure(f"then a peer of the first address was told of {told}")
    server.kill()


def known_to_kernel(link, address):
    """Whether an association of the kernel has this address, whoever it belongs to."""
    pid = link.holders[link.kernel_side].pid
    if link.family == 6:
        address = ipaddress.ip_address(address).exploded
    with open(f"/proc/{pid}/net/sctp/assocs") as assocs:
        return any(address in line.replace("*", " ").split() for line in assocs)


def renumbered(side):
    """An address of that side comes, and the first one goes: the other side is told, and rping goes on."""
    def case(link):
        need("rping")
        server, client = rping(link, TOLD, [])
        new = 10 if side == "server" else 20
        link.change(side, "add", new)
        if side == link.kernel_side:
            wait_until("the kernel did not tell of its new address",
                       lambda: link.of(new) in remotes(link, client, "client"))
        else:
            wait_until("the kernel does not know the new address", lambda: known_to_kernel(link, link.of(new)))
        must_go_on(client, "an address had come")
        link.drop("veth1")
        link.change(side, "del", 1 if side == "server" else 2)
        must_go_on(client, "the first address had gone")
        client.must_run_for(STAYS)
        must_go_on(client, "it had gone for good")
        link.deliver("veth1")
        link.change(side, "add", 1 if side == "server" else 2)
        link.change(side, "del", new)
        must_go_on(client, "the first address was back")
    return case


def spread(link):
    """Our side sends by both links at once."""
    need("ib_write_bw", "tc")
    if link.family == 6:
        raise Skip("ib_write_bw takes no IPv6 address as this test gives it")
    for side in "server", "client":
        for device in "veth0", "veth1":
            link._run([*link.enter(side), "tc", "qdisc", "add", "dev", device, "root", "netem", "rate", "20mbit"])
    port = free_port()
    argv = ["ib_write_bw", "-R", "-s", 65536, "-p", port, "-D", 15]
    server = start("ib_write_bw-server", argv, link, "server")
    server.wait_listening(port)
    client = start("ib_write_bw-client", [*argv, link.address], link, options=["--multipath", "spread"])
    client.must_run_for(2)  # it has opened the device by then
    # Linux 6.1 goes on listing an address that was promoted, as in renumbered.kernel, when it has gone.
    every = {link.address, link.address_on(1)}
    wait_until(f"there are not paths to {every}", lambda: remotes(link, client, "client") >= every)
    paths.must_carry(link, client, every, "both links were there")
    client.expect(40)
    server.expect(10)
    for device in "veth0", "veth1":
        link._lose_what_leaves(device, "del")


ANY = [
    ("told", failover(TOLD)),
    ("untold", failover(UNTOLD)),
    ("shown", shown),
]
FROM_KERNEL = [
    ("paths.auto", told_by_kernel("auto", True)),
    ("paths.off", told_by_kernel("off", False)),
    ("paths.listed", told_by_kernel("veth1", True)),
    ("paths.first", told_by_kernel("veth0", False)),
    ("renumbered.ours", renumbered("server")),
]
TO_KERNEL = [
    ("renumbered.ours", renumbered("client")),
    ("renumbered.kernel", renumbered("server")),
    ("listen.auto", told_by_listener("auto", {0: {0, 1}, 1: {0, 1}})),
    ("listen.off", told_by_listener("off", {0: {0}, 1: {1}})),
    ("listen.listed", told_by_listener("veth1", {0: {0}, 1: {1}})),
    ("listen.both", told_by_listener("veth0,veth1", {0: {0, 1}, 1: {0, 1}})),
    ("listen.later", listens_later),
    ("spread", spread),
]


def cases(link):
    return ANY + (FROM_KERNEL if link.startswith("from-kernel") else TO_KERNEL)


if __name__ == "__main__":
    sys.exit(harness.main(cases(sys.argv[sys.argv.index("--link") + 1])))
