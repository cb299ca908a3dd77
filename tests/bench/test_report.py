#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks the reports of utils/bench for recorded figures, and for failed measurements, without measuring."""
import contextlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "utils/bench.d"), str(ROOT / "utils"), str(ROOT / "tests/e2e")]
import distance  # noqa: E402
import harness  # noqa: E402
import measures  # noqa: E402
import names  # noqa: E402
import perftest_run  # noqa: E402
import plots  # noqa: E402
import report  # noqa: E402
import runner  # noqa: E402
import turns  # noqa: E402
from names import DISTANCE  # noqa: E402
from programs import BIN  # noqa: E402
from targets import TARGETS, Target  # noqa: E402

RECORDED = HERE / "figures.json"
EXPECTED = HERE / "report.md"
BENCH = ROOT / "utils/bench"
PNG = b"\x89PNG\r\n\x1a\n"


def run_bench(*options):
    return subprocess.run([sys.executable, BENCH, *options], capture_output=True, text=True)


def everything():
    """Returns figures of successful measurements in every unit, each larger than the previous figure."""
    spoken = {}
    for m in measures.measures():
        for unit in vars(names).values():
            if isinstance(unit, str):
                spoken.setdefault((m.what, m.link), [{}])[0][unit] = len(spoken) + 1.0
    return report.Figures(spoken)


class List(unittest.TestCase):
    def test_quick_is_a_part_of_full(self):
        quick, full = run_bench("--list"), run_bench("--full", "--list")
        self.assertEqual((quick.returncode, full.returncode), (0, 0), quick.stderr + full.stderr)
        quick, full = quick.stdout.splitlines(), full.stdout.splitlines()
        self.assertEqual(len(full), len(set(full)))
        self.assertLess(set(quick), set(full))
        self.assertIn("ib_write_bw 64 KiB, lo", quick)

    def test_names(self):
        self.assertEqual([names.size_name(size) for size in (1, 1023, 1024, 65536, 1 << 20)],
                         ["1 B", "1023 B", "1 KiB", "64 KiB", "1 MiB"])

    def test_several_patterns(self):
        chosen = run_bench("--full", "--only", "ib_send_lat 64 B, lo", "--only", "*stunnel*, lo", "--list")
        self.assertEqual(chosen.stdout.splitlines(), ["ib_send_lat 64 B, lo", f"{names.STUNNEL}, lo"])

    def test_nothing_matches(self):
        done = run_bench("--only", "no such measurement", "--list")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no such measurement", done.stderr)

    def test_every_target_is_measured(self):
        known = {(m.what, m.link) for m in measures.measures()}
        for target in TARGETS:
            self.assertIn(target.figure[:2], known)
            self.assertTrue(target.base is None or target.base[:2] in known, target.base)


class Report(unittest.TestCase):
    def test_recorded_figures(self):
        text = report.markdown(json.loads(RECORDED.read_text()))
        self.assertEqual(text, EXPECTED.read_text())

    def test_json_is_read_as_it_was_written(self):
        entries = json.loads(RECORDED.read_text())["figures"]
        self.assertEqual(report.Figures.of_json(entries).to_json(), entries)

    def test_ratios_are_those_of_a_round(self):
        figures = report.Figures({("a", "lo"): [{"x": 1}, {}, {"x": 6}, {"x": 5}],
                                  ("b", "lo"): [{"x": 2}, {"x": 9}, {"x": 2}, {}]})
        self.assertEqual(figures.ratios(("a", "lo", "x"), ("b", "lo", "x")), [0.5, 3])
        self.assertEqual(figures.ratios(("a", "lo", "x"), None), [1, 6, 5])
        self.assertEqual(figures.ratios(("a", "lo", "y"), ("b", "lo", "x")), [])

    def test_verdicts(self):
        least, most = Target((), (), 2, 4), Target((), (), 3, 1.4, at_most=True)
        self.assertEqual([least.verdict(r) for r in (None, 1.9, 2, 4)],
                         ["not measured", "not met", "met", "met, stretch too"])
        self.assertEqual([most.verdict(r) for r in (3.1, 3, 1.4)], ["not met", "met", "met, stretch too"])
        self.assertEqual([Target((), (), stretch=0.8).verdict(r) for r in (0.7, 0.9)],
                         ["stretch not met", "met, stretch too"])
        self.assertEqual(Target((), (), 0.9).verdict(1), "met")


def at(*pairs):
    """Returns rounds of figures of a unit x, each measured at a distance."""
    return [{"x": x, DISTANCE: d} for x, d in pairs]


class Distances(unittest.TestCase):
    """Checks that figures are compared only if the distance of the processors was the same."""

    def ratios(self, figure, base):
        figures = report.Figures({("a", "lo"): figure, ("b", "lo"): base})
        return figures.ratios(("a", "lo", "x"), ("b", "lo", "x"))

    def test_alike(self):
        self.assertTrue(distance.are_alike(60, 75, 90))
        self.assertFalse(distance.are_alike(60, 75, 91))
        self.assertTrue(distance.are_alike(None, 60, None, 61))
        self.assertTrue(distance.are_alike())

    def test_a_class_ends_where_one_is_not_like_its_smallest(self):
        self.assertEqual(distance.classes([330, 75, 58, 315]), [[58, 75], [315, 330]])
        self.assertEqual(distance.classes([60, 80, 100, 120, 151]), [[60, 80], [100, 120], [151, 151]])
        self.assertEqual(distance.classes([]), [])

    def test_one_processor_has_no_distance(self):
        with mock.patch("os.sched_getaffinity", return_value={0}):
            self.assertIsNone(distance.measure())
        alone = subprocess.run([BIN / "core-distance"], capture_output=True, text=True,
                               preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
        self.assertEqual((alone.returncode, alone.stdout), (77, ""))
        self.assertIn("one processor", alone.stderr)

    def test_a_figure_goes_with_that_of_its_round(self):
        self.assertEqual(self.ratios(at((6, 60), (8, 320)), at((2, 70), (4, 300))), [3, 2])

    def test_or_with_the_closest_one_at_its_distance(self):
        far_at_last = at((2, 60), (5, 60), (4, 320))
        self.assertEqual(self.ratios(at((8, 320), (10, 60), (16, 300)), far_at_last), [2, 2, 4])
        self.assertEqual(self.ratios(at((8, 320), (6, 60), (16, 61)), far_at_last), [2, 6 / 5, 16 / 5])
        self.assertEqual(self.ratios([{}, *at((8, 320))], [*at((4, 330)), {}]), [2])

    def test_or_with_none(self):
        self.assertEqual(self.ratios(at((8, 320), (9, 60)), at((1, 150), (3, 60))), [3])

    def test_if_one_is_not_known_the_round_counts(self):
        self.assertEqual(self.ratios([{"x": 8}, {"x": 9}], at((2, 60), (3, 320))), [4, 3])
        self.assertEqual(self.ratios(at((8, 320), (9, 60)), [{"x": 2}, {}]), [4])

    def test_table_has_a_line_for_each_class(self):
        figures = report.Figures({("a", "lo"): at((1, 300), (6, 58), (3, 330), (8, 61.2)), ("b", "lo"): at((5, 60), (7, 61)),
                                  ("c", "lo"): [{"x": 2}, *at((1, 300), (4, 60))]})
        lines = report.figures_table(figures).splitlines()[2:]
        self.assertEqual(lines, ["| a | lo | x, at 58 to 61 ns | 7.00 | 6.00 | 8.00 |",
                                 "| a | lo | x, at 300 to 330 ns | 2.00 | 1.00 | 3.00 |",
                                 "| b | lo | x | 6.00 | 5.00 | 7.00 |",
                                 "| c | lo | x, at 60 ns | 4.00 | 4.00 | 4.00 |",
                                 "| c | lo | x, at 300 ns | 1.00 | 1.00 | 1.00 |",
                                 "| c | lo | x, at a distance not known | 2.00 | 2.00 | 2.00 |"])

    def test_report_says_what_was_seen(self):
        run = json.loads(RECORDED.read_text())
        run["figures"] = report.Figures({("a", "lo"): [*at((1, 58), (2, 330)), {}]}).to_json()
        run["unsteady"] = ["a, lo, round 3"]
        text = report.markdown(run)
        self.assertIn("\nCache line from one processor to another and back: 58 to 330 ns.\n", text)
        self.assertIn("\nGiven up, because the processors moved: 1 of 3.\n", text)
        self.assertIn("\n## Given up\n\n- a, lo, round 3\n", text)


class Plots(unittest.TestCase):
    def test_there_is_a_line_for_all_that_is_measured(self):
        lines = {plot.name: [line for line, _ in plot.lines] for plot in plots.plots(everything())}
        links = "lo", "mtu-1500", "mtu-9000"
        self.assertEqual(set(lines), {f"{kind}-{link}" for kind in ("bandwidth", "latency") for link in links}
                         | {"rate", "processor", "loss", "rtt"})
        self.assertEqual({name: len(found) for name, found in lines.items() if name[-3:] not in ("500", "000")},
                         {"bandwidth-lo": 8, "latency-lo": 12, "rate": 3, "processor": 3, "loss": 3, "rtt": 3})

    def test_points_are_those_of_their_measurement(self):
        figures = everything()
        rate = next(plot for plot in plots.plots(figures) if plot.name == "rate")
        for link, points in rate.lines:
            self.assertEqual([x for x, _ in points], list(names.QPS))
            self.assertEqual([y for _, y in points],
                             [figures.median(names.perftest("ib_write_bw", 64, qps), link, names.RATE)
                              for qps in names.QPS])
            self.assertEqual(len({y for _, y in points}), len(names.QPS))

    @unittest.skipUnless(shutil.which("gnuplot"), "needs the program gnuplot, which is not installed")
    def test_gnuplot_takes_them(self):
        with tempfile.TemporaryDirectory() as directory:
            for figures in everything(), report.Figures.of_json(json.loads(RECORDED.read_text())["figures"]):
                made = plots.draw(figures, pathlib.Path(directory))
                self.assertTrue(made)
                for path in made:
                    self.assertEqual(path.read_bytes()[:8], PNG, path)

    def test_figures_that_are_not_there_make_no_lines(self):
        self.assertEqual([plot.name for plot in plots.plots(report.Figures({})) if plot.lines], [])


class Clock(unittest.TestCase):
    """Checks that a run of perftest does not count if perftest could not measure its clock."""

    LINK = mock.Mock(family=4, lossy=False, address="127.0.0.1")
    MEASURED = " 64      10          5.64           8.83         5.81     \t       6.00        \t0.38   \t\t8.83    \t\t8.83   \n"
    UNMEASURED = ("Correlation coefficient r^2: 0.0193 < 0.9\n"
                  " 64      10          inf            inf          inf      \t       inf         \t-nan   \t\tinf     \t\tinf    \n")

    def run_with(self, *outputs):
        with mock.patch.object(harness, "run_pair", side_effect=[("", output) for output in outputs]):
            return perftest_run.run(self.LINK, "ib_send_lat", ["-s", 64, "-n", 10])

    def test_made_again(self):
        rows = self.run_with(self.UNMEASURED, self.MEASURED)
        self.assertEqual(rows, [(64, 10, [5.64, 8.83, 5.81, 6.0, 0.38, 8.83, 8.83])])

    def test_given_up(self):
        with self.assertRaisesRegex(harness.Failure, "could not measure its clock"):
            self.run_with(*[self.UNMEASURED] * perftest_run.CALIBRATIONS)

    def test_infinite_without_complaint(self):
        with self.assertRaisesRegex(harness.Failure, "cannot be"):
            self.run_with(self.UNMEASURED.splitlines()[1])

    def test_complaint_behind_a_row(self):
        row = " 2          10               0.00               0.00   \t\t   0.000000Correlation coefficient r^2: 0.02 < 0.9\n"
        self.assertEqual(perftest_run.rows(row), [(2, 10, [0.0, 0.0, 0.0])])


class Rounds(unittest.TestCase):
    """Checks that the other measurements run after a failed measurement."""

    def run_rounds(self, functions, rounds=2, limit=None):
        chosen = [measures.Measure(name, names.SIMULATED, run) for name, run in functions.items()]
        with tempfile.TemporaryDirectory() as directory:
            made = runner.Runner(chosen, 1, False, pathlib.Path(directory, "logs"))
            with contextlib.redirect_stderr(io.StringIO()):
                made.run(rounds, limit)
        return made, {what: rounds for (what, _), rounds in made.figures.rounds.items()}

    def test_failures(self):
        def fail(at):
            raise harness.Failure("it broke")

        def skip(at):
            skips.append(at.number)
            raise harness.Skip("not here")

        def wrong(at):
            raise KeyError("no such key")

        skips = []
        made, rounds = self.run_rounds({"fails": fail, "skips": skip, "is wrong": wrong,
                                        "works": lambda at: {"x": at.number}})
        self.assertEqual(rounds, {"fails": [{}, {}], "skips": [{}, {}], "is wrong": [{}, {}],
                                  "works": [{"x": 1}, {"x": 2}]})
        self.assertEqual(len(made.failed), 4)
        self.assertEqual(made.failed[0], "fails, simulated, round 1: it broke")
        self.assertIn("KeyError", made.failed[1])
        self.assertEqual((skips, list(made.skipped.values())), ([1], ["skips, simulated: not here"]))

    def test_interrupted(self):
        def interrupt(at):
            raise KeyboardInterrupt

        made, rounds = self.run_rounds({"works": lambda at: {"x": 1}, "is interrupted": interrupt})
        self.assertEqual((rounds["works"], made.failed, made.rounds), ([{"x": 1}], ["interrupted"], 0))

    def test_no_round_beyond_the_limit(self):
        made, _ = self.run_rounds({"works": lambda at: {}}, rounds=3, limit=1e-9)
        self.assertEqual(made.rounds, 1)

    def run_at(self, distances, run=lambda at: {"x": at.number}, link="none"):
        chosen = [measures.Measure("a", link, run)]
        with tempfile.TemporaryDirectory() as directory:
            made = runner.Runner(chosen, 1, False, pathlib.Path(directory, "logs"), iter(distances).__next__)
            with contextlib.redirect_stderr(io.StringIO()):
                made.run(2)
        return made, made.figures.rounds["a", link]

    def test_distance_stands_with_the_figures(self):
        made, rounds = self.run_at([60, 62, 310, 330])
        self.assertEqual(rounds, [{"x": 1, DISTANCE: 61}, {"x": 2, DISTANCE: 320}])
        self.assertEqual(made.figures.units("a", "none"), ["x"])
        self.assertEqual(made.unsteady, [])

    def test_unsteady_measurement_is_made_again_and_given_up(self):
        made, rounds = self.run_at([60, 320, 310, 60, 70, 70] + [60, 320] * 3)
        self.assertEqual(rounds, [{"x": 1, DISTANCE: 70}, {}])
        self.assertEqual((made.unsteady, made.failed), (["a, none, round 2"], []))

    def test_without_a_distance_all_is_as_it_was(self):
        made, rounds = self.run_at([None] * 4)
        self.assertEqual((rounds, made.unsteady), ([{"x": 1}, {"x": 2}], []))

    def test_failure_is_none_of_the_processors(self):
        def fail(at):
            raise harness.Failure("it broke")

        made, rounds = self.run_at([60, 320, 60, 320], fail)
        self.assertEqual((rounds, len(made.failed), made.unsteady), ([{}, {}], 2, []))

    def test_no_distance_where_it_does_not_matter(self):
        _, rounds = self.run_at([], link=names.SIMULATED)
        self.assertEqual(rounds, [{"x": 1}, {"x": 2}])
        wanted = {str(m): m.needs_distance for m in measures.measures()}
        self.assertTrue(wanted["ib_write_bw 64 KiB, lo"] and wanted["TCP, iperf3, MTU 1500"])
        self.assertFalse(wanted[f"{names.IDLE_QP}, lo"])


class Turns(unittest.TestCase):
    """Checks the comparison of builds. The figure of each build is a given number."""

    def compare(self, builds, rounds, distances=None):
        """builds: the figure of each build. Returns the table's lines, and the builds in order of measurement."""
        order = []

        def run(at):
            order.append(int(harness.LAUNCHER.parents[1].name))
            return {"x": builds[order[-1]] * at.number}

        ends = iter(distances or [60] * 1000)
        with tempfile.TemporaryDirectory() as directory, mock.patch.object(harness, "LAUNCHER"):
            made = runner.Runner([measures.Measure("a", "none", run)], 1, False, pathlib.Path(directory, "logs"),
                                 lambda: next(ends))
            paths = [pathlib.Path(directory, str(n)) for n in range(len(builds))]
            lines = list(turns.table(made, paths, rounds))
        return lines[2:-1], order

    def test_interval(self):
        self.assertIsNone(turns.median_interval([]))
        self.assertIsNone(turns.median_interval([1, 2, 3, 4, 5]))
        self.assertEqual(turns.median_interval([6, 5, 4, 3, 2, 1]), (1, 6))  # beyond either end: 1 of 64
        self.assertEqual(turns.median_interval(range(1, 12)), (2, 10))  # 12 of 2,048; with one more 67
        self.assertEqual(turns.median_interval(range(1, 101)), (40, 61))  # as in published tables

    def test_ratios_are_those_of_a_round(self):
        lines, order = self.compare([10, 11, 5], 6)
        self.assertEqual(lines, ["| a | none | x | 35.00 | 38.50 | 1.100 (1.100 to 1.100) | 17.50 | 0.500 (0.500 to 0.500) "
                                 "| 6 of 6 |"])
        self.assertEqual(order[:9], [0, 1, 2, 2, 1, 0, 0, 1, 2])

    def test_round_in_which_the_processors_move_is_made_again(self):
        lines, order = self.compare([10, 20], 1, [60, 60, 320, 320] + [330] * 4)
        self.assertEqual(lines, ["| a | none | x | 10.00 | 20.00 | 2.000 | 1 of 1 |"])
        self.assertEqual(order, [0, 1, 0, 1])

    def test_and_so_is_one_with_a_measurement_given_up(self):
        lines, order = self.compare([10, 20], 1, [60, 320] * runner.TRIES + [60] * 4)
        self.assertEqual(lines, ["| a | none | x | 10.00 | 20.00 | 2.000 | 1 of 1 |"])
        self.assertEqual(order, [0] * runner.TRIES + [0, 1])

    def test_or_does_not_count(self):
        lines, order = self.compare([10, 20], 2, [60, 60, 320, 320] * turns.TRIES + [60] * 4)
        self.assertEqual(lines, ["| a | none | x | 20.00 | 40.00 | 2.000 | 1 of 2 |"])
        self.assertEqual(len(order), 2 * turns.TRIES + 2)
        lines, _ = self.compare([10, 20], 1, [60, 60, 320, 320] * turns.TRIES)
        self.assertEqual(lines, ["| a | none |  |  |  |  | 0 of 1 |"])

    def test_a_line_for_each_class(self):
        lines, _ = self.compare([10, 20], 3, [60] * 4 + [320] * 4 + [61] * 4)
        self.assertEqual(lines, ["| a | none | x, at 60 to 61 ns | 20.00 | 40.00 | 2.000 | 2 of 3 |",
                                 "| a | none | x, at 320 ns | 20.00 | 40.00 | 2.000 | 1 of 3 |"])

    def test_programs_get_the_device_of_the_build(self):
        with tempfile.TemporaryDirectory() as directory, mock.patch.object(harness, "LAUNCHER", "/bin/echo"):
            harness.log_to(directory)
            program = harness.start("program", ["some", "program"])
            program.expect(10)
            self.assertEqual(program.output(), "run -- some program\n")
            harness.kill_all()

    def test_only_what_has_a_device(self):
        listed = run_bench("--turns", "some", "--full", "--list").stdout.splitlines()
        self.assertIn("ib_write_bw 64 KiB, lo", listed)
        self.assertIn(f"{names.ucx(names.UCX_DEVICE, 'tag_lat', 8)}, lo", listed)
        self.assertEqual([line for line in listed if line.startswith(("TCP", "UDP", "SCTP of", "UCX over TCP"))
                          or line.endswith(names.SIMULATED)], [])

    def test_no_build(self):
        with tempfile.TemporaryDirectory() as directory:
            done = run_bench("--turns", directory)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, f"bench: {directory}/bin/sctpiw is not there; ./build.sh builds it, in the directory "
                                      "build of its tree\n")
        self.assertEqual(run_bench("--turns").returncode, 2)
        self.assertEqual(run_bench("--turns", "a", "--instructions", "b").returncode, 2)


if __name__ == "__main__":
    unittest.main()
