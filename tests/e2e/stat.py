#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""sctpiw stat, sctpiw counters and sctpiw run --summary with stock programs."""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time

import harness
from harness import BUILD, DEVICE, NOBODY, SLOW, Failure, Skip, free_port, need, start

SCTPIW = BUILD / "bin/sctpiw"
PINGS, SIZE = 20, 4000
WORDS = 16  # bytes of each Send of rping
NO_DEVICE = "does not have the device"


def check(condition, what):
    if not condition:
        raise Failure(what)


def runtime_dir(case):
    """A separate runtime directory for the case, with only its own programs."""
    def run(link):
        with tempfile.TemporaryDirectory(prefix="sctpiw-e2e-") as directory:
            os.chmod(directory, 0o755)
            case(link, pathlib.Path(directory))
    return run


def ask(directory, *words, status=0, user=None, command="stat", width=1000, inside=()):
    """Runs a command of sctpiw, with lines of this width, which must end with this status. Returns both outputs."""
    wrap = harness.become(user) if user is not None else []
    done = subprocess.run([*inside, *wrap, SCTPIW, command, *map(str, words)], capture_output=True, text=True, timeout=30 * SLOW,
                          env=dict(os.environ, XDG_RUNTIME_DIR=str(directory), COLUMNS=str(width)))
    check(done.returncode == status, f"{words} ended with {done.returncode}, not {status}: {done.stderr}")
    return done.stdout, done.stderr


def refused(directory, cause, *words, **kwargs):
    out, told = ask(directory, *words, status=1, **kwargs)
    check(not out.strip("[]\n"), f"{words} printed {out}")
    check(told.startswith("sctpiw ") and told.count("\n") == 1 and cause in told, f"{words}: not one line with '{cause}': {told}")


def processes(directory, *words):
    return json.loads(ask(directory, "--json", *words)[0])


def until(what, function, seconds=10):
    """Waits until the function returns a true value. Returns that value."""
    deadline = time.monotonic() + seconds * SLOW
    while not (found := function()):
        check(time.monotonic() < deadline, f"{what} did not come")
        time.sleep(0.02)
    return found


def sockets(directory):
    with contextlib.suppress(FileNotFoundError):
        return sorted(entry.name for entry in (directory / "sctpiw").iterdir())
    return []


def begin(name, argv, link, directory, side="client", **kwargs):
    env = dict(kwargs.pop("env", {}), XDG_RUNTIME_DIR=str(directory))
    return start(name, argv, link, side, env=env, **kwargs)


def rping_server(link, directory, **kwargs):
    port = free_port()
    server = begin("rping-server", ["rping", "-s", "-P", "-S", SIZE, "-a", link.any, "-p", port], link, directory, "server", **kwargs)
    server.wait_listening(port)
    until("its socket", lambda: sockets(directory))
    return server, port


def ping(link, directory, port, **kwargs):
    client = begin("rping-client", ["rping", "-c", "-V", "-C", PINGS, "-S", SIZE, "-a", link.address, "-p", port],
                   link, directory, **kwargs)
    client.expect(20)
    return client


def bandwidth(link, directory, *options):
    """ib_write_bw, longer than the test."""
    need("ib_write_bw")
    port = free_port()
    common = ["ib_write_bw", "-R", "-F", "-d", DEVICE, "-p", port, "-D", "60", *options]
    server = begin("server", common, link, directory, "server")
    server.wait_listening(port)
    client = begin("client", [*common, link.address], link, directory)
    until("traffic", lambda: client.pid in {p["pid"] for p in processes(directory) if p["sent_bytes"] > 1 << 20})
    return server, client


# ------------------------------------------------------------------ numbers

def numbers(link, directory):
    """rping's counts are as documented: for each ping a Read, a Write, and four Sends."""
    server, port = rping_server(link, directory)
    ping(link, directory, port)
    # rping's client ends after the last "go ahead", possibly without an acknowledgement.
    done = PINGS * (SIZE + 2 * WORDS)
    p = until("all of it", lambda: [p for p in processes(directory, server.pid) if p["sent_bytes"] == done])[0]
    check(p["pid"] == server.pid and p["command"] == "rping", f"another process: {p}")
    check(p["received_bytes"] == done, f"received {p['received_bytes']} bytes and not {done}")
    # The server's: Read Request, Write, two Sends; the client's: Read Response, two Sends.
    check(p["sent_messages"] == 4 * PINGS, f"sent {p['sent_messages']} messages")
    check(p["received_messages"] == 3 * PINGS, f"received {p['received_messages']} messages")
    check(p["errors"] == 0 and p.get("bad_packets", 0) == 0, f"errors: {p}")
    counters = json.loads(ask(directory, "--json", server.pid, command="counters")[0])[0]
    check(counters["pid"] == server.pid, "another process's counters")
    for name, count in ("iwOutRdmaReads", PINGS), ("iwOutRdmaWrites", PINGS), ("iwOutRdmaSends", 2 * PINGS), ("sessions", 1):
        check(counters["counters"][name] == count, f"{name} is {counters['counters'][name]} and not {count}")
    text = ask(directory, server.pid, command="counters")[0]
    check(f"process {server.pid} rping:\n" in text and f"     iwOutRdmaReads: {PINGS}\n" in text, f"counters: {text}")
    check(server.running(), "the server is gone")


def busy_path(link, directory):
    """A busy path has its own socket, unless the process has a low limit of descriptors, which it needs itself."""
    port = free_port()
    server = begin("rping-server", ["rping", "-s", "-P", "-a", link.any, "-p", port], link, directory, "server")
    server.wait_listening(port)
    few = ["sh", "-c", 'ulimit -n 60; exec "$@"', "sh"]
    rping = ["rping", "-c", "-C", 2000000, "-a", link.address, "-p", port]
    first = begin("rping-client", rping, link, directory)

    def counts(program):
        told = json.loads(ask(directory, "--json", command="counters")[0])
        return next((p["counters"] for p in told if p["pid"] == program.pid), {"path_sends": 0, "sent_pkts": 0})

    until("packets on that socket", lambda: counts(first)["path_sends"] > 1000)
    # Only now: rping's server keeps one id for its next thread. Of two requests at once, it would serve the second
    # twice.
    second = begin("rping-client", [*few, *rping], link, directory)
    until("packets of the other client", lambda: counts(second)["sent_pkts"] > 1000)
    until("packets to both", lambda: counts(server)["path_sockets"] == 2)
    check(counts(first)["path_sockets"] == 1, "not one socket")
    check(counts(second)["path_sockets"] == counts(second)["path_sends"] == 0, "sockets of a process with few descriptors")
    for program in first, second, server:
        check(program.running(), f"{program.name} has ended")


def keys(link, directory):
    """The key of an association's peer, or the absence of a key."""
    key = harness.log_file("key")
    key.write_text("lab " + "0f" * 32 + "\n")
    key.chmod(0o600)
    port = free_port()
    server = begin("rping-server", ["rping", "-s", "-P", "-a", link.any, "-p", port], link, directory, "server",
                   options=["--key", key, "--key-optional"])
    server.wait_listening(port)
    rping = ["rping", "-c", "-C", 2000000, "-a", link.address, "-p", port]
    for options, sealed in (["--key", key], True), ([], False):
        client = begin("rping-client", rping, link, directory, options=options)

        def associations(program):
            return [a for p in processes(directory) if p["pid"] == program.pid for a in p["association"] if a.get("sessions")]

        until("an association", lambda: associations(client))
        a = associations(client)[0]
        check((a["sealed"], a.get("peer_key")) == (sealed, "lab" if sealed else None), f"the client says {a}")
        until(f"the same of the server, sealed: {sealed}", lambda: [
            a for a in associations(server) if (a["sealed"], a.get("peer_key")) == (sealed, "lab" if sealed else None)])
        client.kill()
    check(any("lab" in row for titles, rows in columns(ask(directory)[0]) if "KEY" in titles for row in rows), "no table has the key")


def columns(text):
    """The tables as a list of (titles, rows). Their columns must line up."""
    tables = []
    for block in text.split("\n\n"):
        lines = block.splitlines()
        starts = [m.span() for m in re.finditer(r"\S+", lines[0])]
        for line in lines[1:]:
            fields = [m.span() for m in re.finditer(r"\S+(?: \S+)*", line)]
            check(len(fields) == len(starts), f"{len(fields)} fields below {len(starts)} titles: {line}")
            for title, field in zip(starts, fields):
                check(title[0] == field[0] or title[1] == field[1], f"does not line up:\n{lines[0]}\n{line}")
        tables.append((lines[0].split(), [re.split(r"  +", line.strip()) for line in lines[1:]]))
    return tables


def tables(link, directory):
    """Both ends of a connection, as tables and as JSON; outstanding work requests."""
    server, client = bandwidth(link, directory, "-q", "3")
    text, _ = ask(directory)
    found = columns(text)
    check([titles[:4] for titles, _ in found] == [["PID", "COMMAND", "LLP", "QPS"], ["PID", "QP", "TYPE", "STATE"],
                                                  ["PID", "PORT", "PEER", "KEY"], ["PID", "PORT", "TO", "FROM"],
                                                  ["PID", "CQ-ENTRIES", "WAITING", "QUEUES"],
                                                  ["PID", "MR-KEY", "TYPE", "LENGTH"]], f"tables: {found}")
    folded = ask(directory, width=80)[0]
    check(max(map(len, folded.splitlines())) <= 80, f"wider than 80:\n{folded}")
    parts = columns(folded)
    check({title for titles, _ in parts for title in titles} == {title for titles, _ in found for title in titles}, f"titles: {folded}")
    pids = {str(server.pid), str(client.pid)}
    for titles, rows in found + parts:
        check({row[0] for row in rows} == pids, f"of {titles[1]}: processes {rows}")
    both = {p["pid"]: p for p in processes(directory)}
    check(set(both) == {server.pid, client.pid}, f"processes {set(both)}")
    peer = f"{link.address}:"
    for p in both.values():
        check(len(p["qp"]) == p["qps"] >= 3 and all(q["state"] == "RTS" and q["peer"].startswith(peer) for q in p["qp"]), f"QPs {p['qp']}")
        check(len(p["association"]) == p["associations"] == 1, f"associations {p['association']}")
        a = p["association"][0]
        check(a["state"] == "ESTABLISHED" and a["sessions"] == p["qps"] and a["cwnd"] > 1000 and a["mtu"] > 1000, f"association {a}")
        check(a["sealed"] is False and "peer_key" not in a, f"a key, where there is none: {a}")
        check(len(p["cq"]) == p["cqs"] and len(p["mr"]) == p["mrs"], f"CQs and MRs {p}")
    sent = sum(q["sent_bytes"] for q in both[client.pid]["qp"])
    check(sent > 1 << 20, f"sent {sent}")
    # The kernel reports the round trip in milliseconds.
    check(harness.LLP == "kernel" or both[client.pid]["association"][0]["rtt_ns"] > 0, "no round trip was measured")
    # A stopped server does not answer: its client's work requests stay outstanding.
    server.signal(signal.SIGSTOP)
    until("that all of its threads stand still", lambda: all(
        task.joinpath("stat").read_text().rpartition(")")[2].split()[0] == "T"
        for task in pathlib.Path(f"/proc/{server.pid}/task").iterdir()))
    until("work requests that wait", lambda: all(
        q["send_wrs"] > 0 for q in processes(directory, client.pid)[0]["qp"] if q["sent_bytes"] > 1 << 20))
    refused(directory, "does not answer", server.pid)
    server.signal(signal.SIGCONT)
    until("an answer", lambda: processes(directory, server.pid))


def screens_of(pid, env):
    """Returns the first three screens of --watch on a terminal of 80 columns. The first has no rates yet."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    env = {name: value for name, value in env.items() if name != "COLUMNS"}
    with subprocess.Popen([SCTPIW, "stat", "--watch=0.2", str(pid)], stdout=theirs, env=env) as rates:
        os.close(theirs)
        text = ""
        while text.count("\033[H\033[J") < 4:
            text += os.read(ours, 65536).decode()
        rates.terminate()
    os.close(ours)
    return text.split("\033[H\033[J")[1:4]


def watch(link, directory):
    """Prints rates until the process has gone, also as JSON."""
    _, client = bandwidth(link, directory)
    env = dict(os.environ, XDG_RUNTIME_DIR=str(directory), COLUMNS="1000")
    screens = screens_of(client.pid, env)
    check(len(screens) == 3, f"not redrawn: {screens}")
    for screen in screens[1:]:
        check(max(map(len, screen.splitlines())) <= 80 and screen.count("PID") == 2 and screen.count(str(client.pid)) == 2, f"a screen: {screen}")
    with subprocess.Popen([SCTPIW, "stat", "--watch=0.2", str(client.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env=env) as rates:
        titles, first, blank, again, second, _ = (rates.stdout.readline().split() for _ in range(6))
        client.kill()
        _, told = rates.communicate(timeout=30 * SLOW)
    check(rates.returncode == 0 and not told, f"status {rates.returncode}: {told}")
    check(titles[:4] == ["PID", "COMMAND", "SENT-MSGS/S", "SENT-MB/S"] and titles == again and not blank, f"titles {titles}, {again}")
    for row in first, second:
        check(len(row) == len(titles) and row[0] == str(client.pid) and float(row[2]) > 0 and float(row[3]) > 0, f"rates {row}")
    with subprocess.Popen([SCTPIW, "stat", "--watch=0.1", "--json"], stdout=subprocess.PIPE, text=True, env=env) as totals:
        arrays = [json.loads(totals.stdout.readline()) for _ in range(3)]
        totals.terminate()
    check(all(len(a) == 1 for a in arrays), f"arrays {arrays}")
    check(arrays[0][0]["time_ns"] < arrays[1][0]["time_ns"] < arrays[2][0]["time_ns"], "no time passes")


# ------------------------------------------------------------------ present and absent processes

def stale(link, directory):
    """A process removes its socket at its end. A killed process leaves its socket, and the next reader removes it."""
    server, port = rping_server(link, directory)
    check(sockets(directory) == [str(server.pid)], f"sockets {sockets(directory)}")
    ping(link, directory, port)
    check(sockets(directory) == [str(server.pid)], f"the client has left {sockets(directory)}")
    server.kill()
    check(sockets(directory) == [str(server.pid)], "SIGKILL has removed a socket")
    # The PID may belong to another process by now.
    server_name = directory / "sctpiw" / str(os.getpid())
    (directory / "sctpiw" / str(server.pid)).rename(server_name)
    refused(directory, NO_DEVICE, os.getpid())
    check(not sockets(directory), f"left behind: {sockets(directory)}")
    for name in str(server.pid), f"{server.pid}.new":
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(str(directory / "sctpiw" / name))
    refused(directory, "no process of yours has the device")
    check(not sockets(directory), f"left behind: {sockets(directory)}")


def absent(link, directory):
    """Processes without an answer: one line, and the documented status."""
    refused(directory, "no process of yours has the device")
    refused(directory, "no process of yours has the device", "--json")
    refused(directory, "no process of yours has the device", command="counters")
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        refused(directory, NO_DEVICE, sleeper.pid)
        refused(directory, NO_DEVICE, sleeper.pid, command="counters")
        sleeper.kill()
    refused(directory, f"there is no process {sleeper.pid}", sleeper.pid)
    refused(directory, f"there is no process {sleeper.pid}", sleeper.pid, "--watch")
    # The process has the launcher's environment, but has not opened the device.
    program = begin("sleep", ["sleep", "60"], link, directory)
    refused(directory, NO_DEVICE, program.pid)


def speak(path, user=None):
    """The answer at a socket to this user, who may lack permission."""
    script = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(sys.argv[1]); " \
             "s.sendall(b'1 json stat\\n'); print(s.makefile().read())"
    wrap = harness.become(user) if user is not None else []
    return subprocess.run([*wrap, sys.executable, "-c", script, path], capture_output=True, text=True, timeout=60)


def other_users(link, directory):
    if os.geteuid():
        raise Skip("needs root to be two users")
    need("setpriv")
    os.chown(directory, 0, 0)
    server, _ = rping_server(link, directory)
    refused(directory, "another user's", server.pid, user=NOBODY)
    refused(directory, "no process of yours has the device", user=NOBODY)
    # Even if the file system admits another user, the process itself refuses.
    path = directory / "sctpiw" / str(server.pid)
    check(path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700, "modes")
    path.parent.chmod(0o755)
    path.chmod(0o666)
    check("process" in speak(path).stdout, "it does not answer")
    stranger = speak(path, NOBODY)
    check("process" not in stranger.stdout, f"it tells another user: {stranger.stdout}")
    check(processes(directory, server.pid)[0]["pid"] == server.pid, "it does not answer any more")
    server.kill()
    # root requests the data of another user's process. The directory belongs to that user.
    os.chown(directory, NOBODY, NOBODY)
    (directory / "sctpiw" / str(server.pid)).unlink()
    (directory / "sctpiw").rmdir()
    server, _ = rping_server(link, directory, user=NOBODY)
    check(processes(directory, server.pid)[0]["pid"] == server.pid, "root is not answered")
    refused(directory, "no process of yours has the device")
    check(f"{server.pid}" in ask(directory, user=NOBODY)[0], "its user is not answered")


# A hostile process of another user, which answers at its own socket. ARGV is the directory, then an answer for each
# request.
HOSTILE = """
import ast, os, signal, socket, sys, time
os.mkdir(sys.argv[1] + "/sctpiw", 0o700)
with socket.socket(socket.AF_UNIX) as s:
    s.bind(f"{sys.argv[1]}/sctpiw/{os.getpid()}")
    s.listen()
    print("ready", flush=True)
    for word in sys.argv[2:]:
        c = s.accept()[0]
        c.recv(1024)
        data, pause = ast.literal_eval(word.replace("PID", str(os.getpid())))
        try:
            c.sendall(data)
            while pause is not None:
                time.sleep(pause)
                c.sendall(data)
        except OSError:
            pass
        c.close()
signal.pause()
"""
NONSENSE = "sends an answer that is not the device's"
END = b'{"end":{}}\n'
HOSTILE_ANSWERS = [  # options of sctpiw stat, the answer, the pause before a repetition, and the message
    ([], b"process\tpid\tPID\tcommand\t\x1b[2J\nend\n", None, NONSENSE),
    ([], b"process\tpid\tPID\tcommand\t\xc2\x9b2J\nend\n", None, NONSENSE),
    ([], b"process\tpid\t1\tcommand\tinit\nend\n", None, NONSENSE),
    ([], b"mr\tkey\t1\n" * 10000, 0, NONSENSE),
    ([], b"x" * 4096, 0, NONSENSE),
    ([], b"mr\tkey\t1\n", 0.2, "does not answer"),
    (["--json"], b'{"process":{"pid":1,"command":"init"}}\n' + END, None, NONSENSE),
    (["--json"], b'{"process":{"pid":PID,"command":"a","pid":1}}\n' + END, None, NONSENSE),
    (["--json"], b'..process":{"pid":1,"command":"init"}}\n' + END, None, NONSENSE),
    (["--json"], b'{"process":{"pid":PID,"qps":1}]},{"x":{"y":1}}\n' + END, None, NONSENSE),
    (["--json"], b'{"process":{"pid":PID,"command":"\\u001b[2J"}}\n' + END, None, NONSENSE),
    (["--json"], b'{"process":{"pid":PID,"command":"\x1b"}}\n' + END, None, NONSENSE),
]


def hostile_answers(link, directory):
    """Answers of another user's process to root are quick, and harm neither the terminal, nor readers of JSON, nor
    memory."""
    if os.geteuid():
        raise Skip("needs root to be two users")
    need("setpriv")
    os.chown(directory, NOBODY, NOBODY)
    answers = [repr((data, pause)) for _, data, pause, _ in HOSTILE_ANSWERS]
    answers.append(repr((b'{"process":{"pid":PID,"command":"a \\"\\\\ b","qps":1}}\n' + END, None)))
    with subprocess.Popen(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--", sys.executable, "-c", HOSTILE,
                           str(directory), *answers], stdout=subprocess.PIPE, text=True) as hostile, contextlib.ExitStack() as end:
        end.callback(hostile.kill)
        check(hostile.stdout.readline() == "ready\n", "no answers")
        for options, _, _, cause in HOSTILE_ANSWERS:
            refused(directory, cause, hostile.pid, *options)
        p = processes(directory, hostile.pid)
        check([q["command"] for q in p] == ['a "\\ b'] and p[0]["pid"] == hostile.pid, f"a sound answer is read as {p}")
        # The user could put a link there before root removes stale sockets.
        name = directory / "sctpiw" / str(hostile.pid)
        name.unlink()
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(str(name))
        refused(directory, NO_DEVICE, hostile.pid)
        check(name.exists(), "root removes another user's file")


def directories(link, directory):
    """A directory that others can change is used neither by the process nor by its reader."""
    (directory / "elsewhere").mkdir()
    (directory / "sctpiw").symlink_to("elsewhere")
    server = begin("rping-server", ["rping", "-s", "-P", "-a", link.any, "-p", free_port()], link, directory, "server",
                   options=["--log", "debug"])
    server.wait_for_output(f"no control socket in {directory}/sctpiw: Operation not permitted")
    check(not list((directory / "elsewhere").iterdir()), "a socket behind a link")
    server.kill()
    (directory / "sctpiw").unlink()
    (directory / "sctpiw").mkdir()
    (directory / "sctpiw").chmod(0o777)
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(directory / "sctpiw" / str(os.getpid())))
        s.listen()
        refused(directory, "no process of yours has the device")
        refused(directory, NO_DEVICE, os.getpid())


def read_only(link, directory):
    """With a read-only root, the socket is in /dev/shm. Without /dev/shm, there is no socket, and everything else
    works."""
    if os.geteuid():
        raise Skip("needs root to make directories read-only for a program")
    need("unshare", "mount", "nsenter")
    hide = f"mount -t tmpfs -o ro,mode=700 none /tmp/sctpiw-{os.geteuid()} && mount -t tmpfs -o ro none /run"
    rping = ["rping", "-V", "-C", 2000000, "-a"]
    for shm, has_socket in ("rw", True), ("ro", False):
        port = free_port()
        run = ["unshare", "--mount", "sh", "-c", f'{hide} && mount -t tmpfs -o {shm} none /dev/shm && exec "$@"', "-"]
        server = start("rping-server", [*run, *rping, link.any, "-s", "-P", "-p", port], link, "server", options=["--log", "debug"],
                       env={"XDG_RUNTIME_DIR": "/nowhere"})
        server.wait_listening(port)
        inside = ["nsenter", f"--mount=/proc/{server.pid}/ns/mnt"]
        client = start("rping-client", [*inside, *rping, link.address, "-c", "-p", port], link, env={"XDG_RUNTIME_DIR": "/nowhere"})
        server.wait_for_output("association up")
        for name in "/nowhere/sctpiw: No such file", f"/tmp/sctpiw-{os.geteuid()}: Read-only file system":
            check(f"no control socket in {name}" in server.output(), f"it does not say {name}")
        check("sctpiw" not in client.output(), f"it complains: {client.output()[-200:]}")
        if has_socket:
            until("all processes", lambda: {p["pid"] for p in json.loads(ask("/nowhere", "--json", inside=inside)[0])} == {
                server.pid, client.pid})
            refused(directory, "other files than this process, as in a container", server.pid)
        else:
            for words in [], [server.pid]:
                refused("/nowhere", "has no place for its control socket", *words, inside=inside)
        client.kill()
        server.kill()


# ------------------------------------------------------------------ summary

def datagrams(link, directory):
    """Both ends of a UD test, without a connection."""
    common = ["ib_send_bw", "-c", "UD", "-F", "-d", DEVICE, "-x", 0, "-p", port := free_port(), "-n", 1000, "-s", 1000]
    server = begin("server", common, link, directory, "server", options=["--summary"])
    server.wait_listening_tcp(port)
    client = begin("client", [*common, link.address], link, directory, options=["--summary"])
    for program in client, server:
        program.expect(20)
    return client, server


# Closes all inherited descriptors. Opens files with these numbers before it opens a device, and keeps them until its
# end.
CLOSER = """
import os, sys
os.closerange(3, 300)
files = [os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY) for i in range(200)]
os.open(sys.argv[2], os.O_RDONLY)
assert {os.fstat(file).st_ino for file in files} == {os.stat(sys.argv[1]).st_ino}
"""


def summary(link, directory):
    """At exit, each process prints its sent and received bytes, and both sides agree."""
    need("ib_write_bw")
    port = free_port()
    common = ["ib_write_bw", "-R", "-F", "-d", DEVICE, "-p", port, "-n", 1000, "-s", 65536]
    server = begin("server", common, link, directory, "server", options=["--summary"])
    server.wait_listening(port)
    client = begin("client", [*common, link.address], link, directory, env={"SCTPIW_SUMMARY": "1"})
    plain = begin("ls", ["ls", "/"], link, directory, options=["--summary"])
    file = directory / "file"
    closers = [begin("closer", ["python3", "-c", CLOSER, file, way], link, directory, options=["--summary"]) for way in ("/", "/dev/infiniband/uverbs0")]
    used = begin("sh", ["sh", "-c", f"{SCTPIW} run -- ibv_devinfo && exit 3"], link, directory, options=["--faults", "reg_mr: fail with EIO"])
    used.expect(20, 3)
    check("ended" not in used.output(), f"a device that was opened was not: {used.output()}")
    for program in client, server, plain, *closers:
        program.expect(20)
    check(file.read_text() == "", f"a file of programs has {file.read_text()}")
    check(not list(directory.glob("sctpiw/*.unused")), "files are left behind")
    pattern = r"sctpiw: ib_write_bw\[(\d+)\]: sent (\d+) messages, ([^;]+); received (\d+) messages, ([^;]+); " \
              r"connected for (\d+\.\d+) s: \S+ \S*B/s out, \S+ \S*B/s in; lost \d+, resent \d+ chunks; \d+ errors\n"
    for program in datagrams(link, directory):
        rates = re.search(r"sent \d+ messages, (.*) B; .*: (.*)B/s out, (.*)B/s in;", program.output()[-500:].replace("kB", "B").replace("MB", "B"))
        check(rates and not (rates[2] == rates[3] == "0 "), f"no rate of {program.name}: {program.output()}")
    lines = {}
    for program in client, server:
        found = re.findall(pattern, program.output())
        check(len(found) == 1 and found[0][0] == str(program.pid), f"not one line of {program.name}: {program.output()}")
        lines[program] = found[0]
    check(re.findall("sctpiw: (.*?),", plain.output()) == ["ls ended"], f"what a program without the device says: {plain.output()}")
    check(int(lines[client][1]) >= 1000 and lines[client][2] == "65.5 MB", f"sent {lines[client]}")
    check(lines[server][1:3] == lines[client][3:5] and lines[client][1:3] == lines[server][3:5], f"they do not agree: {lines.values()}")
    check(float(lines[client][5]) > 0, "no time has passed")


def hide_other_tests():
    """Continues in a mount namespace whose socket directories are empty, without the programs of other tests."""
    inside = "SCTPIW_E2E_MOUNTS"
    if inside not in os.environ:
        os.environ[inside] = "1"
        harness.unshare("--mount")
    pathlib.Path("/run/user").mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", "/run/user"], check=True)
    for user in 0, NOBODY:
        place = pathlib.Path(f"/tmp/sctpiw-{user}")
        if not place.exists():
            place.mkdir(mode=0o700)
            os.chown(place, user, user)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=700,uid={user},gid={user}", "none", place], check=True)


if __name__ == "__main__":
    if not os.geteuid():  # an ordinary user's other programs disturb only if tests run in parallel
        hide_other_tests()
    sys.exit(harness.main([(name.replace("_", "-"), runtime_dir(case)) for name, case in (
        ("numbers", numbers),
        ("busy_path", busy_path),
        ("tables", tables),
        ("keys", keys),
        ("watch", watch),
        ("stale", stale),
        ("absent", absent),
        ("other_users", other_users),
        ("hostile_answers", hostile_answers),
        ("directories", directories),
        ("read_only", read_only),
        ("summary", summary),
    )]))
