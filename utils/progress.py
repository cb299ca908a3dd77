# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How the demo and the benchmark show long work: a line of the terminal says what runs, how far it is, and how long the
rest will take. It changes, so it is for somebody who looks on, and not for a file or the log of a CI job."""
import os
import shutil
import sys
import time


def on_terminal(out):
    """Whether a line that changes may be drawn; utils/progress.sh decides as well."""
    return (out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
            and not any(os.environ.get(name) for name in ("NO_COLOR", "CI")))


def in_words(seconds):
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:.0f} min"


class Progress:
    """Work of so many steps, which take about the same time each."""

    def __init__(self, total, out=sys.stderr):
        self.total, self.out = total, out
        self.begun, self.begin = 0, time.monotonic()

    def step(self, what):
        """The next step begins."""
        done = self.begun
        self.begun += 1
        rest = ""
        if done:
            passed = time.monotonic() - self.begin
            rest = f", about {in_words(passed * (self.total - done) / done)} left"
        self._draw(f"{what}: {self.begun} of {self.total}{rest}")

    def clear(self):
        """Takes the line away, so that something else may be printed."""
        self._draw("")

    def _draw(self, text):
        if on_terminal(self.out):
            columns = shutil.get_terminal_size().columns
            print(f"\r\033[K{text[:columns - 1]}", end="", file=self.out, flush=True)
