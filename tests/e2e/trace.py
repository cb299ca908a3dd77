#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""`sctpiw run --trace FILE`: the contents of the file, and the plots of utils/trace-plot."""
import collections
import json
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree

import harness
from harness import BUILD, DEVICE, LLP, Failure, free_port, start

SCTPIW = BUILD / "bin/sctpiw"
PLOT = harness.ROOT / "utils/trace-plot"
# Events of each process in a pair of rping.
BOTH_SIDES = {
    "connectivity:connection_started", "connectivity:connection_state_updated", "session:control_sent",
    "session:control_received", "session:established", "session:closed", "rdma:wqe_posted", "rdma:wqe_started",
    "rdma:wqe_completed", "rdma:completion", "cm:event", "generic:debug", "transport:packet_sent",
    "transport:packet_received", "transport:sack_sent", "transport:sack_received", "recovery:metrics_updated",
}
CAUSES = {"time_threshold", "reordering_threshold", "pto_expired", "path_failed", "window_opened", "packet_too_big",
          "setup_resent"}
CARRIED_BY_KERNEL = {name for name in BOTH_SIDES if name.startswith(("transport:", "recovery:"))} | {
    "connectivity:connection_started"}


def rping_both(link, port, count=20, size=3000):
    """Both sides of rping, as a shell command."""
    common = f"-a {link.address} -p {port} -C {count} -S {size}"
    return f"rping -s {common} & sleep 0.5; rping -c {common}; wait"


def in_shell(link, name, command, *options, seconds=30, env=None):
    argv = [SCTPIW, "run", *options, "--", "sh", "-c", command]
    program = start(name, argv, link, rdma=False, env=env or {})
    program.expect(seconds)
    return program.output()


def read(path):
    """Headers and events by process. Each record must be whole, and each process's times must ascend."""
    data = path.read_bytes()
    if not data.startswith(b"\x1e") or not data.endswith(b"\n"):
        raise Failure(f"{path} is no JSON text sequence")
    headers, events = {}, collections.defaultdict(list)
    for text in data.split(b"\x1e")[1:]:
        record = json.loads(text)
        if "qlog_version" in record:
            common = record["trace"]["common_fields"]
            if common["group_id"] in headers or common["time_format"] != "relative":
                raise Failure(f"a second header: {record}")
            headers[common["group_id"]] = record
            continue
        group = record["group_id"]
        if group not in headers:
            raise Failure(f"an event before the header of its process: {record}")
        if events[group] and events[group][-1]["time"] > record["time"]:
            raise Failure(f"{events[group][-1]} stands before {record}")
        events[group].append(record)
    return headers, events


def must_agree(events):
    """Checks that corresponding events agree."""
    by_name = collections.defaultdict(list)
    for event in events:
        by_name[event["name"]].append(event["data"])
    posted = [(d["qp"], d["wr_id"]) for d in by_name["rdma:wqe_posted"]]
    completed = [(d["qp"], d["wr_id"]) for d in by_name["rdma:wqe_completed"]]
    if posted != completed:
        raise Failure(f"{len(posted)} work requests were posted, {len(completed)} completed")
    for data in by_name["transport:packet_sent"]:
        tsns = "first" if "packet_number" in data["header"] else "none"
        if (data["data_chunks"] > 0) != (tsns == "first") or data["data_chunks"] > data["chunks"]:
            raise Failure(f"chunks and TSNs do not agree: {data}")
    for data in by_name["recovery:metrics_updated"]:
        if data["congestion_window"] < 1000 or data["bytes_in_flight"] < 0:
            raise Failure(f"windows: {data}")
    return by_name


def two_processes(link):
    """Both sides write to one file: whole records, all kinds of events, and as many packets received as sent."""
    port, path = free_port(), harness.log_file("both.sqlog")
    path.write_text("what is left from an earlier run")
    in_shell(link, "both", rping_both(link, port), "--trace", path)
    headers, events = read(path)
    if len(headers) != 2:
        raise Failure(f"{len(headers)} headers of two processes")
    sent, received = [], []
    for group, of_process in events.items():
        by_name = must_agree(of_process)
        missing = BOTH_SIDES - set(by_name) - (CARRIED_BY_KERNEL if LLP == "kernel" else set())
        if missing:
            raise Failure(f"{headers[group]['trace']['title']} has no {sorted(missing)}")
        sent.append(sum(d["raw"]["length"] for d in by_name["transport:packet_sent"]))
        received.append(sum(d["raw"]["length"] for d in by_name["transport:packet_received"]))
    # A process that ends does not read packets under way. The first packets belong to no association yet.
    for out, came in zip(sent, reversed(received)):
        if LLP != "kernel" and not 0.95 * out - 2000 <= came <= out + 2000:
            raise Failure(f"{out} bytes were sent, {came} received")
    in_shell(link, "again", "true", "--trace", path)
    if path.stat().st_size:
        raise Failure("the file of the run before is still there")


def many(link):
    """Many processes write at the same time, more than a buffer holds."""
    path, ports = harness.log_file("many.sqlog"), [free_port() for _ in range(3)]
    in_shell(link, "many", " & ".join(f"({rping_both(link, p, 100, 20000)})" for p in ports) + " & wait", "--trace", path,
             seconds=60)
    headers, events = read(path)
    if len(headers) != 6:
        raise Failure(f"{len(headers)} headers of 6 processes")
    for of_process in events.values():
        must_agree(of_process)


def off(link):
    """Without the setting, no file is written, whatever the log level is."""
    port, path = free_port(), harness.log_file("off.sqlog")
    in_shell(link, "off", f"cd {shlex.quote(str(path.parent))}; ls >before; {rping_both(link, port)}; ls >after",
             "--log", "debug")
    before, after = ((path.parent / name).read_text().split() for name in ("before", "after"))
    if set(after) - set(before) - {"after"}:
        raise Failure(f"files were made: {set(after) - set(before)}")


def debug_log(link):
    """The log has lines for events of the trace."""
    port, path = free_port(), harness.log_file("log.sqlog")
    output = in_shell(link, "log", rping_both(link, port), "--trace", path, "--log", "debug")
    for pattern in (r"port \d+, .*: association up", r"id \d+: event 9, status 0", r"QP 0x[0-9a-f]{6}: session on stream \d+$",
                    r"QP 0x[0-9a-f]{6}: .*Accept received on stream", r"port \d+(: association (lost, error \d+|closed)|, .*: aborted)"):
        if not re.search(r"^sctpiw: \[\d+ \d+\.\d{6}\] " + pattern, output, re.MULTILINE):
            raise Failure(f"no line '{pattern}'")
    _, events = read(path)
    if not any(e["name"] == "generic:debug" and "receive buffer" in e["data"]["message"]
               for of_process in events.values() for e in of_process):
        raise Failure("a line of the log is not in the trace")


def plotted(path, *options):
    done = subprocess.run([sys.executable, PLOT, *options, path], capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"trace-plot: {done.stderr.strip()}")
    return done.stdout


def lossy(link):
    """The trace has losses with their causes, then retransmissions, and the plot has all of them."""
    port = free_port()
    paths = {side: harness.log_file(f"{side}.sqlog") for side in ("server", "client")}
    command = ["ib_write_bw", "-R", "-F", "-d", DEVICE, "-p", port, "-s", 65536, "-n", 60]
    server = start("server", command, link, "server", env={"SCTPIW_TRACE": str(paths["server"])})
    server.wait_listening(port)
    start("client", [*command, link.address], link, env={"SCTPIW_TRACE": str(paths["client"])}).expect(60)
    server.expect(20)
    _, events = read(paths["client"])
    by_name = collections.defaultdict(list)
    for event in [e for of_process in events.values() for e in of_process]:
        by_name[event["name"]].append(event["data"])
    causes = collections.Counter(d["trigger"] for d in by_name["recovery:packet_lost"])
    if not causes or set(causes) - CAUSES:
        raise Failure(f"losses: {causes}")
    lost = {d["header"]["packet_number"] for d in by_name["recovery:packet_lost"]}
    resent = [d for d in by_name["transport:packet_sent"] if d.get("retransmissions")]
    first = {d["header"]["packet_number"] for d in resent}
    if not first & lost:
        raise Failure(f"{len(lost)} chunks were lost, and none of the {len(resent)} packets that repeat something begins with one")
    svg = harness.log_file("client.svg")
    output = plotted(paths["client"], "-o", svg)
    if f"{sum(causes.values())} losses" not in output:
        raise Failure(f"trace-plot says {output!r}, there are {causes}")
    texts = [e.text or "" for e in xml.etree.ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]
    if "cwnd" not in texts or not any(t.startswith("lost: ") for t in texts):
        raise Failure(f"the plot says {texts}")


if __name__ == "__main__":
    sys.exit(harness.main([
        ("two-processes", two_processes),
        ("many", many),
        ("off", off),
        ("debug-log", debug_log),
        ("lossy", lossy),
    ]))
