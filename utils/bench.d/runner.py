# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs rounds of measurements. Failed and impossible measurements are recorded, and the others continue."""
import sys
import time

import distance
import harness
from links import Links
from names import DISTANCE
from programs import At
from progress import Progress, on_terminal
from report import Figures


TRIES = 3  # of a measurement, if the processors move during it


class Runner:
    """chosen: the measurements. seconds: duration of a transfer. logs: a directory. distance: distance.measure().

    The results are in figures, failed, skipped and unsteady. The latter are measurements during which processors moved.
    """

    def __init__(self, chosen, seconds, pin, logs, distance=distance.measure):
        self.chosen, self.seconds, self.logs, self.distance = chosen, seconds, logs, distance
        self.links = Links(pin)
        self.figures = Figures({(m.what, m.link): [] for m in chosen})
        self.rounds, self.failed, self.skipped, self.unsteady = 0, [], {}, []

    def _note(self, m, number, why):
        self.failed.append(f"{m}, round {number}: {why}")
        print(f"\n{self.failed[-1]}", file=sys.stderr)
        harness.show_logs(sys.stderr, 15)

    def _measure(self, m, number):
        """Makes one measurement once. Returns {unit: figure}, or {} on failure."""
        harness.log_to(self.logs)
        try:
            with self.links.use(m.link) as (link, user):
                return m.run(At(link, self.seconds, number, user))
        except harness.Skip as skip:
            self.skipped[m] = f"{m}: {skip}"
        except harness.Failure as failure:
            self._note(m, number, failure)
        except Exception as error:  # for example, unexpected output of a program
            self._note(m, number, f"{type(error).__name__}: {error}")
        finally:
            harness.kill_all()
        return {}

    def measure(self, m, number):
        """Makes one measurement, and repeats it if the processors move. Returns {unit: figure}, or {} on failure.

        Adds the distance of the processors to the figures, if it is known and the figures depend on it.
        """
        if not m.needs_distance:
            return self._measure(m, number)
        for _ in range(TRIES):
            before = self.distance()
            values = self._measure(m, number)
            after = self.distance()
            if not values or before is None or after is None:
                return values
            if distance.are_alike(before, after):
                return {**values, DISTANCE: round((before + after) / 2, 1)}
        self.unsteady.append(f"{m}, round {number}")
        return {}

    def run(self, rounds, limit=None):
        """Runs `rounds` rounds. Stops earlier if the next round would probably end after `limit` seconds."""
        begin, shown = time.monotonic(), Progress(rounds * len(self.chosen))
        try:
            for number in range(1, rounds + 1):
                if limit and self.rounds and (time.monotonic() - begin) / self.rounds * number > limit:
                    break
                if not on_terminal(sys.stderr):
                    print(f"bench: round {number} of {rounds}", file=sys.stderr, flush=True)
                for m in self.chosen:
                    shown.step(f"round {number} of {rounds}, {m}")
                    values = {} if m in self.skipped else self.measure(m, number)
                    self.figures.rounds[m.what, m.link].append(values)
                self.rounds = number
        except KeyboardInterrupt:
            self.failed.append("interrupted")
        finally:
            self.links.close()
            shown.clear()
