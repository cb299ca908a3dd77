# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Progress display of the demo and the benchmark: a line of the terminal shows the running program, its progress, and
the remaining time. The line changes, so it is not for a file or the log of a CI job."""
import os
import shutil
import sys
import time


def on_terminal(out):
    """True if a changing line may be drawn; utils/progress.sh uses the same conditions."""
    return (out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
            and not any(os.environ.get(name) for name in ("NO_COLOR", "CI")))


def in_words(seconds):
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:.0f} min"


class Progress:
    """Work of `total` steps, which take about the same time each."""

    def __init__(self, total, out=sys.stderr):
        self.total, self.out = total, out
        self.begun, self.begin = 0, time.monotonic()

    def step(self, what):
        """Begins the next step."""
        done = self.begun
        self.begun += 1
        rest = ""
        if done:
            passed = time.monotonic() - self.begin
            rest = f", about {in_words(passed * (self.total - done) / done)} left"
        self._draw(f"{what}: {self.begun} of {self.total}{rest}")

    def clear(self):
        """Removes the line, so that other text may be printed."""
        self._draw("")

    def _draw(self, text):
        if on_terminal(self.out):
            columns = shutil.get_terminal_size().columns
            print(f"\r\033[K{text[:columns - 1]}", end="", file=self.out, flush=True)
