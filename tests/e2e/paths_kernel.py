#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Hosts with two links, one with the kernel's SCTP, the other with sctpiw's SCTP: both continue on the other link.

All runs in a User-Mode Linux, as `paths_kernel.py --guest --link from-kernel-v4`. On links from-kernel, the side with
sctpiw's SCTP is the server, on links to-kernel the client. The links from-kernel-ip and to-kernel-ip have no UDP, and
run without --guest. There, the side with sctpiw's SCTP is on this host, since the kernel's SCTP would answer in the
guest, too.
"""
import ipaddress
import pathlib
import sys

import harness
import paths
from harness import Failure, Skip, free_port, need, start
from paths import STAYS, TOLD, UNTOLD, Several, paths_of, rping
from waiting import wait_until

UDP_PORT = 9899  # of the kernel
# With these settings, the kernel follows its peer's changes of addresses, and announces its own changes.
FOLLOWS = "net.sctp.addip_enable=1", "net.sctp.auth_enable=1", "net.sctp.default_auto_asconf=1"


def as_kernel_prints(address):
    """An address in the tables of the kernel's SCTP: all 32 digits of an IPv6 address."""
    return ipaddress.ip_address(address).exploded


class KernelBeside(Several):
    """Two links between two network namespaces, one of them with the kernel's SCTP.

    The guest has one processor, which rping keeps busy. Without nice, each change of a link took ten seconds on a busy
    machine.
    """

    nice = True

    def __init__(self, name, family, kernel_side):
        self.kernel_side = kernel_side
        super().__init__(name, family, 2)
        try:
            self._run([*self.enter(kernel_side), "sysctl", "-qw", *FOLLOWS, f"net.sctp.udp_port={UDP_PORT}"])
            for side in "server", "client":
                for i in range(2):  # the kernel loses packets that it would have to segment itself
                    self._run([*self.enter(side), "ip", "link", "set", f"veth{i}", "gso_max_size", "1500"])
                    self._run([*self.enter(side), "sysctl", "-qw", f"net.ipv4.conf.veth{i}.promote_secondaries=1"])
        except BaseException:
            self.close()
            raise

    def settings(self, side):
        if side == self.kernel_side:
            return {"SCTPIW_LLP": "kernel", "SCTPIW_ENCAP_PORT": "same"}
        return {"SCTPIW_LLP": "udp", "SCTPIW_ENCAP_PORT": str(UDP_PORT)}

    def listening(self, program, port):
        if program.side == self.kernel_side:
            return harness.sctp_listening(program.pid, port)
        return harness.udp_bound(program.pid, port)

    def of(self, host):
        return self.subnets[self.family].format(host)

    def host(self, side):
        return 1 if side == "server" else 2

    def change(self, side, what, host, device="veth0"):
        bits = "/24" if self.family == 4 else "/64"
        nodad = ["nodad"] if what == "add" and self.family == 6 else []
        self._run([*self.enter(side), "ip", "address", what, self.of(host) + bits, "dev", device, *nodad])

    def _table(self, name):
        return pathlib.Path(f"/proc/{self.holders[self.kernel_side].pid}/net/sctp/{name}").read_text()

    def assocs(self):
        """The contents of /proc/net/sctp/assocs."""
        return self._table("assocs")

    def listens_at(self, address):
        """True if /proc/net/sctp/eps has a socket that is bound only to this address."""
        return as_kernel_prints(address) in self._table("eps").split()


class KernelBehind(harness.Guest):
    """Two links to a User-Mode Linux, without UDP: tap1 and tap2. tap0, which carries no SCTP, controls programs in the
    guest.
    """

    taps = 3
    devices = {"veth0": "tap1", "veth1": "tap2"}
    links = {4: ("10.99.1.{}", "10.99.2.{}"), 6: ("fd99:1::{}", "fd99:2::{}")}

    def __init__(self, name, family, kernel_side):
        need("nft")
        super().__init__(name, family, kernel_side, "ip")
        self.kernel_side = kernel_side
        self.address = self.of(2 if kernel_side == "server" else 1)
        try:
            self._run([*self.enter(kernel_side), "sysctl", "-qw", *FOLLOWS, "net.ipv4.conf.vec1.promote_secondaries=1"])
            self._run(["sysctl", "-qw", "net.ipv4.conf.tap1.promote_secondaries=1"])
            self._lose("tap0")
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _run(argv, text=None):
        harness.Veth._run(argv, text)

    def of(self, host):
        return self.links[self.family][0].format(host)

    def host(self, side):
        return 2 if side == self.kernel_side else 1

    def address_on(self, i, side="server"):
        return self.links[self.family][i].format(self.host(side))

    def change(self, side, what, host):
        bits = "/24" if self.family == 4 else "/64"
        nodad = ["nodad"] if what == "add" and self.family == 6 else []
        device = "vec1" if side == self.kernel_side else "tap1"
        self._run([*self.enter(side), "ip", "address", what, self.of(host) + bits, "dev", device, *nodad])

    def set_up(self, device, up):
        """Only this host notices at once, the guest does not. A device that is down would be an error for User-Mode
        Linux."""
        self._run(["ip", "link", "set", self.devices[device], "carrier", "on" if up else "off"])

    def _lose(self, tap):
        """Damages packets that leave: a drop on this host would be reported to the sender."""
        self._run(["nft", "-f", "-"],
                  f"table inet drop_{tap} {{\n chain arriving {{\n type filter hook input priority 0\n"
                  f'iifname "{tap}" meta l4proto sctp drop\n }}\n'
                  f"chain leaving {{\n type filter hook output priority 0\n"
                  f'oifname "{tap}" meta l4proto sctp @th,64,32 set 0\n }}\n }}\n')

    def drop(self, device):
        self._lose(self.devices[device])

    def deliver(self, device):
        self._run(["nft", "delete", "table", "inet", f"drop_{self.devices[device]}"])

    def assocs(self):
        return self.run(["cat", "/proc/net/sctp/assocs"]).decode()


harness.LINKS.update({
    "from-kernel": lambda name, family: KernelBeside(name, family, "client"),
    "to-kernel": lambda name, family: KernelBeside(name, family, "server"),
    "from-kernel-ip": lambda name, family: KernelBehind(name, family, "client"),
    "to-kernel-ip": lambda name, family: KernelBehind(name, family, "server"),
})


def must_go_on(program, what):
    """As paths.must_go_on(), with time for the kernel's own timeout for its outstanding data."""
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


def remotes(link, program, side):
    return set(paths_of(link, program, side))


def shown(link):
    """`sctpiw stat` on the side of the kernel's SCTP shows the paths, and the path in use."""
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
    """The kernel of the connecting side announces the addresses of the setting."""
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
    """Connects a client to this address. Returns the addresses that the server announces to the client."""
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
    """The kernel of a side that listens at all addresses announces those of the setting, by the link in use."""
    def case(link):
        _, port = listening(link, setting)
        addresses = link.address, link.address_on(1)
        for used, links in expected.items():
            told = told_to(link, addresses[used], port)
            if told != {addresses[i] for i in links}:
                raise Failure(f"with paths = {setting} a peer of {addresses[used]} was told of {told}")
    return case


def listens_later(link):
    """A listener that announces no further address listens at a new address, until that address goes."""
    server, port = listening(link, "off")
    link.change("server", "add", 10)
    wait_until("the kernel does not listen at the new address", lambda: link.listens_at(link.of(10)))
    if (told := told_to(link, link.of(10), port)) != {link.of(10)}:
        raise Failure(f"a peer of the new address was told of {told}")
    link.change("server", "del", 10)
    wait_until("the kernel listens at an address that has gone", lambda: not link.listens_at(link.of(10)))
    if (told := told_to(link, link.address, port)) != {link.address}:
        raise Failure(f"then a peer of the first address was told of {told}")
    server.kill()


def known_to_kernel(link, address):
    """True if any association of the kernel has this address, local or remote."""
    return as_kernel_prints(address) in link.assocs().replace("*", " ").split()


def renumbered(side):
    """That side gets a new address and loses its first one: the other side is notified, and rping continues."""
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
        link.change(side, "del", link.host(side))
        must_go_on(client, "the first address had gone")
        client.must_run_for(STAYS)
        must_go_on(client, "it had gone for good")
        link.deliver("veth1")
        link.change(side, "add", link.host(side))
        link.change(side, "del", new)
        must_go_on(client, "the first address was back")
    return case


def spread(link):
    """The side with sctpiw's SCTP sends on both links at once."""
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
    client.must_run_for(2)  # the client has opened the device by then
    every = {link.address, link.address_on(1)}
    wait_until(f"there are not paths to {every}", lambda: remotes(link, client, "client") == every)
    paths.must_carry(link, client, every, "both links were there")
    client.expect(40)
    server.expect(10)
    for device in "veth0", "veth1":
        link._lose_what_leaves(device, "del")


ANY = [
    ("told", failover(TOLD)),
    ("untold", failover(UNTOLD)),
]
FROM_KERNEL = [
    ("renumbered.ours", renumbered("server")),
]
TO_KERNEL = [
    ("renumbered.ours", renumbered("client")),
    ("renumbered.kernel", renumbered("server")),
]
# Cases that are the same with and without UDP run only with UDP.
ANY_IN_UDP = [
    ("shown", shown),
]
FROM_KERNEL_IN_UDP = [
    ("paths.auto", told_by_kernel("auto", True)),
    ("paths.off", told_by_kernel("off", False)),
    ("paths.listed", told_by_kernel("veth1", True)),
    ("paths.first", told_by_kernel("veth0", False)),
]
TO_KERNEL_IN_UDP = [
    ("listen.auto", told_by_listener("auto", {0: {0, 1}, 1: {0, 1}})),
    ("listen.off", told_by_listener("off", {0: {0}, 1: {1}})),
    ("listen.listed", told_by_listener("veth1", {0: {0}, 1: {1}})),
    ("listen.both", told_by_listener("veth0,veth1", {0: {0, 1}, 1: {0, 1}})),
    ("listen.later", listens_later),
    ("spread", spread),
]


def cases(link):
    from_kernel, in_ip = link.startswith("from-kernel"), "-ip-" in link
    further = [] if in_ip else ANY_IN_UDP + (FROM_KERNEL_IN_UDP if from_kernel else TO_KERNEL_IN_UDP)
    # The cases that renumber come last: Linux 6.1 continues to list a promoted address that has gone.
    return ANY + further + (FROM_KERNEL if from_kernel else TO_KERNEL)


if __name__ == "__main__":
    sys.exit(harness.main(cases(sys.argv[sys.argv.index("--link") + 1])))
