#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Two threads on different engines write no cache line that the other thread, or its progress thread, reads or writes.

valgrind's lackey prints each access to memory, and each switch between threads. It does not see writes of the kernel.
valgrind numbers threads from 1: the first worker, which is the main thread, the progress threads, the other worker.
"""
import collections
import os
import pathlib
import re
import select
import signal
import sys
import tempfile
import threading

import harness
from harness import BUILD, Failure, start

LINE = 64
SLICE = 20_000  # accesses
SCHEDULED = re.compile(r"SCHED\[(\d+)\]:\s+acquired lock")
MAIN = 1
LIMIT = 150


class Line(collections.namedtuple("Line", "written read")):
    """Accesses of threads to a line: the address of the last instruction of each thread that wrote or read the line."""

    def users(self):
        return self.written.keys() | self.read.keys()


def accesses(trace):
    """Yields (thread, True for a write, cache line, address of the instruction) for each access in the trace."""
    thread, at = MAIN, ""
    for text in trace:
        kind = text[1:2]
        if text[0] == "I":
            at = text[3:].partition(",")[0]
        elif text[0] == " " and kind in "LSM":
            address, _, size = text[3:].partition(",")
            first = int(address, 16)
            for line in range(first // LINE, (first + int(size) - 1) // LINE + 1):
                yield thread, kind != "L", line, at
        elif found := SCHEDULED.search(text):
            thread = int(found[1])


def slices(trace, other):
    """The accesses since the other worker's start, in pieces of SLICE: counts by thread, and {cache line: Line}."""
    pieces, n = [], 0
    for thread, writes, line, at in accesses(trace):
        if not pieces and thread != other:
            continue
        if n % SLICE == 0:
            pieces.append((collections.Counter(), {}))
        n += 1
        count, lines = pieces[-1]
        count[thread] += 1
        if line not in lines:
            lines[line] = Line({}, {})
        (lines[line].written if writes else lines[line].read)[thread] = at
    return pieces


def third_quarter(pieces, worker):
    """The pieces of the third quarter of a worker's accesses, when the worker has all its resources and does not end
    yet."""
    total, done = sum(count[worker] for count, _ in pieces), 0
    if not total:
        raise Failure(f"thread {worker} has left no trace")
    for piece in pieces:
        if total // 2 <= done < total * 3 // 4:
            yield piece
        done += piece[0][worker]


def steady(pieces, workers):
    """The threads and lines of each worker's third quarter, without the other worker, whose quarter may be later."""
    threads, all_lines = set(), {}
    for worker in workers:
        others = set(workers) - {worker}
        for count, lines in third_quarter(pieces, worker):
            threads |= count.keys() - others
            for line, by in lines.items():
                known = all_lines.setdefault(line, Line({}, {}))
                for to, users in ((known.written, by.written), (known.read, by.read)):
                    to.update({thread: at for thread, at in users.items() if thread not in others})
    return threads, all_lines


def engines(threads, lines, workers):
    """The threads of each engine: a worker, and the progress threads that share most lines with this worker."""
    groups = {worker: {worker} for worker in workers}
    for thread in threads - set(workers):
        common = collections.Counter(worker for by in lines.values() for worker in workers
                                     if by.written.keys() & {thread, worker} and {thread, worker} <= by.users())
        if not common:
            raise Failure(f"thread {thread} has no lines in common with any worker")
        groups[max(workers, key=lambda worker: common[worker])].add(thread)
    return list(groups.values())


def contended(lines, groups):
    """The lines that a thread of one group has written, and a thread of another group has written or read."""
    return {line: by for line, by in lines.items() if by.written and sum(bool(by.users() & group) for group in groups) > 1}


def wait_for_trace(program, trace):
    """Waits until the trace begins, or the program ends."""
    while not select.select([trace], [], [], 0.1)[0]:
        if not program.running():
            raise Failure(f"{program.name} ended with status {program.process.returncode} before it wrote a trace")


def traced(link, number, operation):
    """Runs two threads on `number` engines. Returns their trace as slices()."""
    other = MAIN + number + 1
    with tempfile.TemporaryDirectory(prefix="sctpiw-e2e-") as directory:
        path = pathlib.Path(directory, "trace")
        os.mkfifo(path)
        trace = open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), encoding="ascii", errors="replace")
        program = start("both-ends", ["valgrind", "--tool=lackey", "--basic-counts=no", "--trace-mem=yes", "--trace-sched=yes",
                                      "--fair-sched=try", f"--log-file={path}", BUILD / "bin/both-ends", *operation, 2],
                        link, options=["--engines", number])
        watchdog = threading.Timer(LIMIT * program.patience, program.signal, [signal.SIGKILL])
        watchdog.start()
        with trace:
            try:
                wait_for_trace(program, trace)
                os.set_blocking(trace.fileno(), True)
                pieces = slices(trace, other)
            finally:
                watchdog.cancel()
        program.expect(10)
    return pieces, other


def measure(link, number, operation):
    """The number of contended lines, and a text of some of them, with addresses of instructions."""
    harness.need("valgrind")
    pieces, other = traced(link, number, operation)
    threads, lines = steady(pieces, (MAIN, other))
    found = contended(lines, engines(threads, lines, (MAIN, other)))
    return len(found), "".join(f"\n{line * LINE:x}: written {by.written}, read {by.read}" for line, by in list(found.items())[:20])


def apart(*operation):
    def case(link):
        number, text = measure(link, 2, operation)
        if number:
            raise Failure(f"two engines have contended for {number} cache lines:{text}")
    return case


def together(link):
    """With one engine, the threads share nearly all lines. This shows that the test can see shared lines."""
    number, _ = measure(link, 1, ("write", 64, 128, 1920))
    if number < 100:
        raise Failure(f"two threads on one engine had {number} cache lines in common")


CASES = [
    ("write", apart("write", 64, 128, 1920)),
    ("send", apart("send", 64, 128, 1920)),
    ("read", apart("read", 64, 16, 640)),
    ("one-engine", together),
]

if __name__ == "__main__":
    sys.exit(harness.main(CASES))
