#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Restrictions of poor containers: the device works nevertheless, or prints the reason in one line.

Each case makes a place with its own namespaces and mounts, and runs ibv_devinfo, rping and ib_write_bw there. A case
first checks that the place lacks the resource, and fails otherwise."""
import os
import pathlib
import subprocess
import sys

import harness
import perftest_run
from harness import DEVICE, Failure, free_port, run_pair, start

SANDBOX = harness.BUILD / "bin/e2e-sandbox"
PROFILE = pathlib.Path(__file__).with_name("docker_seccomp.txt")
UNIT = harness.ROOT / "contrib/rdma-server.service"
NAMELESS = 54321  # no file has a name for this user and group

READ_ONLY = """
while read -r _ place _; do mount -o remount,bind,ro "$place" || test "$place" != /; done </proc/self/mounts 2>/dev/null
for place in / /tmp /var/tmp /sys /dev/shm; do
	if touch "$place/sctpiw-poor" 2>/dev/null; then echo "$place can be written to"; exit 1; fi
done
"""
BARE_DEV = """
mount --rbind /dev /mnt
mount -t tmpfs tmpfs /dev
for device in null zero full random urandom; do touch /dev/$device; mount --bind /mnt/$device /dev/$device; done
umount --lazy /mnt
if test -e /dev/shm; then echo "/dev/shm is there"; exit 1; fi
"""
OTHER_PIDS_HIDDEN = """
mount -t proc -o hidepid=invisible,subset=pid proc /proc
if test -e /proc/sys || test -e /proc/cpuinfo; then echo "/proc has more than processes"; exit 1; fi
"""
NO_PROC = """
mount -t tmpfs -o mode=755 tmpfs /proc
"""
NOBODY_KNOWS_US = """
hostname sctpiw-poor.invalid
for file in /etc/hosts /etc/resolv.conf; do mount --bind /dev/null $file; done
if getent hosts sctpiw-poor.invalid; then echo "the name of this host resolves"; exit 1; fi
"""


class Place(harness.Link):
    """Another link with restrictions: a script runs before each program, then the words of wrap."""

    def __init__(self, link, script="", namespaces=(), wrap=()):
        super().__init__(link.name, link.family)
        self.link = link
        self.address = link.address
        options = [f"--{name}" for name in ("mount", *namespaces)]
        if os.geteuid():
            options = [*harness.AS_USER, *options]
        self.wrap = ["unshare", *options, "--", "sh", "-ec", script + 'exec "$@"', "sh", *wrap] if script else list(wrap)

    def enter(self, side):
        return [*self.link.enter(side), *map(str, self.wrap)]


class OneSide(harness.Loopback):
    """One side of another link, where both programs run, connected over lo."""

    def __init__(self, link):
        super().__init__(link.name, link.family)
        self.link = link

    def enter(self, side):
        return self.link.enter("server")


def works(place, user=None):
    """Runs ibv_devinfo and rping, while ib_write_bw starts, which takes a second.

    ib_write_bw prints rates of 0 if /proc/cpuinfo has no clock rate."""
    port = free_port()
    tool = ["ib_write_bw", "-R", "-F", "-d", DEVICE, "-n", "300", "-p", port]
    server = start("ib_write_bw-server", tool, place, "server", user=user)
    server.wait_listening(port)
    client = start("ib_write_bw-client", [*tool, place.address], place, user=user)
    devinfo = start("ibv_devinfo", ["ibv_devinfo", "-d", DEVICE], place, user=user)
    devinfo.expect(10)
    if "PORT_ACTIVE" not in devinfo.output():
        raise Failure("the port is not active")
    port = free_port()
    common = ["-p", port, "-C", "50", "-S", "4000", "-V"]
    run_pair(place, ["rping", "-s", "-a", place.any, *common], ["rping", "-c", "-a", place.address, *common], port, user=user)
    client.expect(20)
    server.expect(10)
    if [row[:2] for row in perftest_run.rows(client.output())] != [(65536, 300)]:
        raise Failure("ib_write_bw printed no result")


def must_fail(place, argv, text, user=None):
    """The place forbids this program, which must print the error."""
    program = start("forbidden", argv, place, user=user, rdma=False)
    if program.wait(10) == 0 or text not in program.output():
        raise Failure(f"{' '.join(argv)} did not fail with '{text}': {program.output()}")


def reachable(user):
    """Users other than root must be able to read the build."""
    if os.geteuid():
        raise harness.Skip("needs root to become a user that has no name")
    harness.become(user)


def sandbox(*options):
    if not SANDBOX.exists():
        raise harness.Skip("needs libseccomp, which was not there when this was built")
    return [SANDBOX, *options, "--"]


def read_only(link):
    works(Place(link, READ_ONLY))


def bare_dev(link):
    works(Place(link, BARE_DEV))


def nameless(link):
    reachable(NAMELESS)
    works(Place(link, wrap=["env", "-u", "HOME", "-u", "USER", "-u", "LOGNAME"]), user=NAMELESS)


def powerless(link):
    """Root without capabilities, and without a way to get any."""
    drop = ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--"]
    place = Place(link, wrap=["setpriv", *drop])
    must_fail(place, ["chroot", "/", "true"], "Operation not permitted")
    works(place)


def docker_seccomp(link):
    place = Place(link, wrap=sandbox("--profile", PROFILE))
    must_fail(place, ["unshare", "--user", "true"], "Operation not permitted")
    works(place)


def system_calls(group):
    """The system calls of one of systemd's groups."""
    done = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"systemd does not know {group}: {done.stderr}")
    members = [word for word in map(str.strip, done.stdout.splitlines()[1:]) if not word.startswith("#")]
    return {name for word in members for name in (system_calls(word) if word.startswith("@") else [word])}


def systemd_service(link):
    """The permissions of contrib/rdma-server.service: its system calls, and only processes in /proc."""
    harness.need("systemd-analyze")
    reachable(NAMELESS)
    unit = dict(line.split("=", 1) for line in UNIT.read_text().splitlines() if "=" in line and not line.startswith("#"))
    if (unit["ProtectSystem"], unit["ProtectProc"], unit["ProcSubset"], unit["LimitMEMLOCK"]) != ("strict", "invisible", "pid", "0"):
        raise Failure(f"{UNIT} has other restrictions than this case")
    profile = harness.log_file("profile.txt")
    profile.write_text("\n".join(sorted(system_calls(unit["SystemCallFilter"]))) + "\n")
    wrap = ["prlimit", "--memlock=0", *sandbox("--profile", profile)]
    works(Place(link, OTHER_PIDS_HIDDEN + READ_ONLY, wrap=wrap), user=NAMELESS)


def no_ipv6(link):
    place = Place(link, wrap=sandbox("--no-ipv6"))
    must_fail(place, [sys.executable, "-c", "import socket; socket.socket(socket.AF_INET6)"], "not supported")
    works(place)


def only_loopback(link):
    """A network namespace with no interface except lo."""
    works(OneSide(link))


def one_address(link):
    """Two hosts with one IPv4 address each, none on lo, and no IPv6."""
    for side in "server", "client":
        for name in "all", "default":
            path = f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6"
            subprocess.run([*link.enter(side), "sh", "-c", f"test ! -e {path} || echo 1 >{path}"], check=True)
        subprocess.run([*link.enter(side), "ip", "link", "set", "lo", "down"], check=True)
        shown = []
        while shown[1:2] != ["UP"]:  # shortly after the peer's end is up
            shown = subprocess.run([*link.enter(side), "ip", "-brief", "address", "show", "up"], check=True, text=True,
                                   capture_output=True).stdout.split()
        if len(shown) != 3:
            raise Failure(f"that is not one address: {shown}")
    works(link)


def translated(link):
    """A router changes the client's port, as for containers, and the server is published at another address.

    With rdma_cm, nothing depends on the values of the addresses."""
    harness.need("nft")
    published = link.subnets[4].format(50)
    client = link.subnets[4].format(2)
    rules = {"server": f"hook prerouting priority -100\nip daddr {published} meta l4proto udp counter dnat to {link.address}",
             "client": f"hook postrouting priority 100\nmeta l4proto udp counter snat to {client}:50000-50999"}
    subprocess.run([*link.enter("server"), "ip", "address", "add", published + "/32", "dev", "veth0"], check=True)
    for side, rule in rules.items():
        subprocess.run([*link.enter(side), "nft", f"table ip translated {{ chain ports {{ type nat {rule}\n }}\n }}"], check=True)
    place = Place(link)
    place.address = published
    works(place)
    for side in rules:
        table = subprocess.run([*link.enter(side), "nft", "list", "table", "ip", "translated"], check=True, capture_output=True)
        if b"counter packets 0 " in table.stdout or b"counter packets" not in table.stdout:
            raise Failure(f"nothing was translated on the side of the {side}")


def nobody_knows_us(link):
    works(Place(link, NOBODY_KNOWS_US, ["uts"]))


def hidden_processes(link):
    if os.geteuid():
        raise harness.Skip("needs root to mount another /proc")
    works(Place(link, OTHER_PIDS_HIDDEN))


def no_proc(link):
    works(Place(link, NO_PROC))


def few_descriptors(link):
    works(Place(link, wrap=["prlimit", "--nofile=32"]))


def all_at_once(link):
    """The permissions of a container in a careful cluster, and fewer."""
    reachable(NAMELESS)
    script = NOBODY_KNOWS_US + BARE_DEV + READ_ONLY
    wrap = ["setpriv", "--bounding-set=-all,+setuid,+setgid", "--inh-caps=-all", "--", "prlimit", "--nofile=64", "env", "-u", "HOME",
            *sandbox("--no-ipv6", "--profile", PROFILE)]
    works(Place(link, script, ["uts"], wrap), user=NAMELESS)


if __name__ == "__main__":
    sys.exit(harness.main([
        ("read-only", read_only),
        ("bare-dev", bare_dev),
        ("nameless", nameless),
        ("powerless", powerless),
        ("docker-seccomp", docker_seccomp),
        ("systemd-service", systemd_service),
        ("no-ipv6", no_ipv6),
        ("only-loopback", only_loopback),
        ("one-address", one_address),
        ("translated", translated),
        ("nobody-knows-us", nobody_knows_us),
        ("hidden-processes", hidden_processes),
        ("no-proc", no_proc),
        ("few-descriptors", few_descriptors),
        ("all-at-once", all_at_once),
    ]))
