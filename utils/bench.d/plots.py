# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The plots, each a PNG made by gnuplot."""
import subprocess

import names
from names import (AVERAGE, BOUND, CPU, GBITS, LINKS, MEDIAN, P99, P999, RATE, RENO, SIM_LOSS, SIM_LOSSES, SIM_RTT,
                   SIM_RTTS, SIMULATED, WRITES)

SIZE_AXIS = "set logscale x 2; set xlabel 'bytes of a message'"


class Plot:
    """Draws one plot. lines: [(title, [(x, y)])]; setup: commands of gnuplot."""

    def __init__(self, name, title, y, setup, lines, style="linespoints"):
        self.name, self.title, self.y, self.setup, self.style = name, title, y, setup, style
        self.lines = [(line, points) for line, points in lines if points]

    def script(self, path):
        data, curves = [], []
        for n, (line, points) in enumerate(self.lines):
            rows = "\n".join(f"{_quoted(x) if isinstance(x, str) else x} {'?' if y is None else y}" for x, y in points)
            data.append(f"$line{n} << END\n{rows}\nEND")
            using = "using 2:xtic(1)" if self.style == "histograms" else "using 1:2"
            curves.append(f"$line{n} {using} with {self.style} title {_quoted(line)}")
        return "\n".join([
            "set terminal pngcairo size 1000,640", f"set output {_quoted(str(path))}",
            f"set title {_quoted(self.title)}", f"set ylabel {_quoted(self.y)}",
            "set key outside noenhanced; set grid; set yrange [0:*]; set datafile missing '?'", self.setup, *data,
            "plot " + ", ".join(curves), ""])


def _quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _points(figures, xs, link, unit, what_of):
    found = [(x, figures.median(what_of(x), link, unit)) for x in xs]
    return [(x, y) for x, y in found if y is not None]


def _level(figures, xs, link, unit, what):
    """Draws a horizontal line for the figure of a rival, since it does not depend on x."""
    return _points(figures, (xs[0], xs[-1]), link, unit, lambda x: what)


def _bandwidth(figures, link):
    sizes = names.BANDWIDTH_SIZES
    lines = [(tool + (", both ways" if both else ""),
              _points(figures, sizes, link, GBITS, lambda x: names.perftest(tool, x, both_ways=both)))
             for both in (False, True) for tool in names.BANDWIDTH]
    lines += [(what, _level(figures, sizes, link, GBITS, what)) for what in (names.TCP, names.udp(link))]
    return Plot("bandwidth", "Bandwidth over message size", GBITS, SIZE_AXIS, lines)


def _latency(figures, link):
    sizes = names.LATENCY_SIZES
    lines = [(f"{tool}, {title}", _points(figures, sizes, link, unit, lambda x: names.perftest(tool, x)))
             for tool in names.LATENCY for unit, title in ((MEDIAN, "median"), (P99, "99 %"), (P999, "99.9 %"))]
    lines += [(f"{what}, median", _level(figures, sizes, link, MEDIAN, what))
              for what in (names.UDP_LATENCY, names.TCP_SPINNING, names.TCP_BLOCKING)]
    setup = SIZE_AXIS + "; set logscale y; set yrange [*:*]"
    return Plot("latency", "Half a round trip over message size", AVERAGE, setup, lines)


def _rate(figures):
    lines = [(link, _points(figures, names.QPS, link, RATE, lambda x: names.perftest("ib_write_bw", 64, qps=x)))
             for link in LINKS]
    return Plot("rate", "ib_write_bw, 64-byte messages", RATE, "set logscale x 2; set xlabel 'queue pairs'", lines)


def _cost(figures):
    bars = dict.fromkeys(what for what, link in figures.rounds if figures.known(what, link, CPU))
    links = [link for link in LINKS if any(figures.known(what, link, CPU) for what in bars)]
    lines = [(link, [(what, figures.median(what, link, CPU)) for what in bars]) for link in links]
    setup = "set style data histograms; set style fill solid; set xtics rotate by -20 noenhanced"
    return Plot("processor", "Processor time of both ends, event-driven, 64 KiB messages", CPU, setup, lines,
                "histograms")


def _simulated(figures, name, title, setup, xs, what_of):
    titles = (WRITES, "RDMA Writes"), (RENO, "NewReno, no SACK"), (BOUND, "sqrt(3/2p) packets a round trip")
    lines = [(line, _points(figures, xs, SIMULATED, unit, what_of)) for unit, line in titles]
    return Plot(name, title, "MB/s", setup + "; set logscale y; set yrange [*:*]", lines)


def plots(figures):
    for link in LINKS:
        for make in _bandwidth, _latency:
            plot = make(figures, link)
            plot.name += "-" + link.replace(" ", "-").lower()
            plot.title += ", " + link
            yield plot
    yield _rate(figures)
    yield _cost(figures)
    losses = [loss for loss in SIM_LOSSES if loss]  # the axis is logarithmic
    yield _simulated(figures, "loss", f"Simulated path of 1 Gbit/s, RTT {SIM_RTT} ms",
                     "set logscale x; set xlabel '% of the packets lost each way'", losses,
                     lambda loss: names.simulated(loss, SIM_RTT))
    yield _simulated(figures, "rtt", f"Simulated path of 1 Gbit/s, {SIM_LOSS} % of the packets lost each way",
                     "set logscale x; set xlabel 'RTT, ms'", SIM_RTTS, lambda rtt: names.simulated(SIM_LOSS, rtt))


def draw(figures, directory):
    """Draws all plots and returns their files. Raises OSError without gnuplot, and RuntimeError for errors of
    gnuplot."""
    made = []
    for plot in plots(figures):
        if not plot.lines:
            continue
        path = directory / f"{plot.name}.png"
        done = subprocess.run(["gnuplot"], input=plot.script(path), text=True, capture_output=True)
        if done.returncode:
            raise RuntimeError(f"gnuplot: {plot.name}: {done.stderr.strip()}")
        made.append(path)
    return made
