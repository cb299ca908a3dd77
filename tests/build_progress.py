#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests the progress display of build.sh and utils/progress.py: a changing line on a terminal, plain lines elsewhere,
and the end of a log when a stage fails."""
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCE = 'verbose=%s; say() { printf "%%s\\n" "build.sh: $*" >&2; }; . ' + str(ROOT / "utils/progress.sh") + "; "
CHANGES = "\r\x1b[K"  # the beginning of a changing line
# A command waits, with a time limit, until the text of this number was seen.
WAIT = 'n=0; while [ ! -e seen%d ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done; '
STAGE = 'quietly "the stage" log sh -c %s'


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR")}
    return kept | {"TERM": "xterm"} | more


def on_terminal(argv, place, seen=(), **more):
    """Runs a program on a terminal. Returns its exit status and its output. seen: patterns; once the output has the
    next pattern, makes a file of its number, for which the program may wait."""
    left = list(enumerate(seen, 1))
    ours, theirs = pty.openpty()
    program = subprocess.Popen(argv, cwd=place, env=environment(**more), stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = b""
    while True:
        try:
            read = os.read(ours, 4096)
        except OSError:  # the end of a terminal
            break
        if not read:
            break
        text += read
        while left and re.search(left[0][1], text.decode(errors="replace")):
            (pathlib.Path(place) / f"seen{left.pop(0)[0]}").touch()
    os.close(ours)
    return program.wait(), text.decode().replace("\r\n", "\n")


def elsewhere(argv, place):
    done = subprocess.run(argv, cwd=place, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    return done.returncode, done.stdout


def shell(text, verbose=""):
    return ["bash", "-euo", "pipefail", "-c", SOURCE % verbose + text]


class Shell(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)

    def log(self):
        return (self.place / "build/log/log.log").read_text()

    def test_stage_is_one_line_in_a_pipe(self):
        status, text = elsewhere(shell(STAGE % "'echo inside; echo and out >&2'"), self.place)
        self.assertEqual((status, text), (0, "build.sh: the stage\n"))
        self.assertEqual(self.log(), "inside\nand out\n")

    def test_failed_stage_shows_the_end_of_its_log(self):
        for run in elsewhere, on_terminal:
            status, text = run(shell(STAGE % "'seq 1 500; echo what is wrong; exit 3'"), self.place)
            self.assertEqual(status, 3)
            self.assertTrue(text.endswith("\n500\nwhat is wrong\nbuild.sh: the stage: failed; the whole log is "
                                          "build/log/log.log\n"), text)
            self.assertNotIn("\n400\n", text)

    def test_log_that_cannot_be_written(self):
        (self.place / "build/log/log.log").mkdir(parents=True)
        status, text = elsewhere(shell(STAGE % "'touch ran'"), self.place)
        self.assertNotEqual(status, 0)
        self.assertRegex(text, r"^.*build/log/log\.log: Is a directory\n$")
        self.assertFalse((self.place / "ran").exists())

    def test_failure_does_not_end_who_goes_on(self):
        text = elsewhere(shell("failed=; " + STAGE % "false" + " || failed=yes; echo on, $failed"), self.place)[1]
        self.assertTrue(text.endswith("\non, yes\n"), text)

    def test_verbose_shows_all(self):
        status, text = elsewhere(shell(STAGE % "'echo inside'", verbose="yes"), self.place)
        self.assertEqual((status, text), (0, "build.sh: the stage\ninside\n"))

    def test_line_changes_on_a_terminal(self):
        seen = [re.escape(CHANGES) + text for text in (r"build.sh: the stage: \d+ s so far",
                                                       r"build.sh: the stage: 3 of 12, about \d+ s left",
                                                       r"build.sh: the stage: 12 of 12, about 0 s left")]
        stage = "'" + WAIT % 1 + 'echo "[3/12] three"; ' + WAIT % 2 + 'echo "[12/12] twelve"; ' + WAIT % 3 + "'"
        status, text = on_terminal(shell(STAGE % stage), self.place, seen)
        self.assertEqual(status, 0)
        for pattern in *seen, re.escape(CHANGES) + r"build.sh: the stage: \d+ s\n$":
            self.assertRegex(text, pattern)
        self.assertNotIn("three", text)
        self.assertNotIn("Terminated", text)

    def test_percentages_of_apt(self):
        for line, percent in ("dlstatus:1:42.7:Retrieving file 1 of 9", 42), ("pmstatus:dpkg-exec:7.0:Running dpkg", 7):
            (self.place / "log").write_text(f"Reading package lists...\n{line}\nGet:1 something\n")
            self.assertEqual(elsewhere(shell("how_far log"), self.place), (0, f"{percent} 100 %\n"))
            told = elsewhere(shell("far_and_left 10 $(how_far log)"), self.place)[1]
            self.assertRegex(told, fr"^{percent} %, about \d+ (s|min) left\n$")

    def test_nobody_looks_on(self):
        for more in {"CI": "true"}, {"NO_COLOR": "1"}, {"TERM": "dumb"}:
            self.assertEqual(on_terminal(shell(STAGE % "true"), self.place, **more), (0, "build.sh: the stage\n"))

    def test_steps_keep_their_output(self):
        steps = r"""in_steps work '^\[ *OK \] ' 4 sh -c 'echo "[ RUN ] one"; printf "[  OK"; """ + WAIT % 1 + \
            'echo " ] one"; ' + WAIT % 2 + "printf end; exit 7'"
        # The second match shows that the time continues while a part of a line is present.
        seen = [r"(?s)so far.*so far.*so far", re.escape(CHANGES) + r"build.sh: work: 1 of 4, about \d+ s left"]
        status, text = on_terminal(shell(steps), self.place, seen)
        self.assertEqual(status, 7)
        self.assertRegex(text, seen[1])
        self.assertEqual(re.sub(re.escape(CHANGES) + r"(build.sh: work: [^\r\n\[]*)?", "", text),
                         "[ RUN ] one\n[  OK ] one\nend")
        self.assertEqual(elsewhere(shell(steps), self.place), (7, "[ RUN ] one\n[  OK ] one\nend"))

    def test_durations(self):
        for seconds, words in (0, "0 s"), (99, "99 s"), (100, "2 min"), (5999, "100 min"), (7380, "2 h 3 min"):
            self.assertEqual(elsewhere(shell(f"in_words {seconds}"), self.place)[1], words + "\n")


class Python(unittest.TestCase):
    PROGRAM = ["-c", "import sys, time; sys.path.insert(0, sys.argv[1]); sys.dont_write_bytecode = True\n"
               "from progress import Progress\n"
               "p = Progress(3)\np.step('one'); time.sleep(0.1); p.step('two'); p.clear(); print('row')", str(ROOT / "utils")]

    def test_on_a_terminal(self):
        text = on_terminal([sys.executable, *self.PROGRAM], "/")[1]
        self.assertRegex(text, f"^{re.escape(CHANGES)}one: 1 of 3{re.escape(CHANGES)}two: 2 of 3, about \\d+ s left"
                         f"{re.escape(CHANGES)}row\n$")

    def test_elsewhere(self):
        self.assertEqual(elsewhere([sys.executable, *self.PROGRAM], "/"), (0, "row\n"))


if __name__ == "__main__":
    unittest.main()
