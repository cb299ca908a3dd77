# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs programs in pairs under `sctpiw run`, on links that are made for them.

A test script passes a list of cases to main(), each a name and a function that takes a Link. The function returns on
success, raises Failure on failure, and Skip if this machine cannot run the case. Each started program has its own log,
which is kept if the test fails.

start() starts each program in its own process group. At the end of a case, the remaining groups are killed. No other
process gets a signal.
"""
import argparse
import contextlib
import ctypes
import fnmatch
import io
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import guest
from ports import free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SCTPIW_BUILD", ROOT / "build")).resolve()
LAUNCHER = BUILD / "bin/sctpiw"  # gives programs the device; `utils/bench --turns` puts launchers of other builds here
DEVICE = "sctpiw0"
SLOW = float(os.environ.get("SCTPIW_E2E_SLOW", "1"))  # a factor for all limits, since sanitizers need more time
LOGS = BUILD / "tests/e2e/logs"
PRELOAD = os.environ.get("SCTPIW_E2E_PRELOAD", "")  # a library that must be loaded first: libasan
LLP = os.environ.get("SCTPIW_LLP", "udp")  # the setting llp of the programs
PERSONALITY = os.environ.get("SCTPIW_PERSONALITY", "roce")  # the setting personality of the programs, by default
CHANNEL_ADAPTER = "roce" if PERSONALITY == "iwarp" else PERSONALITY  # for programs that take no iWARP device
GUEST = "SCTPIW_E2E_GUEST" in os.environ  # True if this runs in User-Mode Linux
NOBODY = 65534

EXIT_FAILED = 1
EXIT_SKIPPED = 77
PR_SET_PDEATHSIG = 1
CLONE_NEWNET = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)


def attach_filter(sock, *steps):
    """Limits a socket to packets that this classic BPF accepts: steps of (code, jump if true, if false, constant)."""
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HL", len(steps), ctypes.addressof(code))
    sock.setsockopt(socket.SOL_SOCKET, 26, program)  # SO_ATTACH_FILTER


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def need(*commands):
    for command in commands:
        if not shutil.which(command, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
            raise Skip(f"needs the program {command}, which is not installed")


def version(*argv, before=""):
    """The version that a program prints after the text `before`, as a tuple of numbers."""
    need(argv[0])
    done = subprocess.run(argv, capture_output=True, text=True)
    found = re.search(rf"{before}(\d+(\.\d+)+)", done.stdout + done.stderr)
    if not found:
        raise Failure(f"{' '.join(argv)} does not say its version")
    return tuple(map(int, found[1].split(".")))


def _die_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


# ------------------------------------------------------------------ programs

_logs = None
_running = []


def log_to(directory):
    """From now on, writes the logs of programs to this directory, which is emptied."""
    global _logs
    _logs = pathlib.Path(directory)
    shutil.rmtree(_logs, ignore_errors=True)
    _logs.mkdir(parents=True)


def logs(pattern):
    """The texts of the logs up to now whose file names match the pattern."""
    return [log.read_text(errors="replace") for log in sorted(_logs.glob(pattern))]


def log_file(name):
    """The path of a file of the test, beside the logs of its programs."""
    return _logs / name


class Program:
    """A process that start() made. It has the program's own pid, since all wrappers execute the program."""

    def __init__(self, name, argv, env, log, link, side, rdma):
        self.name = name
        self.link = link
        self.side = side
        self.rdma = rdma
        self.patience = SLOW * link.patience
        self.argv = [str(a) for a in argv]
        self.log = log
        self.started = time.monotonic()
        with open(log, "wb") as out:
            out.write((" ".join(self.argv) + "\n").encode())
            out.flush()
            self.process = subprocess.Popen(
                self.argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env,
                start_new_session=True, preexec_fn=_die_with_parent)
        self.pid = self.process.pid
        _running.append(self)

    def output(self):
        """The output of the program up to now."""
        return self.log.read_text(errors="replace").partition("\n")[2]

    def wait(self, seconds):
        """Waits for the end. Returns the exit status (negative: the signal), or raises Failure after the limit."""
        seconds *= self.patience
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} did not end within {seconds:g} s") from None

    def expect(self, seconds, *statuses):
        """Waits for the end, with one of these statuses, or 0 if none is given."""
        got = self.wait(seconds)
        if got not in (statuses or (0,)):
            raise Failure(f"{self.name} ended with status {got}, not {' or '.join(map(str, statuses or (0,)))}")

    def must_run_for(self, seconds):
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self.process.wait(seconds)
            raise Failure(f"{self.name} ended with status {status} when it should have gone on")

    def running(self):
        return self.process.poll() is None

    def signal(self, number):
        self.link.signal(self, number)

    def must_sleep(self):
        """Checks that the program is idle for a second. Other load makes it look more idle, not less."""
        before = self._processor_time()
        self.must_run_for(1)
        used = self._processor_time() - before
        if used > 0.5:
            raise Failure(f"{self.name} was busy for {used:.2f} of 1 s")

    def _processor_time(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def kill(self):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()
        if self in _running:
            _running.remove(self)

    def wait_for_output(self, text, seconds=10):
        seconds *= self.patience
        deadline = time.monotonic() + seconds
        while text not in self.output():
            if not self.running():
                raise Failure(f"{self.name} ended with status {self.process.returncode} before it printed '{text}'")
            if time.monotonic() > deadline:
                raise Failure(f"{self.name} did not print '{text}' within {seconds:g} s")
            time.sleep(0.02)

    def wait_listening(self, port, seconds=30):
        """Waits until the port is in use in the program's network namespace."""
        deadline = time.monotonic() + seconds * SLOW
        while not self.link.listening(self, port):
            if not self.running():
                raise Failure(f"{self.name} ended with status {self.process.returncode} instead of listening")
            if time.monotonic() > deadline:
                raise Failure(f"{self.name} did not listen on port {port} within {seconds * SLOW:g} s")
            time.sleep(0.01)
        # A server binds shortly before it listens. Then most RDMA servers sleep, and some spin.
        time.sleep(0.05)
        deadline = time.monotonic() + 0.5 * SLOW
        while self.rdma and self.running() and _state(self.pid) not in "SZ" and time.monotonic() < deadline:
            time.sleep(0.01)

    def wait_listening_tcp(self, port, seconds=10):
        """As wait_listening(), for programs whose sides connect by TCP before they use the device."""
        deadline = time.monotonic() + seconds * SLOW
        while not _in_table(self.pid, ("tcp", "tcp6"), port, "0A"):
            if not self.running():
                raise Failure(f"{self.name} ended with status {self.process.returncode} instead of listening")
            if time.monotonic() > deadline:
                raise Failure(f"{self.name} did not listen on TCP port {port} within {seconds * SLOW:g} s")
            time.sleep(0.02)


def _state(pid):
    """The state of the main thread: R if it runs or is ready, S if it waits."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as f:
        return f.read().rpartition(")")[2].split()[0]
    return "Z"


def _in_eps(text, port):
    """True if this port is among the listening ports in the text of /proc/net/sctp/eps."""
    return any(line.split()[5] == str(port) for line in text.splitlines()[1:])


def sctp_listening(pid, port):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/net/sctp/eps") as f:
        return _in_eps(f.read(), port)
    return False


def _in_table(pid, tables, port, state=None):
    """True if a socket in the process's network namespace has this port and this state, if given."""
    for table in tables:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/net/{table}") as f:
            for fields in map(str.split, list(f)[1:]):
                if state in (None, fields[3]) and (port is None or fields[1].endswith(f":{port:04X}")):
                    return True
    return False


def udp_bound(pid, port):
    return _in_table(pid, ("udp", "udp6"), port)


def serves(pid):
    """True if any socket in the process's network namespace waits for peers: a TCP listener, or a UDP socket."""
    return _in_table(pid, ("tcp", "tcp6"), None, "0A") or _in_table(pid, ("udp", "udp6"), None)


def become(user):
    """Returns the words before a command to run as this user. setpriv keeps root's capabilities until then."""
    words = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"]
    if subprocess.run([*words, "test", "-x", BUILD / "bin/sctpiw"], check=False).returncode:
        raise Skip(f"{BUILD} is out of the reach of user {user}")
    return words


def start(name, argv, link=None, side="client", rdma=True, user=None, env=None, options=()):
    """Starts argv on one side of the link. rdma: under `sctpiw run` with these options. user: with this user id."""
    wrap = list(link.enter(side)) if link else []
    if user is not None and os.geteuid() == 0:
        wrap += become(user)
    settings = dict(os.environ)
    settings.pop("LD_PRELOAD", None)
    settings.update(link.settings(side) if link else {}, **(env or {}))
    settings.setdefault("SCTPIW_CONFIG", "/dev/null")  # not the settings of the user who runs the tests
    if rdma:
        wrap += ["nice"] if link and link.nice else []
        if PRELOAD:
            wrap += ["env", f"LD_PRELOAD={PRELOAD}"]
            settings.setdefault("ASAN_OPTIONS", "detect_leaks=0:exitcode=99")
            settings.setdefault("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1:exitcode=99")
        wrap += [LAUNCHER, "run", *options, "--"]
    number = len(list(_logs.glob("*.log")))
    return Program(name, wrap + list(argv), settings, _logs / f"{number:03d}-{name}.log", link or Link, side, rdma)


def kill_all():
    for program in list(_running):
        program.kill()


def show_logs(out=sys.stdout, lines=30):
    for log in sorted(_logs.glob("*.log")):
        text = log.read_text(errors="replace").splitlines()
        print(f"    --- {log}", file=out)
        if len(text) > lines:
            print(f"    ... {len(text) - lines} lines left out", file=out)
        for line in [text[0]] * (len(text) > lines) + text[-lines:]:
            print(f"    {line}", file=out)


def run_pair(link, server, client, port, seconds=20, statuses=(0,), user=None, env=None):
    """Runs a server, and a client that must end with one of these statuses. Returns the two outputs."""
    s = start(pathlib.Path(server[0]).name + "-server", server, link, "server", user=user, env=env)
    s.wait_listening(port)
    c = start(pathlib.Path(client[0]).name + "-client", client, link, "client", user=user, env=env)
    c.expect(seconds, *statuses)
    s.expect(10)
    return s.output(), c.output()


# ------------------------------------------------------------------ links

class Link:
    """Two sides, "server" and "client", and the address of the server's side."""

    in_guest = GUEST  # True if one or both sides are in User-Mode Linux
    lossy = False
    faults = ""  # fault rules of the programs on both sides
    patience = 1  # a factor for limits on a slow link
    nice = False  # True if programs yield to commands of the test, such as `ip` and `tc`

    def __init__(self, name, family):
        self.name = name
        self.family = family
        self.address = {4: "127.0.0.1", 6: "::1"}[family]
        self.any = {4: "0.0.0.0", 6: "::"}[family]

    def enter(self, side):
        return []

    def settings(self, side):
        """Settings for the environment of programs."""
        return {"SCTPIW_FAULTS": self.faults} if self.faults else {}

    @staticmethod
    def listening(program, port):
        return (sctp_listening if LLP == "kernel" else udp_bound)(program.pid, port)

    @staticmethod
    def signal(program, number):
        program.process.send_signal(number)

    def close(self):
        pass


class Loopback(Link):
    pass


class Veth(Link):
    """Two network namespaces, joined by a veth pair. They exist until their holder processes end."""

    subnets = {4: "10.83.0.{}", 6: "fd83::{}"}

    def __init__(self, name, family, mtu, loss=0, single=False, cable=True, filtered=LLP == "kernel"):
        """loss: percentage of packets that are lost each way. The device of each side loses them (docs/faults.md), so
        that a seed repeats the losses. filtered: the kernel loses them, for programs without the device, and for the
        kernel's own packets.
        """
        super().__init__(name, family)
        need("ip", "unshare", "nsenter", *(["tc" if GUEST else "nft"] if loss and filtered else []))
        self.holders = {}
        self.address = self.subnets[family].format(1)
        self.nobody_there = self.subnets[family].format(99)
        if loss:
            self.lossy = True
            self.patience = 5
        try:
            for side in "server", "client":
                self.holders[side] = self._hold()
            if cable:
                self._join(mtu, single)
            if loss and filtered:
                for side in "server", "client":
                    self.lose(side, loss)
            elif loss:
                self.faults = f"packets in: drop, probability {loss / 100}"
        except BaseException:
            self.close()
            raise

    def _hold(self):
        holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"], stdin=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, preexec_fn=_die_with_parent)
        mine = os.readlink("/proc/self/ns/net")
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and holder.poll() is None:
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{holder.pid}/ns/net") != mine:
                    self._run(["nsenter", f"--net=/proc/{holder.pid}/ns/net", "ip", "link", "set", "lo", "up"])
                    return holder
            time.sleep(0.005)
        holder.kill()
        raise Skip("cannot make a network namespace: " + holder.stderr.read().decode().strip())

    @staticmethod
    def _run(argv, text=None):
        done = subprocess.run(argv, input=text, text=True, capture_output=True)
        if done.returncode:
            cannot = re.search("not permitted|not supported|Permission denied", done.stderr)
            raise (Skip if cannot else Failure)(f"{' '.join(map(str, argv))}: {done.stderr.strip()}")
        return done.stdout

    def _join(self, mtu, single):
        pids = {side: str(h.pid) for side, h in self.holders.items()}
        self._run(["ip", "link", "add", "veth0", "mtu", str(mtu), "netns", pids["server"], "type", "veth",
                   "peer", "name", "veth0", "mtu", str(mtu), "netns", pids["client"]])
        for host, side in (1, "server"), (2, "client"):
            ip = [*self.enter(side), "ip"]
            self._run([*ip, "address", "add", self.subnets[4].format(host) + "/24", "dev", "veth0"])
            self._run([*ip, "address", "add", self.subnets[6].format(host) + "/64", "dev", "veth0", "nodad"])
            if single:  # each packet is lost or captured by itself, not with its batch
                self._run([*ip, "link", "set", "veth0", "gso_max_segs", "1"])
            self._run([*ip, "link", "set", "veth0", "up"])

    def _netem(self, side, *what):
        """User-Mode Linux has no nftables: packets are lost on departure, not on arrival."""
        self._run([*self.enter(side), "tc", "qdisc", "replace", "dev", "veth0", "root", "netem", *what])

    def lose(self, side, percent):
        if GUEST:
            self._netem(side, "loss", f"{percent}%", "limit", "10000")
            return
        self._run([*self.enter(side), "nft", "-f", "-"],
                  "table inet loss {\n chain arriving {\n type filter hook input priority 0\n"
                  f'iifname "veth0" meta l4proto {{ udp, sctp }} numgen random mod 100 < {percent} drop\n }}\n }}\n')

    def enter(self, side):
        return ["nsenter", f"--net=/proc/{self.holders[side].pid}/ns/net", "--"]

    def cut(self):
        """From now on, nothing arrives on either side."""
        need("tc" if GUEST else "nft")
        for side in "server", "client":
            if GUEST:
                self._netem(side, "loss", "100%")
                continue
            self._run([*self.enter(side), "nft", "-f", "-"],
                      "table inet cut {\n chain arriving {\n type filter hook input priority 0\n"
                      'iifname "veth0" drop\n }\n }\n')

    def mend(self):
        for side in "server", "client":
            if GUEST:
                self._netem(side, "delay", "0")
                continue
            self._run([*self.enter(side), "nft", "delete", "table", "inet", "cut"])

    def set_mtu(self, mtu):
        for side in "server", "client":
            self._run([*self.enter(side), "ip", "link", "set", "veth0", "mtu", str(mtu)])

    def close(self):
        for holder in self.holders.values():
            holder.kill()
            holder.wait()
            holder.stderr.close()
        self.holders = {}


class Guest(Link):
    """One side is in User-Mode Linux, with the kernel's SCTP; the other is on this host, with SCTP in user space."""

    in_guest = True
    addresses = {4: "10.99.0.{}", 6: "fd99::{}"}  # those of uml-run
    encap_port = 9899
    taps = 1  # links between the two

    def __init__(self, name, family, guest_side, llp):
        super().__init__(name, family)
        _need_guest()
        self.guest_side = guest_side
        self.llp = llp
        self.address = self.addresses[family].format(2 if guest_side == "server" else 1)
        self.nobody_there = self.addresses[family].format(99)
        namespace = f"sctpiw-e2e-{os.getpid()}"
        self.log = tempfile.TemporaryFile()
        script = f"sysctl -q net.sctp.udp_port={self.encap_port} && exec {sys.executable} {__file__} serve"
        self.guest = subprocess.Popen(
            [UML_RUN, "--net", "tap", "--taps", str(self.taps), "--ns", namespace, "--rw", LOGS.parent,
             "--timeout", guest_seconds, "--", "sh", "-c", script],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, preexec_fn=_die_with_parent,
            env=dict(os.environ, SCTPIW_E2E_MHZ=_clock_mhz()))
        try:
            self._join(pathlib.Path("/run/netns", namespace))
        except BaseException:
            self.close()
            raise

    def _join(self, namespace):
        """Moves this process, and the processes that it starts from now on, into the guest's network."""
        deadline = time.monotonic() + 90 * SLOW
        inside = False
        while self.guest.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                if not inside:
                    with open(namespace) as f:
                        inside = libc.setns(f.fileno(), CLONE_NEWNET) == 0
                elif self.run(["true"]) == b"":
                    return
            time.sleep(0.05)
        self.log.seek(0)
        raise Failure("the guest did not start: " + self.log.read().decode(errors="replace").strip())

    @staticmethod
    def run(argv):
        """Runs a short program in the guest. Returns its output."""
        out = io.BytesIO()
        guest.run(argv, {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, out)
        return out.getvalue()

    def settings(self, side):
        # With UDP encapsulation, the guest's kernel has one UDP port. sctpiw's own SCTP has a UDP port for each SCTP
        # port.
        port = self.encap_port if side != self.guest_side else "same"
        return {"SCTPIW_LLP": "kernel" if side == self.guest_side else self.llp,
                "SCTPIW_ENCAP_PORT": str(port) if self.llp == "udp" else "none"}

    def enter(self, side):
        return [sys.executable, guest.__file__, "run", "--"] if side == self.guest_side else []

    def signal(self, program, number):
        if program.side == self.guest_side:
            guest.signal_to(program.pid, number)
        else:
            super().signal(program, number)

    def listening(self, program, port):
        if program.side == self.guest_side:
            return _in_eps(self.run(["cat", "/proc/net/sctp/eps"]).decode(), port)
        return udp_bound(program.pid, port) if self.llp == "udp" else program.must_run_for(0.5) is None

    def close(self):
        self.guest.terminate()
        self.guest.wait()


LINKS = {
    "lo": lambda name, family: Loopback(name, family),
    "veth1500": lambda name, family: Veth(name, family, 1500),
    "veth9000": lambda name, family: Veth(name, family, 9000),
    "loss": lambda name, family: Veth(name, family, 1500, loss=5, single=True),
    "single": lambda name, family: Veth(name, family, 1500, single=True),
    "nocable": lambda name, family: Veth(name, family, 1500, cable=False),
    "to-guest": lambda name, family: Guest(name, family, "server", "udp"),
    "from-guest": lambda name, family: Guest(name, family, "client", "udp"),
    "to-guest-ip": lambda name, family: Guest(name, family, "server", "ip"),
    "from-guest-ip": lambda name, family: Guest(name, family, "client", "ip"),
}


def unshare(*options):
    """Executes this script again, in new namespaces."""
    done = subprocess.run(["unshare", *options, "true"], capture_output=True, text=True)
    if done.returncode:
        raise Skip("needs root, or user namespaces, to make network namespaces: " + done.stderr.strip())
    os.execvp("unshare", ["unshare", *options, sys.executable, *sys.argv])


AS_USER = ["--user", "--map-root-user"]  # makes an ordinary user root in a user namespace


def _own_network():
    """Continues in a network namespace with only lo."""
    need("ip", "unshare")
    inside = "SCTPIW_E2E_NETNS"
    if inside not in os.environ:
        os.environ[inside] = "1"
        unshare(*(AS_USER if os.geteuid() else []), "--net")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def _raw_ip():
    """Checks the needs of --llp ip: CAP_NET_RAW, and a network without another SCTP, a test's or the kernel's."""
    if pathlib.Path("/proc/net/sctp").exists():
        raise Skip("the kernel's own SCTP is active")
    _own_network()


@contextlib.contextmanager
def open_link(name):
    kind, _, family = name.rpartition("-v")
    if kind not in LINKS or family not in ("4", "6"):
        raise SystemExit(f"no link is called {name}")
    if family == "6" and not pathlib.Path("/proc/net/if_inet6").exists():
        raise Skip("this machine has no IPv6")
    if LLP == "ip" and not GUEST:
        _raw_ip()
    elif kind != "lo" and "guest" not in kind and os.geteuid():
        unshare(*AS_USER, "--net")
    link = LINKS[kind](name, int(family))
    try:
        yield link
    finally:
        link.close()


# ------------------------------------------------------------------ User-Mode Linux

UML_RUN = ROOT / "tests/uml/uml-run"
guest_seconds = "580"  # maximum run time of a guest


def _need_guest():
    need("linux.uml", "modprobe", "ip", "tc")
    if os.geteuid() != 0:
        raise Skip("only root can boot User-Mode Linux")


def _clock_mhz():
    """The clock rate. perftest reads it from /proc/cpuinfo, but User-Mode Linux does not list it there."""
    with open("/proc/cpuinfo") as f:
        return next((line.split(":")[1].strip() for line in f if line.startswith("cpu MHz")), "1000")


def become_guest():
    """Executes this script again as root of a User-Mode Linux; does not return."""
    _need_guest()
    os.environ.update(SCTPIW_E2E_GUEST="1", SCTPIW_E2E_MHZ=_clock_mhz())
    sctp = ["--no-sctp"] if LLP == "ip" else []  # the kernel's SCTP would answer, too
    os.execv(UML_RUN, [UML_RUN, *sctp, "--rw", LOGS.parent, "--module", "sch_netem", "--timeout", guest_seconds, "--",
                       sys.executable, *(a for a in sys.argv if a != "--guest")])


def prepare_guest():
    """Adds parts for perftest that User-Mode Linux lacks: a clock (see clock.c), and a PCI bus for its libpci."""
    cpuinfo = pathlib.Path("/run/cpuinfo")
    text = pathlib.Path("/proc/cpuinfo").read_text().rstrip()
    cpuinfo.write_text(f"{text}\ncpu MHz\t\t: {os.environ['SCTPIW_E2E_MHZ']}\n\n")
    for argv in (["mount", "--bind", cpuinfo, "/proc/cpuinfo"], ["mount", "-t", "tmpfs", "none", "/sys/bus"],
                 ["mkdir", "-p", "/sys/bus/pci/devices"]):
        subprocess.run(argv, check=True)
    pathlib.Path("/etc/ld.so.preload").write_text(f"{BUILD}/lib/libuml-clock.so\n")


if __name__ == "__main__":  # harness.py serve runs in the guest of class Guest
    prepare_guest()
    guest.serve()


# ------------------------------------------------------------------ main

def _run_case(name, function, link):
    begin = time.monotonic()
    try:
        function(link)
        verdict, why = "ok", ""
    except Skip as skip:
        verdict, why = "SKIP", f": {skip}"
    except Failure as failure:
        verdict, why = "FAIL", f": {failure}"
    finally:
        kill_all()
    print(f"{verdict:4} {name} on {link.name} ({time.monotonic() - begin:.1f} s){why}", flush=True)
    return verdict


def main(cases, alone=False):
    """Runs a script's cases, a list of (name, function). alone: in a network namespace with only lo."""
    global guest_seconds
    parser = argparse.ArgumentParser()
    parser.add_argument("--link", default="lo-v4", help="one of " + ", ".join(LINKS) + " with -v4 or -v6 behind")
    parser.add_argument("--case", default="*", help="only those that match this pattern")
    parser.add_argument("--guest", action="store_true", help="run it all in User-Mode Linux")
    parser.add_argument("--guest-seconds", default=guest_seconds, help="that a User-Mode Linux may run")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    guest_seconds = args.guest_seconds
    chosen = [c for c in cases if any(fnmatch.fnmatch(c[0], p) for p in args.case.split(","))]
    if args.list or not chosen:
        print("\n".join(name for name, _ in cases))
        return 0 if args.list else 2
    if not (BUILD / "bin/sctpiw").exists():
        print(f"FAIL: {BUILD}/bin/sctpiw is not there: build first, or set SCTPIW_BUILD")
        return EXIT_FAILED
    logs = LOGS / f"{pathlib.Path(sys.argv[0]).stem}-{args.link}-{os.getpid()}"
    verdicts = []
    try:
        if args.guest and not GUEST:
            become_guest()
        if GUEST:
            prepare_guest()
        elif alone:
            _own_network()
        with open_link(args.link) as link:
            for name, function in chosen:
                log_to(logs / name)
                verdicts.append(_run_case(name, function, link))
                if verdicts[-1] == "FAIL":
                    show_logs()
                else:
                    shutil.rmtree(logs / name)
    except Skip as skip:
        print(f"SKIP {args.link}: {skip}")
        return EXIT_SKIPPED
    except Failure as failure:
        print(f"FAIL {args.link}: {failure}")
        return EXIT_FAILED
    finally:
        with contextlib.suppress(OSError):
            logs.rmdir()
    if "FAIL" in verdicts:
        return EXIT_FAILED
    return EXIT_SKIPPED if set(verdicts) == {"SKIP"} else 0
