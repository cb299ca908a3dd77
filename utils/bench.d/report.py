# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The figures of a run, and the Markdown that is made of them."""
import statistics

from targets import TARGETS


class Figures:
    """The figures. rounds[what, link] has for each round {unit: figure}, empty if the measurement failed."""

    def __init__(self, rounds):
        self.rounds = rounds

    @classmethod
    def of_json(cls, entries):
        return cls({(e["what"], e["link"]): e["rounds"] for e in entries})

    def to_json(self):
        return [{"what": what, "link": link, "rounds": rounds} for (what, link), rounds in self.rounds.items()]

    def units(self, what, link):
        return list(dict.fromkeys(unit for figures in self.rounds.get((what, link), ()) for unit in figures))

    def by_round(self, what, link, unit):
        """The figure of each round, or None for a round that has none."""
        return [figures.get(unit) for figures in self.rounds.get((what, link), ())]

    def known(self, what, link, unit):
        return [v for v in self.by_round(what, link, unit) if v is not None]

    def median(self, what, link, unit):
        values = self.known(what, link, unit)
        return statistics.median(values) if values else None

    def ratios(self, figure, base):
        """The ratio of two figures in each round that has both."""
        if base is None:
            return self.known(*figure)
        pairs = zip(self.by_round(*figure), self.by_round(*base))
        return [a / b for a, b in pairs if a is not None and b]


def _cells(values):
    return [f"{f(values):.2f}" for f in (statistics.median, min, max)] if values else ["", "", ""]


def _row(*cells):
    return "| " + " | ".join(cells) + " |"


def figures_table(figures):
    lines = ["| what | link | unit | median | min | max |", "|---|---|---|---:|---:|---:|"]
    for what, link in figures.rounds:
        for unit in figures.units(what, link):
            lines.append(_row(what, link, unit, *_cells(figures.known(what, link, unit))))
    return "\n".join(lines)


def _limit(target, value):
    return "" if value is None else f"{'<=' if target.at_most else '>='} {value:g}"


def verdicts(figures):
    """Yields (target, its ratios, the verdict on their median) for each target."""
    for target in TARGETS:
        ratios = figures.ratios(target.figure, target.base)
        yield target, ratios, target.verdict(statistics.median(ratios) if ratios else None)


def _base_name(target):
    """The name of what a figure is divided by, without the parts that the figure's own name has."""
    if target.base is None:
        return target.figure[2]
    return ", ".join(b for b, f in zip(target.base, target.figure) if b != f)


def targets_table(figures):
    lines = ["| what | link | divided by | median | min | max | target | stretch | |",
             "|---|---|---|---:|---:|---:|---|---|---|"]
    for target, ratios, verdict in verdicts(figures):
        what, link, _ = target.figure
        lines.append(_row(what, link, _base_name(target), *_cells(ratios), _limit(target, target.limit),
                          _limit(target, target.stretch), verdict))
    return "\n".join(lines)


def _head(run):
    where = run["machine"]
    return (f"{where['processors']} x {where['processor']}, Linux {where['kernel']}, load {where['load']:.1f}, "
            f"sctpiw {where['commit']}, {run['date']}; {run['rounds']} rounds, {run['seconds']} s each"
            f"{', pinned' if run['pinned'] else ''}.\n"
            "us: half a round trip, the average if nothing else is said. processor s: of both ends together.")


def markdown(run, images=()):
    """The report of a run. run: what main() of utils/bench writes as JSON; images: files of plots."""
    figures = Figures.of_json(run["figures"])
    parts = [_head(run), "## Targets",
             "Medians of the ratios within a round; where it is divided by a unit, of the figure itself.",
             targets_table(figures), "## Figures", figures_table(figures)]
    if images:
        parts += ["## Plots", "\n".join(f"![{image.stem}]({image.name})" for image in images)]
    for heading, reasons in ("## Failed", run["failed"]), ("## Left out", run["skipped"]):
        if reasons:
            parts += [heading, "\n".join(f"- {reason}" for reason in reasons)]
    return "\n\n".join(parts) + "\n"
