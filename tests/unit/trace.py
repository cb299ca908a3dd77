#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks the output of build/bin/test_trace. Usage: trace.py {records|docs|probes} TEST_TRACE

records  each record of the trace writer is JSON, for each event, and for values that need escapes
docs     docs/trace-events.md equals the list of events
probes   each event is a USDT probe, and all probes have one semaphore
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs/trace-events.md"


def printed(program, option):
    return subprocess.run([program, option], check=True, stdout=subprocess.PIPE).stdout


def records(program):
    data = printed(program, "--records")
    assert data.startswith(b"\x1e") and data.endswith(b"\n"), "no JSON text sequence"
    texts = data.decode("ascii").split("\x1e")[1:]
    assert all(text.endswith("\n") and text.count("\n") == 1 for text in texts)
    header, *events = map(json.loads, texts)
    assert header["qlog_version"] == "0.3" and header["qlog_format"] == "JSON-SEQ", header
    assert header["trace"]["vantage_point"]["name"] == 'test "x"', header
    assert header["trace"]["common_fields"]["reference_time"] == 1700000000123.456789, header
    names = {}
    for event in events:
        assert set(event) == {"time", "group_id", "name", "data"}, event
        names.setdefault(event["name"], []).append(event["data"])
    table = printed(program, "--events").decode()
    assert all(f"`{name}`" in table for name in names)
    for name, data in names.items():
        category, colon, kind = name.partition(":")
        assert category and colon and kind and ":" not in kind, name
        plain, largest, unknown, _ = data
        assert plain and set(plain) == set(largest), name
        # Unknown values are omitted; only signed numbers are always known.
        assert set(unknown) <= {"status"} if name == "cm:event" else unknown == {}, name
    print(f"{len(events)} records of {len(names)} events")


def docs(program):
    if printed(program, "--events").decode() != DOCS.read_text():
        sys.exit(f"{DOCS} is stale: {program} --events > {DOCS}")


def probes(program):
    if not shutil.which("readelf"):
        print("SKIP: needs the program readelf, which is not installed")
        sys.exit(77)
    notes = subprocess.run(["readelf", "-n", program], check=True, capture_output=True, text=True,
                           env=os.environ | {"LC_ALL": "C"}).stdout
    found = re.findall(r"Provider: sctpiw\s+Name: (\w+)\s+Location: \S+ Base: \S+ Semaphore: (\w+)", notes)
    if not found:
        print("SKIP: built without sys/sdt.h (systemtap-sdt-dev)")
        sys.exit(77)
    table = printed(program, "--events").decode()
    wanted = re.findall(r"^\| `[^|]*\| `(\w+)` \|", table, re.MULTILINE)
    assert sorted(name for name, _ in found) == sorted(wanted), (found, wanted)
    assert len({semaphore for _, semaphore in found}) == 1 and int(found[0][1], 16), found
    print(f"{len(found)} probes")


CHECKS = {"records": records, "docs": docs, "probes": probes}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in CHECKS:
        sys.exit(__doc__)
    CHECKS[sys.argv[1]](sys.argv[2])
