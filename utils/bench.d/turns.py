# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Compares builds by elapsed time. A round makes the same measurement with the device of each build in turn.

Every other round has the reverse order. A round counts only if the processors were equally far apart (distance.py)
in all its measurements. Only ratios of a round are evaluated, not the figures themselves. The programs are those of
this build.
"""
import math
import statistics
import sys

import distance
import harness
from names import DISTANCE
from progress import Progress
from report import row

ROUNDS = 11
TRIES = 4  # of a round, if the processors move during it
CONFIDENCE = 0.95
EXPLANATION = """
Medians of the rounds that count. A ratio is that of a build to the first one within a round: the median of the rounds, and
its 95 % interval. This goes from the k-th smallest to the k-th largest ratio. The number of ratios below the true median
has a binomial distribution, and k is the largest that leaves 2.5 % of it at most beyond each end. 6 rounds have an interval."""


def median_interval(values):
    """Returns the limits of a confidence interval for the median, by order statistics. Returns None for too few values.

    The true median is below the k-th smallest value if fewer than k values are below the median. k is the largest
    number for which this has at most half of the probability 1 - CONFIDENCE. The other half applies to the k-th
    largest value.
    """
    n, k, probability = len(values), 0, 0.0
    while probability + math.comb(n, k) / 2 ** n <= (1 - CONFIDENCE) / 2:
        probability += math.comb(n, k) / 2 ** n
        k += 1
    ordered = sorted(values)
    return (ordered[k - 1], ordered[n - k]) if k else None


def _ratio_cell(ratios):
    if not ratios:
        return ""
    interval = median_interval(ratios)
    return f"{statistics.median(ratios):.3f}" + (" ({:.3f} to {:.3f})".format(*interval) if interval else "")


def _round(runner, m, number, builds):
    """Returns the figures of each build, in the order of builds. Returns None if the round does not count."""
    order = list(range(len(builds)))[::1 if number % 2 else -1]
    for _ in range(TRIES):
        figures, unsteady = {}, len(runner.unsteady)
        for build in order:
            harness.LAUNCHER = builds[build].resolve() / "bin/sctpiw"
            figures[build] = runner.measure(m, number)
            if len(runner.unsteady) > unsteady:
                break
            if not figures[build]:
                return None
            if not distance.are_alike(*(f.get(DISTANCE) for f in figures.values())):
                break
        else:
            return [figures[build] for build in range(len(builds))]
    return None


def _rows(m, counted, builds, rounds):
    """counted: the rounds that count. Each element has the figures of all builds."""
    if not counted:
        yield row(m.what, m.link, "", "", *["", ""] * (builds - 1), f"0 of {rounds}")
        return
    for unit in (unit for unit in counted[0][0] if unit != DISTANCE):
        for words, alike in distance.by_class(counted, lambda figures: figures[0].get(DISTANCE)):
            cells = []
            for build in range(builds):
                cells.append(f"{statistics.median(figures[build][unit] for figures in alike):.2f}")
                if build:
                    cells.append(_ratio_cell([f[build][unit] / f[0][unit] for f in alike if f[0][unit]]))
            yield row(m.what, m.link, ", ".join(filter(None, (unit, words))), *cells, f"{len(alike)} of {rounds}")


def table(runner, builds, rounds):
    """Yields the lines of a table of the runner's measurements, which has columns for each build directory."""
    first, *others = map(str, builds)
    yield row("what", "link", "unit", first, *(cell for other in others for cell in (other, "ratio")), "rounds")
    yield "|---|---|---|---:|" + "---:|---|" * len(others) + "---|"
    shown = Progress(rounds * len(runner.chosen))
    for m in runner.chosen:
        counted = []
        for number in range(1, rounds + 1):
            shown.step(f"round {number} of {rounds}, {m}")
            made = None if m in runner.skipped else _round(runner, m, number, builds)
            counted += [made] if made else []
        shown.clear()
        yield from _rows(m, counted, len(builds), rounds)
    yield EXPLANATION


def compare(runner, builds, rounds):
    """Prints the table and the skipped measurements. Returns True if nothing failed."""
    try:
        for line in table(runner, builds, rounds):
            print(line, flush=True)
    except KeyboardInterrupt:
        runner.failed.append("interrupted")
    finally:
        runner.links.close()
    for reason in runner.skipped.values():
        print(f"bench: left out: {reason}", file=sys.stderr)
    return not runner.failed
