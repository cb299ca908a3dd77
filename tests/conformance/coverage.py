#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Prints which requirements of the RFCs have a test.

usage: coverage.py [--write] [--rows FILE] [--missing]

Reads the rows (*.tsv beside this file), and the reasons why a row has no test (reasons/*.tsv). Reads
the tests, too: ROWS("id id") as the first statement of a test function under tests/, or "# rows: id id"
in the body of a Python test. Prints the coverage by file and level. Fails in these cases:

  - A MUST, MUST NOT, SHOULD, SHOULD NOT or FACT row has neither a test nor a reason.
  - An id does not exist.
  - A program does not run its function with ROWS.
  - docs/conformance.md (summary, departures, gaps) differs from the output of --write.

  --write      write docs/conformance.md
  --rows FILE  write every row with its tests or its reason to FILE; the test suite makes
               conformance.md in the build directory
  --missing    list the rows with neither
"""

import argparse
import collections
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOC = ROOT / "docs" / "conformance.md"
DEMANDED = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "FACT")
LEVELS = DEMANDED + ("MAY",)

# The reasons for which a row has no test of its own.
KINDS = {
    "n/a": "the requirement cannot apply to this implementation",
    "untestable": "no test can observe whether the requirement is met",
    "absent": "the requirement belongs to a feature that the device does not offer",
    "departure": "the device deliberately does not meet the requirement, or not in every case",
    "text": "the text cannot be tested, such as a definition or advice to an application",
}

Row = collections.namedtuple("Row", "file id level section text")


def fail(message):
    sys.exit(f"coverage.py: {message}")


def read_table(path, columns):
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        cells = line.split("\t")
        if len(cells) != columns:
            fail(f"{path.name}:{number}: {len(cells)} columns instead of {columns}")
        rows.append((number, cells))
    return rows[1:]  # below the header


def read_rows():
    rows = {}
    for path in sorted(HERE.glob("*.tsv")):
        for number, (ident, level, section, text, _) in read_table(path, 5):
            if ident in rows:
                fail(f"{path.name}:{number}: {ident} is there twice")
            if level not in LEVELS:
                fail(f"{path.name}:{number}: no such level: {level}")
            rows[ident] = Row(path.name, ident, level, section, text)
    return rows


def read_reasons(rows):
    reasons = {}
    lines = [(path.name, number, cells) for path in sorted((HERE / "reasons").glob("*.tsv"))
             for number, cells in read_table(path, 3)]
    for name, number, (idents, kind, reason) in lines:
        for ident in idents.split():
            where = f"reasons/{name}:{number}: {ident}"
            if ident not in rows:
                fail(f"{where}: no such row")
            if ident in reasons:
                fail(f"{where}: has a reason already")
            if kind not in KINDS or len(reason) < 10:
                fail(f"{where}: needs one of the kinds {', '.join(KINDS)}, and a reason")
            reasons[ident] = (kind, reason)
    return reasons


FUNCTION_C = re.compile(r"^(?:static )?(?:void|int|bool) (\w+)\(.*\)$")
ROWS_C = re.compile(r'\bROWS\(((?:\s*"[^"]*")+)\s*\)')
FUNCTION_PY = re.compile(r"^\s*def (\w+)\(")
ROWS_PY = re.compile(r"#\s*rows:\s*(.*)$")


def tests_in_c(path):
    text = path.read_text()
    for match in ROWS_C.finditer(text):
        before = text[: match.start()].splitlines()
        name = next((m[1] for m in map(FUNCTION_C.match, reversed(before)) if m), None)
        if not name:
            fail(f"{path}: ROWS outside of a function")
        if len(re.findall(rf"\b{name}\b", text)) < 2:
            fail(f"{path}: {name} is not run")
        yield name, "".join(re.findall(r'"([^"]*)"', match[1])).split()


def tests_in_py(path):
    name = None
    for line in path.read_text().splitlines():
        function, rows = FUNCTION_PY.match(line), ROWS_PY.search(line)
        if function:
            name = function[1]
        elif rows:
            if not name:
                fail(f"{path}: rows outside of a function")
            yield name, rows[1].split()


def read_tests(rows):
    tests = collections.defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("*")):
        if path.suffix == ".c":
            found = tests_in_c(path)
        elif path.suffix == ".py" and path != pathlib.Path(__file__).resolve():
            found = tests_in_py(path)
        else:
            continue
        for name, idents in found:
            for ident in idents:
                if ident not in rows:
                    fail(f"{path.relative_to(ROOT)}: {name}: no such row: {ident}")
                tests[ident].append(f"{path.stem}: {name}")
    return tests


def state(row, reasons, tests):
    """Returns the class of a row: "test", a kind of reason, or "none"."""
    return "test" if row.id in tests else reasons[row.id][0] if row.id in reasons else "none"


def summary(rows, reasons, tests):
    states = ["test", *KINDS, "none"]
    lines = ["| rows of | rows | " + " | ".join(states) + " |", "|---|" + "---:|" * (len(states) + 1)]
    files = sorted({row.file for row in rows.values()})
    groups = [(file, lambda row, file=file: row.file == file) for file in files]
    groups += [(f"all files: {level}", lambda row, level=level: row.level == level) for level in LEVELS]
    groups += [("all", lambda row: True)]
    for name, belongs in groups:
        count = collections.Counter(state(row, reasons, tests) for row in rows.values() if belongs(row))
        cells = " | ".join(str(count[s] or "") for s in states)
        lines.append(f"| {name} | {sum(count.values())} | {cells} |")
    return lines


def table(lines):
    """Returns the rows of a Markdown table, whose cells may hold "|"."""
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def document(rows, reasons, tests):
    """Returns the text of docs/conformance.md."""
    lines = [
        "# Conformance",
        "",
        "tests/conformance/coverage.py writes this page. `ctest -R conformance.coverage` fails if the page is",
        "out of date.",
        "",
        "tests/conformance/*.tsv lists the requirements of the RFCs, in this project's words. sctp.tsv has those of",
        "RFC 9260, 6951 and 4820; etsi.tsv has the fault handling cases of ETSI TS 102 369. Each row has tests that",
        "fail if the requirement is not met, or one of these reasons for having no test:",
        "",
        *[f"- **{kind}**: {text}" for kind, text in KINDS.items()],
        "- **none**: a MAY that the device does not use",
        "",
        "The test suite writes all rows with their tests to `build/conformance.md`, about 1,000 lines.",
        "`tests/conformance/coverage.py --rows FILE` writes them to any file.",
        "",
        "## Summary",
        "",
        *summary(rows, reasons, tests),
    ]
    sections = {
        "departure": ("Departures", "The device deliberately does not meet these requirements, or not in every case. "
                      "The summary counts a row as tested if a test checks what the device does instead."),
        "absent": ("Absent", "These requirements belong to features that this implementation does not offer."),
        "untestable": ("Not tested", "No test can observe these requirements."),
    }
    for kind, (title, text) in sections.items():
        found = [row for row in rows.values() if reasons.get(row.id, ("",))[0] == kind]
        lines += ["", f"## {title}", "", text, "", "| id | level | requirement | reason |", "|---|---|---|---|"]
        lines += table((row.id, row.level, row.text, reasons[row.id][1]) for row in found)
    unused = [row for row in rows.values() if state(row, reasons, tests) == "none"]
    lines += ["", "## Unused permissions", "", "| id | permission |", "|---|---|"]
    lines += table((row.id, row.text) for row in unused)
    return "\n".join(lines) + "\n"


def all_rows(rows, reasons, tests):
    lines = ["# Conformance, row by row", "", "tests/conformance/coverage.py --rows writes this page.",
             "docs/conformance.md has the summary, and defines the kinds of reasons."]
    for file in sorted({row.file for row in rows.values()}):
        lines += ["", f"## {file}", "", "| id | level | requirement | shown by |", "|---|---|---|---|"]
        for row in rows.values():
            if row.file != file:
                continue
            shown = [f"`{test}`" for test in tests.get(row.id, ())]
            if row.id in reasons:
                shown.append("**{}**: {}".format(*reasons[row.id]))
            lines += table([(row.id, row.level, row.text, "<br>".join(shown))])
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--rows", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--missing", action="store_true")
    args = parser.parse_args()

    rows = read_rows()
    reasons = read_reasons(rows)
    tests = read_tests(rows)
    missing = [r for r in rows.values() if r.level in DEMANDED and r.id not in tests and r.id not in reasons]
    both = [i for i in reasons if i in tests and reasons[i][0] != "departure"]
    if args.missing:
        for row in missing:
            print(f"{row.id}\t{row.level}\t{row.text}")
        return
    text = document(rows, reasons, tests)
    if args.write:
        DOC.write_text(text)
    if args.rows:
        args.rows.write_text(all_rows(rows, reasons, tests))
    print("\n".join(summary(rows, reasons, tests)))
    if both:
        fail(f"have a test and a reason why there is none: {' '.join(both)}")
    if missing:
        fail(f"{len(missing)} rows have neither a test nor a reason; --missing lists them")
    if not DOC.exists() or DOC.read_text() != text:
        fail("docs/conformance.md is out of date: tests/conformance/coverage.py --write")


if __name__ == "__main__":
    main()
