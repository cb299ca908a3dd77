#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Hosts with two or three common links: programs continue while links go down and come back, and end normally."""
import json
import os
import re
import signal
import sys
import time

import harness
import mpi
from harness import Failure, Skip, free_port, need, start

class Several(harness.Veth):
    """Two network namespaces, joined by veth0 and further veth pairs, veth1 and so on, in their own networks."""

    further = {4: "10.83.{}.{}/24", 6: "fd83:{}::{}/64"}

    def __init__(self, name, family, pairs, mtu=1500):
        super().__init__(name, family, mtu)
        need("tc" if harness.GUEST else "nft")
        self.pairs = pairs
        try:
            for i in range(1, pairs):
                self._join_again(i, mtu)
        except BaseException:
            self.close()
            raise

    def _join_again(self, i, mtu):
        pids = [str(self.holders[side].pid) for side in ("server", "client")]
        self._run(["ip", "link", "add", f"veth{i}", "netns", pids[0], "type", "veth",
                   "peer", "name", f"veth{i}", "netns", pids[1]])
        for host, side in (1, "server"), (2, "client"):
            ip = [*self.enter(side), "ip"]
            for family, form in self.further.items():
                nodad = ["nodad"] if family == 6 else []
                self._run([*ip, "address", "add", form.format(i, host), "dev", f"veth{i}", *nodad])
            self._run([*ip, "link", "set", f"veth{i}", "mtu", str(mtu), "up"])

    def address_on(self, i, side="server"):
        """The address of a side on veth1 or a later pair."""
        return self.further[self.family].format(i, 1 if side == "server" else 2).partition("/")[0]

    def set_up(self, device, up):
        """Switches one end of a pair on or off. The other end loses its carrier. IPv6 addresses stay."""
        enter = self.enter("server")
        self._run([*enter, "sysctl", "-qw", f"net.ipv6.conf.{device}.keep_addr_on_down=1"])
        self._run([*enter, "ip", "link", "set", device, "up" if up else "down"])

    def drop(self, device, percent=100):
        """From now on, this percentage of packets that arrive on this device is lost on both sides, silently."""
        if harness.GUEST:  # User-Mode Linux has no nftables
            return self._lose_what_leaves(device, "add", "netem", "loss", f"{percent}%")
        which = f"numgen random mod 100 < {percent}" if percent < 100 else ""
        for side in "server", "client":
            self._run([*self.enter(side), "nft", "-f", "-"],
                      f"table inet drop_{device} {{\n chain arriving {{\n type filter hook input priority 0\n"
                      f'iifname "{device}" {which} drop\n }}\n }}\n')

    def _lose_what_leaves(self, device, change, *how):
        for side in "server", "client":
            self._run([*self.enter(side), "tc", "qdisc", change, "dev", device, "root", *how])

    def deliver(self, device):
        if harness.GUEST:
            return self._lose_what_leaves(device, "del")
        for side in "server", "client":
            self._run([*self.enter(side), "nft", "delete", "table", "inet", f"drop_{device}"])


harness.LINKS.update({
    "twice": lambda name, family: Several(name, family, 2),
    "twice9000": lambda name, family: Several(name, family, 2, 9000),
    "thrice": lambda name, family: Several(name, family, 3),
})

EXAMPLE = harness.ROOT / "contrib/two-links.sh"
STAYS = 1.5  # seconds that a link stays down, or up again, before the next change
LOSS = 2  # percent, on the remaining links
RUNS, AWAY = 12, 0.7  # seconds that perftest runs, and that a link is down, or up again, twice meanwhile


def down(link, device):
    link.set_up(device, False)


def up(link, device):
    link.set_up(device, True)


def silent(link, device):
    link.drop(device)


def audible(link, device):
    link.deliver(device)


# Functions that take a link down, and back up. Hosts see the change of the interface if TOLD, and see nothing if
# UNTOLD.
TOLD, UNTOLD = (down, up), (silent, audible)


def lines(program):
    return program.log.read_bytes().count(b"\n")


def must_go_on(program, what, seconds=5):
    """The program prints a line for each round. A standstill of RTO.Min, a second, or longer is no failover."""
    before = lines(program)
    deadline = time.monotonic() + seconds * harness.SLOW
    while lines(program) < before + 10:
        if not program.running():
            raise Failure(f"{program.name} ended when {what}")
        if time.monotonic() > deadline:
            raise Failure(f"{program.name} stood still when {what}")
        time.sleep(0.02)


def rping(link, how, devices, options=()):
    """rping compares all returned data. It continues while one link after the other is away."""
    port = free_port()
    server = start("rping-server", ["rping", "-s", "-p", port, "-a", link.any, "-S", 100], link, "server", options=options)
    server.wait_listening(port)
    client = start("rping-client", ["rping", "-c", "-v", "-V", "-a", link.address, "-p", port, "-S", 100], link,
                   options=options)
    client.wait_for_output("rdma-ping-10:")
    time.sleep(STAYS)  # the other paths are confirmed one by one, a second each
    for device in devices:
        how[0](link, device)
        must_go_on(client, f"{device} was away")
        client.must_run_for(STAYS)
        how[1](link, device)
        must_go_on(client, f"{device} was back")
        client.must_run_for(2 * STAYS)
    must_go_on(client, "all were back")
    return server, client


def rping_case(how, devices):
    def case(link):
        need("rping")
        rping(link, how, devices)
    return case


def rping_lossy(link):
    """The remaining link loses some packets. The other link goes and returns, in both ways."""
    need("rping")
    for i in range(1, link.pairs):
        link.drop(f"veth{i}", LOSS)
    for how in TOLD, UNTOLD:
        for program in reversed(rping(link, how, ["veth0"])):
            program.kill()
    for i in range(1, link.pairs):
        link.deliver(f"veth{i}")


def stat_of(link, program, side="server", opened=True):
    """The output of `sctpiw stat` for a program; [] if opened is false and the program has not opened the device."""
    stat = start("stat", [harness.BUILD / "bin/sctpiw", "stat", program.pid, "--json"], link, side, rdma=False)
    if not opened and stat.wait(30):
        return []
    stat.expect(30)
    return json.loads(stat.output())


def paths_of(link, program, side="server"):
    """The paths of a program's associations, by the peer's address."""
    return {path["remote"]: path for process in stat_of(link, program, side) for path in process["path"]}


def shown(link):
    """`sctpiw stat` shows the paths, and the path in use."""
    need("rping")
    server, _ = rping(link, TOLD, [])
    link.set_up("veth0", False)
    time.sleep(STAYS)
    paths = paths_of(link, server)
    link.set_up("veth0", True)
    used = [remote for remote, path in paths.items() if path["state"] == "in use"]
    if set(paths) != {link.subnets[link.family].format(2), link.address_on(1, "client")} or \
            used != [link.address_on(1, "client")]:
        raise Failure(f"other paths: {paths}")


def wait_used(link, program, side, address):
    """Waits until the path to that address is the only one in use."""
    deadline = time.monotonic() + 20 * harness.SLOW
    while (used := [remote for remote, path in paths_of(link, program, side).items() if path["state"] == "in use"]) != [address]:
        if time.monotonic() > deadline:
            raise Failure(f"the paths in use lead to {used}, not to {address}")
        time.sleep(0.1)


def by_rule(link):
    """A fault rule on one side cuts the first link at run time. rping changes to the second link, and back."""
    need("rping")
    _, client = rping(link, TOLD, [])

    def fault(*words):
        start("fault", [harness.BUILD / "bin/sctpiw", "fault", client.pid, *words], link, "client", rdma=False).expect(20)

    fault(f"packets path {link.address}: drop")
    must_go_on(client, "a rule had cut the first link")
    wait_used(link, client, "client", link.address_on(1))
    fault("remove", "1")
    wait_used(link, client, "client", link.address)
    must_go_on(client, "the rule was removed")


def wait_connected(link, server):
    """Waits until the server's association is up. A QP connected by hand has no path from an address whose link is
    down."""
    deadline = time.monotonic() + 20 * harness.SLOW
    while not any(path["state"] == "in use" for path in paths_of(link, server).values()):
        if time.monotonic() > deadline:
            raise Failure(f"{server.name} has no association")
        time.sleep(0.1)


def wait_busy(link, client):
    """Waits until the client has sent more than perftest's parameters. Each of its connections needs the first link."""
    deadline = time.monotonic() + 20 * harness.SLOW
    while sum(process["sent_messages"] for process in stat_of(link, client, "client", opened=False)) < 500:
        if time.monotonic() > deadline:
            raise Failure(f"{client.name} sends nothing")
        time.sleep(0.1)


def timed(tool, *arguments, by_cm=True):
    """A program of perftest that runs for some seconds, with 2 % loss on the remaining link, by rdma_cm or not."""
    def case(link):
        need(tool)
        port = free_port()
        argv = [tool, *arguments, "-p", port, "-D", RUNS, *(["-R"] if by_cm else [])]
        server = start(f"{tool}-server", argv, link, "server")
        (server.wait_listening if by_cm else server.wait_listening_tcp)(port)
        client = start(f"{tool}-client", [*argv, link.address_on(1) if not by_cm else link.address], link)
        wait_busy(link, client)
        link.drop("veth1", LOSS)
        time.sleep(STAYS)  # the other paths are confirmed one by one
        for how in TOLD, UNTOLD:
            client.must_run_for(AWAY)
            how[0](link, "veth0")
            client.must_run_for(AWAY)
            how[1](link, "veth0")
        client.expect(30)
        server.expect(30)
    return case


def copied(link):
    """rcopy's file arrives whole."""
    need("rcopy")
    original, copy = harness.log_file("original"), harness.log_file("copy")
    original.write_bytes(os.urandom(1 << 20) * 300)
    port = free_port()
    server = start("rcopy-server", ["rcopy", "-p", port], link, "server")
    server.wait_listening(port)
    client = start("rcopy-client", ["rcopy", original, f"{link.address}:{copy}", "-p", port], link)
    for how in UNTOLD, TOLD, UNTOLD:
        time.sleep(0.2)
        if how is TOLD:
            link.drop("veth1", LOSS)
        how[0](link, "veth0")
        time.sleep(0.7)
        how[1](link, "veth0")
    client.expect(60)
    link.deliver("veth1")
    if copy.read_bytes() != original.read_bytes():
        raise Failure("the copy is another file")
    original.unlink()
    copy.unlink()


def many_messages(link):
    """ucmatose's connections, which share an association, get all their messages while links go and return."""
    need("ucmatose")
    port = free_port()
    options = ["-p", port, "-c", 4, "-C", 2000, "-S", 100000]
    server = start("ucmatose-server", ["ucmatose", "-b", link.any, *options], link, "server")
    server.wait_listening(port)
    client = start("ucmatose-client", ["ucmatose", "-s", link.address, *options], link)
    wait_connected(link, server)
    link.drop("veth1", LOSS)
    for how in UNTOLD, TOLD:
        time.sleep(0.3)
        how[0](link, "veth0")
        time.sleep(0.6)
        how[1](link, "veth0")
    for program in client, server:
        program.expect(40)
        if "return status 0" not in program.output():
            raise Failure(f"{program.name} reports no success")


def mpi_job(link):
    """Four ranks of Open MPI over UCX check every byte, while a link goes and returns in both ways, twice."""
    program = mpi.program_of("e2e-mpi", link)
    need("mpirun.openmpi")
    end = harness.log_file("end")
    job = start("mpirun", ["mpirun.openmpi", "-np", 4, "--host", ",".join(mpi.HOSTS), "--mca", "plm_rsh_agent",
                           mpi.agent(link), "--mca", "oob_tcp_if_include", "veth0", *mpi.OVER_UCX, program,
                           "--until", end, *mpi.GROUPS], link, "server", env=mpi.AS_ROOT, options=mpi.AS_CA)
    # A rank connects to another rank by a GID of its choice, and so needs the first link.
    job.wait_for_output("collectives is done", 60)
    link.drop("veth1", LOSS)
    for how in TOLD, UNTOLD, TOLD, UNTOLD:
        time.sleep(STAYS)
        how[0](link, "veth0")
        time.sleep(STAYS / 2)
        how[1](link, "veth0")
    end.touch()
    mpi.finish(job, 4)
    link.deliver("veth1")


def slow_down(link, devices, slow=True):
    """Makes the links the bottleneck, not the processors: 40 Mbit/s each, with a queue of 40 kB."""
    how = ["add", "root", "tbf", "rate", "40mbit", "burst", "20kb", "limit", "40kb"] if slow else ["del", "root"]
    for device in devices:
        for side in "server", "client":
            link._run([*link.enter(side), "tc", "qdisc", how[0], "dev", device, *how[1:]])


def carried(link, program, side):
    """Packets with DATA that a program has sent, by the peer's address."""
    return {remote: path["sent_packets"] for remote, path in paths_of(link, program, side).items()}


def must_carry(link, program, addresses, what):
    """Checks that DATA leaves by the paths to all these addresses from now on."""
    before = carried(link, program, "client")
    deadline = time.monotonic() + 20 * harness.SLOW
    while True:
        now = carried(link, program, "client")
        if all(now.get(address, 0) > before.get(address, 0) + 50 for address in addresses):
            return
        if not program.running():
            raise Failure(f"{program.name} ended when {what}")
        if time.monotonic() > deadline:
            raise Failure(f"not all of {addresses} had data when {what}: {before}, {now}")
        time.sleep(0.1)


def spread(link):
    """Both links carry data at once. One link goes and returns, in both ways, and the file arrives whole."""
    need("rcopy", "tc")
    devices = [f"veth{i}" for i in range(link.pairs)]
    slow_down(link, devices)
    original, copy = harness.log_file("original"), harness.log_file("copy")
    original.write_bytes(os.urandom(1 << 20) * 120)
    port = free_port()
    server = start("rcopy-server", ["rcopy", "-p", port], link, "server")
    server.wait_listening(port)
    client = start("rcopy-client", ["rcopy", original, f"{link.address}:{copy}", "-p", port], link,
                   options=["--multipath", "spread"])
    server.wait_for_output("client: ")
    every = [link.address, *(link.address_on(i) for i in range(1, link.pairs))]
    must_carry(link, client, every, "all links were there")
    for how in TOLD, UNTOLD:
        how[0](link, "veth0")
        must_carry(link, client, every[1:], "veth0 was away")
        how[1](link, "veth0")
        must_carry(link, client, every, "veth0 was back")
    client.expect(120)
    slow_down(link, devices, False)
    if copy.read_bytes() != original.read_bytes():
        raise Failure("the copy is another file")
    original.unlink()
    copy.unlink()


def off(link):
    """Peers get no further addresses: the loss of the one link ends the connection."""
    port = free_port()
    options = ["--paths", "off", "--silent-limit", "3"]
    server = start("rping-server", ["rping", "-s", "-p", port, "-a", link.any, "-S", 100], link, "server", options=options)
    server.wait_listening(port)
    client = start("rping-client", ["rping", "-c", "-v", "-V", "-a", link.address, "-p", port, "-S", 100], link, options=options)
    client.wait_for_output("rdma-ping-10:")
    time.sleep(STAYS)
    link.drop("veth0")
    client.wait(10)  # with any exit status


def listed(link):
    """Peers get only the address of the third link, which takes over."""
    if link.pairs < 3:
        raise Skip("there is no third link")
    need("rping")
    _, client = rping(link, UNTOLD, [], ["--paths", "veth2"])
    link.drop("veth1")
    must_go_on(client, "a link that is not used was away")
    link.drop("veth0")
    must_go_on(client, "veth0 was away")


def example(link):
    """The output of contrib/two-links.sh on its own hosts: the client changes to the second link when the first one
    fails."""
    need("ss")
    shown = start("two-links", [EXAMPLE], rdma=False, env={"PATH": f"{harness.BUILD / 'bin'}:{os.environ['PATH']}"})
    shown.expect(40)
    taken = re.findall(r" (\S+) +10\.0\.\d\.1 +\S+ +in use ", shown.output())
    if taken != ["10.0.1.2", "10.0.2.2"]:
        raise Failure(f"the paths that were in use lead to {taken}")


def connected_again(how):
    """A process connects again while the first link is away. It knows the second link from its first connection."""
    def case(link):
        shared, port = harness.BUILD / "bin/e2e-shared", free_port()
        server = start("server", [shared, "serve", link.any, port], link, "server")
        server.wait_listening(port)
        client = start("client", [shared, "connect", link.address, port, 20, 2], link)
        client.wait_for_output("all receives are there")
        while paths_of(link, client, "client"):
            time.sleep(0.2)
            if not client.running():
                raise Failure("the client has ended")
        how[0](link, "veth0")
        link.signal(client, signal.SIGUSR1)
        client.expect(20)
        how[1](link, "veth0")
        if client.output().count("all receives are there") != 2:
            raise Failure("the second connection did not do what the first one did")
        server.kill()
        return client.output()
    return case


CASES = [
    ("rping.told", rping_case(TOLD, ["veth0", "veth1"])),
    ("rping.untold", rping_case(UNTOLD, ["veth0", "veth1"])),
    ("rping.lossy", rping_lossy),
    ("shown", shown),
    ("by-rule", by_rule),
    ("ib_write_bw", timed("ib_write_bw", "-s", 65536)),
    ("ib_send_lat", timed("ib_send_lat", "-s", 64)),
    ("by-hand.ib_write_bw", timed("ib_write_bw", "-s", 65536, by_cm=False)),
    ("by-hand.ib_send_bw", timed("ib_send_bw", "-s", 4096, "-q", 4, by_cm=False)),
    ("copied", copied),
    ("ucmatose", many_messages),
    ("mpi", mpi_job),
    ("spread", spread),
    ("off", off),
    ("again.told", connected_again(TOLD)),
    ("again.untold", connected_again(UNTOLD)),
    ("listed", listed),
    ("example", example),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
