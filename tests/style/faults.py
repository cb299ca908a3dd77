#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks that tests/README.md names two tests for each fault, one with a stock program and one of the verbs.

The table there must have a row for each action of docs/fault-list.md. The named tests must exist, and a rule in their
file must have the words of that action.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def rows(document, heading):
    """Yields the cells of the rows of the first table below a heading, without their marks."""
    below = (ROOT / document).read_text().partition(f"\n{heading}\n")[2].partition("\n#")[0]
    for line in below.splitlines():
        if line.startswith("| `"):
            yield [cell.strip() for cell in line.strip("| ").split(" | ")]


def words(action):
    """Returns the words that a rule must have: those before the first argument, without a word that belongs to the
    argument."""
    return re.split(r" \[| [A-Z]", action.strip("`"))[0].removesuffix(" for").removesuffix(" layer")


def tests_of(cell):
    return re.findall(r"`(\w+)\.([\w.-]+)`", cell)


def rules_of(source):
    """Returns the rules in a test file: quoted strings, joined if they are adjacent."""
    return " ".join(re.findall(r'"((?:[^"\\]|\\.)*)"', source))


def wrong_tests(cell, folder, suffix, begin, action):
    found = tests_of(cell)
    if not found:
        yield "no test is named"
    for module, name in found:
        path = ROOT / folder / f"{module}{suffix}"
        if not path.exists():
            yield f"there is no {folder}/{module}{suffix}"
        elif f'{begin}"{name}"' not in path.read_text():
            yield f"{module} has no test that is called {name}"
        elif not re.search(rf"\b{action}\b", rules_of(path.read_text())):
            yield f"no rule of {module} says `{action}`"


def main():
    wrong, seen = [], []
    for action, stock, verbs in rows("tests/README.md", "## Tests of faults"):
        row = words(action)
        seen.append(row)
        for what in *wrong_tests(stock, "tests/e2e", ".py", "(", row), *wrong_tests(verbs, "tests/verbs", ".c", "{ ", row):
            wrong.append(f"{row}: {what}")
    expected = [words(action) for action, *_ in rows("docs/fault-list.md", "## Actions")]
    wrong += [f"{action}: tests/README.md has no row" for action in expected if action not in seen]
    wrong += [f"{action}: docs/fault-list.md has no such action" for action in seen if action not in expected]
    if not expected:
        wrong.append("docs/fault-list.md has no actions")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
