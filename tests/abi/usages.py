#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Wrong uses of the launcher: each gets an exit status, and one line with the cause and the remedy.

    usages.py SCTPIW FAKE_PROVIDER WRONG_PROVIDER
"""
import os
import shlex
import subprocess
import sys
import tempfile

# Command line (after "sctpiw"; variables may come first), exit status, words of the one line on standard error. {tmp}
# has the files that main() makes, {fake} is a provider without a network, and {more} stands for sixteen interfaces.
CASES = [
    # commands
    ("nonsense", 2, "sctpiw: no such command: nonsense", "sctpiw --help"),
    ("rnu true", 2, "sctpiw: no such command: rnu", "did you mean run"),
    ("lst", 2, "sctpiw: no such command: lst", "did you mean list"),
    ("ibv_devinfo -v", 2, "sctpiw: no such command: ibv_devinfo", "did you mean sctpiw run -- ibv_devinfo"),
    ("/bin/true", 2, "sctpiw: no such command: /bin/true", "did you mean sctpiw run -- /bin/true"),
    ("--json", 2, "sctpiw: no such command: --json", "sctpiw --help"),
    ("''", 2, "sctpiw: no such command: ;", "sctpiw --help"),
    ("help nonsense", 2, "no such command: nonsense", "sctpiw --help"),
    ("version now", 2, "version takes no argument", "take now away"),
    ("--version now", 2, "version takes no argument", "take now away"),
    ("help run now", 2, "help takes one command", "take now away"),
    ("env true", 2, "sctpiw env: takes no argument", "take true away"),
    ("env -- true", 2, "sctpiw env: takes no argument", "take true away"),
    ("list sctpiw0", 2, "sctpiw list: takes no argument", "take sctpiw0 away"),
    ("docter", 2, "sctpiw: no such command: docter", "did you mean doctor"),
    ("doctor --", 2, "sctpiw doctor: no command given after --"),
    ("doctor 127.0.0.1 --", 2, "sctpiw doctor: no command given after --"),
    ("doctor 127.0.0.1 true", 2, "sctpiw doctor: true is one word too many", "a command after --"),
    ("doctor 127.0.0.1 --json", 2, "sctpiw doctor: --json is one word too many", "options come first"),
    ("doctor ''", 2, "sctpiw doctor: HOST is missing", "a name or an address"),
    ("doctor :7471", 2, "sctpiw doctor: HOST is missing", "a name or an address"),
    ("doctor 127.0.0.1:", 2, "sctpiw doctor:  is no port", "from 1 to 65535"),
    ("doctor 127.0.0.1:0", 2, "sctpiw doctor: 0 is no port", "from 1 to 65535"),
    ("doctor [::1]:65536", 2, "sctpiw doctor: 65536 is no port", "from 1 to 65535"),
    ("doctor host:http", 2, "sctpiw doctor: http is no port", "from 1 to 65535"),
    ("doctor --listen -- true", 2, "sctpiw doctor: --listen takes PORT alone", "without -- and a command"),
    ("doctor --listen 127.0.0.1", 2, "sctpiw doctor: 127.0.0.1 is no port", "from 1 to 65535"),
    ("doctor --listen 7471 7472", 2, "sctpiw doctor: 7472 is one word too many"),
    ("doctor --listen=7471", 2, "sctpiw doctor: --listen takes no value", "take away"),
    # options
    ("run", 2, "sctpiw run: no command given", "--help"),
    ("run --", 2, "sctpiw run: no command given", "--help"),
    ("run --log debug", 2, "sctpiw run: no command given", "--help"),
    ("run --nonsense true", 2, "sctpiw run: there is no option --nonsense", "--help"),
    ("run --lgo debug true", 2, "sctpiw run: there is no option --lgo", "did you mean --log"),
    ("run --inorder true", 2, "sctpiw run: there is no option --inorder", "did you mean --in-order"),
    ("run --in_order true", 2, "sctpiw run: there is no option --in_order", "did you mean --in-order"),
    ("run --json true", 2, "sctpiw run: there is no option --json", "--help"),
    ("list --listen", 2, "sctpiw list: there is no option --listen", "--help"),
    ("doctor --lisen", 2, "sctpiw doctor: there is no option --lisen", "did you mean --listen"),
    ("doctor --llp", 2, "sctpiw doctor: --llp needs a value", "--llp=VALUE"),
    ("doctor --llp tcp", 2, "sctpiw doctor: --llp: llp = tcp is not understood", "udp, ip or kernel"),
    ("env --json", 2, "sctpiw env: there is no option --json", "--help"),
    ("list --jsno", 2, "sctpiw list: there is no option --jsno", "did you mean --json"),
    ("run -x true", 2, "sctpiw run: there is no option -x", "--help"),
    ("run -xh true", 2, "sctpiw run: there is no option -x", "--help"),
    ("run --s=3 true", 2, "sctpiw run: --s is not clear: 3 options begin so", "whole name"),
    ("run --help=3", 2, "sctpiw run: --help takes no value", "take away"),
    ("list --json=yes", 2, "sctpiw list: --json takes no value", "take away"),
    # missing values
    ("run --llp", 2, "sctpiw run: --llp needs a value", "--llp=VALUE"),
    ("run --llp --", 2, "sctpiw run: --llp needs a value", "--llp=VALUE"),
    ("run --llp -- true", 2, "sctpiw run: --llp needs a value", "--llp=VALUE"),
    ("run --llp --log debug true", 2, "sctpiw run: --llp needs a value", "--llp=VALUE"),
    ("run --capture --trace {tmp}/f true", 2, "sctpiw run: --capture needs a value", "--capture=VALUE"),
    ("run --config -- true", 2, "sctpiw run: --config needs a value", "--config=VALUE"),
    ("run --provider", 2, "sctpiw run: --provider needs a value", "--provider=VALUE"),
    ("run --config= true", 2, "sctpiw run: --config needs the name of a file"),
    ("run --provider= true", 2, "sctpiw run: --provider needs the name of a file"),
    # values of flags, which need a =
    ("run --share no -- true", 2, "--share no is not clear", "--share=no", "--share -- no"),
    ("run --share no true", 2, "--share no is not clear", "--share=no", "--share -- no"),
    ("run --in-order yes true", 2, "--in-order yes is not clear", "--in-order=yes", "--in-order -- yes"),
    ("run --in-order 1 true", 2, "--in-order 1 is not clear", "--in-order=1"),
    ("run --in-order=maybe true", 2, "--in-order: in-order = maybe is not understood", "yes, no, 1 or 0"),
    ("run --share= true", 2, "--share: share =  is not understood", "yes, no, 1 or 0"),
    # invalid values
    ("run --llp tcp true", 2, "--llp: llp = tcp is not understood", "udp, ip or kernel"),
    ("env --llp tcp", 2, "sctpiw env: --llp: llp = tcp is not understood", "udp, ip or kernel"),
    ("list --llp tcp", 2, "sctpiw list: --llp: llp = tcp is not understood", "udp, ip or kernel"),
    ("run --llp= true", 2, "--llp: llp =  is not understood", "udp, ip or kernel"),
    ("run --encap-port 65536 true", 2, "--encap-port: encap-port = 65536", "1 to 65535"),
    ("run --silent-limit 0 true", 2, "--silent-limit: silent-limit = 0", "from 1 to 86400"),
    ("run --silent-limit 5s true", 2, "--silent-limit: silent-limit = 5s", "from 1 to 86400"),
    ("run --request-limit -1 true", 2, "--request-limit: request-limit = -1", "from 1 to 1000000"),
    ("run --log verbose true", 2, "--log: log = verbose", "error, info or debug"),
    ("run --personality roce2 true", 2, "--personality: personality = roce2", "iwarp, roce or ib"),
    ("run --multipath both true", 2, "--multipath: multipath = both", "failover or spread"),
    ("run --multipath true", 2, "sctpiw run: --multipath: multipath = true", "failover or spread"),
    ("run --mutlipath spread true", 2, "there is no option --mutlipath", "did you mean --multipath"),
    ("SCTPIW_MULTIPATHS=spread run true", 0, "there is no variable SCTPIW_MULTIPATHS", "nearest is SCTPIW_MULTIPATH"),
    ("run --paths= true", 2, "--paths: paths =  is not understood", "auto, off, or up to 16 addresses"),
    ("run --paths auto,off true", 2, "--paths: paths = auto,off is not understood", "auto, off, or up to 16 addresses"),
    ("run --paths 10.0.0.0/33 true", 2, "--paths: paths = 10.0.0.0/33 is not understood", "up to 16 addresses"),
    ("run --paths 10.0.0.256 true", 2, "--paths: paths = 10.0.0.256 is not understood", "up to 16 addresses"),
    ("run --paths eth0,,eth1 true", 2, "--paths: paths = eth0,,eth1 is not understood", "with commas between them"),
    ("run --paths eth0{more} true", 2, "--paths: paths = eth0,eth1,", "up to 16 addresses"),
    ("run --personality ib --node-type rnic true", 2, "--node-type: node-type = rnic", "personality = ib of --personality"),
    ("run --node-type hca true", 2, "--node-type: node-type = hca", "rnic or ca"),
    ("run --peer-to-peer on true", 2, "--peer-to-peer: peer-to-peer = on", "off, send, write, read or any"),
    ("run --capture-size 100 true", 2, "--capture-size: capture-size = 100 is not understood", "from 128k to 1024G"),
    ("run --capture-size 1T true", 2, "--capture-size: capture-size = 1T is not understood", "with k, M, G"),
    ("run --capture-snaplen 0 true", 2, "--capture-snaplen: capture-snaplen = 0 is not", "bytes from 64 to 65535"),
    ("run --capture-files 0 --capture-size 1M true", 2, "--capture-files: capture-files = 0 is not", "from 1 to 1000"),
    ("run --capture {tmp}/k --capture-files 5 true", 2, "--capture-files: capture-files needs capture-size"),
    ("run --capture= true", 2, "--capture: capture =  is not understood", "a file"),
    # settings that conflict: the error names the user's text
    ("run --encap-port none true", 2, "--encap-port: encap-port does not go with llp = udp:", "same, or 1 to 65535"),
    ("SCTPIW_ENCAP_PORT=none run --log info true", 2, ": SCTPIW_ENCAP_PORT: encap-port does not go", "same, or"),
    ("run --llp ip --encap-port 9899 true", 2, ": --encap-port: encap-port does not go with llp = ip of --llp", "none"),
    ("SCTPIW_LLP=ip run --encap-port 9899 true", 2, ": --encap-port: ", "llp = ip of SCTPIW_LLP", "none"),
    ("SCTPIW_ENCAP_PORT=9899 run --llp ip true", 2, ": SCTPIW_ENCAP_PORT: ", "llp = ip of --llp", "none"),
    ("run --llp kernel --capture {tmp}/k true", 2, "--capture: capture does not go with llp = kernel", "tcpdump"),
    ("run --capture {tmp}/k --trace {tmp}/k true", 2, "--trace: trace does not go with capture", "of --capture"),
    # files of settings
    ("run --config /nowhere/f true", 2, "/nowhere/f: No such file"),
    ("run --config {tmp} true", 2, "{tmp}: Is a directory"),
    ("run --config {tmp}/tcp.conf true", 2, "{tmp}/tcp.conf:2: llp = tcp is not understood", "udp, ip or kernel"),
    ("run --config {tmp}/twice.conf true", 2, "{tmp}/twice.conf:4: log stands in line 1 already", "take one"),
    ("run --config {tmp}/typo.conf true", 2, "{tmp}/typo.conf:1: there is no setting lgo", "there are llp,"),
    ("run --config {tmp}/form.conf true", 2, "{tmp}/form.conf:1: this line is not of the form NAME = VALUE"),
    ("SCTPIW_CONFIG=/nowhere/f run --log info true", 2, "/nowhere/f: No such file"),
    # output files
    ("run --capture /nowhere/f true", 2, "sctpiw run: --capture /nowhere/f: No such file"),
    ("run --trace {tmp} true", 2, "sctpiw run: --trace {tmp}: Is a directory"),
    # this installation
    ("run --provider /nowhere/x-rdmav34.so true", 125, "sctpiw run: provider /nowhere/x-rdmav34.so: No such file"),
    ("run --provider /bin/true true", 125, "sctpiw run: ", "end in -rdmav34.so"),
    ("run --provider {tmp} true", 125, "sctpiw run: provider {tmp}: ", "not a file"),
    # the command
    ("run no-such-command-here", 127, "sctpiw run: no-such-command-here: ", "in the directories of PATH"),
    ("run /nowhere/at/all", 127, "sctpiw run: /nowhere/at/all: No such file"),
    ("run {tmp}/no-interpreter", 127, "sctpiw run: {tmp}/no-interpreter: ", "interpreter"),
    ("run {tmp}/tcp.conf", 126, "sctpiw run: {tmp}/tcp.conf: Permission denied", "chmod +x"),
    ("run {tmp}", 126, "sctpiw run: {tmp}: Permission denied", "has to be a program"),
    # warnings only
    ("SCTPIW_FOO=1 run true", 0, "sctpiw run: warning: there is no variable SCTPIW_FOO", "nearest is SCTPIW_LOG"),
    ("SCTPIW_LPP=ip run true", 0, "there is no variable SCTPIW_LPP", "nearest is SCTPIW_LLP"),
    ("SCTPIW_INORDER=1 run true", 0, "there is no variable SCTPIW_INORDER", "nearest is SCTPIW_IN_ORDER"),
    ("SCTPIW_CONF=1 run true", 0, "there is no variable SCTPIW_CONF;", "nearest is SCTPIW_CONFIG"),
    ("SCTPIW_PROVIDERS=1 env", 0, "sctpiw env: warning: there is no variable SCTPIW_PROVIDERS", "SCTPIW_PROVIDER"),
    ("SCTPIW_SYS_ROOT=1 list", 0, "sctpiw list: warning: there is no variable SCTPIW_SYS_ROOT", "SCTPIW_SYSROOT"),
    # queries of processes
    ("stat x", 2, "sctpiw stat: x is not the number of a process", "'sctpiw stat' shows all"),
    ("stat ''", 2, "is not the number of a process"),
    ("stat 0", 2, "0 is not the number of a process"),
    ("stat -- -1", 2, "-1 is not the number of a process"),
    ("stat 99999999999", 2, "is not the number of a process"),
    ("stat 1 2", 2, "sctpiw stat: takes one process: take 2 away"),
    ("stat --watch 5", 2, "--watch 5 is not clear", "--watch=5", "--watch -- 5"),
    ("stat --watch=", 2, "--watch= is not understood", "0.1 to 86400"),
    ("stat --watch=0", 2, "--watch=0 is not understood", "0.1 to 86400"),
    ("stat --watch=1.2.3", 2, "--watch=1.2.3 is not understood", "0.1 to 86400"),
    ("stat --json=yes", 2, "sctpiw stat: --json takes no value"),
    ("stat --jsno", 2, "sctpiw stat: there is no option --jsno", "did you mean --json"),
    ("stat --llp ip", 2, "sctpiw stat: there is no option --llp", "--help"),
    ("stat 4194999", 1, "sctpiw stat: there is no process 4194999"),
    ("stat --watch 4194999", 1, "sctpiw stat: there is no process 4194999"),
    ("stat {self}", 1, "process {self} does not have the device", "sctpiw run"),
    ("XDG_RUNTIME_DIR={tmp} stat --json {self}", 1, "process {self} does not have the device"),
    ("counters x", 2, "sctpiw counters: x is not the number of a process", "'sctpiw counters' shows all"),
    ("counters --watch", 2, "sctpiw counters: there is no option --watch", "--help"),
    ("counters {self}", 1, "sctpiw counters: process {self} does not have the device"),
    ("sta", 2, "no such command: sta", "did you mean stat"),
    # faults
    ("run --faults 'packets: dorp' true", 2, "sctpiw run: --faults:1:10: dorp begins no action", "sctpiw fault --help"),
    ("run --faults 'reg_mr fail with EIO' true", 2, "--faults:1:1: reg_mr begins no action", "with a colon"),
    ("run --faults 'packets: drop; reg_mr: drop' true", 2, "--faults:1:24: drop cannot be done to reg_mr"),
    ("SCTPIW_FAULTS='packets: dorp' run --log info true", 2, ": SCTPIW_FAULTS:1:10: dorp begins no action"),
    ("run --faults {tmp}/wrong.faults true", 2, "{tmp}/wrong.faults:2:19: ENOENTRY is no errno", "--help"),
    ("run --faults /nowhere/f true", 2, "/nowhere/f: No such file"),
    ("run --faults= true", 2, "--faults: faults =  is not understood", "rules"),
    ("run --faults", 2, "sctpiw run: --faults needs a value", "--faults=VALUE"),
    ("run --fault-seed 0 true", 2, "--fault-seed: fault-seed = 0 is not understood", "from 1"),
    ("run --fault-seed -1 true", 2, "--fault-seed: fault-seed = -1 is not understood", "from 1"),
    ("fault", 2, "sctpiw fault: PID is missing", "--help"),
    ("fault x list", 2, "sctpiw fault: x is not the number of a process", "sctpiw stat"),
    ("fault {self}", 2, "sctpiw fault: RULES, list or remove is missing", "--help"),
    ("fault {self} remove", 2, "remove needs the number of a rule, or all"),
    ("fault {self} remove first", 2, "first is not the number of a rule"),
    ("fault {self} packets: drop", 2, "drop is one word too many", "in quotes"),
    ("fault {self} list now", 2, "now is one word too many"),
    ("fault {self} 'packets: dorp'", 2, "sctpiw fault: 1:10: dorp begins no action"),
    ("fault {self} '# nothing'", 2, "there is no rule in this"),
    ("fault {self} list", 1, "sctpiw fault: process {self} does not have the device"),
    ("fault --json {self} list", 2, "sctpiw fault: there is no option --json", "--help"),
    ("fualt", 2, "no such command: fualt", "did you mean fault"),
    # keygen
    ("keygen {tmp}/nowhere/key", 1, "sctpiw keygen: {tmp}/nowhere/key: No such file"),
    ("keygen a b", 2, "sctpiw keygen: takes one file: take b away"),
    ("run --key {tmp}/nowhere true", 2, "nowhere: No such file"),
    # torture
    ("torture", 2, "sctpiw torture: no command given", "--help"),
    ("torture --timeout 0 true", 2, "sctpiw torture: --timeout=0 is not understood", "0.1 to 86400"),
    ("torture --timeout soon true", 2, "--timeout=soon is not understood", "seconds"),
    ("torture --max 0 true", 2, "--max=0 is not understood", "from 1"),
    ("torture --max many true", 2, "--max=many is not understood", "from 1"),
    ("torture --error EWRONG true", 2, "--error=EWRONG is not understood", "ENOMEM"),
    ("torture false", 125, "sctpiw torture: false fails even without a fault (exit 1", "exit status 0"),
    ("torture {tmp}/nowhere", 127, "nowhere fails even without a fault"),
    ("torture true", 125, "sctpiw torture: true calls neither verbs nor rdma_cm", "sctpiw doctor -- true"),
    ("torture --json true", 125, "sctpiw torture: true calls neither verbs nor rdma_cm", "nothing was tested"),
    ("run --paths lo,eth99 true", 0, "warning: paths: this host has no interface eth99;", "ip link"),
    ("run --faults 'packets: drop 1%' true", 2, "--faults:1:15: 1% stands", "probability 0.01"),
    # the device is never used
    ("run --summary true", 0, "sctpiw: true ended, and no program of it opened", "sctpiw doctor -- true"),
    ("run --summary sh -c 'ls / && exit 3'", 3, "sctpiw: sh ended, and no program of it opened"),
    ("run --summary ibv_devices", 0, "sctpiw: ibv_devices ended"),
    ("run --summary sh -c '{sctpiw} run --summary true'", 0, "sctpiw: sh ended"),
    ("run --capture={tmp}/--f true", 0, "sctpiw: true ended"),
    ("run --faults {tmp}/right.faults --fault-seed 3 true", 0, "sctpiw: true ended, and no program"),
    ("run --timeout 1 true", 2, "there is no option --timeout", "--help"),
    ("tortuer true", 2, "no such command: tortuer", "did you mean torture"),
    ("run --summary no true", 2, "--summary no is not clear", "--summary=no"),
    # no device
    ("list --provider {wrong}", 1, "no RDMA device", "interface version", "install both from one release"),
]

SIXTEEN = "".join(f",eth{number}" for number in range(1, 17))

# Correct uses: nothing is printed on standard error.
SILENT = [
    ("run true", 0),
    ("run --share -- true", 0),
    ("run --share=no true", 0),
    ("run --share true", 0),
    ("run --silent 3 true", 0),
    ("run --encap-port none --llp ip true", 0),
    ("run --share -- {tmp}/no", 3),
    ("run --paths lo,10.0.0.0/8,::1 --multipath spread true", 0),
    ("SCTPIW_LLP=tcp run true", 0),
    ("SCTPIW_SYSROOT={tmp} SCTPIW_NO_INSTALL=1 SCTPIW_BUILD=1 SCTPIW_E2E_SLOW=1 SCTPIW_BENCH_NETNS=1 run true", 0),
    ("SCTPIWFOO=1 run true", 0),
    ("list", 0),
    ("list --json", 0),
    ("doctor", 0),
    ("doctor --json -- true", 0),
    ("doctor --help", 0),
    ("help doctor", 0),
    ("SCTPIW_FOO=1 doctor", 0),
    ("SCTPIW_LLP=tcp doctor", 1),
    ("doctor -- {tmp}/no-interpreter", 1),
    ("help", 0),
    ("help list", 0),
    ("help stat", 0),
    ("stat --help", 0),
    ("counters -h", 0),
    ("run sh -c 'exit 3'", 3),
    ("fault --help", 0),
    ("help fault", 0),
    ("torture --help", 0),
    ("keygen", 0),
    ("keygen --help", 0),
    ("version", 0),
    ("run --help", 0),
    ("env --help", 0),
]


def run(sctpiw, fake, line):
    """Returns the exit status of a command line, and its standard error."""
    words = shlex.split(line)
    env = {name: value for name, value in os.environ.items() if not name.startswith("SCTPIW_")}
    env["SCTPIW_CONFIG"] = "/dev/null"
    while words and "=" in words[0] and not words[0].startswith("-"):
        name, value = words.pop(0).split("=", 1)
        env[name] = value
    if words[:1] in (["run"], ["env"], ["list"], ["doctor"]) and "--provider" not in line:
        words[1:1] = ["--provider", fake]
    done = subprocess.run([sctpiw, *words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, timeout=60)
    return done.returncode, done.stderr


def make_files(tmp):
    files = {
        "tcp.conf": "log = info\nllp = tcp\n",
        "twice.conf": "log = info\n# a comment\nllp = udp\nlog = debug\n",
        "typo.conf": "lgo = info\n",
        "form.conf": "log\n",
        "wrong.faults": "# a comment\nreg_mr: fail with ENOENTRY\n",
        "right.faults": "# a comment\nreg_mr: fail with EIO; packets: drop\n",
        "no-interpreter": "#!/nowhere/interpreter\n",
        "no": "#!/bin/sh\nexit 3\n",
    }
    for name, text in files.items():
        with open(f"{tmp}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    for name in ("no-interpreter", "no"):
        os.chmod(f"{tmp}/{name}", 0o755)


def main():
    sctpiw, fake, wrong = sys.argv[1:]
    failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        make_files(tmp)
        for line, status, *words in CASES + SILENT:
            line = line.format(tmp=tmp, wrong=wrong, sctpiw=sctpiw, self=os.getpid(), more=SIXTEEN)
            words = [word.format(tmp=tmp, self=os.getpid()) for word in words]
            got, text = run(sctpiw, fake, line)
            good = got == status and all(word in text for word in words)
            if words:
                good = good and text.startswith("sctpiw") and text.endswith("\n") and text.count("\n") == 1
            else:
                good = good and not text
            if not good:
                failed += 1
                print(f"{line}: expected {status} and {words}, got {got}: {text}")
    print(f"{len(CASES)} wrong uses, {len(SILENT)} right ones, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
