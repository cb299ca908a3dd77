#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Faults of verbs, limits, completions, events and rdma_cm (docs/faults.md), with stock programs."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import harness
from harness import BUILD, DEVICE, SLOW, Failure, free_port, need, start
from waiting import wait_until

SCTPIW = BUILD / "bin/sctpiw"
PEER = BUILD / "bin/e2e-peer"
PINGS = 50


def check(condition, what):
    if not condition:
        raise Failure(what)


def faulty(faults):
    return {"SCTPIW_FAULTS": faults, "SCTPIW_FAULT_SEED": "1"} if faults else {}


def fired(program, rule=1):
    return re.search(rf"^sctpiw: fault {rule} \(line \d+\) fired for the 1st time", program.output(), re.M)


def rping(link, client=None, server=None, client_ends_well=True):
    """Runs rping with rules on either side. Returns both programs after their end."""
    port = free_port()
    s = start("server", ["rping", "-s", "-a", link.any, "-p", port, "-C", PINGS], link, "server", env=faulty(server))
    if not server or "listen" not in server:
        s.wait_listening(port)
    c = start("client", ["rping", "-c", "-v", "-V", "-C", PINGS, "-a", link.address, "-p", port], link, env=faulty(client))
    status = c.wait(30)
    check((status == 0) == client_ends_well, f"the client ended with {status}: {c.output()[-500:]}")
    return s, c


def call_fails(rule, message):
    """A call of rping's client fails, and rping prints its name."""
    def case(link):
        _, client = rping(link, rule, client_ends_well=False)
        check(fired(client), "the fault is not told")
        check(message in client.output(), f"rping said {client.output()}")
    return case


def connect_fails(link):
    """rdma_connect fails, and rping prints this. Then rping waits for the thread of its CQ, which does not end."""
    port = free_port()
    server = start("server", ["rping", "-s", "-a", link.any, "-p", port], link, "server")
    server.wait_listening(port)
    client = start("client", ["rping", "-c", "-a", link.address, "-p", port], link, env=faulty("rdma_connect: fail with ENOMEM"))
    client.wait_for_output("rdma_connect: Cannot allocate memory")
    check(fired(client), "the fault is not told")


def rejected(link):
    """REJECTED comes instead of ESTABLISHED."""
    _, client = rping(link, "established: reject reason 28 data \"no\"; connect_response: reject", client_ends_well=False)
    check("RDMA_CM_EVENT_REJECTED, error 28" in client.output(), f"rping said {client.output()}")


def event_of(rule, event, error):
    def case(link):
        _, client = rping(link, rule, client_ends_well=False)
        check(f"RDMA_CM_EVENT_{event}, error {error}" in client.output(), f"rping said {client.output()}")
    return case


def lost_event(link):
    """The event at the end of the handshake is lost: the program waits, and so does its peer."""
    port = free_port()
    server = start("server", [PEER, "serve", link.any, port, "idle"], link, "server")
    server.wait_listening(port)
    client = start("client", ["rping", "-c", "-a", link.address, "-p", port, "-C", 1], link,
                   env=faulty("established: drop; connect_response: drop"))
    client.wait_for_output(": drop")
    client.must_run_for(0.5)
    check(server.running(), "the server ended")


def request_rejected(link):
    """The server's device rejects the request, and the server gets no event."""
    port = free_port()
    server = start("server", [PEER, "serve", link.any, port, "idle"], link, "server",
                   env=faulty("connect_request: reject data \"not here\", once"))
    server.wait_listening(port)
    client = start("client", [PEER, "connect", link.address, port, "idle"], link)
    check(client.wait(20) != 0, "the client reported success")
    check("rejected: not here" in client.output(), f"the client said {client.output()}")
    check(server.running() and "connected" not in server.output(), "the server heard of the request")


def late_request(link):
    """Events come late, but in order."""
    _, client = rping(link, "cm_events: delay 50 ms", "connect_request: delay 200 ms")
    check(fired(client), "the fault is not told")


def repeated_request(link):
    """A request comes twice. ucmatose expects one request: it accepts the first, and rejects the second."""
    need("ucmatose")
    port = free_port()
    server = start("server", ["ucmatose", "-p", port], link, "server", env=faulty("connect_request: duplicate"))
    server.wait_listening(port)
    client = start("client", ["ucmatose", "-s", link.address, "-p", port], link)
    client.expect(30)
    server.expect(10, 244)  # -ENOMEM, for the rejected request
    check(fired(server), "the fault is not told")
    check("failing connection request" in server.output(), f"the server said {server.output()}")


def removed(link):
    """The device is removed while the program runs."""
    port = free_port()
    server = start("server", ["rping", "-s", "-a", link.any, "-p", port], link, "server",)
    server.wait_listening(port)
    client = start("client", ["rping", "-c", "-a", link.address, "-p", port, "-C", 100000000], link,
                   env=faulty("after 1 s: report device_removal"))
    client.wait_for_output("cma detected device removal", 20)


def asynchronous(link):
    """ibv_asyncwatch prints the events that rules raise."""
    need("ibv_asyncwatch", "stdbuf")
    watch = start("watch", ["stdbuf", "-oL", "ibv_asyncwatch", "-d", DEVICE], link, "server",
                  env=faulty("after 300 ms: raise gid_change; after 350 ms: raise lid_change; after 400 ms: raise client_reregister"))
    for event in "GID", "LID", "CLIENT_REREGISTER":
        watch.wait_for_output(event)


def pingpong(link, faults, *options):
    need("ibv_rc_pingpong")
    port = free_port()
    argv = ["ibv_rc_pingpong", "-d", DEVICE, "-g", "0", "-p", port, "-n", 200, *options]
    server = start("server", argv, link, "server")
    server.wait_listening_tcp(port)
    client = start("client", [*argv, link.address], link, env=faulty(faults))
    return server, client


def late_completions(link):
    """Completions and their events are late. ibv_rc_pingpong finishes, polling or waiting for events."""
    for options in [], ["-e"]:
        for faults in ("completions: delay 1 ms jitter 1 ms", "completions: gather 2 within 3 ms", "completions: single",
                       "notifications: delay 1 ms; completions: delay 500 us", "notifications: duplicate"):
            server, client = pingpong(link, faults, *options)
            client.expect(60)
            server.expect(20)


def limited(link):
    """A program that requests more than the device has gets an error."""
    need("ib_send_bw", "ibv_devinfo")
    info = start("info", ["ibv_devinfo", "-v", "-d", DEVICE], link, env=faulty("device: limit max_qp to 7; device: limit max_cqe to 100"))
    info.expect(20)
    check(re.search(r"max_qp:\s+7\n", info.output()) and re.search(r"max_cqe:\s+100\n", info.output()), info.output())
    server, client = pingpong(link, "device: limit max_cqe to 100", "-r", 500)
    check(client.wait(20) != 0 and "Couldn't create CQ" in client.output(), f"ibv_rc_pingpong said {client.output()}")


def torture(link):
    """Each call during setup fails in turn. ibv_devinfo and rping neither crash nor hang."""
    need("ibv_devinfo", "rping")
    done = subprocess.run([SCTPIW, "torture", "--json", "--timeout", str(20 * SLOW), "--", "ibv_devinfo", "-d", DEVICE],
                          capture_output=True, text=True, timeout=200)
    runs = json.loads(done.stdout)
    check(done.returncode == 0, f"sctpiw torture ended with {done.returncode}: {done.stdout}{done.stderr}")
    check([run["call"] for run in runs][:1] == ["open_device"], f"the calls that failed: {runs}")
    check(all(run["status"] for run in runs if run["call"] in ("open_device", "query_device")), f"a failure was no failure: {runs}")
    done = subprocess.run([SCTPIW, "torture", "--", "sh", "-c", "ibv_devinfo >&2 || kill -SEGV $$"],
                          capture_output=True, text=True, timeout=200)
    check(done.returncode == 1 and "crashed: SIGSEGV" in done.stdout, f"a crash was not found: {done.stdout}{done.stderr}")
    done = subprocess.run([SCTPIW, "torture", "--timeout", "1", "--max", "1", "--", "sh", "-c", "ibv_devinfo >&2 || sleep 100"],
                          capture_output=True, text=True, timeout=200)
    check(done.returncode == 1 and "hung" in done.stdout, f"a hang was not found: {done.stdout}{done.stderr}")
    done = subprocess.run([SCTPIW, "torture", "--", "false"], capture_output=True, text=True, timeout=200)
    check(done.returncode == 125 and "even without a fault" in done.stderr, f"false was tortured: {done.stderr}")


def tortured(most, side, port, server, client, status=0):
    """Output of contrib/torture.sh for at most `most` first calls of a side. A crash or hang here would be a device
    bug."""
    done = subprocess.run([harness.ROOT / "contrib/torture.sh", side, port, server, client, "--json", "--max", str(most), "--timeout", str(20 * SLOW)],
                          capture_output=True, text=True, timeout=300 * SLOW,
                          env=dict(os.environ, PATH=f"{BUILD / 'bin'}:{os.environ['PATH']}"))
    check(done.returncode == status, f"torture.sh ended with {done.returncode}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def must_fail(runs, *calls):
    """Each of these calls failed in some run, and no such run succeeded."""
    for call in calls:
        statuses = [run["status"] for run in runs if run["call"] == call]
        check(statuses and all(statuses), f"runs in which {call} failed ended with {statuses}: {runs}")


def torture_pingpong(link):
    """ibv_rc_pingpong with the fault on both sides."""
    need("ibv_rc_pingpong")
    port = str(free_port())
    one = f"ibv_rc_pingpong -d {DEVICE} -g 0 -p {port} -n 20"
    runs = tortured(8, "both", port, one, f"{one} 127.0.0.1")
    check(len(runs) == 8, f"there were {len(runs)} runs, and it makes more calls: {runs}")
    must_fail(runs, "open_device", "alloc_pd", "reg_mr", "create_cq", "create_qp")
    must_fail(tortured(1, "server", port, one, f"{one} 127.0.0.1"), "open_device")


def torture_peer(link):
    """A program of rdma_cm with the fault on one side. Calls of verbs and of rdma_cm fail in program order."""
    port = str(free_port())
    sides = f"{PEER} serve 127.0.0.1 {port} idle", f"{PEER} connect 127.0.0.1 {port} leave"
    runs = tortured(20, "client", port, *sides)
    must_fail(runs, "open_device", "alloc_pd", "create_cq", "create_qp", "rdma_resolve_addr", "rdma_resolve_route")
    check([run["rule"] for run in runs][:2] == ["1st call: fail with ENOMEM", "2nd call: fail with ENOMEM"], f"the rules: {runs}")
    calls = [run["call"] for run in runs]
    order = [calls.index(call) for call in ("rdma_resolve_addr", "open_device", "rdma_resolve_route", "create_qp")]
    check(order == sorted(order), f"the order of the calls: {calls}")
    runs = tortured(4, "client", port, sides[0], f"sh -c '{sides[1]} || kill -SEGV $$'", status=1)
    check("SIGSEGV" in [run["signal"] for run in runs], f"a crash was not found: {runs}")


def torture_interrupted(link):
    """A torture that is ended also ends its program, which has its own process group."""
    with tempfile.TemporaryDirectory(prefix="sctpiw-e2e-") as name:
        told = pathlib.Path(name) / "pid"
        running = subprocess.Popen([SCTPIW, "torture", "--", "sh", "-c", f"echo $$ >{told}.new; mv {told}.new {told}; exec sleep 100"])
        try:
            wait_until("the program has not begun", told.exists)
            pid = int(told.read_text())
            running.terminate()
            check(running.wait(20) == -signal.SIGTERM, "sctpiw torture did not end by the signal")
            wait_until("the program goes on", lambda: not pathlib.Path(f"/proc/{pid}/exe").exists())
        finally:
            running.kill()


def recipe(link):
    """contrib/faults.sh: a program that passes on all ten devices, and two programs that fail."""
    need("ibv_rc_pingpong")
    port = free_port()
    one = f"ibv_rc_pingpong -d {DEVICE} -g 0 -p {port} -n 50"

    def run(*words, **env):
        with tempfile.TemporaryDirectory(prefix="sctpiw-e2e-") as name:
            done = subprocess.run([harness.ROOT / "contrib/faults.sh", *words], capture_output=True, text=True, timeout=300 * SLOW, cwd=name,
                                  env=dict(os.environ, PATH=f"{BUILD / 'bin'}:{os.environ['PATH']}", FAULT_SEED="7", **env))
            return done.returncode, done.stdout

    status, told = run("sh", "-c", f"{one} & until ss -Hltn | grep -q :{port} || ! kill -0 $!; do sleep 0.02; done; "
                       f"{one} 127.0.0.1; status=$?; wait $!; exit $((status | $?))")
    check(status == 0 and len(re.findall("^ok: ", told, re.M)) == 10 and "The seed is 7." in told, f"it ended with {status}: {told}")
    status, told = run("sh", "-c", "kill -SEGV $$")
    check(status == 1 and told.count("CRASHED: ") == 10, f"it ended with {status}: {told}")
    status, told = run("sleep", "100", SECONDS_EACH="0.2")
    check(status == 1 and told.count("HUNG: ") == 10, f"it ended with {status}: {told}")
    status, told = run("false")
    check(status == 1 and told.count("FAILED: ") == 4, f"it ended with {status}: {told}")


def scenario(name, survives=True, seconds=0):
    """rping with a scenario of the library: rping finishes, or runs for that many seconds, or fails early."""
    def case(link):
        port = free_port()
        count = PINGS if survives and not seconds else 100000000
        server = start("server", ["rping", "-s", "-V", "-a", link.any, "-p", port, "-C", count], link, "server")
        server.wait_listening(port)
        client = start("client", ["rping", "-c", "-V", "-C", count, "-a", link.address, "-p", port], link,
                       options=["--faults", name, "--fault-seed", "1"])
        if seconds:
            client.must_run_for(seconds)
            check(fired(client), "the fault is not told")
        else:
            status = client.wait(60)
            check(status >= 0 and (status == 0 or not survives), f"the client ended with {status}")
            check(survives or fired(client, r"\d+"), "the fault is not told")
    return case


if __name__ == "__main__":
    sys.exit(harness.main([
        ("connect", connect_fails),
        ("resolve", call_fails("rdma_resolve_addr: fail with ENODEV", "rdma_resolve_addr: No such device")),
        ("create_qp", call_fails("create_qp: fail with ENOMEM", "rdma_create_qp: Cannot allocate memory")),
        ("modify_qp", call_fails("modify_qp from rtr to rts: fail with EINVAL", "RDMA_CM_EVENT_CONNECT_ERROR")),
        ("rejected", rejected),
        ("addr_error", event_of("addr_resolved: report addr_error status ETIMEDOUT", "ADDR_ERROR", -110)),
        ("route_error", event_of("route_resolved: report route_error status ETIMEDOUT", "ROUTE_ERROR", -110)),
        ("unreachable", event_of("established: report unreachable status ETIMEDOUT; connect_response: report unreachable status ETIMEDOUT",
                                 "UNREACHABLE", -110)),
        ("lost-event", lost_event),
        ("request-rejected", request_rejected),
        ("late-request", late_request),
        ("repeated-request", repeated_request),
        ("removed", removed),
        ("asynchronous", asynchronous),
        ("late-completions", late_completions),
        ("limited", limited),
        ("torture", torture),
        ("torture.pingpong", torture_pingpong),
        ("torture.peer", torture_peer),
        ("torture.interrupted", torture_interrupted),
        ("recipe", recipe),
        ("scenario.lossy-wifi", scenario("lossy-wifi")),
        ("scenario.flapping-link", scenario("flapping-link", seconds=3)),
        ("scenario.slow-receiver", scenario("slow-receiver")),
        ("scenario.small-device", scenario("small-device")),
        ("scenario.dying-peer", scenario("dying-peer", survives=False)),
        ("scenario.first-time-each-verb", scenario("first-time-each-verb", survives=False)),
        ("scenario.torn-writes", scenario("torn-writes")),
    ]))
