#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks that the tests detect errors in the code.

usage: mutate.py --count N [--seed S] [--dir ROOM] [--jobs J] [--keep-going] [--work DIR]
       mutate.py [--jobs J] [--work DIR] ID...

Changes one place of providers/sctpiw/{wire,sctp,iwarp,conn,runtime} at a time, in a copy of the tree with
its own build. Then runs the programs that could detect the change, until one fails. These are the unit,
conformance and fuzz-replay programs that link the room, also under valgrind. For conn and runtime, the
verbs programs follow under the launcher; they must fail twice, since they measure time. Prints the ID of
each mutant, the change, and the failure that killed it, or SURVIVED. A survivor is either equivalent (the
change has no effect) or a gap in the tests.

  --count N      try N mutants; mutants that do not compile, or give the same object code, do not count
  --seed S       draw with this seed (1); the same tree and seed give the same mutants
  --dir ROOM     draw mutants from this room only; may be given more than once
  --jobs J       try J mutants at a time, each in its own copy (2)
  --keep-going   continue after a survivor; without this option the first survivor ends the run
  --work DIR     keep the copies and builds there; the next run starts from them
  ID             FILE:LINE:COLUMN:OPERATOR of a mutant as printed: try this mutant again

An operator is drawn first, and then a place for it, so that rare operators are tried, too. A program
that runs for five times its usual time hangs, which kills the mutant. A program that fails without a
change is reported and omitted; so is a verbs program that takes longer than SLOW seconds. Exit status: 0
if all mutants were killed, 1 if some survived.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROVIDER = pathlib.Path("providers/sctpiw")
ROOMS = ("wire", "sctp", "iwarp", "conn", "runtime")
VERBS_ROOMS = {"conn", "runtime"}  # rooms that the verbs programs test
ARGUMENTS = {"test_stack_sim": ["--all", "1", "2"]}  # instead of hundreds of seeds
VALGRIND = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full"]  # as in tests/unit
MEMORY = 4 << 30  # bytes; a mutant may allocate without end
SLOW = 8  # seconds

TOKEN = re.compile(r"""
    (?P<skip> /\*.*?\*/ | //[^\n]* | ^[ \t]*\#(?:[^\n\\]|\\.)* | \s+ | "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' )
  | (?P<name> [A-Za-z_]\w* )
  | (?P<number> (?:0[xX][0-9a-fA-F]+ | \d+(?:\.\d+)?) [uUlL]* )
  | (?P<op> \.\.\. | <<= | >>= | -> | \+\+ | -- | << | >> | [<>=!]= | && | \|\| | [-+*/%&|^]= | . )
""", re.X | re.S | re.M)

FLIPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ASSIGNMENTS = {"|=": "=", "&=": "=", "^=": "=", "+=": "-=", "-=": "+=", "*=": "/=", "<<=": ">>=", ">>=": "<<="}
KEYWORDS = {"if", "else", "for", "while", "do", "switch", "case", "default", "return", "goto", "break",
            "continue", "sizeof", "struct", "union", "enum", "const", "static", "unsigned", "int", "char"}
LEAVES = {"return", "goto", "continue", "break"}
UNTOUCHED = {"assert", "static_assert", "_Static_assert"}

Token = collections.namedtuple("Token", "kind text start end")
Mutation = collections.namedtuple("Mutation", "file line column operator start end new")


def fail(message):
    sys.exit(f"mutate.py: {message}")


# ---- places to change ----

def tokenize(text):
    return [Token(m.lastgroup, m[0], m.start(), m.end()) for m in TOKEN.finditer(text) if m.lastgroup != "skip"]


def pairs(tokens):
    """Maps the index of each opening bracket to the index of its closing bracket."""
    closes, stack = {}, []
    for i, token in enumerate(tokens):
        if token.text in ("(", "[", "{"):
            stack.append(i)
        elif token.text in (")", "]", "}") and stack:
            closes[stack.pop()] = i
    return closes


def bodies(tokens, closes):
    """Yields the indexes of the two braces of each function."""
    i = 0
    while i < len(tokens):
        if tokens[i].text == "{":
            if i and tokens[i - 1].text == ")":
                yield i, closes[i]
            i = closes[i]
        i += 1


def is_value(token):
    return token.kind == "number" or token.text in (")", "]") or (
        token.kind == "name" and token.text not in KEYWORDS)


def operators(tokens, i):
    """Yields the changes of the single token at i."""
    token = tokens[i]
    text = token.text
    if text in FLIPS:
        yield "relation", FLIPS[text]
    elif text in ("&&", "||"):
        yield "logic", "||" if text == "&&" else "&&"
    elif text == "!":
        yield "not", ""
    elif text in ASSIGNMENTS:
        yield "assign", ASSIGNMENTS[text]
    elif text in ("++", "--"):
        yield "step", ""
    elif text in ("+", "-") and is_value(tokens[i - 1]):
        yield "sign", "-" if text == "+" else "+"
    elif text in ("<<", ">>"):
        yield "shift", ">>" if text == "<<" else "<<"
    elif text in ("true", "false"):
        yield "bool", "false" if text == "true" else "true"
    elif token.kind == "number" and "." not in text:
        yield "constant", f"({text} + 1)"


def conditions(text, tokens, closes, i):
    """Yields the changes of the condition after the if or while at i."""
    if tokens[i].text not in ("if", "while") or tokens[i + 1].text != "(":
        return
    close = closes[i + 1]
    start, end = tokens[i + 1].end, tokens[close].start
    condition = text[start:end]
    leaves = tokens[close + 1 + (tokens[close + 1].text == "{")].text in LEAVES
    if tokens[i].text == "if":
        yield "check" if leaves else "never", start, end, f"0 && ({condition})"
        yield "always", start, end, f"1 || ({condition})"


def statement(tokens, closes, i):
    """Returns the index of the end of the call or assignment that starts at i, or None."""
    before, first = tokens[i - 1], tokens[i]
    if before.text not in (";", "{", "}", "else", ")") or first.text in KEYWORDS | UNTOUCHED:
        return None
    j = i
    if first.text == "*":
        if before.text == ")":
            return None  # a product or a cast
        j += 1
    if tokens[j].kind != "name" or tokens[j + 1].text not in ("(", "->", ".", "[", "=", *ASSIGNMENTS):
        return None
    while tokens[j].text != ";":
        if tokens[j].text in ("{", "}", ")", "?", ","):
            return None
        j = closes[j] if tokens[j].text in ("(", "[") else j
        j += 1
    return j


def swaps(text, tokens, closes, i):
    """Yields the call at i with two neighbouring arguments exchanged; the compiler refuses invalid calls."""
    if tokens[i].kind != "name" or tokens[i].text in KEYWORDS | UNTOUCHED or tokens[i + 1].text != "(":
        return
    arguments, j, first = [], i + 2, i + 2
    while j <= closes[i + 1]:
        if tokens[j].text == "," or j == closes[i + 1]:
            arguments.append(tokens[first:j])
            first = j + 1
        elif tokens[j].text in ("(", "[", "{"):
            j = closes[j]
        j += 1
    for a, b in zip(arguments, arguments[1:]):
        plain = all(t.kind != "op" or t.text in ("->", ".", "&", "*") for t in a + b)
        if not a or not b or not plain:
            continue
        left, between = text[a[0].start:a[-1].end], text[a[-1].end:b[0].start]
        right = text[b[0].start:b[-1].end]
        if left != right:
            yield a[0].start, b[-1].end, right + between + left


def in_parentheses_of_for(tokens, closes):
    inside = set()
    for i, token in enumerate(tokens):
        if token.text == "for" and tokens[i + 1].text == "(":
            inside.update(range(i + 2, closes[i + 1]))
    return inside


def mutations(name, text):
    tokens = tokenize(text)
    closes = pairs(tokens)
    loops = in_parentheses_of_for(tokens, closes)

    def mutation(operator, start, end, new):
        line = text.count("\n", 0, start) + 1
        column = start - text.rfind("\n", 0, start)
        return Mutation(name, line, column, operator, start, end, new)

    for begin, finish in bodies(tokens, closes):
        for i in range(begin + 1, finish):
            for operator, new in operators(tokens, i):
                yield mutation(operator, tokens[i].start, tokens[i].end, new)
            for operator, start, end, new in conditions(text, tokens, closes, i):
                yield mutation(operator, start, end, new)
            end = None if i in loops else statement(tokens, closes, i)
            if end:
                yield mutation("delete", tokens[i].start, tokens[end].start, "")
            for start, end, new in swaps(text, tokens, closes, i):
                yield mutation("swap", start, end, new)


def ident(m):
    return f"{m.file}:{m.line}:{m.column}:{m.operator}"


def shown(text, m):
    """Returns the line that changes, before and after, on one line."""
    def piece(s, start, end):
        return " ".join(s[s.rfind("\n", 0, start) + 1:(s + "\n").index("\n", end)].split())

    changed = text[:m.start] + m.new + text[m.end:]
    return f"{piece(text, m.start, m.end)}  =>  {piece(changed, m.start, m.start + len(m.new))}"


def drawn(every, seed):
    """Yields all mutations in the order of the seed: an operator is drawn first, then a place."""
    rng = random.Random(seed)
    places = collections.defaultdict(list)
    for m in every:
        places[m.operator].append(m)
    for kind in sorted(places):
        rng.shuffle(places[kind])
    while places:
        kind = rng.choice(sorted(places))
        yield places[kind].pop()
        if not places[kind]:
            del places[kind]


# ---- building and running ----

Program = collections.namedtuple("Program", "name targets rooms command")
Time = collections.namedtuple("Time", "cpu wall")  # seconds


def copy_changes(source, target):
    """Copies only files that differ, so that an existing build is continued."""
    target.mkdir(parents=True, exist_ok=True)
    names = {p.name for p in source.iterdir() if not re.fullmatch(r"\.git|__pycache__|build|build-.*", p.name)}
    for path in target.iterdir():
        if path.name not in names:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name in names:
        here, there = source / name, target / name
        if here.is_symlink():
            continue  # no link is part of the build
        if here.is_dir():
            copy_changes(here, there)
        elif not there.exists() or here.read_bytes() != there.read_bytes():
            shutil.copyfile(here, there)
            there.chmod(here.stat().st_mode)


class Tree:
    """A private copy of the tree, and its build."""

    def __init__(self, directory, rooms):
        self.source = directory / "tree"
        self.build = directory / "build"
        copy_changes(ROOT, self.source)
        # Without debug information, the same code gives the same object file. Only a Debug build does not
        # optimize the whole provider at once, which takes long. An exchange of incompatible arguments,
        # which is only a warning by default, must not compile.
        self.call(["cmake", "-G", "Ninja", "-S", self.source, "-B", self.build, "-DSCTPIW_TESTS=ON",
                   "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O2 -DNDEBUG",
                   "-DCMAKE_C_FLAGS=-Werror=incompatible-pointer-types -Werror=int-conversion"])
        self.programs = [p for p in self.find_programs() if p.rooms & rooms]
        self.make(targets_of(self.programs), check=True)
        self.objects = self.hashes()
        self.limits = {}

    def call(self, command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            fail(f"{' '.join(map(str, command[:2]))} failed in the tree as it is:\n{done.stdout}{done.stderr}")
        return done.stdout

    def make(self, targets, check=False):
        command = ["nice", "ninja", "-C", self.build, "-j1", *targets]
        if check:
            self.call(command)
            return True
        return not subprocess.run(command, capture_output=True).returncode

    def find_programs(self):
        found = []
        tests = json.loads(self.call(["ctest", "--test-dir", self.build, "--show-only=json-v1"]))["tests"]
        for test in tests:
            found.extend(self.program_that_links(test["name"]))
        # ctest does not print the command of a program that is not built yet.
        listed = (self.build / "tests/verbs/CTestTestfile.cmake").read_text()
        for name, command in re.findall(r"^add_test\((verbs\.\S+) (.*)\)$", listed, re.M):
            command = shlex.split(command)
            program = pathlib.Path(command[command.index("--") + 1]).name
            targets = (program, "sctpiw", "sctpiw-preload", "sctpiw-launcher")
            found.append(Program(name, targets, VERBS_ROOMS, command))
        return found

    def program_that_links(self, name):
        match = re.fullmatch(r"(?:unit|conformance|valgrind)\.(test_\w+)|fuzz\.(\w+)", name)
        if not match:
            return
        target = match[1] or "fuzz_" + match[2]
        inputs = self.call(["ninja", "-C", self.build, "-t", "inputs", f"bin/{target}"])
        rooms = {room for room in ROOMS if f"libsctpiw_{room}.a" in inputs}
        command = [str(self.build / "bin" / target), *ARGUMENTS.get(target, [])]
        if match[2]:
            command.append(str(self.source / "tests/fuzz/corpus" / match[2]))
        if name.startswith("valgrind."):
            command = [*VALGRIND, *command]
        if rooms:
            yield Program(name, (target,), rooms, command)

    def hashes(self):
        objects = sorted((self.build / PROVIDER).rglob("*.o"))
        return {str(o.relative_to(self.build)): hashlib.sha256(o.read_bytes()).digest() for o in objects}

    def run(self, program, cpu, wall):
        """Returns the failure, or None, and the time of the run."""
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        start = time.monotonic()
        child = subprocess.Popen(["nice", *program.command], cwd=self.build, preexec_fn=limit,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 start_new_session=True)
        timer = threading.Timer(wall, os.killpg, (child.pid, signal.SIGKILL))
        timer.start()
        output = child.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = 0  # waited for above
        return verdict(status, output), Time(usage.ru_utime + usage.ru_stime, time.monotonic() - start)

    def measure(self):
        for program in self.programs:
            most = SLOW if program.rooms is VERBS_ROOMS else 600
            wrong, used = self.run(program, 600, most)
            if used.wall >= most:
                print(f"left out, takes longer than {most} s: {program.name}", file=sys.stderr)
            elif wrong:
                print(f"left out, fails as it is: {program.name}: {wrong}", file=sys.stderr)
            else:
                self.limits[program.name] = used

    def notices(self, program):
        """Returns the failure, or None."""
        used = self.limits[program.name]
        wrong, _ = self.run(program, int(5 * used.cpu) + 1, 5 * used.wall + 60)
        if wrong and program.rooms is VERBS_ROOMS:
            wrong, _ = self.run(program, int(5 * used.cpu) + 1, 5 * used.wall + 60)
        return wrong


def targets_of(programs):
    return sorted({target for program in programs for target in program.targets})


def verdict(status, output):
    if not status:
        return None
    if status & 0x7f:
        number = signal.Signals(status & 0x7f)
        return "hangs" if number in (signal.SIGXCPU, signal.SIGKILL) else number.name
    if status >> 8 == 77:
        return None  # skipped
    failed = re.findall(r"^\[  FAILED  \] (?!\d|tests)(?:\S+: )?(\w+)$", output, re.M)
    failed = failed or re.findall(r"^FAIL (\w+):", output, re.M)
    return failed[0] if failed else f"exit status {status >> 8}"


class Run:
    """Several threads try mutants from one queue, until the count is reached."""

    def __init__(self, texts, candidates, count, keep_going):
        self.texts = texts
        self.rooms = {name.split("/")[0] for name in texts}
        self.candidates = candidates
        self.count = count
        self.keep_going = keep_going
        self.lock = threading.Lock()
        self.results = collections.Counter()
        self.survivors = []
        self.killers = collections.defaultdict(collections.Counter)
        self.started = 0
        self.stop = False

    def next(self):
        with self.lock:
            if self.stop or self.started >= self.count:
                return None
            self.started += 1
            return next(self.candidates, None)

    def report(self, m, outcome, detail=""):
        with self.lock:
            self.results[outcome] += 1
            if outcome in ("does not compile", "same code"):
                self.started -= 1
                return
            if outcome == "SURVIVED":
                self.survivors.append(m)
                self.stop = self.stop or not self.keep_going
            print(f"{ident(m)}: {shown(self.texts[m.file], m)}\n\t{outcome} {detail}".rstrip(), flush=True)

    def try_one(self, tree, m):
        path = tree.source / PROVIDER / m.file
        text = self.texts[m.file]
        path.write_text(text[:m.start] + m.new + text[m.end:])
        try:
            room = m.file.split("/")[0]
            if not tree.make(["sctpiw_" + each for each in (*ROOMS, "net", "verbs")]):
                return self.report(m, "does not compile")
            now = tree.hashes()
            if all(now[name] == tree.objects[name] for name in now):
                return self.report(m, "same code")
            programs = [p for p in tree.programs if room in p.rooms and p.name in tree.limits]
            # Programs that killed mutants of this file run first, then the fastest.
            seen = self.killers[m.file]
            programs.sort(key=lambda p: (-seen[p.name], tree.limits[p.name].wall))
            for i in range(0, len(programs), 6):
                if not tree.make(targets_of(programs[i:i + 6])):
                    return self.report(m, "does not compile")
                for program in programs[i:i + 6]:
                    wrong = tree.notices(program)
                    if wrong:
                        seen[program.name] += 1
                        return self.report(m, "killed", f"{program.name}: {wrong}")
            return self.report(m, "SURVIVED")
        finally:
            path.write_text(text)

    def work(self, directory):
        try:
            tree = Tree(directory, self.rooms)
            tree.measure()
            while True:
                m = self.next()
                if m is None:
                    return
                self.try_one(tree, m)
        except BaseException as error:  # an error of one thread ends all threads
            with self.lock:
                self.stop = True
            print(repr(error), file=sys.stderr)
            self.results["error"] += 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0],
                                     description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("ids", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--dir", action="append", choices=ROOMS, help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=2, help=argparse.SUPPRESS)
    parser.add_argument("--work", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--keep-going", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if bool(args.ids) == bool(args.count):
        parser.error("either --count or the IDs of mutants")

    texts = {}
    for room in args.dir or ROOMS:
        for path in sorted((ROOT / PROVIDER / room).glob("*.[ch]")):
            texts[f"{room}/{path.name}"] = path.read_text()
    every = [m for name, text in texts.items() for m in mutations(name, text)]
    if args.ids:
        missing = set(args.ids) - {ident(m) for m in every}
        if missing:
            fail(f"no such mutant: {', '.join(sorted(missing))}")
        chosen = [m for m in every if ident(m) in args.ids]
    else:
        chosen = list(drawn(every, args.seed))
    run = Run(texts, iter(chosen), len(chosen) if args.ids else args.count, args.keep_going or bool(args.ids))

    start = time.monotonic()
    directory = (args.work or pathlib.Path(tempfile.mkdtemp(prefix="sctpiw-mutate-"))).resolve()
    threads = []
    for number in range(min(args.jobs, run.count)):
        threads.append(threading.Thread(target=run.work, args=(directory / str(number),)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    if not args.work:
        shutil.rmtree(directory)

    got = run.results
    tried = got["killed"] + got["SURVIVED"]
    print(f"{tried} of {len(every)} mutants in {time.monotonic() - start:.0f} s: {got['killed']} killed,"
          f" {got['SURVIVED']} survived; besides, {got['does not compile']} did not compile,"
          f" {got['same code']} made no difference to the compiler")
    for m in run.survivors:
        print(f"SURVIVED {ident(m)}: {shown(texts[m.file], m)}")
    sys.exit(1 if run.survivors or got["error"] else 0)


if __name__ == "__main__":
    main()
