#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests the report of "sctpiw doctor" on this host and on programs. Each cause is provoked for real.

    doctor.py SCTPIW WRONG_PROVIDER [CASE...]

tests/e2e/doctor.py tests the report on the path to another host.
"""
import contextlib
import ctypes
import json
import os
import pathlib
import platform
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import sctp_packets as sctp  # noqa: E402

SCTPIW, WRONG = sys.argv[1:3]
CC = os.environ.get("CC", "cc")
NOBODY = 65534
ALWAYS = ["settings", "keys", "variables", "installation", "libibverbs", "librdmacm", "system calls", "open files", "file size",
          "locked memory", "shared memory", "processors", "clock", "receive buffer", "send buffer", "offload",
          "interfaces", "device"]
CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
libc = ctypes.CDLL(None, use_errno=True)
tmp = None


class Cannot(Exception):
    """The case cannot be tested on this machine."""


def run(*arguments, env=None, before=None, wrap=(), timeout=60):
    settings = {name: value for name, value in os.environ.items() if not name.startswith("SCTPIW_")}
    settings.update({"SCTPIW_CONFIG": "/dev/null"}, **(env or {}))
    return subprocess.run([*wrap, SCTPIW, "doctor", *map(str, arguments)], env=settings, preexec_fn=before,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)


def doctor(*arguments, **how):
    """Returns the lines of a report, after a check of its exit status."""
    done = run("--json", *arguments, **how)
    assert not done.stderr, done.stderr
    lines = json.loads(done.stdout)
    for line in lines:
        assert {"check", "status", "text"} <= line.keys() and line["status"] in ("ok", "warning", "failure"), line
    failures = [line for line in lines if line["status"] == "failure"]
    assert done.returncode == bool(failures), (done.returncode, failures)
    return lines


def expect(lines, check, status, *words):
    """Returns the line of this check with this status and these words in its text or remedy; fails without such a
    line."""
    mine = [line for line in lines if line["check"] == check]
    for line in mine:
        text = line["text"] + " " + line.get("remedy", "")
        if line["status"] == status and all(str(word) in text for word in words):
            return line
    raise AssertionError(f"{check}: no {status} with {words} in {mine}")


def failures_but(lines, *checks):
    return [line for line in lines if line["status"] == "failure" and line["check"] not in checks]


def reach(wrap):
    """Raises Cannot if another user cannot reach the program. setpriv has root's capabilities when it starts a
    program, so it would start even this one."""
    if subprocess.run([*wrap, "test", "-x", SCTPIW], capture_output=True).returncode:
        raise Cannot("another user cannot come to this build")


def compile_program(name, *options, text="int main(void) { return 0; }"):
    source = tmp / f"{name}.c"
    source.write_text(text)
    done = subprocess.run([CC, "-o", tmp / name, source, *options], capture_output=True, text=True)
    if done.returncode:
        raise Cannot(f"{CC} {' '.join(map(str, options))}: {done.stderr.strip()}")
    return tmp / name


def in_mounts(script, *arguments, **how):
    """Returns a report from a mount namespace that the shell script has prepared."""
    wrap = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]),
            "sh", "-ec", script + '\nexec "$@"', "-"]
    if subprocess.run([*wrap, "true"], capture_output=True).returncode:
        raise Cannot("no mount namespace can be made, or prepared so: " + script)
    return doctor(*arguments, wrap=wrap, **how)


def in_network(*arguments, script=""):
    wrap = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-ec",
            script + '\nexec "$@"', "-"]
    if subprocess.run([*wrap, "true"], capture_output=True).returncode:
        raise Cannot("no network namespace can be made")
    return doctor(*arguments, wrap=wrap)


# ------------------------------------------------------------------ system calls that are refused
# ------------------------------------------------------------------ refused system calls

ALLOW, ERRNO, KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
NUMBERS = {"x86_64": {"sendmmsg": 307, "recvmmsg": 299, "setsockopt": 54, "clone3": 435, "socket": 41},
           "aarch64": {"sendmmsg": 269, "recvmmsg": 243, "setsockopt": 208, "clone3": 435, "socket": 198}}


def refuse(name, action, argument=None):
    """Returns a function that makes the kernel answer this system call with `action`. argument: (index, value) of the
    calls that are refused; None: all."""
    if platform.machine() not in NUMBERS:
        raise Cannot("the numbers of system calls are not known here")
    load, jump_if_equal, answer = 0x20, 0x15, 0x06
    tests = [(0, NUMBERS[platform.machine()][name])]
    if argument:
        tests.append((16 + 8 * argument[0], argument[1]))
    code = []
    for i, (offset, value) in enumerate(tests):
        code += [(load, 0, 0, offset), (jump_if_equal, 0, 2 * (len(tests) - i) - 1, value)]
    code += [(answer, 0, 0, action), (answer, 0, 0, ALLOW)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    program = Program(len(code), ctypes.addressof(text))

    def before():
        no_new_privileges, set_seccomp, with_filter = 38, 22, 2
        if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.prctl(set_seccomp, with_filter, ctypes.byref(program)):
            os._exit(99)
    before.keep = text
    return before


def refused():
    lines = doctor(before=refuse("recvmmsg", ERRNO | 1))
    assert "sendmmsg" not in expect(lines, "system calls", "failure", "recvmmsg", "seccomp")["text"]


def deadly():
    """doctor finds a call that ends the process, and still tries the calls after it."""
    expect(doctor(before=refuse("recvmmsg", KILL_PROCESS)), "system calls", "failure", "recvmmsg")


def refused_threads():
    expect(doctor(before=refuse("clone3", ERRNO | 1)), "system calls", "failure", "clone3")
    expect(doctor(before=refuse("clone3", ERRNO | 38)), "system calls", "ok")


def no_offload():
    no_protocol_option, udp_segment = 92, 103
    lines = doctor(before=refuse("setsockopt", ERRNO | no_protocol_option, (2, udp_segment)))
    assert "UDP_GRO" not in expect(lines, "offload", "warning", "no UDP_SEGMENT", "seccomp")["text"]


# ------------------------------------------------------------------ what is installed, and set
# ------------------------------------------------------------------ installation and settings

def all_is_well():
    lines = doctor()
    assert not failures_but(lines), failures_but(lines)
    for name in ALWAYS:
        assert name in [line["check"] for line in lines], f"{name} is not looked at"
    assert not failures_but(doctor("--log", "debug")), "what the device logs is a failure"
    for name in ("variables", "installation", "libibverbs", "librdmacm", "system calls", "locked memory", "offload"):
        expect(lines, name, "ok")
    listed = json.loads(subprocess.run([SCTPIW, "list", "--json"], capture_output=True, check=True).stdout)
    for gid in listed[0]["ports"][0]["gids"]:
        expect(lines, "device", "ok", f"GID {gid['index']} is {gid['gid']}, of {gid['netdev']}")
    short, long = ([line["text"] for line in said if line["check"] == "settings"] for said in (lines, doctor("--verbose")))
    assert short == [f"{len(long)} have their defaults: --verbose lists them"], short
    assert len(long) > 20 and all(text.endswith("the default") for text in long), long


def lines_for_people():
    """Failures come last, with a count, in lines of 80 letters or COLUMNS. The listener's lines are printed at once."""
    done = run("--", "/nowhere/program", env={"SCTPIW_FOO": "1"})
    said = done.stdout.splitlines()
    words = [line[:8].strip() for line in said if line[:1].strip()]
    assert done.returncode == 1 and words == sorted(words, key=["ok", "warning", "FAILURE", words[-1]].index), done.stdout
    assert max(map(len, said)) <= 80 and said[-1].startswith("1 failure, ") and "warning" in words, done.stdout
    wide = run("--", "/nowhere/program", env={"SCTPIW_FOO": "1", "COLUMNS": "1000"}).stdout
    assert "\nFAILURE  program        /nowhere/program: No such file or directory: name a program" in wide, wide
    assert done.stdout.split() == wide.split(), done.stdout


def settings():
    file = tmp / "conf"
    file.write_text("# a comment\nsilent-limit = 5\nlog = info\n")
    lines = doctor("--llp", "ip", "--encap-port=none", env={"SCTPIW_CONFIG": str(file), "SCTPIW_LOG": "debug"})
    expect(lines, "settings", "ok", "llp = ip, of --llp")
    expect(lines, "settings", "ok", f"silent-limit = 5, of {file}:2")
    expect(lines, "settings", "ok", "log = debug, of SCTPIW_LOG")
    expect(lines, "settings", "ok", "have their defaults")
    expect(doctor("--verbose"), "settings", "ok", "share = yes, the default")
    expect(doctor("--paths", "lo,eth99"), "interfaces", "warning", "paths names eth99, which is not there")


def wrong_settings():
    lines = doctor(env={"SCTPIW_LLP": "tcp"})
    expect(lines, "settings", "failure", "SCTPIW_LLP: llp = tcp is not understood")
    expect(lines, "device", "failure", "llp = tcp")
    expect(doctor(env={"SCTPIW_CONFIG": "/nowhere/f"}), "settings", "failure", "/nowhere/f: No such file")
    expect(doctor("--encap-port", "none"), "settings", "failure", "--encap-port: encap-port does not go with llp = udp")


def keys():
    """The report names the keys in force. It prints no part of a key."""
    expect(doctor(), "keys", "ok", "there is none")
    file, first, second = tmp / "keys", "0f" * 32, "1e" * 32
    file.write_text(f"lab {first}\nold {second}\n")
    file.chmod(0o600)
    done = run("--json", "--key", file, env={"SSLKEYLOGFILE": "/nowhere/secrets"})
    lines = json.loads(done.stdout)
    expect(lines, "keys", "ok", "connects with lab, and accepts lab old", str(file))
    expect(lines, "keys", "warning", "/nowhere/secrets")
    assert first[:8] not in done.stdout and second[:8] not in done.stdout, "a key is printed"
    assert len([line for line in lines if line["check"] == "keys"]) == 2, lines
    expect(doctor("--key", file, "--key-optional"), "keys", "warning", "served in the clear", "take key-optional away")
    file.chmod(0o640)
    expect(doctor("--key", file), "settings", "failure", "chmod 600")
    expect(doctor("--key", tmp / "none"), "settings", "failure", "No such file")


def certificates():
    """The report has this host's certificate, and the accepted peers, instead of a warning of unencrypted packets."""
    for name in "CERTIFICATE", "PRIVATE KEY":
        file = tmp / name.replace(" ", "-")
        file.write_text(f"-----BEGIN {name}-----\n-----END {name}-----\n")
        file.chmod(0o600)
    options = ["--cert", tmp / "CERTIFICATE", "--cert-key", tmp / "PRIVATE-KEY", "--ca", tmp / "CERTIFICATE"]
    lines = doctor(*options)
    expect(lines, "keys", "ok", f"shows the certificate of {tmp / 'CERTIFICATE'}", "authorities in")
    assert len([line for line in lines if line["check"] == "keys"]) == 1, lines


def unknown_variables():
    expect(doctor(env={"SCTPIW_LPP": "ip"}), "variables", "warning", "SCTPIW_LPP", "the nearest is SCTPIW_LLP")


def parts_missing():
    lines = doctor("--provider", "/nowhere/x-rdmav34.so")
    expect(lines, "installation", "failure", "/nowhere/x-rdmav34.so: No such file")
    assert not [line for line in lines if line["check"] == "device"]
    (tmp / "bin").mkdir()
    alone = shutil.copy(SCTPIW, tmp / "bin/sctpiw")
    done = subprocess.run([alone, "doctor"], capture_output=True, text=True)
    assert done.returncode == 1 and "libsctpiw-preload.so is not where this program" in done.stdout, done


def other_libibverbs():
    directory = tmp / "other"
    directory.mkdir()
    version = tmp / "version"
    version.write_text("IBVERBS_PRIVATE_99 { global: *; };\n")
    compile_program("other/libibverbs.so.1", "-shared", "-fPIC", f"-Wl,--version-script={version}",
                    "-Wl,-soname,libibverbs.so.1", text="int ibv_nothing;")
    lines = doctor(env={"LD_LIBRARY_PATH": str(directory)})
    expect(lines, "libibverbs", "failure", directory, "private ABI is 99", "has 34, 57, 59, 64, 65")
    (directory / "libibverbs.so.1").write_text("this is no library")
    expect(doctor(env={"LD_LIBRARY_PATH": str(directory)}), "libibverbs", "failure", directory, "install it")
    (directory / "librdmacm.so.1").write_text("nor is this")
    expect(doctor(env={"LD_LIBRARY_PATH": str(directory)}), "librdmacm", "warning", "apt install librdmacm1")


def wrong_provider():
    expect(doctor("--provider", WRONG), "device", "failure", "interface version")


# ------------------------------------------------------------------ programs

def judge(program, status, *words, **how):
    lines = doctor("--", program, **how)
    assert not failures_but(lines, "program"), failures_but(lines, "program")
    return expect(lines, "program", status, *words)


def good_programs():
    judge("true", "ok", "/true is not linked with libibverbs")
    judge(compile_program("verbs", "-Wl,--no-as-needed", "-l:libibverbs.so.1"), "ok", "linked with", "private ABI")
    script = tmp / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert len([line for line in doctor("--", script) if line["check"] == "program"]) == 2
    judge(script, "ok", "is a script, which /bin/sh runs")


def absent_programs():
    judge("no-such-program-here", "failure", "is in no directory of PATH")
    judge("/nowhere/at/all", "failure", "/nowhere/at/all: No such file")
    script = tmp / "orphan"
    script.write_text("#!/nowhere/interpreter\n")
    script.chmod(0o755)
    judge(script, "failure", "is a script for /nowhere/interpreter: No such file", "install that interpreter")


def no_programs():
    text = tmp / "text"
    text.write_text("true\n")
    judge(text, "failure", "is not a program that may be executed", "chmod +x")
    judge(tmp, "failure", "is not a program")
    text.chmod(0o755)
    judge(text, "failure", "is no program", "begin with #!")


def static_program():
    program = compile_program("static", "-static")
    judge(program, "failure", "is statically linked", "link it dynamically")
    script = tmp / "static-script"
    script.write_text(f"#!{program}\n")
    script.chmod(0o755)
    judge(script, "failure", f"{program} is statically linked")


def privileged_programs():
    if os.geteuid():
        raise Cannot("only root makes files of other owners")
    program = shutil.copy("/bin/true", tmp / "setuid")
    os.chown(program, NOBODY, NOBODY)
    os.chmod(program, 0o4755)
    judge(program, "failure", "is setuid", "cp keeps no such bit")
    os.chmod(program, 0o2755)
    judge(program, "failure", "is setgid")
    program = shutil.copy("/bin/true", tmp / "capable")
    cap_net_raw = struct.pack("<IIIII", 0x02000001, 1 << 13, 0, 0, 0)
    os.setxattr(program, "security.capability", cap_net_raw)
    os.chmod(tmp, 0o755)
    wrap = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
    reach(wrap)
    judge(program, "failure", "has file capabilities", "setpriv", wrap=wrap)


def foreign_programs():
    musl = compile_program("musl", "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
    judge(musl, "failure", "is linked with musl", "build it for glibc")
    lost = compile_program("lost", "-Wl,--dynamic-linker=/nowhere/ld.so")
    judge(lost, "failure", "wants the dynamic loader /nowhere/ld.so: No such file")
    for name, offset, value, words in (("sparc", 18, 2, "another architecture"), ("short", 4, 1, "word size")):
        program = pathlib.Path(shutil.copy("/bin/true", tmp / name))
        with program.open("r+b") as file:
            file.seek(offset)
            file.write(bytes([value]))
        judge(program, "failure", words, "architecture of this sctpiw")


def missing_library():
    compile_program("libgone.so", "-shared", "-fPIC", text="int gone(void) { return 0; }")
    program = compile_program("needy", f"-L{tmp}", "-Wl,--no-as-needed", "-l:libgone.so")
    (tmp / "libgone.so").unlink()
    judge(program, "failure", "needs libgone.so, which is not there")


# ------------------------------------------------------------------ limits, and what is slow
# ------------------------------------------------------------------ limits and causes of slowness

def limit(which, soft):
    return lambda: resource.setrlimit(which, (soft, resource.getrlimit(which)[1]))


def few_descriptors():
    expect(doctor(before=limit(resource.RLIMIT_NOFILE, 20)), "open files", "failure", "20 descriptors", "ulimit -n")
    expect(doctor(before=limit(resource.RLIMIT_NOFILE, 64)), "open files", "warning", "64 descriptors")


def short_files():
    how = {"before": limit(resource.RLIMIT_FSIZE, 4096)}
    expect(doctor(**how), "file size", "ok", "4096 bytes")
    expect(doctor("--trace", tmp / "trace", **how), "file size", "warning", "traces end at 4096 bytes", "ulimit -f")


def locked_memory():
    expect(doctor(before=limit(resource.RLIMIT_MEMLOCK, 0)), "locked memory", "ok", "0 bytes, which does not matter")


def shared_memory():
    lines = in_mounts("mount -t tmpfs none /dev")
    expect(lines, "shared memory", "warning", "/dev/shm: No such file", "--shm-size")
    lines = in_mounts("mount -t tmpfs -o size=1m none /dev/shm")
    expect(lines, "shared memory", "warning", "1024 KiB left")
    lines = in_mounts("mount -t tmpfs -o ro none /dev/shm")
    expect(lines, "shared memory", "warning", "/dev/shm: Read-only")


def one_processor():
    one = {min(os.sched_getaffinity(0))}
    expect(doctor(before=lambda: os.sched_setaffinity(0, one)), "processors", "warning", "may use one", "taskset")
    lines = in_mounts("mount -t tmpfs none /sys/fs/cgroup; echo 50000 100000 >/sys/fs/cgroup/cpu.max")
    expect(lines, "processors", "warning", "the time of 0.5")


def slow_clock():
    if not os.path.exists(CLOCK):
        raise Cannot("there is no " + CLOCK)
    (tmp / "clock").write_text("hpet\n")
    expect(in_mounts(f"mount --bind {tmp}/clock {CLOCK}"), "clock", "warning", "hpet", "system call")


def small_buffers():
    lines = doctor(before=refuse("setsockopt", ERRNO | 1))
    expect(lines, "receive buffer", "warning", "KiB of the 4096 KiB that the device requests", "rmem_max=4194304")
    expect(lines, "send buffer", "warning", "KiB of the 4096 KiB that the device requests", "wmem_max=4194304")


def buffers_of_users():
    limits = [int(pathlib.Path(f"/proc/sys/net/core/{name}_max").read_text()) for name in ("rmem", "wmem")]
    if max(limits) >= 4 << 20:
        raise Cannot(f"net.core.rmem_max and wmem_max are {limits} here: nobody is refused a buffer")
    wrap = [] if os.geteuid() else ["setpriv", f"--reuid={NOBODY}", "--clear-groups", "--bounding-set=-all", "--"]
    reach(wrap)
    lines = doctor(wrap=wrap)
    expect(lines, "receive buffer", "warning", f"{limits[0] >> 10} KiB of the 4096 KiB", "net.core.rmem_max=4194304")
    expect(lines, "send buffer", "warning", f"{limits[1] >> 10} KiB of the 4096 KiB", "net.core.wmem_max=4194304")


# ------------------------------------------------------------------ the network of this host

def lo_down():
    lines = in_network()
    expect(lines, "interfaces", "warning", "lo is down", "ip link set lo up")
    expect(lines, "device", "failure", "state DOWN", "give an interface an address")


def small_mtu():
    # The kernel may take a second to report a carrier.
    lines = in_network(script="ip link set lo up; ip link add short mtu 600 type veth peer name other; ip link set short up; ip link set other up;"
                              " until ip link show short | grep -q 'state UP'; do sleep 0.05; done")
    assert expect(lines, "interfaces", "warning", "short has an MTU of 600")["mtu"] == 600
    lines = in_network(script="ip link set lo up")
    expect(lines, "interfaces", "ok", "none is up but lo")


def no_name():
    lines = doctor("no-such-host.invalid")
    expect(lines, "name", "failure", "no-such-host.invalid: ", "/etc/hosts")
    expect(doctor("true"), "name", "failure", "true: ", "sctpiw doctor -- CMD")
    assert not {"route", "probe"} & {line["check"] for line in lines}


def no_route():
    lines = in_network("192.0.2.1")
    expect(lines, "route", "failure", "no way to 192.0.2.1: Network is unreachable")


@contextlib.contextmanager
def listener(port, before=None):
    with subprocess.Popen([SCTPIW, "doctor", "--listen", str(port)], stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, COLUMNS="1000"), preexec_fn=before) as process:
        try:
            for line in process.stdout:
                if line.split()[1:2] == ["port"]:
                    break
            yield process
        finally:
            process.send_signal(signal.SIGTERM)


def free_port():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
        s.bind(("::", 0))
        return s.getsockname()[1]


def probes():
    port = free_port()
    with listener(port) as there:
        for address in ("127.0.0.1", "[::1]"):
            lines = doctor(f"{address}:{port}")
            assert not failures_but(lines), failures_but(lines)
            probe = next(line for line in lines if line["check"] == "probe")
            assert probe["sent"] == 200 and probe["round_trip_us"] > 0, probe
            assert expect(lines, "path MTU", "ok")["bytes"] == 65535
            assert expect(lines, "rate", "ok")["mbit_per_s"] > 0
            index = expect(lines, "route", "ok", "by lo, which takes")["gid_index"]
            gid = expect(lines, "device", "ok", f"GID {index:g} is ")["text"]
            assert ("::ffff:" in gid) == (address == "127.0.0.1"), gid
        there.send_signal(signal.SIGTERM)
        said = there.stdout.read()
        assert there.wait(30) == 0 and said.count("it sees the answers") == 2, said
        assert "127.0.0.1" in said and "[::1]" in said, said


def without_ipv6():
    unknown_family = 97
    before = refuse("socket", ERRNO | unknown_family, (0, socket.AF_INET6))
    port = free_port()
    with listener(port, before):
        lines = doctor(f"127.0.0.1:{port}", before=before)
        assert not failures_but(lines), failures_but(lines)
        expect(lines, "rate", "ok")


def reordered():
    """A listener that swaps each pair of echoes, as docs/wire.md describes them."""
    hello, cookie, probe, echo, count, counted = range(1, 7)
    told = struct.pack(">II", 200, 7)

    def answer(there):
        held = None
        while True:
            try:
                data, guest = there.recvfrom(65536)
            except OSError:  # the test is over
                return
            if data[:4] != b"spwD":  # an INIT
                continue
            assert data[:6] == b"spwD\1" + data[5:6] and len(data) >= 48 and data[44:48] == bytes(4), data[:48]
            if data[5] == hello:
                assert len(data) == 48 and data[16:48] == bytes(32), data
                there.sendto(data[:5] + bytes([cookie]) + data[6:16] + b"a cookie of mine" + data[32:], guest)
                continue
            assert data[16:32] == b"a cookie of mine", data
            if data[5] == count:
                there.sendto(data[:5] + bytes([counted]) + data[6:36] + told + data[44:48], guest)
            if data[5] != probe:
                continue
            data = data[:5] + bytes([echo]) + data[6:]
            if len(data) == 200 and not held:
                held = data
                continue
            there.sendto(data, guest)
            if len(data) == 200:
                there.sendto(held, guest)
                held = None

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as there:
        there.bind(("127.0.0.1", 0))
        threading.Thread(target=answer, args=(there,), daemon=True).start()
        line = expect(doctor(f"127.0.0.1:{there.getsockname()[1]}"), "probe", "ok", "7 and 100 were overtaken")
    assert (line["overtaken_there"], line["overtaken_back"]) == (7, 100), line


def nobody_listens():
    port = free_port()
    expect(doctor(f"127.0.0.1:{port}"), "probe", "failure", f"nobody listens on its UDP port {port}", "--listen")


def answers_of_servers():
    """Answers to an INIT from programs other than sctpiw."""
    cookie = struct.pack(">HH", sctp.PARAM_COOKIE, 8) + bytes(4)
    answers = {
        "a program of sctpiw listens there": lambda tag: ack(tag, sctp.ADAPTATION + cookie),
        "speaks SCTP, and no RDMA": lambda tag: ack(tag, cookie),
        "no program listens there": lambda tag: (tag, sctp.chunk(sctp.ABORT, 0, b"")),
        "refuses: no, [31mthanks": lambda tag: (tag, sctp.chunk(sctp.ABORT, 0, struct.pack(">HH", 12, 19) + b"no, \x1b[31mthanks\0")),
        "the host is up": lambda tag: (tag ^ 1, sctp.chunk(sctp.ABORT, 0, b"")),  # another association's
    }

    def ack(tag, parameters):
        return tag, sctp.chunk(sctp.INIT_ACK, 0, sctp.init(7, 65536, 9, 9, 7, parameters)[4:])

    def answer(there, make):
        with contextlib.suppress(OSError):  # until the test is over
            while True:
                data, guest = there.recvfrom(65536)
                if data[12:13] == bytes([sctp.INIT]):
                    assert sctp.right_crc(data) and data[4:8] == bytes(4), data
                    there.sendto(sctp.packet(*struct.unpack(">HH", data[:4])[::-1], *make(*struct.unpack_from(">I", data, 16))), guest)

    for words, make in answers.items():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as there:
            there.bind(("127.0.0.1", 0))
            threading.Thread(target=answer, args=(there, make), daemon=True).start()
            lines = doctor(f"127.0.0.1:{there.getsockname()[1]}")
        line = next(line for line in lines if line["check"] in ("server", "probe"))
        assert words in line["text"], line


def port_taken():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("0.0.0.0", 0))
        port = taken.getsockname()[1]
        expect(doctor("--listen", port), "port", "failure", f"process {os.getpid()} (", f"has UDP port {port}")


def silent_program():
    """Another program has the port, and answers no probe."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mute:
        mute.bind(("127.0.0.1", 0))
        port = mute.getsockname()[1]
        expect(doctor(f"127.0.0.1:{port}"), "probe", "failure", "the host is up, since its TCP answers", "--listen")


CASES = [refused, deadly, refused_threads, no_offload, all_is_well, lines_for_people, settings, wrong_settings,
         keys, certificates, unknown_variables, parts_missing, other_libibverbs, wrong_provider, good_programs,
         absent_programs, no_programs, static_program, privileged_programs, foreign_programs, missing_library, few_descriptors, short_files,
         locked_memory, shared_memory, one_processor, slow_clock, small_buffers, buffers_of_users, lo_down, small_mtu, no_name, no_route,
         probes, without_ipv6, reordered, nobody_listens, answers_of_servers, port_taken, silent_program]


def main():
    global tmp
    failed = cannot = 0
    for case in CASES:
        if sys.argv[3:] and case.__name__ not in sys.argv[3:]:
            continue
        with tempfile.TemporaryDirectory() as directory:
            tmp = pathlib.Path(directory)
            try:
                case()
            except Cannot as reason:
                cannot += 1
                print(f"{case.__name__}: not tested here: {reason}")
            except (AssertionError, OSError, ValueError, subprocess.SubprocessError) as error:
                failed += 1
                print(f"{case.__name__}: FAILED: {type(error).__name__}: {error}")
    print(f"{len(CASES)} cases, {failed} failed, {cannot} not tested here")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
