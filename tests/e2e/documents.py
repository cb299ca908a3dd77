#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The commands in documents do what the documents describe. A case is a block of commands in README.md, in
docs/guide.md, or in the EXAMPLES of a manual page.

A block is indented by four columns, or fenced as a language of the shell. A block is a script or a session. In a
session, lines after "$ " are typed, lines after "server$ " and "client$ " on two hosts. Lines below a command are its
output: their first words must come. In a page of section 5, a block is a file of settings.

Blocks run from a directory that looks like the tree, in network namespaces with the addresses of the documents.
"""
import contextlib
import functools
import os
import pathlib
import re
import sys
import tempfile
import time

import harness
from harness import BUILD, ROOT, Failure, Skip, Veth, need, start

# Commands that a test cannot run, or that do too much, with the reason or the test that runs them.
LEFT_OUT = {
    "git clone URL sctpiw && cd sctpiw": "the repository has no address of its own",
    'docker run --rm -v "$PWD:$PWD" -w "$PWD" debian:12 ./build.sh demo': "needs a registry of images; ./build.sh roots"
                                                                          " --native does the same in a root",
    "./build.sh deb": "takes minutes; ./build.sh test and roots run it",
    "sudo apt install ./build/dist/sctpiw_0.2.0_amd64.deb ./build/dist/libsctpiw_0.2.0_amd64.deb":
        "changes the machine; ./build.sh roots installs them in fresh roots",
    "./build.sh rpm": "takes minutes; ./build.sh test runs it",
    "sudo dnf install ./build/dist/sctpiw-0.2.0-1.x86_64.rpm ./build/dist/sctpiw-libs-0.2.0-1.x86_64.rpm":
        "needs Fedora; ./build.sh rpm runs what it would install",
    "sctpiw stat --watch=5": "does not end; e2e.stat interrupts it",
    "build/bin/sctpiw stat --watch=5": "does not end; e2e.stat interrupts it",
    "sctpiw run --cert node1.pem --cert-key node1.key --ca ca.pem -- ibv_devinfo":
        "needs certificates; e2e.certificates makes some as docs/security.md says",
}
MPI = "build/bin/e2e-mpi"
# Replacements for text of the documents.
INSTEAD = {
    "./build.sh demo": "utils/demo",  # ctest runs after the build
    "SERVER-ADDRESS": "192.0.2.1",
    "doctor server:": "doctor 192.0.2.1:",  # the test knows no host names
    "sleep 1": "sleep 2",  # a busy machine may need longer to start a server
    " PROGRAM": f" -np 2 --oversubscribe {MPI} p2p",
}
# Servers that go on after their clients have gone.
ENDLESS = ("sctpiw doctor --listen 18515",)
# Programs that some machines lack. A block that needs a missing program is skipped by name.
OPTIONAL = ("jq", "mpirun", "tshark")
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
SECONDS = 100  # a block that takes longer hangs

PROMPT = re.compile(r"(server|client|)\$ (.*)")
SHELLS = ("", "sh", "bash", "console")
used = set()  # entries of LEFT_OUT, INSTEAD and ENDLESS


class Documented(Veth):
    """Two hosts with the addresses of the documents (RFC 5737, 3849)."""

    subnets = {4: "192.0.2.{}", 6: "2001:db8::{}"}


harness.LINKS["documented"] = lambda name, family: Documented(name, family, 1500)


# ------------------------------------------------------------------ the blocks of documents

def indented(lines):
    """The indented blocks of a Markdown document: (number of the first line, lines)."""
    begin = None
    for number, line in enumerate([*lines, "end"]):
        if begin is None and line.startswith("    ") and not lines[number - 1].strip():
            begin = number
        elif begin is not None and line.strip() and not line.startswith("    "):
            yield begin, [text[4:] for text in lines[begin:number]]
            begin = None


def fenced(lines, below=""):
    """The blocks between ```: all, or those below this heading."""
    begin, heading = None, ""
    for number, line in enumerate(lines):
        if begin is not None and line == "```":
            if below in ("", heading) and lines[begin][3:] in SHELLS:
                yield begin, lines[begin + 1:number]
            begin = None
        elif begin is None and line.startswith("```"):
            begin = number
        elif begin is None and line.startswith("# "):
            heading = line[2:]


def blocks():
    """All blocks: (document, number of the first line, lines)."""
    for name in "README.md", "docs/guide.md":
        lines = (ROOT / name).read_text().splitlines()
        yield from ((name, number + 1, block) for number, block in sorted([*indented(lines), *fenced(lines)]))
    for page in sorted((ROOT / "docs/man").glob("*.scd")):
        found = list(fenced(page.read_text().splitlines(), "EXAMPLES"))
        if not found and not page.stem.endswith(".7"):
            raise Failure(f"{page.name} has no example")
        yield from ((page.name, number + 1, block) for number, block in found)


def typed(lines):
    """The commands of a block, as {host: [commands]}, and the first words of its lines of output."""
    if not any(PROMPT.fullmatch(line) for line in lines):
        return {"": [line for line in lines if line.strip()]}, []
    commands, shown, more = {}, [], None
    for line in lines:
        prompt = PROMPT.fullmatch(line)
        if more:
            more[-1] += "\n" + line
            more = more if line.endswith("\\") else None
        elif prompt:
            here = commands.setdefault(prompt[1], [])
            here.append(prompt[2])
            more = here if line.endswith("\\") else None
        elif line.strip():
            shown.append(line.split()[0])
    return commands, shown


def runnable(commands):
    """The commands that a test can run, in the form for the test."""
    kept = []
    for command in commands:
        plain = command.partition("  #")[0].strip()
        if plain in LEFT_OUT:
            used.add(plain)
            continue
        for text, instead in INSTEAD.items():
            if text in command:
                used.add(text)
                command = command.replace(text, instead)
        used.update({command} & {*ENDLESS})
        kept.append(command)
    return kept


# ------------------------------------------------------------------ runs of blocks

@contextlib.contextmanager
def place():
    """A directory that looks like a built tree, into which blocks may write."""
    with tempfile.TemporaryDirectory() as name:
        here = pathlib.Path(name)
        for path in ROOT.iterdir():
            if not path.name.startswith((".", "build")):
                (here / path.name).symlink_to(path)
        (here / "build").symlink_to(BUILD)
        (here / "your-program").symlink_to("/usr/bin/ibv_devices")
        (here / "Makefile").write_text("check:\n\tibv_devices\n")
        yield here


def script(link, here, host, commands):
    environment = dict(ENVIRONMENT, PATH=f"{BUILD}/bin:{os.environ['PATH']}:/usr/sbin:/sbin", HOME=str(here))
    text = f"cd {here}\n" + "\n".join(commands)
    return start(host or "block", ["bash", "-e", "-o", "pipefail", "-c", text], link, host or "client", rdma=False,
                 env=environment)


def wait_for_socket(program):
    """Waits until a socket on the program's host accepts connections. The host has one server."""
    deadline = time.monotonic() + 10 * harness.SLOW
    while not harness.serves(program.pid):
        if not program.running() or time.monotonic() > deadline:
            raise Failure(f"the server does not listen: {program.output()}")
        time.sleep(0.02)
    time.sleep(0.1)  # a server binds shortly before it listens


def check_output(program, shown):
    words = iter([line.split()[0] for line in program.output().splitlines() if line.strip()])
    for word in shown:
        if word not in words:  # also removes the words before it
            raise Failure(f"the document shows a line that begins with {word}, which does not come, or not there")


def run_block(page, lines, link):
    if page.endswith(".5.scd"):
        commands, shown = {"": ["cat >settings <<'END'", *lines, "END", "sctpiw run --config settings -- ibv_devices"]}, []
    else:
        commands, shown = typed(lines)
    commands = {host: runnable(lines) for host, lines in commands.items()}
    if not any(commands.values()):
        raise Skip("nothing of it is run, see lists")
    need(*(name for name in OPTIONAL if any(re.search(rf"\b{name} ", line) for here in commands.values() for line in here)))
    if MPI in str(commands) and not (BUILD / "bin/e2e-mpi").exists():
        raise Skip("built without Open MPI")
    with place() as here:
        if commands.get(""):
            program = script(link, here, "", commands[""])
            program.expect(SECONDS)
            check_output(program, shown)
        if commands.get("server"):
            server = script(link, here, "server", commands["server"])
            wait_for_socket(server)
        if commands.get("client"):
            script(link, here, "client", commands["client"]).expect(SECONDS)
        if commands.get("server") and commands["server"][-1] not in ENDLESS:
            server.expect(10)
        harness.kill_all()


def lists_are_true(_link):
    """Each entry of the tables above occurs in a document."""
    for _, _, lines in blocks():
        for commands in typed(lines)[0].values():
            runnable(commands)
    for text, reason in LEFT_OUT.items():
        print(f"     not run: {text}: {reason}")
    unused = sorted({*LEFT_OUT, *INSTEAD, *ENDLESS} - used)
    if unused:
        raise Failure(f"no document has: {'; '.join(unused)}")


if __name__ == "__main__":
    sys.exit(harness.main([
        *((f"{page}:{number}", functools.partial(run_block, page, lines)) for page, number, lines in blocks()),
        ("lists", lists_are_true),
    ]))
