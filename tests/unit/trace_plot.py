#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks the drawings of utils/trace-plot for a handmade file, and its errors for other files."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PLOT = pathlib.Path(__file__).resolve().parents[2] / "utils/trace-plot"
SVG = "{http://www.w3.org/2000/svg}"


def header(group, reference=1e12):
    return {"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "title": "sctpiw",
            "trace": {"vantage_point": {"name": f"process {group}", "type": "unknown"},
                      "common_fields": {"group_id": group, "time_format": "relative", "reference_time": reference}}}


def event(group, time, name, **data):
    return {"time": time, "group_id": group, "name": name, "data": data}


def metrics(group, time, cwnd, flight, **more):
    return event(group, time, "recovery:metrics_updated", assoc="0x00000001", congestion_window=cwnd,
                 bytes_in_flight=flight, **more)


def sequence(*records):
    return b"".join(b"\x1e" + json.dumps(r).encode() + b"\n" for r in records)


GOOD = sequence(
    header("1"),
    event("1", 0, "connectivity:connection_started", assoc="0x00000001", local_port=7, remote="::1", remote_port=9),
    header("2", 1e12 + 5),
    metrics("1", 1, 4096, 0),
    metrics("1", 2, 8192, 5000, ssthresh=6000),
    metrics("2", 3, 1024, 100),
    event("1", 3, "recovery:packet_lost", assoc="0x00000001", header={"packet_number": 5}, trigger="pto_expired"),
    event("1", 4, "generic:debug", message="nothing to draw"),
    metrics("1", 9, 2048, 0),
)


class TracePlot(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.directory.name)
        self.addCleanup(self.directory.cleanup)

    def run_plot(self, data, *options):
        file = self.path / "a.sqlog"
        if data is not None:
            file.write_bytes(data)
        return subprocess.run([sys.executable, PLOT, *options, file], capture_output=True, text=True)

    def draws(self, data, *options):
        done = self.run_plot(data, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        root = xml.etree.ElementTree.parse(self.path / "a.sqlog.svg").getroot()
        return done.stdout, [e.text for e in root.iter(f"{SVG}text")], root

    def refuses(self, data, why, *options):
        done = self.run_plot(data, *options)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.startswith("trace-plot: ") and done.stderr.count("\n") == 1, done.stderr)
        self.assertIn(why, done.stderr)

    def test_plot(self):
        out, texts, root = self.draws(GOOD)
        self.assertIn("2 associations, 1 losses", out)
        self.assertIn("process 1, port 7 to ::1 port 9, association 0x00000001", texts)
        self.assertIn("process 2, association 0x00000001", texts)
        self.assertIn("lost: 1", texts)
        self.assertEqual(root.get("height"), "600")
        # Three curves of process 1, and no threshold of process 2.
        self.assertEqual(sum(p.get("fill") == "none" for p in root.iter(f"{SVG}path")), 5)

    def test_choice(self):
        _, texts, _ = self.draws(GOOD, "--to", "5")
        self.assertIn("lost: 1", texts)
        out, texts, _ = self.draws(GOOD, "--from", "5", "--assoc", "0x00000001")
        self.assertIn("lost: 0", texts)
        self.refuses(GOOD, "no association of those has sent anything; there are: 0x00000001", "--assoc", "0x2")

    def test_many_points(self):
        points = [metrics("1", t, 4096 + t % 7, t % 1000) for t in range(20000)]
        self.draws(sequence(header("1"), *points))
        self.assertLess((self.path / "a.sqlog.svg").stat().st_size, 300000)

    def test_killed(self):
        """The last record of a process may be incomplete."""
        self.draws(GOOD + b'\x1e{"time":9.1,"na')

    def test_bad_files(self):
        self.refuses(None, "No such file")
        self.refuses(b"", "is empty")
        self.refuses(b"\x0a\x0d\x0d\x0a pcapng", "does not begin with a record separator")
        self.refuses(b"\x1enonsense\n" + GOOD, "record 1 is not JSON")
        self.refuses(b"\x1e[]\n" + GOOD, "record 1 is not JSON: no object")
        self.refuses(sequence(metrics("1", 1, 1, 1)), "record 1 is no event")
        self.refuses(sequence(header("1"), {"time": 1}), "record 2 is no event")
        self.refuses(sequence(header("1"), metrics("1", 1, "x", 1)), "record 2 is no event")
        self.refuses(sequence({"qlog_version": "0.3"}), "record 1 is no event")
        self.refuses(sequence(header("1")), "has sent anything; there are: none")
        self.refuses(GOOD, "No such file", "-o", "/nowhere/x")

    def test_split(self):
        target = self.path / "parts"
        done = self.run_plot(GOOD, "--split", target)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(p.name for p in target.iterdir()), ["a.1.sqlog", "a.2.sqlog"])
        for group, count in ("1", 7), ("2", 2):
            records = [json.loads(r) for r in (target / f"a.{group}.sqlog").read_bytes().split(b"\x1e")[1:]]
            self.assertEqual(len(records), count)
            self.assertEqual({r.get("group_id", group) for r in records}, {group})

    def test_help(self):
        done = subprocess.run([sys.executable, PLOT, "--help"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertIn("sctpiw run --trace", done.stdout)


if __name__ == "__main__":
    unittest.main()
