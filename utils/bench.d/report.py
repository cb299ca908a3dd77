# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The figures of a run, and their Markdown report."""
import statistics

import distance
from names import DISTANCE
from targets import TARGETS


def _distance(figures):
    return figures.get(DISTANCE)


class Figures:
    """The figures of a run. rounds[what, link] is a list with {unit: figure} for each round, or {} after a failure.

    The figure with the unit DISTANCE is the distance of the processors.
    """

    def __init__(self, rounds):
        self.rounds = rounds

    @classmethod
    def of_json(cls, entries):
        return cls({(e["what"], e["link"]): e["rounds"] for e in entries})

    def to_json(self):
        return [{"what": what, "link": link, "rounds": rounds} for (what, link), rounds in self.rounds.items()]

    def units(self, what, link):
        spoken = dict.fromkeys(unit for figures in self.rounds.get((what, link), ()) for unit in figures)
        return [unit for unit in spoken if unit != DISTANCE]

    def by_round(self, what, link, unit):
        """Returns the figure of each round, or None for a round without this figure."""
        return [figures.get(unit) for figures in self.rounds.get((what, link), ())]

    def known(self, what, link, unit):
        return [v for v in self.by_round(what, link, unit) if v is not None]

    def median(self, what, link, unit):
        values = self.known(what, link, unit)
        return statistics.median(values) if values else None

    def distances(self):
        """Returns all known distances."""
        found = (_distance(figures) for rounds in self.rounds.values() for figures in rounds)
        return [d for d in found if d is not None]

    def known_by_distance(self, what, link, unit):
        """Yields (description, figures) for each class of the figures' distances."""
        has = [figures for figures in self.rounds.get((what, link), ()) if unit in figures]
        for words, alike in distance.by_class(has, _distance):
            yield words, [figures[unit] for figures in alike]

    def _base_of(self, number, figures, base):
        """Returns the divisor for the figures of a round: that of the closest round with a like distance, or None.

        If the distance is unknown, only the divisor of the same round is used.
        """
        *name, unit = base
        found = []
        for n, others in enumerate(self.rounds.get(tuple(name), ())):
            ends = _distance(figures), _distance(others)
            if others.get(unit) and (n == number if None in ends else distance.are_alike(*ends)):
                found.append((abs(n - number), others[unit]))
        return min(found, key=lambda pair: pair[0])[1] if found else None

    def ratios(self, figure, base):
        """Returns the ratio of a figure to its divisor, for each round that has both."""
        if base is None:
            return self.known(*figure)
        *name, unit = figure
        pairs = [(figures[unit], self._base_of(number, figures, base))
                 for number, figures in enumerate(self.rounds.get(tuple(name), ())) if unit in figures]
        return [a / b for a, b in pairs if b]


def _cells(values):
    return [f"{f(values):.2f}" for f in (statistics.median, min, max)] if values else ["", "", ""]


def row(*cells):
    return "| " + " | ".join(cells) + " |"


def figures_table(figures):
    lines = ["| what | link | unit | median | min | max |", "|---|---|---|---:|---:|---:|"]
    for what, link in figures.rounds:
        for unit in figures.units(what, link):
            for words, values in figures.known_by_distance(what, link, unit):
                lines.append(row(what, link, ", ".join(filter(None, (unit, words))), *_cells(values)))
    return "\n".join(lines)


def _limit(target, value):
    return "" if value is None else f"{'<=' if target.at_most else '>='} {value:g}"


def verdicts(figures):
    """Yields (target, its ratios, the verdict on their median) for each target."""
    for target in TARGETS:
        ratios = figures.ratios(target.figure, target.base)
        yield target, ratios, target.verdict(statistics.median(ratios) if ratios else None)


def _base_name(target):
    """Returns the name of the divisor, without the parts that it shares with the figure's name."""
    if target.base is None:
        return target.figure[2]
    return ", ".join(b for b, f in zip(target.base, target.figure) if b != f)


def targets_table(figures):
    lines = ["| what | link | divided by | median | min | max | target | stretch | |",
             "|---|---|---|---:|---:|---:|---|---|---|"]
    for target, ratios, verdict in verdicts(figures):
        what, link, _ = target.figure
        lines.append(row(what, link, _base_name(target), *_cells(ratios), _limit(target, target.limit),
                          _limit(target, target.stretch), verdict))
    return "\n".join(lines)


def _head(run):
    where = run["machine"]
    return (f"{where['processors']} x {where['processor']}, Linux {where['kernel']}, load {where['load']:.1f}, "
            f"sctpiw {where['commit']}, {run['date']}; {run['rounds']} rounds, {run['seconds']} s each"
            f"{', pinned' if run['pinned'] else ''}.\n"
            "us: half a round trip, the average if nothing else is said. processor s: of both ends together.")


def _distances(figures, run):
    """Returns the text about the distances of processors, and about failures because processors moved."""
    said, seen = [], figures.distances()
    if seen:
        said.append(f"Cache line from one processor to another and back: {distance.in_words(min(seen), max(seen))}.")
        said.append("A figure is divided by that of the closest round in which the processors were as far apart.")
    if run.get("unsteady"):
        made = sum(map(len, figures.rounds.values()))
        said.append(f"Given up, because the processors moved: {len(run['unsteady'])} of {made}.")
    return said


def markdown(run, images=()):
    """Returns the report of a run. run: the JSON data of main() in utils/bench; images: files of plots."""
    figures = Figures.of_json(run["figures"])
    parts = ["\n".join([_head(run), *_distances(figures, run)]), "## Targets",
             "Medians of the ratios; where it is divided by a unit, of the figure itself, whatever the distance was.",
             targets_table(figures), "## Figures", figures_table(figures)]
    if images:
        parts += ["## Plots", "\n".join(f"![{image.stem}]({image.name})" for image in images)]
    for heading, reasons in (("## Failed", run["failed"]), ("## Given up", run.get("unsteady")),
                             ("## Left out", run["skipped"])):
        if reasons:
            parts += [heading, "\n".join(f"- {reason}" for reason in reasons)]
    return "\n\n".join(parts) + "\n"
