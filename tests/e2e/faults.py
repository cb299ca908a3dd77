#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Fault injection (docs/faults.md) with stock programs: one fault of each kind, and rules that come and go."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import harness
from harness import BUILD, DEVICE, SLOW, Failure, free_port, need, start

SCTPIW = BUILD / "bin/sctpiw"
PINGS = 300


def check(condition, what):
    if not condition:
        raise Failure(what)


def begin(name, argv, link, side="client", faults=None, seed=1234, **env):
    if faults:
        env |= {"SCTPIW_FAULTS": faults, "SCTPIW_FAULT_SEED": str(seed)}
    return start(name, argv, link, side, env=env)


def fired(program, rule=1):
    """The faults of a rule in the program's log: the counts, and the seeds."""
    found = re.findall(rf"^sctpiw: fault {rule} \(line \d+\) fired for the (\d+)(?:st|nd|rd|th) time, seed (\d+): ",
                       program.output(), re.M)
    return [int(count) for count, _ in found], {int(seed) for _, seed in found}


def rping(link, faults, **env):
    port = free_port()
    server = begin("server", ["rping", "-s", "-a", link.any, "-p", port, "-C", PINGS], link, "server")
    server.wait_listening(port)
    client = begin("client", ["rping", "-c", "-V", "-C", PINGS, "-a", link.address, "-p", port], link, faults=faults, **env)
    client.expect(60)
    server.expect(20)
    return client


def lost(link):
    """Packets are lost, but rping gets the right data. The log has each loss, with the seed; by default only the first
    loss."""
    counts, seeds = fired(rping(link, "packets out: drop, probability 0.02", SCTPIW_LOG="info"))
    check(len(counts) > 3 and counts == list(range(1, len(counts) + 1)), f"faults that were told: {counts}")
    check(seeds == {1234}, f"seeds that were told: {seeds}")
    counts, _ = fired(rping(link, "packets out: drop, probability 0.02"))
    check(counts == [1], f"faults that were told: {counts}")


def write_bw(link, client_faults, server_faults=None, writes=5000):
    """Runs ib_write_bw with rules on a side. Returns both programs, and the status of the client, which has ended."""
    need("ib_write_bw")
    port = free_port()
    argv = ["ib_write_bw", "-R", "-F", "-d", DEVICE, "-n", writes, "-p", port]
    server = begin("server", argv, link, "server", server_faults)
    server.wait_listening(port)
    client = begin("client", [*argv, link.address], link, faults=client_faults)
    status = client.wait(60)
    faulty = server if server_faults else client
    check(fired(faulty)[0] == [1], f"faults that were told: {faulty.output()}")
    return server, client, status


def bandwidth(link, faults, server_faults=None):
    """The client of ib_write_bw fails by a fault that is logged once."""
    _, client, status = write_bw(link, faults, server_faults)
    check(status not in (0, None), "ib_write_bw ended well, or not at all")
    return client


def refused(link):
    """A registration fails. ib_write_bw reports the failure and ends."""
    client = bandwidth(link, "reg_mr: fail with ENOMEM")
    check("Couldn't allocate MR" in client.output(), f"ib_write_bw said {client.output()}")


def seeded(link):
    """All processes of a run share a seed, and each run has a new seed, unless a setting gives the seed."""
    def seeds(*options, **env):
        done = subprocess.run([SCTPIW, "run", *options, "--", "sh", "-c", "ibv_devinfo; ibv_devinfo"], capture_output=True, text=True,
                              timeout=30 * SLOW, env=dict(os.environ, **env), check=False)
        found = re.findall(r"fault 1 .* seed (\d+): ", done.stderr)
        check(len(found) == 2, f"two processes said: {done.stderr}")
        return set(found)

    rule = ("--faults", "query_port: fail with EIO")
    first, second = seeds(*rule), seeds(*rule)
    check(len(first) == len(second) == 1 and first != second, f"seeds of two runs: {first}, {second}")
    check(seeds(*rule, "--fault-seed", "77") == {"77"} == seeds(*rule, SCTPIW_FAULT_SEED="77"), "a seed that was given is not used")


def completed(link):
    """A Write completes with an error, and ib_write_bw prints the error."""
    client = bandwidth(link, "after 10 writes: complete with rem_access_err, once")
    check("Failed status 10" in client.output(), f"ib_write_bw said {client.output()}")


# After 1 MB of data, connection setup is over.
BEHIND = "packets {} chunk data, after 1 MB: {}, once"


def ends(status, client=None, server=None):
    """A fault hits a queue pair or a peer during the Writes: ib_write_bw prints the status."""
    def case(link):
        said = bandwidth(link, client and BEHIND.format("out", client), server and BEHIND.format("in", server)).output()
        check(f"Failed status {status}" in said, f"ib_write_bw said {said}")
    return case


def frozen(link):
    """Nothing moves for a while. Then the Writes go on."""
    for what in "freeze qp for 700 ms", "freeze peer for 700 ms":
        begin_at = time.monotonic()
        server, _, status = write_bw(link, BEHIND.format("out", what), writes=50)
        check(status == 0 and time.monotonic() - begin_at >= 0.7, f"{what}: status {status} after {time.monotonic() - begin_at} s")
        server.expect(20)


def overrun(link):
    """A CQ is overrun: rping waits for completions that never come."""
    port = free_port()
    server = begin("server", ["rping", "-s", "-a", link.any, "-p", port], link, "server")
    server.wait_listening(port)
    client = begin("client", ["rping", "-c", "-v", "-C", PINGS, "-a", link.address, "-p", port], link, faults="9th send: overrun")
    client.wait_for_output("overrun")
    client.must_run_for(0.5)
    check(fired(client)[0] == [1] and f"rdma-ping-{PINGS - 1}" not in client.output(), f"rping said {client.output()}")


def unplugged(link):
    """The port goes down and comes back, and ibv_asyncwatch prints both events."""
    need("ibv_asyncwatch", "stdbuf")
    watch = begin("watch", ["stdbuf", "-oL", "ibv_asyncwatch", "-d", DEVICE], link, "server",
                  faults="every 500 ms: port down for 200 ms, at most 2 times", SCTPIW_LOG="info")
    for event in "PORT_ERR", "PORT_ACTIVE":
        watch.wait_for_output(event)
    watch.wait_for_output("fired for the 2nd time")
    watch.must_run_for(0.1)


def ask(directory, *words, status=0):
    done = subprocess.run([SCTPIW, *map(str, words)], capture_output=True, text=True, timeout=30 * SLOW,
                          env=dict(os.environ, XDG_RUNTIME_DIR=str(directory)))
    check(done.returncode == status, f"{words} ended with {done.returncode}, not {status}: {done.stderr}")
    return done.stdout + done.stderr


def live(link):
    """Rules come and go while programs run: the traffic stops, and goes on."""
    with tempfile.TemporaryDirectory(prefix="sctpiw-e2e-") as name:
        directory = pathlib.Path(name)
        port = free_port()
        server = begin("server", ["rping", "-s", "-a", link.any, "-p", port], link, "server", XDG_RUNTIME_DIR=name)
        server.wait_listening(port)
        client = begin("client", ["rping", "-c", "-V", "-C", "2000000", "-a", link.address, "-p", port], link,
                       XDG_RUNTIME_DIR=name)
        pid = client.pid
        moves = lambda: int(re.search(r"port_xmit_packets: (\d+)", ask(directory, "counters", pid))[1])
        while not (directory / "sctpiw" / str(pid)).exists():  # the client has not opened the device yet
            client.must_run_for(0.1)
        told = ask(directory, "fault", pid, "packets: drop; reg_mr: fail with EIO  # cut")
        check(re.fullmatch(r"1: fired 0 of \d+ times, seed \d+: packets: drop\n2: fired 0 of 0 times, seed \d+: reg_mr: fail with EIO\n",
                           re.sub(r"1: fired \d+ of", "1: fired 0 of", told)), f"add printed {told}")
        client.wait_for_output("fault 1 (line 1) fired for the 1st time")
        check("packets: drop" in ask(directory, "stat", pid), "stat does not show the rule")
        check(re.search(r"fault_1: [1-9]", ask(directory, "counters", pid)), "counters do not show the rule")
        check(ask(directory, "fault", pid, "list").count("\n") == 2, "list does not show both rules")
        check("there is no rule of that number" in ask(directory, "fault", pid, "remove", 9, status=1), "rule 9 was removed")
        check("1:10: dorp" in ask(directory, "fault", pid, "packets: dorp", status=2), "a wrong rule was taken")
        check(ask(directory, "fault", pid, "remove", 1) == "removed 1\n", "rule 1 was not removed")
        before = moves()
        check(ask(directory, "fault", pid, "remove", "all") == "removed 1\n", "the last rule was not removed")
        check(ask(directory, "fault", pid, "list") == "", "there is still a rule")
        for _ in range(100):
            if moves() > before + 100:
                break
            client.must_run_for(0.1)
        check(moves() > before + 100, "nothing is sent any more")
        check(server.running() and client.running(), "a program is gone")


if __name__ == "__main__":
    sys.exit(harness.main([
        ("lost", lost),
        ("refused", refused),
        ("seeded", seeded),
        ("completed", completed),
        ("fail-qp", ends(5, client="fail qp")),  # of ibv_wc_status: flushed
        ("terminate", ends(10, server="terminate layer 0 type 1 code 2")),
        ("rnr", ends(13, server="rnr")),
        ("lose-session", ends(12, client="lose session")),
        ("kill-peer", ends(12, client="kill peer")),
        ("frozen", frozen),
        ("overrun", overrun),
        ("unplugged", unplugged),
        ("live", live),
    ]))
